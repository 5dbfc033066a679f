"""Early dropping: what each rule would have trained, lost and claimed, replayed on complete tables with known truth."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
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
from sobercv.inference.tables import Table
from sobercv.testing import simulate

from . import learners, sets
from .harness import TITLES, Array, Key, Options, Page, Part, Row, Rows, grouped, read_results
from .races import anova_race, cvst, f_race, in_turn, paired_with_power, replay

FOLDS, REPETITIONS, N_BOOTSTRAPS = 10, 20, 500
MOST_JUDGES = 1500  # rows on which the true score is measured
MOST_COLUMNS = 300  # of the wider sets the columns of largest variance: a race is about rows
#: Simulated accuracies: configurations, parameters of the beta distribution of true ones, correlation of errors.
SETTINGS = {
    f"beta({a:g},{b:g}) c={c} rho={rho:g}": (c, a, b, rho)
    for c in (50, 200)
    for a, b in ((9.0, 6.0), (24.0, 6.0))
    for rho in (0.0, 0.5, 0.9)
}


def predictive(name: str) -> sobercv.PredictiveDrop:
    """The rule of a name; from 20 predictions on without a guard: the study says where that is too early."""
    said = dict(re.findall(r"(\w+) (\.?\d+)", name))
    guard = int(said.get("guard", 20))
    return sobercv.PredictiveDrop(float(said["predictive"]), zone=float(said.get("zone", 0)), min_predictions=guard)


#: On real tables only: how far it can be driven.
SHARPER = (
    "predictive .02", "predictive .02, zone .1", "predictive .01, zone .2", "predictive .015, zone .15, guard 30",
    "predictive .015, zone .2, guard 30",
)  # fmt: skip
#: For means over samples; tests of all pairs take minutes where there are 200 configurations.
BY_ROWS = ("betting .05", "confidence .01", "hoeffding", "bernstein", "paired with power")
RULES: dict[str, Any] = {
    "none": None,
    "bced": sobercv.BootstrapDrop(),
    **{name: predictive(name) for name in (
        "predictive .002", "predictive .005", "predictive .01", "predictive .005, zone .1", "predictive .01, zone .1",
        "predictive .005, guard 50", *SHARPER,
    )},
    "betting .05": sobercv.BettingDrop(0.05),
    "confidence .01": sobercv.ConfidenceDrop(0.01),
    "hoeffding": sobercv.HoeffdingDrop(),
    "bernstein": sobercv.BernsteinDrop(),
}  # fmt: skip
#: By R2 and concordance those that the page judges: ranks of censored times take long.
FEWER = ("none", "bced", "predictive .005", "predictive .01", "predictive .02", "predictive .015, zone .2, guard 30")
IN_TURN = {"forgiving": in_turn, "aggressive": partial(in_turn, forgiving=False)}  # not in rounds
OTHERS = {
    "none": None, "bced": sobercv.BootstrapDrop(), "predictive .01": sobercv.PredictiveDrop(), "anova": anova_race,
    "f-race": f_race, **IN_TURN, "paired with power": paired_with_power,
}  # fmt: skip


# ---- one table, all rules ----
def measure(
    predictions: sobercv.Predictions, truth: Array, metric: str, rules: Mapping[str, Any], seed: int = 0
) -> list[Row]:
    """Replay every rule on a complete table of one repeat; `truth` [C] is the score of each configuration elsewhere.

    A row holds shares of models trained and of configurations alive at the end, what the returned model scores and
    loses against the winner of the whole table, and the errors of two estimates: of the survivors, with the dropped.
    """
    options: dict[str, Any] = {"interval": "percentile", "n_bootstraps": N_BOOTSTRAPS, "random_state": seed}
    question = Question.ask(metric, **options)
    whole = Table(predictions, question)
    scores, full = whole.wholes[0], whole.winner()
    rows = []
    for name, rule in rules.items():
        raced = rule(predictions, question) if name in IN_TURN else replay(predictions, rule, question)
        counted = sobercv.bbc(None, raced.counted, metric, **options)
        survivors = sobercv.bbc(None, raced.survivors, metric, **options) if raced.counted.dropped else counted
        true = float(truth[counted.winner])
        row: Row = {
            "rule": name, "models": raced.models, "alive": raced.alive[-1], "true": true, "lost": truth[full] - true,
            "kept": float(scores[raced.survivors.configurations].max() >= scores[full]),
            "error": whole._standard_errors()[full],
        }  # fmt: skip
        for label, estimate in (("survivors", survivors), ("counted", counted)):
            low, high = estimate.interval or (np.nan, np.nan)
            row |= {label: estimate.value - true, f"{label} covers": float(low <= true <= high)}
        rows.append(row)
    return rows


def race(
    make: Callable[..., Made], rules: Mapping[str, Any], options: Options, name: str, n: int, sample: int, metric: str
) -> list[Row]:
    """Replay rules on one table, and measure the share of configurations that are about as good as the best."""
    if name in SETTINGS:
        predictions, truth = correlated(n, *SETTINGS[name], sample)
    else:
        predictions, truth = make(options, name, n, sample, metric)
    by_rows = metric == "accuracy" and predictions.n_configurations < 200
    unfit = {*(() if by_rows else BY_ROWS), *(SHARPER if name in SETTINGS else ())}
    rows = measure(predictions, truth, metric, {name: rules[name] for name in rules if name not in unfit}, sample)
    near = float((truth.max() - truth < 2 * rows[0]["error"]).mean())
    return [row | {"near": near} for row in rows]


KEYS = "data n sample metric"


def by_place(rows: Rows) -> Rows:
    """Means of all tables of a place (a simulated setting, or a data set and a size), metric and rule."""
    before = rows.survivors.where(rows.rule == "none").groupby([rows[key] for key in KEYS.split()]).transform("max")
    added = {"bias added": rows.counted - before, "squares added": rows.counted**2 - before**2}
    rows = rows.assign(simulated=rows.data.isin(SETTINGS), **added)
    return grouped(rows, "data n metric simulated rule", means, sort=False)


def means(rows: Rows) -> Row:
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
METRICS_OF = {"binary": ("roc_auc", "accuracy"), "regression": ("r2",), "survival": ("concordance_index",)}


def places(study: str, *kinds: str, most: int = 10**9) -> list[Key]:
    """Set, size and sub-sample."""
    each = sets.sizes(study, *kinds).items()
    return sets.in_rounds({name: {n: min(many, most) for n, many in sizes.items()} for name, sizes in each}, 2)


def design(settings: Any, study: str, *kinds: str, most: int = 10**9) -> list[Key]:
    """Simulated tables, then real ones, by all their metrics."""
    made = [(name, n, s, "accuracy") for s, n, name in product(range(REPETITIONS), (40, 100, 500), settings)]
    real = (place for kind in kinds for place in places(study, kind, most=most))
    return made + [(*place, metric) for place in real for metric in METRICS_OF[sets.SETS.kind[place[0]]]]


Made = tuple[sobercv.Predictions, Array]  # a table, and the true score of each configuration


def correlated(n: int, c: int, a: float, b: float, rho: float, seed: int) -> Made:
    """A table of simulated accuracy."""
    data = simulate.correlated_accuracy(n=n, c=c, a=a, b=b, rho=rho, seed=seed)
    return sobercv.Predictions.build(data.y, data.predictions, task="classification", folds=data.folds), data.truth


def grid(options: Options, name: str, n: int, sample: int, metric: str) -> Made:
    """A sub-sample with the 108 configurations."""
    d = options.kept(f"grid-{name}-{n:04d}-{sample:03d}", partial(train_grid, options, name, n, sample))
    kept, response = ("labels", "predict") if metric == "accuracy" else ("scores", "decision_function")
    build = partial(sobercv.Predictions.build, task="classification", responses=(response,))
    judges = build(d["y_judges"], {response: d[f"judged_{kept}"]})
    return build(d["y"], {response: d[kept]}, folds=d["fold"]), sets.scores_on(judges, metric)


def train_grid(options: Options, name: str, n: int, sample: int) -> dict[str, Array]:
    """Out-of-fold scores and labels [N, C], and those of the models trained on all rows for the rows that judge."""
    parts = sets.raw(options.find(name))
    X, y = parts["X"], parts["y"].astype(int)
    if X.shape[1] > MOST_COLUMNS:
        X = X[:, np.sort(np.argsort(-X.std(axis=0), kind="stable")[:MOST_COLUMNS])]
    X, X_rest, y, y_rest = train_test_split(X, y, train_size=n, stratify=y, random_state=sample)
    X_rest, y_rest = X_rest[:MOST_JUDGES], y_rest[:MOST_JUDGES]
    search = partial(
        sobercv.BBCSearchCV, PIPELINE, GRID, scoring=["roc_auc", "accuracy"], refit=False, drop=None, n_bootstraps=1
    )
    found = {"y": y, "y_judges": y_rest}
    for prefix, cv, rest in (
        ("", StratifiedKFold(FOLDS, shuffle=True, random_state=sample), 0),
        ("judged_", [(np.arange(n), np.arange(n, n + len(y_rest)))], len(y_rest)),
    ):
        made = search(cv=cv).fit(np.concatenate([X, X_rest[:rest]]), np.concatenate([y, y_rest[:rest]])).predictions_
        ours = made.take_rows(made.rows)
        scores = ours.responses.get("decision_function", ours.responses.get("predict_proba"))
        found[f"{prefix}scores"] = scores[:, :, 0].astype(np.float32)
        found[f"{prefix}labels"] = ours.responses["predict"][:, :, 0].astype(np.int8)
        found.setdefault("fold", made.fold_of[:, 0].astype(np.int8))
    return found


# ---- real tables of some sixty cheap configurations: numbers, times and classes ----
OTHERS_SAMPLES, CVST_SAMPLES = 6, 4
#: Trees: how deep, and the fewest rows of a leaf.
TREES: learners.Sizes = ((2, 5), (4, 5), (None, 3), (None, 10))


def cheap_table(options: Options, name: str, n: int, sample: int) -> sets.SubSample:
    """A sub-sample with some sixty configurations."""
    make = partial(sets.trained, options, name, n, sample, fit_cheap, fewest=0, most_judges=MOST_JUDGES)
    return sets.kept(options, f"cheap-{name}-{n:04d}-{sample:03d}", make)


def cheap(options: Options, name: str, n: int, sample: int, metric: str) -> Made:
    """A sub-sample with some sixty configurations, and its truth by a metric."""
    made = cheap_table(options, name, n, sample)
    return made.table, made.truth(metric)


def fit_cheap(ready: sets.Ready, train: Array, test: Array, seed: int) -> Array:
    """Predictions [m, C]: numbers, risks, or probabilities of the second class; with all features and with fewer."""
    y, kind, many = ready.y[train], sets.kind_of(ready.y), ready.features.shape[1]
    if kind == "binary":
        target, parts = np.eye(2)[y], (many, max(4, many // 5))
    else:
        target, centre, scale = learners.standardised(y if kind == "regression" else learners.residual(y))
        parts = tuple(dict.fromkeys(max(2, round(many / part)) for part in (1, 3, 8)))
    ranked = learners.screen(ready.features[train], target, many)
    found: list[Array] = []
    for k in parts:
        cut = learners.split(np.ascontiguousarray(ready.features[:, np.sort(ranked[:k])]), None, train, test)
        if kind == "binary":
            found += list(learners.classify(cut, y, 2, seed)[:, :, 1].T)
            continue
        if kind == "survival":
            found += learners.cox(cut.linear, cut.linear_test, y, (100.0, 30.0, 10.0, 3.0, 1.0))
            found += learners.ridge(cut.linear, cut.linear_test, target, (300.0, 30.0, 3.0))
            found += learners.neighbours(cut, target)[1:] + learners.kernels(cut, target, (1.0,))
        else:
            found += learners.ridge(cut.linear, cut.linear_test, target, (300.0, 100.0, 30.0, 10.0, 1.0))
            found += learners.neighbours(cut, target) + learners.kernels(cut, target, (1.0, 0.1))
        found += learners.trees(cut.features, cut.features_test, target[:, 0], seed, TREES, forest=20)
    return centre + scale * learners.columns(found) if kind == "regression" else learners.columns(found)


def cheap_results(rows: Rows) -> dict[str, Rows]:
    """By place and rule; and the share of configurations near the best, with 500 samples."""
    large = rows[(rows.n == 500) & (rows.rule == "none")]
    return {"cheap": by_place(rows), "near": large.groupby(["data", "n"], sort=False).near.mean().reset_index()}


def against_cvst(options: Options, name: str, n: int, sample: int) -> list[Row]:
    """CVST, the whole cross-validation and the default race on one sub-sample."""
    ready, d = sets.read(options, name), cheap_table(options, name, n, sample)
    # The rows of the table in their own order, which is random: the same draw as for the table.
    rows = np.random.default_rng([n, sample, *name.encode()]).permutation(len(ready.y))[:n]

    def right(train: Array, test: Array) -> Array:
        return (fit_cheap(ready, rows[train], rows[test], sample) > 0.5) == (d.y[test, None] == 1)

    c, truth, scores = d.table.n_configurations, d.truth("accuracy"), sets.scores_on(d.table, "accuracy")
    found, full = cvst(n, c, right), int(scores.argmax())
    raced = replay(d.table, sobercv.PredictiveDrop(), Question.ask("accuracy", random_state=sample))
    alive = raced.survivors.configurations
    returned = int(alive[scores[alive].argmax()])
    error = float(np.sqrt(max(scores[full] * (1 - scores[full]), 1e-9) / n))
    return [{
        "configurations": c,
        "models, cvst": found.models / (c * FOLDS), "rows, cvst": found.rows / (c * FOLDS * n * (1 - 1 / FOLDS)),
        "steps": found.steps, "lost, cvst": (truth[full] - truth[found.winner]) / error,
        "models, race": raced.models, "lost, race": (truth[full] - truth[returned]) / error,
    }]  # fmt: skip


# ---- counting the dropped: groups, repeats, folds ----
KINDS = ("single samples", "groups of five", "two repeats", "folds drawn")
CONFIGURATIONS = 50
GROUP, ALIKE = 5, 0.5  # samples of a group, and the correlation of their errors
SAME = 0.8  # correlation of errors between repeats


def dropped_table(kind: str, n: int, rho: float, seed: int) -> tuple[sobercv.Predictions, Array]:
    """Predictions of configurations whose accuracies are known [C], errors correlated by `rho` between them."""
    rng = np.random.default_rng([16, n, int(10 * rho), KINDS.index(kind), seed])
    truth, c = rng.beta(9.0, 6.0, CONFIGURATIONS), CONFIGURATIONS
    groups = np.arange(n) // GROUP if kind == "groups of five" else np.arange(n)
    repeats = 2 if kind == "two repeats" else 1

    def normal(width: int) -> Array:
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


def dropped(options: Options, kind: str, n: int, rho: float, sample: int) -> list[Row]:
    """The default race; the estimate of the whole table, of the survivors alone, and with the dropped."""
    whole, truth = dropped_table(kind, n, rho, sample)
    by = "fold" if kind == "folds drawn" else "sample"
    asked: dict[str, Any] = {"by": by, "n_bootstraps": N_BOOTSTRAPS, "random_state": sample}
    raced = replay(whole, sobercv.PredictiveDrop(), Question.ask("accuracy", **asked))
    row = {"models": raced.models}
    for who, one in (("none", whole), ("survivors", raced.survivors), ("dropped", raced.counted)):
        estimate = sobercv.bbc(None, one, "accuracy", **asked)
        (low, high), true = estimate.interval, truth[estimate.winner]
        row |= {f"bias, {who}": estimate.value - true, f"covered, {who}": float(low <= true <= high)}
    return [row]


def dropped_results(rows: Rows) -> Row:
    names = [name for name in rows if name.startswith(("models", "bias", "covered"))]
    rmse = {f"rmse, {who}": np.sqrt((rows[f"bias, {who}"] ** 2).mean()) for who in ("none", "survivors", "dropped")}
    added = rows["bias, dropped"] - rows["bias, none"]
    return {"tables": len(rows), **rows[names].mean(), **rmse, "error of the difference": added.sem()}


# ---- how often the betting rule drops the winner ----
CHANCES = (0.05, 0.2)


def guarantee(options: Options, n: int, c: int, equal: bool, rho: float, sample: int) -> list[Row]:
    """Whether the winner was dropped, and the share of models trained, at each chance.

    Where all configurations are equally good, the leader changes most often and a winner is easiest to lose.
    """
    made, _ = correlated(n, c, *((9e4, 6e4) if equal else (9.0, 6.0)), rho, sample)
    winner = sets.scores_on(made, "accuracy").argmax()  # the first of the best
    rows = []
    for chance in CHANCES:
        raced = replay(made, sobercv.BettingDrop(chance), Question.ask("accuracy", random_state=sample))
        lost = float(winner not in raced.survivors.configurations)
        rows.append({"chance": chance, "lost": lost, "models": raced.models})
    return rows


def lost_winners(rows: Rows) -> Row:
    lost, races = rows.lost.mean(), len(rows)
    error = np.sqrt(max(lost * (1 - lost), 1 / races) / races)
    return {"races": races, "lost": lost, "error": error, "models": rows.models.mean()}


FEW = [name for name, (c, *_) in SETTINGS.items() if c == 50]
PARTS = {
    "main": Part(KEYS, lambda: design(SETTINGS, "grid", "binary"), partial(race, grid, RULES), by_place,
                 about={"folds": FOLDS}),
    "cheap": Part(KEYS, lambda: design([], "race", "regression", "survival"),
                  partial(race, cheap, {name: RULES[name] for name in FEWER}), cheap_results),
    "others": Part(KEYS, lambda: design(FEW, "race", *METRICS_OF, most=OTHERS_SAMPLES),
                   partial(race, cheap, OTHERS), by_place),
    "cvst": Part("data n sample", lambda: places("race", "binary", most=CVST_SAMPLES), against_cvst,
                 lambda rows: rows.drop(columns="sample")),
    "dropped": Part("kind n rho sample", lambda: list(product(KINDS, (100, 300), (0.0, 0.5, 0.9))), dropped,
                    lambda rows: grouped(rows, "kind n rho", dropped_results, sort=False), samples=100, at_once=100),
    "guarantee": Part("n configurations equal rho sample",
                      lambda: list(product((100, 300), (20,), (False, True), (0.0, 0.9))), guarantee,
                      lambda rows: grouped(rows, "n configurations equal rho chance", lost_winners),
                      samples=1250, at_once=1250),
}  # fmt: skip

# ---- the page ----
DEFAULT, ZONE, PAPER = "predictive .01", "predictive .015, zone .2, guard 30", "bced"
CHOICES = {".002": "predictive .002", ".005": "predictive .005", ".01": "predictive .01", ".02": "predictive .02"}
SHOWN = (100, 500)
KEPT, LOST = 0.9, 0.1


def pooled(rows: Rows) -> Row:
    """Put places together, each table counting the same; models saved is a harmonic mean of the tables' ratios."""
    numbers = rows.select_dtypes("number")
    means = pd.Series(np.average(numbers, axis=0, weights=rows.tables), numbers.columns)
    rmse = {f"rmse {who}": np.sqrt(means[f"squares {who}"]) for who in ("of survivors", "with the dropped")}
    lost = means["lost in standard errors"]
    return {**means, "tables": rows.tables.sum(), "fewer": 1 / means.models, "lost": lost, **rmse}


def of_rule(rows: Rows, rule: str) -> Rows:
    """The real tables of the sizes that are shown, by metric and size."""
    some = rows[~rows.simulated & rows.n.isin(SHOWN) & (rows.rule == rule)]
    return grouped(some.assign(order=some.metric.map(list(TITLES).index)), "order metric n", pooled)


def left_out(rows: Rows) -> Rows:
    """Each data set with the largest chance that keeps the winner and its true score in all others."""

    def one(here: Rows) -> Row:
        others = rows[rows.data != here.data.iloc[0]]
        told = {chance: of_rule(others, rule) for chance, rule in CHOICES.items()}
        good = [chance for chance, some in told.items() if (some.kept >= KEPT).all() and (some.lost <= LOST).all()]
        own = here[(here.rule == CHOICES[chance := max(good, key=float)]) & here.n.isin(SHOWN)]
        return {"chance": chance, **{f"fewer {n}": pooled(own[own.n == n])["fewer"] for n in SHOWN}, **pooled(own)}

    return grouped(rows[~rows.simulated], "data", one)


def all_rules(rows: Rows) -> Rows:
    """Every rule in every kind of table: real ones by metric and size, simulated ones by size and correlation."""
    rows = rows.assign(order=rows.metric.map(list(TITLES).index), rho=rows.data.str.extract("rho=(.*)")[0])
    rows = rows.sort_values(["simulated", "order", "n", "rho"], kind="stable")
    real = "real, " + rows.metric.map(TITLES) + ", N = " + rows.n.astype(str)
    made = "simulated accuracy, N = " + rows.n.astype(str) + ", correlation " + rows.rho
    return grouped(rows.assign(title=real.where(~rows.simulated, made)), "title rule", pooled, sort=False)


def draw(plt: Any, numbers: Any) -> Any:
    """How many times fewer models the paper's rule and the default train."""
    ours, papers = numbers["ours"], numbers["papers"]
    places, (fig, ax) = np.arange(len(ours)), plt.subplots(figsize=(9, 4.2))
    ax.barh(places - 0.2, list(papers.fewer), 0.38, color="#8c8c8c", label="the paper's rule")
    ax.barh(places + 0.2, list(ours.fewer), 0.38, color="#4c72b0", label="default")
    ax.axvline(1, color="0.4", lw=0.8)
    ax.set_yticks(places, [f"{row.title}, {row.n} samples" for row in ours.itertuples()])
    ax.invert_yaxis()
    ax.set_xlabel("times fewer models than the whole cross-validation")
    ax.legend(frameon=False)
    return fig


def page() -> Page:
    classes, cheap_, others_, dropped_, betting, cvst_, near = (
        read_results(f"racing{part}") for part in ("", "-cheap", "-others", "-dropped", "-guarantee", "-cvst", "-near")
    )
    rows = pd.concat([classes, cheap_])
    none, ours, papers, zone = (of_rule(rows, rule) for rule in ("none", DEFAULT, PAPER, ZONE))
    real = rows[~rows.simulated]
    rivals = grouped(others_[others_.n != 40], "simulated metric n rule", pooled).groupby("rule")
    choices, large = left_out(classes), cvst_[cvst_.n == cvst_.n.max()].mean(numeric_only=True)
    models = cheap_[cheap_.n == 500].pivot(index=["data", "metric"], columns="rule", values="models").reset_index()
    models = near.merge(models, on="data").sort_values("near")
    numbers = {
        "ours": ours.assign(
            title=ours.metric.map(TITLES), paper=papers.fewer, share=100 * ours.kept, none=none["bias of survivors"]
        ),
        "papers": papers, "zone": zone[zone.metric.isin(["roc_auc", "accuracy"])], "real": real, "choices": choices,
        "tables": real[(real.rule == "none") & (real.metric != "accuracy")].tables.sum(),
        "chances": ", ".join(CHOICES), "chosen": " or ".join(sorted(set(choices.chance))),
        "added": {who: dropped_[f"bias, {who}"] - dropped_["bias, none"] for who in ("survivors", "dropped")},
        "covered": {who: 100 * dropped_[f"covered, {who}"].min() for who in ("none", "survivors", "dropped")},
        "saves": {rule: f"{some.fewer.min():.1f} to {some.fewer.max():.1f}" for rule, some in rivals},
        "loses": {rule: some.lost.max() for rule, some in rivals}, "betting": betting,
        "closest": 100 * (betting.lost - betting.chance).max(),
        "large": large, "cvst_saves": 1 / large["models, cvst"],
        "near": models.assign(
            title=models.metric.map(TITLES), ours=1 / models[DEFAULT], paper=1 / models[PAPER]
        ),
        "rules": all_rules(rows), "dropped": dropped_, "others": others_, "cvst": cvst_,
    }  # fmt: skip
    return Page("racing", "racing", draw, numbers)


PAGES = (page,)
