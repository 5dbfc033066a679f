"""Early dropping: what each rule would have trained, lost and claimed, replayed on complete tables with known truth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectPercentile
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import sobercv
from sobercv.inference import Question
from sobercv.inference.bootstrap import corrected
from sobercv.inference.raced import RacedTable
from sobercv.inference.tables import Table as InferenceTable
from sobercv.testing import simulate

from . import learners, sets
from .evidence import Evidence, Table, markdown
from .harness import Key, Options, Part, Row, read_about, read_results
from .racing_rivals import AnovaRace, FRace, InTurn, PairedPower, cvst
from .replay import replay

FOLDS, REPETITIONS, N_BOOTSTRAPS = 10, 20, 500
MOST_JUDGES = 1500  # rows that tell the truth
MOST_COLUMNS = 300  # of the wider sets the columns of largest variance: a race is about rows
#: Samples, configurations, parameters of the beta distribution of true accuracies, correlation of errors.
SETTINGS = [
    (n, c, a, b, rho)
    for n in (40, 100, 500)
    for c in (50, 200)
    for a, b in ((9.0, 6.0), (24.0, 6.0))
    for rho in (0.0, 0.5, 0.9)
]
Rules = Mapping[str, Any]
#: From 20 predictions on, whatever the size: the study says where that is too early.
_unguarded = partial(sobercv.PredictiveDrop, min_predictions=20)
RULES: Rules = {
    "none": None,
    "bced": sobercv.BootstrapDrop(),
    "predictive .002": _unguarded(0.002),
    "predictive .005": _unguarded(0.005),
    "predictive .01": _unguarded(0.01),
    "predictive .005, zone .1": _unguarded(0.005, zone=0.1),
    "predictive .01, zone .1": _unguarded(0.01, zone=0.1),
    "predictive .005, guard 50": _unguarded(0.005, min_predictions=50),
}
#: On real tables only: how far it can be driven.
SHARPER: Rules = {
    "predictive .02": _unguarded(0.02),
    "predictive .02, zone .1": _unguarded(0.02, zone=0.1),
    "predictive .01, zone .2": _unguarded(0.01, zone=0.2),
    "predictive .015, zone .15, guard 30": _unguarded(0.015, zone=0.15, min_predictions=30),
    "predictive .015, zone .2, guard 30": _unguarded(0.015, zone=0.2, min_predictions=30),
}
#: For metrics that are means over samples.
ROW_RULES: Rules = {
    "betting .05": sobercv.BettingDrop(0.05),
    "confidence .01": sobercv.ConfidenceDrop(0.01),
    "hoeffding": sobercv.HoeffdingDrop(),
    "bernstein": sobercv.BernsteinDrop(),
}
#: By R2 and concordance those that the page judges: ranks of censored times take long.
FEWER = ("none", "bced", "predictive .005", "predictive .01", "predictive .02", "predictive .015, zone .2, guard 30")
OTHERS: Rules = {
    "none": None, "bced": sobercv.BootstrapDrop(), "predictive .01": sobercv.PredictiveDrop(), "anova": AnovaRace(),
    "f-race": FRace(), "forgiving": InTurn(), "aggressive": InTurn(forgiving=False),
}  # fmt: skip


# ---- one table, all rules ----
def measure(table: sobercv.Predictions, truth: np.ndarray, metric: str, rules: Rules, seed: int = 0) -> list[Row]:
    """Replay every rule on a complete table of one repeat; `truth` [C] is the score of each configuration elsewhere.

    Returns
    -------
    list of dict
        rule, models (share trained), alive (share at the end), kept (whether the winner of the whole table survived),
        true (score of the model returned), lost (of the true score, against the whole table's winner), error (standard
        error of the winner's score), survivors and counted (the two estimates minus the truth), and whether each covers
    """
    question = Question.ask(metric, interval="percentile", n_bootstraps=N_BOOTSTRAPS, random_state=seed)
    whole = InferenceTable(table, question)
    scores, full = whole.wholes[0], whole.winner()
    rows = []
    for name, rule in rules.items():
        started = rule.for_race() if hasattr(rule, "for_race") else rule
        models, finishers, dropped = 1.0, table, []
        if started is not None:
            own = getattr(started, "replayed", None)
            raced = own(table, question) if own is not None else replay(table, started, question)
            models, finishers, dropped = raced.models, raced.survivors, raced.dropped
        survivors = _estimate(InferenceTable(finishers, question))
        counted = _estimate(RacedTable(finishers, dropped, question)) if dropped else survivors
        true = float(truth[counted.winner])
        row: Row = {
            "rule": name, "models": models, "alive": finishers.n_configurations / table.n_configurations,
            "kept": float(scores[finishers.configurations].max() >= scores[full]), "true": true,
            "lost": float(truth[full]) - true, "error": float(whole.standard_errors[full]),
        }  # fmt: skip
        for label, estimate in (("survivors", survivors), ("counted", counted)):
            low, high = estimate.interval or (np.nan, np.nan)
            row |= {label: estimate.value - true, f"{label} covers": float(low <= true <= high)}
        rows.append(row)
    return rows


def _estimate(table: Any) -> sobercv.Estimate:
    (found,) = corrected(table).values()
    return found


def by_place(found: dict[Key, Any]) -> list[Row]:
    """Means of all tables of a place (a simulated setting, or a data set and a size), metric and rule."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for key, rows in found.items():
        none = next(row for row in rows if row["rule"] == "none")
        for row in rows:
            before, after = none["survivors"], row["counted"]
            more = {"bias added": after - before, "squares added": after**2 - before**2}
            groups.setdefault((*_place(*key).items(), ("rule", row["rule"])), []).append(row | more)
    return [dict(key) | _means(pd.DataFrame(rows)) for key, rows in groups.items()]


def _place(kind: str, *key: Any) -> Row:
    if kind == "simulated":
        n, c, a, b, rho, _ = key
        return {"data": f"beta({a:g},{b:g}) c={c} rho={rho:g}", "n": n, "metric": "accuracy", "simulated": True}
    name, n, _, metric = key
    return {"data": name, "n": n, "metric": metric, "simulated": False}


def _means(rows: pd.DataFrame) -> Row:
    names = {"of survivors": "survivors", "with the dropped": "counted"}
    variance = rows.var(ddof=1, numeric_only=True) if len(rows) > 1 else pd.Series(0.0, rows.columns)
    # Where the winner is always right its score has no error, and nothing can be lost.
    lost = (rows.lost / rows.error.where(rows.error > 0, np.inf)).mean()
    return {
        "tables": len(rows), **rows[["models", "alive", "kept", "true"]].mean(), "lost in standard errors": lost,
        **{f"bias {words}": rows[name].mean() for words, name in names.items()},
        **{f"squares {words}": (rows[name] ** 2).mean() for words, name in names.items()},
        **{f"variance {words}": variance[name] for words, name in names.items()},
        **{f"{name} added": rows[f"{name} added"].mean() for name in ("bias", "squares")},
        **{f"variance of {name} added": variance[f"{name} added"] for name in ("bias", "squares")},
        "covered by survivors": rows["survivors covers"].mean(),
        "covered with the dropped": rows["counted covers"].mean(),
    }  # fmt: skip


# ---- simulated tables, and real ones of 108 configurations ----
PIPELINE = Pipeline([("scale", StandardScaler()), ("choose", SelectPercentile()), ("model", GaussianNB())])
_CHOOSE = {"choose__percentile": [2, 10, 30, 100]}
GRID: list[dict[str, list[Any]]] = [
    {**_CHOOSE, "model": [LogisticRegression(max_iter=200)], "model__C": [0.001, 0.01, 0.1, 1.0, 10.0]},
    {**_CHOOSE, "model": [SVC()], "model__C": [0.1, 1.0, 10.0], "model__gamma": ["scale", 0.01, 0.1]},
    {**_CHOOSE, "model": [RandomForestClassifier(25, random_state=0)], "model__min_samples_leaf": [1, 5]},
    {**_CHOOSE, "model": [DecisionTreeClassifier(random_state=0)], "model__min_samples_leaf": [1, 5, 10, 25]},
    {**_CHOOSE, "model": [KNeighborsClassifier()], "model__n_neighbors": [1, 5, 15]},
    {**_CHOOSE, "model": [GaussianNB()], "model__var_smoothing": [1e-9, 0.01, 0.1, 1.0]},
]
#: Data set -> how many sub-samples of which size.
Sizes = dict[str, dict[int, int]]
SIZES: Sizes = {name: {50: 4, 100: 20, 500: 8} for name in ("jasmine", "madeline", "madelon", "gina", "cells")}
SIZES |= {name: {50: 4, 100: 20, 500: 8, 2000: 1} for name in ("sylvine", "ada_agnostic_train")}


def places(sizes: Sizes, most: int = 10**9) -> list[tuple[str, int, int]]:
    """Set, size and sub-sample; the first of every set and size first."""
    found = [(name, n, s) for name, each in sizes.items() for n, many in each.items() for s in range(min(many, most))]
    return sorted(found, key=lambda p: (p[2] // 2, p[0], p[1], p[2]))


def design() -> list[Key]:
    """Simulated tables, and real ones by AUC and by accuracy."""
    made = [("simulated", *setting, sample) for sample in range(REPETITIONS) for setting in SETTINGS]
    return made + [("real", *place, metric) for place in places(SIZES) for metric in ("roc_auc", "accuracy")]


def main(options: Options, kind: str, *key: Any) -> list[Row]:
    """Replay the rules of sober on one table."""
    if kind == "simulated":
        # Tests of all pairs take minutes where there are 200 configurations.
        return simulated(key, {**RULES, **ROW_RULES} if key[1] <= 50 else RULES)
    name, n, sample, metric = key
    d = options.kept(f"grid-{name}-{n:04d}-{sample:03d}", partial(train_grid, options, name, n, sample))
    is_label = metric == "accuracy"
    response = "predict" if is_label else "decision_function"
    ours, judged = (d[which + ("labels" if is_label else "scores")] for which in ("", "judged_"))
    table = sobercv.Predictions.build(
        d["y"], {response: ours}, task="classification", responses=(response,), folds=d["fold"]
    )
    truth = (judged == d["y_judges"][:, None]).mean(axis=0) if is_label else _auc(d["y_judges"], judged)
    return measure(table, truth, metric, {**RULES, **SHARPER, **(ROW_RULES if is_label else {})}, sample)


def simulated(setting: Sequence[Any], rules: Rules) -> list[Row]:
    """Replay rules on a table of simulated accuracy, where the truth is known."""
    n, c, a, b, rho, seed = setting
    data = simulate.correlated_accuracy(n=n, c=c, a=a, b=b, rho=rho, seed=seed)
    table = sobercv.Predictions.build(data.y, data.predictions, task="classification", folds=data.folds)
    return measure(table, data.truth, "accuracy", rules, seed)


def _auc(y: np.ndarray, scores: np.ndarray) -> np.ndarray:
    ranks = stats.rankdata(scores, axis=0)
    n = int((y == 1).sum())
    return np.asarray((ranks[y == 1].sum(axis=0) - n * (n + 1) / 2) / (n * (len(y) - n)))


def train_grid(options: Options, name: str, n: int, sample: int) -> dict[str, np.ndarray]:
    """Out-of-fold scores and labels [N, C], and those of the models trained on all rows for the rows that judge."""
    with np.load(options.find(name), allow_pickle=False) as file:
        X, y = file["X"].astype(np.float64), file["y"].astype(int)
    if X.shape[1] > MOST_COLUMNS:
        X = X[:, np.sort(np.argsort(-X.std(axis=0), kind="stable")[:MOST_COLUMNS])]
    X, X_rest, y, y_rest = train_test_split(X, y, train_size=n, stratify=y, random_state=sample)
    X_rest, y_rest = X_rest[:MOST_JUDGES], y_rest[:MOST_JUDGES]
    splits = list(StratifiedKFold(FOLDS, shuffle=True, random_state=sample).split(X, y))
    fold = np.empty(len(y), np.int8)
    for k, (_, test) in enumerate(splits):
        fold[test] = k
    scores, labels = _responses(X, y, splits)
    both = np.concatenate([X, X_rest]), np.concatenate([y, y_rest])
    judged = _responses(*both, [(np.arange(n), np.arange(n, len(both[1])))])
    return {
        "y": y, "fold": fold, "scores": scores, "labels": labels, "y_judges": y_rest,
        "judged_scores": judged[0][n:], "judged_labels": judged[1][n:],
    }  # fmt: skip


def _responses(X: Any, y: Any, splits: list[Any]) -> tuple[Any, Any]:
    """Scores and labels [N, C] of all configurations; zero for rows that no split tests."""
    found = sobercv.BBCSearchCV(
        PIPELINE, GRID, scoring=["roc_auc", "accuracy"], refit=False, cv=splits, drop=None, n_bootstraps=1
    )
    responses = found.fit(X, y).predictions_.responses
    scores = responses["decision_function" if "decision_function" in responses else "predict_proba"]
    return scores[:, :, 0].astype(np.float32), responses["predict"][:, :, 0].astype(np.int8)


# ---- real tables of some sixty cheap configurations: numbers, times and classes ----
NUMBERS = ("diamonds_price", "fair_affairs", "randhie_visits", "cells_entropy", "cells_neighbor")
TIMES = ("flchain", "actg175", "rott2", "support2", "regimes", "smarto")
REGRESSION: Sizes = {**{name: {100: 12, 500: 10} for name in NUMBERS}, "diabetes": {100: 12}}
SURVIVAL: Sizes = {**{name: {100: 10, 500: 8} for name in TIMES}, "gbsg2": {100: 10}}
CLASSES: Sizes = {name: {100: 6, 500: 4} for name in ("sylvine", "ada_agnostic_train", "cells", "jasmine")}
METRICS_OF = {**dict.fromkeys(REGRESSION, ("r2",)), **dict.fromkeys(SURVIVAL, ("concordance_index",))}
METRICS_OF |= dict.fromkeys(CLASSES, ("roc_auc", "accuracy"))
OTHERS_SAMPLES, CVST_SAMPLES = 6, 4
#: Trees: how deep, and the fewest rows of a leaf.
TREES: learners.Sizes = ((2, 5), (4, 5), (None, 3), (None, 10))


def cheap_table(options: Options, name: str, n: int, sample: int) -> dict[str, np.ndarray]:
    """Target, folds and predictions [N, C] of a sub-sample; and of the rows that judge."""
    return options.kept(f"cheap-{name}-{n:04d}-{sample:03d}", partial(_train_cheap, options, name, n, sample))


def _train_cheap(options: Options, name: str, n: int, sample: int) -> dict[str, np.ndarray]:
    ready = sets.read(options, name)
    rng = np.random.default_rng([n, sample, *name.encode()])
    order = rng.permutation(len(ready.y))
    rows, judges = order[:n], order[n : n + MOST_JUDGES]
    fold = sets.spread_folds(ready.task, ready.y[rows], rng)
    fit = partial(fit_cheap, ready, seed=sample)
    return {
        "y": ready.y[rows], "fold": fold.astype(np.int8), "y_judges": ready.y[judges],
        "predictions": sets.out_of_fold(fit, rows, fold).astype(np.float32),
        "judged": fit(rows, judges).astype(np.float32),
    }  # fmt: skip


def fit_cheap(ready: sets.Ready, train: np.ndarray, test: np.ndarray, seed: int) -> np.ndarray:
    """Predictions [m, C]: numbers, risks, or probabilities of the second class; with all features and with fewer."""
    y = ready.y[train]
    if ready.task == "classification":
        target, parts = np.eye(2)[y], lambda many: (many, max(4, many // 5))
    else:
        target = y if ready.task == "regression" else learners.residual(y["time"], y["event"])
        centre, scale = target.mean(), max(float(target.std()), 1e-12)
        target = ((target - centre) / scale)[:, None]
        parts = lambda many: dict.fromkeys(max(2, round(many / part)) for part in (1, 3, 8))  # noqa: E731
    ranked = learners.screen(ready.features[train], target, ready.features.shape[1])
    found: list[np.ndarray] = []
    for k in parts(len(ranked)):
        cut = learners.split(np.ascontiguousarray(ready.features[:, np.sort(ranked[:k])]), None, train, test)
        if ready.task == "classification":
            found += list(learners.classify(cut, y, 2, seed)[:, :, 1].T)
            continue
        if ready.task == "survival":
            found += learners.cox(cut.linear, cut.linear_test, y["time"], y["event"], (100.0, 30.0, 10.0, 3.0, 1.0))
            found += learners.ridge(cut.linear, cut.linear_test, target, (300.0, 30.0, 3.0))
            found += learners.neighbours(cut, target)[1:] + learners.kernels(cut, target, (1.0,))
        else:
            found += learners.ridge(cut.linear, cut.linear_test, target, (300.0, 100.0, 30.0, 10.0, 1.0))
            found += learners.neighbours(cut, target) + learners.kernels(cut, target, (1.0, 0.1))
        found += learners.trees(cut.features, cut.features_test, target[:, 0], seed, TREES, forest=20)
    together = np.column_stack([f.reshape(len(test), -1)[:, 0] for f in found])
    assert np.isfinite(together).all()
    return centre + scale * together if ready.task == "regression" else together


def cheap_design() -> list[Key]:
    """Numbers and times."""
    return [("real", *place, *METRICS_OF[place[0]]) for part in (REGRESSION, SURVIVAL) for place in places(part)]


def cheap(options: Options, kind: str, *key: Any) -> list[Row]:
    """Replay some rules by R2 or concordance; how many configurations are about as good as the best."""
    rules = {name: rule for name, rule in {**RULES, **SHARPER}.items() if name in FEWER}
    rows, truth = _cheap(options, key, rules)
    near = float((truth.max() - truth < 2 * rows[0]["error"]).mean())
    return [row | {"near": near} for row in rows]


def _cheap(options: Options, key: Sequence[Any], rules: Rules) -> tuple[list[Row], np.ndarray]:
    *place, metric = key
    d = cheap_table(options, *place)
    table = sets.build(d["y"], d["predictions"][:, :, None], d["fold"][:, None])
    truth = sets.scores_on(sets.truths(d), metric)
    return measure(table, truth, metric, rules, place[2]), truth


def cheap_results(found: dict[Key, Any]) -> dict[str, list[Row]]:
    """By place and rule; and the share of configurations near the best, with 500 samples."""
    shares: dict[str, list[float]] = {}
    for (_, name, n, *_), rows in found.items():
        if n == 500:
            shares.setdefault(name, []).append(rows[0]["near"])
    near = [{"data": name, "n": 500, "near": float(np.mean(some))} for name, some in shares.items()]
    return {"cheap": by_place(found), "near": near}


def others_design() -> list[Key]:
    """Simulated tables of 50 configurations, then real ones of all three tasks."""
    made = [("simulated", *s, sample) for sample in range(REPETITIONS) for s in SETTINGS if s[1] == 50]
    cheap = [p for part in (CLASSES, REGRESSION, SURVIVAL) for p in places(part, OTHERS_SAMPLES)]
    return made + [("real", *place, metric) for place in cheap for metric in METRICS_OF[place[0]]]


def others(options: Options, kind: str, *key: Any) -> list[Row]:
    """The races of others beside ours."""
    if kind == "simulated":
        return simulated(key, {**OTHERS, "paired with power": PairedPower()})
    rules = {**OTHERS, **({"paired with power": PairedPower()} if key[3] == "accuracy" else {})}
    return _cheap(options, key, rules)[0]


def against_cvst(options: Options, name: str, n: int, sample: int) -> list[Row]:
    """CVST, the whole cross-validation and the default race on one sub-sample."""
    ready, d = sets.read(options, name), cheap_table(options, name, n, sample)
    # The rows of the table in their own order, which is random: the same draw as for the table.
    rows = np.random.default_rng([n, sample, *name.encode()]).permutation(len(ready.y))[:n]
    assert (ready.y[rows] == d["y"]).all()

    def right(train: np.ndarray, test: np.ndarray) -> np.ndarray:
        return (fit_cheap(ready, rows[train], rows[test], sample) > 0.5) == (d["y"][test, None] == 1)

    c = d["predictions"].shape[1]
    found = cvst(n, c, right)
    truth, scores = (
        ((d[p] > 0.5) == (d[y][:, None] == 1)).mean(axis=0) for p, y in (("judged", "y_judges"), ("predictions", "y"))
    )
    table = sets.build(d["y"], d["predictions"][:, :, None], d["fold"][:, None])
    full = int(scores.argmax())
    raced = replay(table, sobercv.PredictiveDrop(), Question.ask("accuracy", random_state=sample))
    alive = raced.survivors.configurations
    returned = int(alive[scores[alive].argmax()])
    error = float(np.sqrt(max(scores[full] * (1 - scores[full]), 1e-9) / n))
    everything = c * FOLDS
    return [{
        "data": name, "n": n, "configurations": c,
        "models, cvst": found.models / everything, "rows, cvst": found.rows / (everything * n * (1 - 1 / FOLDS)),
        "steps": found.steps, "lost, cvst": float(truth[full] - truth[found.winner]) / error,
        "models, race": raced.models, "lost, race": float(truth[full] - truth[returned]) / error,
    }]  # fmt: skip


# ---- counting the dropped: groups, repeats, folds ----
KINDS = ("single samples", "groups of five", "two repeats", "folds drawn")
DROPPED_TABLES, CONFIGURATIONS = 100, 50
GROUP, ALIKE = 5, 0.5  # samples of a group, and the correlation of their errors
SAME = 0.8  # correlation of errors between repeats


def dropped_table(kind: str, n: int, rho: float, seed: int) -> tuple[sobercv.Predictions, np.ndarray]:
    """Predictions of configurations whose accuracies are known [C], errors correlated by `rho` between them."""
    rng = np.random.default_rng([16, n, int(10 * rho), KINDS.index(kind), seed])
    truth, c = rng.beta(9.0, 6.0, CONFIGURATIONS), CONFIGURATIONS
    groups = np.arange(n) // GROUP if kind == "groups of five" else np.arange(n)
    repeats = 2 if kind == "two repeats" else 1

    def normal(width: int) -> np.ndarray:
        """[N, width, R]: alike within a group, and between repeats."""
        own, shared = rng.standard_normal((n, width, 1)), rng.standard_normal((groups[-1] + 1, width, 1))[groups]
        one = np.sqrt(ALIKE) * shared + np.sqrt(1 - ALIKE) * own if kind == "groups of five" else own
        new = rng.standard_normal((n, width, repeats))
        return np.sqrt(SAME) * one + np.sqrt(1 - SAME) * new if repeats > 1 else one

    latent = np.sqrt(rho) * normal(1) + np.sqrt(1 - rho) * normal(c)
    right = stats.norm.cdf(latent) < truth[None, :, None]
    y = rng.permutation(np.arange(n) % 2)
    order = [rng.permutation(groups[-1] + 1) for _ in range(repeats)]
    folds = np.stack([o[groups] % FOLDS for o in order], axis=1)
    return sobercv.Predictions.build(
        y, np.where(right, y[:, None, None], 1 - y[:, None, None]), task="classification", folds=folds,
        groups=groups if kind == "groups of five" else None,
    ), truth  # fmt: skip


def dropped(options: Options, kind: str, n: int, rho: float) -> list[Row]:
    """The default race; the estimate of the whole table, of the survivors alone, and with the dropped."""
    found = []
    for seed in range(DROPPED_TABLES):
        table, truth = dropped_table(kind, n, rho, seed)
        by = "fold" if kind == "folds drawn" else "sample"
        question = Question.ask("accuracy", by=by, n_bootstraps=N_BOOTSTRAPS, random_state=seed)
        raced = replay(table, sobercv.PredictiveDrop(), question)
        whole, survivors = InferenceTable(table, question), InferenceTable(raced.survivors, question)
        counted = RacedTable(raced.survivors, raced.dropped, question) if raced.dropped else survivors
        row = {"models": raced.models}
        for who, one in (("none", whole), ("survivors", survivors), ("dropped", counted)):
            estimate = _estimate(one)
            low, high = estimate.interval or (np.nan, np.nan)
            true = truth[estimate.winner]
            row |= {f"bias, {who}": estimate.value - true, f"covered, {who}": float(low <= true <= high)}
        found.append(row)
    rows = pd.DataFrame(found)
    rmse = {f"rmse, {who}": np.sqrt((rows[f"bias, {who}"] ** 2).mean()) for who in ("none", "survivors", "dropped")}
    added = rows["bias, dropped"] - rows["bias, none"]
    error = float(added.std(ddof=1) / np.sqrt(len(added)))
    about = {"kind": kind, "n": n, "rho": rho, "tables": len(rows)}
    return [{**about, **rows.mean(), **rmse, "error of the difference": error}]


# ---- how often the betting rule drops the winner ----
RACES, CHANCES = 1250, (0.05, 0.2)


def guarantee(options: Options, n: int, c: int, a: float, b: float, rho: float) -> list[Row]:
    """Whether the winner was dropped, and the share of models trained, at each chance.

    Where all configurations are equally good, the leader changes most often and a winner is easiest to lose.
    """
    found = []
    for seed in range(RACES):
        data = simulate.correlated_accuracy(n=n, c=c, a=a, b=b, rho=rho, seed=seed)
        table = sobercv.Predictions.build(data.y, data.predictions, task="classification", folds=data.folds)
        winner = int(np.argmax((data.predictions == np.asarray(data.y)[:, None]).sum(axis=0)))  # the first of the best
        for chance in CHANCES:
            raced = replay(table, sobercv.BettingDrop(chance).for_race(), Question.ask("accuracy", random_state=seed))
            found.append((chance, winner not in raced.survivors.configurations, raced.models))
    rows = []
    for chance in CHANCES:
        _, gone, models = np.array([one for one in found if one[0] == chance], float).T
        lost = float(gone.mean())
        rows.append({
            "n": n, "configurations": c, "equal": a > 100, "rho": rho, "chance": chance, "races": RACES, "lost": lost,
            "error": float(np.sqrt(max(lost * (1 - lost), 1 / RACES) / RACES)), "models": float(models.mean()),
        })  # fmt: skip
    return rows


def _product(*axes: Iterable[Any]) -> Callable[[], list[Key]]:
    grids = pd.MultiIndex.from_product(axes)
    return lambda: list(grids)


PARTS = {
    "main": Part(design, main, by_place, about={"folds": FOLDS}),
    "cheap": Part(cheap_design, cheap, cheap_results),
    "others": Part(others_design, others, by_place),
    "cvst": Part(lambda: places(CLASSES, CVST_SAMPLES), against_cvst),
    "dropped": Part(_product(KINDS, (100, 300), (0.0, 0.5, 0.9)), dropped),
    "guarantee": Part(
        lambda: [(n, 20, *ab, rho) for n in (100, 300) for ab in ((9.0, 6.0), (9e4, 6e4)) for rho in (0.0, 0.9)],
        guarantee,
    ),
}

# ---- the page ----
HEADS = (
    "rule", "times fewer models", "survivors", "winner kept", "true score lost", "bias, survivors only", "RMSE",
    "bias, with the dropped", "RMSE", "95 % covers",
)  # fmt: skip
METRICS = {"roc_auc": "AUC", "accuracy": "accuracy", "r2": "R2", "concordance_index": "C-index"}
DEFAULT, ZONE, PAPER = "predictive .01", "predictive .015, zone .2, guard 30", "bced"
CHOICES = {".002": "predictive .002", ".005": "predictive .005", ".01": "predictive .01", ".02": "predictive .02"}
SHOWN = (100, 500)
KEPT, LOST = 0.9, 0.1


def pooled(rows: pd.DataFrame, rule: str | None = None) -> pd.Series:
    """Put places together, each table counting the same; models saved is a harmonic mean of the tables' ratios."""
    rows = rows if rule is None else rows[rows.rule == rule]
    numbers = rows.drop(columns=["data", "n", "metric", "simulated", "rule"])
    return pd.Series(np.average(numbers, axis=0, weights=rows.tables), numbers.columns)


def real_places(rows: pd.DataFrame) -> list[tuple[str, int, pd.DataFrame]]:
    """The real tables by metric and size."""
    real = rows[~rows.simulated]
    found = [(m, n, real[(real.metric == m) & (real.n == n)]) for m in METRICS for n in SHOWN]
    return [(m, n, some) for m, n, some in found if len(some)]


def summary(rows: pd.DataFrame) -> str:
    """Models saved, score lost and bias of the estimate, by metric and size."""
    lines = []
    for metric, n, some in real_places(rows):
        none, paper, ours = (pooled(some, rule) for rule in ("none", PAPER, DEFAULT))
        lines.append((
            f"{METRICS[metric]}, {n}", f"{some[some.rule == 'none'].tables.sum()}", f"{1 / paper.models:.1f}",
            f"{1 / ours.models:.1f}", f"{100 * ours.kept:.0f} %", f"{ours['lost in standard errors']:+.3f}",
            f"{none['bias of survivors']:+.3f}", f"{ours['bias of survivors']:+.3f}",
            f"{ours['bias with the dropped']:+.3f}",
        ))  # fmt: skip
    heads = (
        "metric, samples", "tables", "paper's rule", "default", "winner kept", "score lost", "bias, no race",
        "survivors only", "with the dropped",
    )  # fmt: skip
    return markdown(heads, lines)


def chosen(rows: pd.DataFrame) -> str:
    """The largest chance that keeps the winner and its true score, by every metric and size."""
    best = next(iter(CHOICES))
    for chance, rule in CHOICES.items():
        each = [pooled(some, rule) for _, _, some in real_places(rows)]
        if all(own.kept >= KEPT and own["lost in standard errors"] <= LOST for own in each):
            best = chance
    return best


def left_out(rows: pd.DataFrame) -> list[tuple[str, ...]]:
    """Each data set with the chance that the others choose."""
    lines = []
    for name, here in rows[~rows.simulated].groupby("data"):
        chance = chosen(rows[rows.data != name])
        own = here[(here.rule == CHOICES[chance]) & here.n.isin(SHOWN)]
        both = pooled(own)
        saved = [f"{1 / pooled(own[own.n == n]).models:.2f}" for n in SHOWN]
        lines.append((name, chance, *saved, f"{both.kept:.3f}", f"{both['lost in standard errors']:+.3f}"))
    return lines


def all_rules(rows: pd.DataFrame) -> Table:
    """Every rule in every kind of table: real ones by metric and size, simulated ones by size and correlation."""
    real, made = rows[~rows.simulated], rows[rows.simulated]
    kinds = [
        (f"real, {METRICS[metric]}, N = {n}", some)
        for metric in METRICS
        for n, some in real[real.metric == metric].groupby("n")
    ]
    kinds += [
        (f"simulated accuracy, N = {n}, correlation {rho}", some[some.data.str.endswith(f"rho={rho}")])
        for n, some in made.groupby("n")
        for rho in ("0", "0.5", "0.9")
    ]
    lines = []
    for title, some in kinds:
        for rule in some.rule.unique():
            own = pooled(some, rule)
            lines.append([
                title, rule, f"{1 / own.models:.2f}", f"{own.alive:.2f}", f"{own.kept:.2f}",
                f"{own['lost in standard errors']:+.3f}", f"{own['bias of survivors']:+.4f}",
                f"{np.sqrt(own['squares of survivors']):.4f}", f"{own['bias with the dropped']:+.4f}",
                f"{np.sqrt(own['squares with the dropped']):.4f}", f"{own['covered with the dropped']:.2f}",
            ])  # fmt: skip
    return Table("racing", "every rule by metric, size and kind of table", ["tables", *HEADS], lines)


def as_table(name: str, holds: str, rows: pd.DataFrame) -> Table:
    """Results as they are, with four figures."""
    lines = [
        [str(v) if isinstance(v, (str, bool)) else f"{v:.4g}" for v in row.values()] for row in rows.to_dict("records")
    ]
    return Table(name, holds, list(rows), lines)


def of_others(rows: pd.DataFrame) -> str:
    """What the races of others save and lose, in one paragraph."""
    groups = [some for _, some in rows[rows.n != 40].groupby(["simulated", "metric", "n"])]

    def all_of(rule: str, what: str) -> list[float]:
        return [pooled(some, rule)[what] for some in groups if (some.rule == rule).any()]

    def saved(rule: str) -> str:
        models = all_of(rule, "models")
        return f"{1 / max(models):.1f} to {1 / min(models):.1f}"

    lost = {rule: max(all_of(rule, "lost in standard errors")) for rule in ("aggressive", "paired with power")}
    return f"""Replayed on the same tables, the default trains {saved(DEFAULT)} times fewer models; the ANOVA race of
    R's finetune {saved("anova")}, irace's F-race {saved("f-race")}, forgiving stopping (Bergman et al. 2024)
    {saved("forgiving")}. Aggressive stopping saves {saved("aggressive")} and loses up to {lost["aggressive"]:.2f}
    standard errors of true score; the paired test with power (Zheng and Bilenko 2013) {saved("paired with power")} and
    {lost["paired with power"]:.2f}."""


def of_cvst(rows: pd.DataFrame) -> str:
    """CVST beside the default, in one sentence."""
    large = rows[rows.n == rows.n.max()]
    return f"""CVST (Krueger et al. 2015) trains {1 / large["models, cvst"].mean():.1f} times fewer models at N =
    {rows.n.max()}, on fewer rows, loses {large["lost, cvst"].mean():.2f} standard errors, and leaves no predictions to
    correct."""


def of_dropped(rows: pd.DataFrame) -> str:
    """What counting the dropped does, simulated."""
    more = {who: (rows[f"bias, {who}"] - rows["bias, none"]).max() for who in ("survivors", "dropped")}
    covered = {who: rows[f"covered, {who}"].min() for who in ("none", "survivors", "dropped")}
    return f"""In simulations (groups, repeats, correlated configurations) survivors alone add up to
    {more["survivors"]:+.3f} of bias to that without a race, with the dropped at most {more["dropped"]:+.3f}; 95 %
    intervals cover at least {100 * covered["none"]:.0f} % without a race, {100 * covered["survivors"]:.0f} % of the
    survivors alone and {100 * covered["dropped"]:.0f} % with the dropped."""


def draw(plt: Any) -> Any:
    """How many times fewer models the paper's rule and the default train."""
    found = real_places(pd.concat([read_results("racing"), read_results("racing-cheap")]))
    fig, ax = plt.subplots(figsize=(9, 4.2))
    for shift, rule, colour, name in (
        (-0.2, PAPER, "#8c8c8c", "the paper's rule"),
        (0.2, DEFAULT, "#4c72b0", "default"),
    ):
        values = [1 / pooled(some, rule).models for _, _, some in found]
        ax.barh([i + shift for i in range(len(found))], values, 0.38, color=colour, label=name)
    ax.axvline(1, color="0.4", lw=0.8)
    ax.set_yticks(range(len(found)), [f"{METRICS[m]}, {n} samples" for m, n, _ in found])
    ax.invert_yaxis()
    ax.set_xlabel("times fewer models than the whole cross-validation")
    ax.legend(frameon=False)
    return fig


def near_table(rows: pd.DataFrame, shares: pd.DataFrame) -> Table:
    """Models saved by the default, and the share of configurations about as good as the best."""
    models = rows[rows.n == 500].pivot(index=["data", "metric"], columns="rule", values="models").reset_index()
    lines = [
        (row["data"], METRICS[row["metric"]], f"{row['near']:.2f}", f"{1 / row[DEFAULT]:.1f}", f"{1 / row[PAPER]:.1f}")
        for row in shares.merge(models, on="data").sort_values("near").to_dict("records")
    ]
    heads = ("data set, 500 samples", "metric", "within two standard errors of the best", "default", "the paper's rule")
    return Table("racing-near", "what a race saves by the share of near-equals", heads, lines)


def evidence() -> Evidence:
    """The page."""
    classes, cheap_rows, other_rows, dropped_rows, betting, cvst_rows, near = (
        read_results(f"racing{part}") for part in ("", "-cheap", "-others", "-dropped", "-guarantee", "-cvst", "-near")
    )
    rows = pd.concat([classes, cheap_rows])
    own = [(pooled(some, DEFAULT), pooled(some, PAPER)) for _, _, some in real_places(rows)]
    lost = max(sharp["lost in standard errors"] for sharp, _ in own)
    saved, papers = ([1 / pair[k].models for pair in own] for k in (0, 1))
    real = rows[~rows.simulated]
    count = real[(real.rule == "none") & (real.metric != "accuracy")].tables.sum()
    zone = [pooled(some, ZONE) for m, n, some in real_places(rows) if m in ("roc_auc", "accuracy")]
    choices = [line[1] for line in left_out(classes)]
    text = f"""{summary(rows)}

The two columns of rules say how many times fewer models are trained (harmonic mean over tables); "score lost"
is the true score of the returned model relative to no race, in standard errors. Bias is the estimate minus the truth:
survivors alone are optimistic, because a configuration that was dropped for its bad luck can no longer win a resample.
So dropped configurations stay in the bootstrap with the predictions that they have.

## Which rule
| you want | write |
| --- | --- |
| few models, an estimate as without a race | the default, `drop="auto"` |
| fewest models by AUC or accuracy, a winner about as good | `drop=sobercv.PredictiveDrop(0.015, zone=0.2)` |
| the paper's BCED-CV (BBCD-CV in the journal), as published | `drop="bced", count_dropped=False` |
| a guarantee: the winner is dropped with at most this chance | `drop=sobercv.BettingDrop(0.05)`, for means of losses |
| no race | `drop=None` |

The default drops a configuration that has less than a 1 % chance to overtake the best with the samples that
are left, from 20 predictions on (50 where there are fewer than 80 samples). The paper drops what is worse than the best
in 99 % of the resamples, from 50 on. The setting with a zone saves {min(1 / z.models for z in zone):.1f} to
{max(1 / z.models for z in zone):.1f} times and loses up to {max(z["lost in standard errors"] for z in zone):.2f}
standard errors by AUC and accuracy; it is not advised for R2 and the C-index.

**Chosen on other data.** The chance of 1 % is the largest of {", ".join(CHOICES)} that keeps the winner in 90 % of the
races and loses at most 0.1 standard errors, by AUC and accuracy. With each of the {len(choices)} data sets left out,
the others choose {" or ".join(sorted(set(choices)))}. R2 and C-index had no part in the choice.

**Where it saves little.** Where most configurations are about as good as the best, no rule can tell soon
which will win: see racing-near.csv. {of_dropped(dropped_rows)}

**Other races.** {of_others(other_rows)} {of_cvst(cvst_rows)} `BettingDrop` lost the winner less often than its chance
allows in all of {len(betting)} simulated settings (closest: {100 * (betting.lost - betting.chance).max():+.1f}
percentage points).

## What was done
Races are replayed on complete cross-validations of {count} sub-samples of
{real.data.nunique()} data sets: 108 configurations for AUC and
accuracy, 63 for R2, 60 for the C-index, {FOLDS} folds; the truth is the score on up to 1,500 other rows.
Dropping only skips models, so a replay and a real race agree to the bit."""
    return Evidence(
        name="racing",
        title="Early dropping",
        answer=(
            f"The default trains {min(saved):.1f} to {max(saved):.1f} times fewer models than the whole "
            f"cross-validation (the paper's rule: {min(papers):.1f} to {max(papers):.1f}) on {count} real tables. "
            f"The model that it returns loses at most {lost:.3f} standard errors of true score on average, and the "
            "estimate is what it is without a race."
        ),
        figure="Times fewer models by metric and sample size: the default saves more than the paper's rule everywhere",
        draw=draw,
        text=text,
        tables=(
            all_rules(rows),
            near_table(cheap_rows, near),
            Table(
                "racing-chance", "the chance that the other data sets choose",
                ("data set", "chance", "fewer models, N = 100", "N = 500", "winner kept", "score lost"),
                left_out(classes),
            ),
            as_table("racing-dropped", "simulated: without a race, survivors, with the dropped", dropped_rows),
            as_table("racing-guarantee", "how often `BettingDrop` lost the winner", betting),
            as_table("racing-others", "the races of others", other_rows),
            as_table("racing-cvst", "CVST", cvst_rows),
        ),
        command="python -m studies racing --data FOLDER",
        about=read_about("racing"),
    )  # fmt: skip


PAGES = (evidence,)
