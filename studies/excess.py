"""How much more a cross-validated score errs than a bootstrap shows, and how published intervals do there.

Also: differences between near-equal learners, and few groups, both simulated.
"""

from __future__ import annotations

from collections.abc import Callable
from zlib import crc32

import numpy as np
from scipy import special
from sklearn.linear_model import lasso_path

import sobercv
from sobercv import Predictions, metrics
from sobercv.inference.units import Units

from . import excess_rivals as rivals
from . import excess_tables, generators, sets
from .excess_pages import PAGES  # noqa: F401
from .excess_tables import CALIBRATION, FRESH, JUDGING, SIMULATED, Trained
from .harness import Key, Options, Part, Row, ordered
from .intervals import kept

LASSO = ("10", "100", "b")  # active features, or Rink and Brannath's feature case B
SAMPLES, LASSO_SAMPLES = 32, 256
LEVEL, BOOTSTRAPS = 0.95, 500
HALVES = 4  # ways to halve the folds
JUDGES = 60  # resamples for the standard error of the truth
METRICS = {
    "binary": ("accuracy", "roc_auc"),
    "classes": ("accuracy", "roc_auc_ovr"),
    "regression": ("r2", "neg_mean_squared_error"),
}
BY_ROWS = ("Wald", "corrected-t", "conservative-z", "Bates", "Bates 4")
Score = Callable[[np.ndarray, np.ndarray], np.ndarray]


def places() -> list[Key]:
    """All tables, the first of every set first."""
    found = [
        (name, n, sample)
        for name, sizes in {**CALIBRATION, **JUDGING, **FRESH, **SIMULATED}.items()
        for n in sizes
        for sample in range(SAMPLES * (2 if len(sizes) == 1 else 1))
    ]
    found += [(f"lasso_{active}", 400, sample) for active in LASSO for sample in range(LASSO_SAMPLES)]
    return sorted(found, key=lambda key: (key[2] // (48 if key[0].startswith("lasso") else 2), key))


def one(options: Options, name: str, n: int, sample: int) -> list[Row]:
    """Train and judge one table."""
    if name.startswith("lasso"):
        table, kind = excess_tables.lasso(name.split("_")[1], sample, n), "binary"
    else:
        if name in SIMULATED:
            X, y = generators.population(name, sets.MOST_ROWS)
            ready = sets.Ready(name, generators.POPULATIONS[name], *sets.numbers(X), y)
        else:
            ready = sets.read(options, name)
        table, kind = excess_tables.real(ready, n, sample, heavy=sample % 8 == 2), ready.kind
    rows = judge(table, kind, crc32(repr((name, n, sample)).encode()))
    return [{"set": name, "n": n, "sample": sample, "kind": kind, **row} for row in rows]


def judge(table: Trained, kind: str, seed: int) -> list[Row]:
    """Rows of one table: for each metric the tuned winner, and two configurations alone as if nothing was tuned.

    A row holds what our intervals are made of, so that others can be made without training; and those of the rivals.
    """
    built = _build(table.y, table.once.predictions, table.once.folds)
    truth = _build(table.y_judges, table.judged)
    resamples = Units(truth.n_samples, seed, "judges").counts(0, JUDGES)
    rows = []
    for metric in METRICS[kind]:
        scorer = metrics.get(metric).bind(truth, n_jobs=1)
        true, errors = sets.scores_on(truth, metric), scorer.scores(resamples)
        last = built.n_configurations - 1
        for which in ("tuned", 0, last):
            some = built if which == "tuned" else built.take_configurations(np.arange(last + 1) == which)
            found = sobercv.bbc(None, some, metric, n_bootstraps=BOOTSTRAPS, random_state=seed)
            w = found.winner
            row = {
                "metric": metric, "which": "tuned" if which == "tuned" else f"fixed {which}",
                **kept(found, true[w], np.nanstd(errors[:, w], ddof=1), (0.025, 0.05, 0.975)),
                **_pair_models(table, metric, w), **_rivals(table, kind, metric, w),
                **_held_out(table, kind, metric, None if which == "tuned" else w, true, seed),
            }  # fmt: skip
            rows.append(row | (_gain(built, metric, seed, true, errors) if which == "tuned" else {}))
    return rows


def _pair_models(table: Trained, metric: str, w: int) -> Row:
    """What models without two folds say about the winner: the parts "shared" and "mutual" of the excess page.

    The shared part is the covariance of what deleting a fold from the training rows does to two halves of the other
    folds, whose models have been trained apart.
    """
    folds, own, f = table.once.folds, table.once.predictions[:, w], len(table.once.paired)
    columns = [np.where(np.isnan(paired[:, w]), own, paired[:, w]) for paired in table.once.paired]
    built = _build(table.y, np.stack([*columns, own], axis=1))
    rest = np.stack([folds != j for j in range(f)])
    rng = np.random.default_rng(0)
    halves = [np.isin(folds, rng.permutation(f)[: f // 2]) for _ in range(HALVES)]
    masks = [rest & side for half in halves for side in (half, ~half)]
    scores = metrics.get(metric).bind(built, n_jobs=1).scores(np.concatenate(masks).astype(np.uint8))
    scores = scores.reshape(len(masks), f, f + 1)
    moved = np.diagonal(scores[:, :, :f], axis1=1, axis2=2) - scores[:, :, f]  # [masks, f]
    moved = moved - moved.mean(axis=1, keepdims=True)
    shared = np.nanmean((f - 1) / f * (moved[::2] * moved[1::2]).sum(axis=1))
    return {"J shared": float(shared), "J pairs": _mutual(table, metric, own, columns)}


def _mutual(table: Trained, metric: str, own: np.ndarray, columns: list[np.ndarray]) -> float:
    """Twice the sum, over pairs of folds, of what each one's rows do to the score of the other when they train it.

    E[j, k] is the change of the whole score when the rows of fold k are predicted by the models without fold j, too;
    what fold j does to all folds and what all folds do to fold k is taken out.
    """
    f = len(columns)
    cells = [(j, k) for j in range(f) for k in range(f) if j != k]
    inside = [(table.once.folds == k).reshape(-1, *[1] * (own.ndim - 1)) for k in range(f)]
    built = _build(table.y, np.stack([*(np.where(inside[k], columns[j], own) for j, k in cells), own], axis=1))
    scores = sets.scores_on(built, metric)
    E = np.full((f, f), np.nan)
    E[tuple(np.array(cells).T)] = scores[:-1] - scores[-1]
    for _ in range(20):  # the diagonal is missing, so that means are taken out in turns
        E -= np.nanmean(E, axis=1, keepdims=True)
        E -= np.nanmean(E, axis=0, keepdims=True)
    return float(np.nansum(E * E.T))


def _gain(built: Predictions, metric: str, seed: int, true: np.ndarray, errors: np.ndarray) -> Row:
    """Was tuning worth it: the winner against the first configuration."""
    found = sobercv.difference(
        None, built, metric, first="best", second=[0], n_bootstraps=BOOTSTRAPS, random_state=seed
    )
    w = found.first.winner
    low, high = found.interval
    return {
        "gain": found.value, "gain low": low, "gain high": high, "gain naive": found.naive,
        "gain truth": true[w] - true[0],
        "gain error": float(np.nanstd(errors[:, w] - errors[:, 0], ddof=1)),
    }  # fmt: skip


def _rivals(table: Trained, kind: str, metric: str, w: int) -> Row:
    """Intervals of metrics that are a mean over rows."""
    found = dict.fromkeys(BY_ROWS, rivals.NONE)
    if metric in ("accuracy", "neg_mean_squared_error"):
        score, y = _scores(kind, metric), table.y

        def means(splits: excess_tables.Splits) -> np.ndarray:
            return np.array([score(y[test], p[:, w]).mean() for test, p in splits])

        halves = np.array([[means(half).mean() for half in two] for two in table.halves])
        nested = [
            (folds, score(y, out[:, w]), np.stack([score(y, one[:, w]) for one in paired]))
            for folds, out, paired in [table.once, *table.repeats]
        ]
        found["Wald"] = rivals.wald(score(y, table.once.predictions[:, w]), LEVEL)
        found["corrected-t"] = rivals.corrected_t(means(table.splits), 1 / 9, LEVEL)
        found["Bates"] = rivals.bates(nested[:1], LEVEL)
        if len(halves):
            found["conservative-z"] = rivals.conservative_z(means(table.splits), halves, LEVEL)
            found["Bates 4"] = rivals.bates(nested, LEVEL)
    return _named(found)


def _held_out(table: Trained, kind: str, metric: str, w: int | None, true: np.ndarray, seed: int) -> Row:
    """Intervals of a hold-out: selected on the other rows (MABT: preselected there); truth is that of all rows."""
    found = {"hold-out": rivals.NONE, "MABT": rivals.NONE}
    truths = {"hold-out truth": float("nan"), "MABT truth": float("nan")}
    if metric in ("accuracy", "neg_mean_squared_error", "roc_auc"):
        held, out, first = table.held
        y, rest = table.y[held], np.delete(table.y, held)
        within = sets.scores_on(_build(rest, out), metric)
        chosen = int(np.nanargmax(within)) if w is None else w
        truths["hold-out truth"] = true[chosen]
        if metric == "roc_auc":
            found["hold-out"] = rivals.delong(y, first[:, chosen], LEVEL)
        elif metric == "accuracy":
            right = _scores(kind, metric)
            found["hold-out"] = rivals.wilson(right(y, first[:, chosen]), LEVEL)
            few = np.flatnonzero(within >= np.quantile(within, 0.9)) if w is None else np.array([w])
            each = np.column_stack([right(y, first[:, c]) for c in few])
            best, bound = rivals.mabt(each, LEVEL, np.random.default_rng(seed))
            found["MABT"], truths["MABT truth"] = (float("nan"), float("nan"), bound), true[few[best]]
        else:
            found["hold-out"] = rivals.wald(_scores(kind, metric)(y, first[:, chosen]), LEVEL)
    return _named(found) | truths


def _named(found: dict[str, rivals.Ends]) -> Row:
    return {f"{name} {end}": value for name, ends in found.items() for end, value in zip("lhb", ends, strict=True)}


def _scores(kind: str, metric: str) -> Score:
    """Scores of single rows: whether labels are right, or squared errors."""
    if metric == "neg_mean_squared_error":
        return lambda y, p: np.asarray(-((y - p) ** 2))
    if kind == "binary":
        return lambda y, p: np.where(np.isnan(p), np.nan, (p > 0.5) == y).astype(float)
    return lambda y, p: np.where(np.isnan(p[:, 0]), np.nan, p.argmax(axis=1) == y).astype(float)


def _build(y: np.ndarray, predictions: np.ndarray, folds: np.ndarray | None = None) -> Predictions:
    return sets.build(y, predictions[:, :, None], folds)


# ---- differences between near-equal learners, where intervals from cross-validation are known to fail ----
#: Samples, features, features with a coefficient.
DESIGNS = ((90, 30, 5), (90, 200, 5), (360, 30, 5), (360, 200, 20))
PENALTIES, FOLDS, TABLES, PIECE = 15, 10, 200, 20
#: Name -> configurations on the one side and on the other; lassos come first, strongest penalty first.
PAIRS: dict[str, tuple[list[int], list[int]]] = {
    "lasso, next penalty": ([7], [8]),
    "ridge, next penalty": ([PENALTIES + 7], [PENALTIES + 8]),
    "lasso, ridge": ([7], [PENALTIES + 7]),
    "best lasso, best ridge": (list(range(PENALTIES)), list(range(PENALTIES, 2 * PENALTIES))),
}


def fits(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients [p, C] and intercepts [C] of all lassos and ridges."""
    n = len(y)
    mean, level = X.mean(axis=0), y.mean()
    Z, t = X - mean, y - level
    lassos = lasso_path(Z, t, alphas=np.geomspace(1.0, 0.03, PENALTIES), tol=1e-4, max_iter=5000)[1]
    u, s, vt = np.linalg.svd(Z, full_matrices=False)
    shrunk = s[:, None] / (s[:, None] ** 2 + n * np.geomspace(10, 0.01, PENALTIES))
    coefficients = np.hstack([lassos, vt.T @ (shrunk * (u.T @ t)[:, None])])
    return coefficients, level - mean @ coefficients


def differences(options: Options, n: int, p: int, active: int, first: int) -> list[Row]:
    """Compare all pairs on some simulated tables.

    Bayle, Janson and Mackey (arXiv 2508.04409) show that a comparison of two lassos, or of a lasso with a ridge, can be
    less stable than each of the learners. The true difference follows from the coefficients of the refitted models.
    """
    rows = []
    for sample in range(first, first + PIECE):
        rng = np.random.default_rng([n, p, active, sample])
        beta = np.repeat([1.0, 0.0], [active, p - active]) / np.sqrt(active)
        X = rng.standard_normal((n, p))
        y = X @ beta + rng.standard_normal(n)
        folds = rng.permutation(n) % FOLDS
        predictions = np.empty((n, 2 * PENALTIES))
        for k in range(FOLDS):
            coefficients, intercepts = fits(X[folds != k], y[folds != k])
            predictions[folds == k] = X[folds == k] @ coefficients + intercepts
        coefficients, intercepts = fits(X, y)
        truth = -(((coefficients - beta[:, None]) ** 2).sum(axis=0) + intercepts**2 + 1.0)
        for name, (one_, other) in PAIRS.items():
            found = sobercv.difference(
                y, predictions, "neg_mean_squared_error", first=one_, second=other, folds=folds,
                n_bootstraps=BOOTSTRAPS, random_state=sample,
            )  # fmt: skip
            low, high = found.interval
            rows.append({
                "n": n, "p": p, "active": active, "sample": sample, "pair": name, "gain": found.value,
                "gain naive": found.naive, "gain low": low, "gain high": high,
                "gain truth": truth[found.first.winner] - truth[found.second.winner],
            })  # fmt: skip
    return rows


# ---- few groups ----
NUMBERS = (3, 4, 5, 6, 8, 10, 15, 20, 40)
CONFIGURATIONS, SIZE, GROUP_BOOTSTRAPS = 20, 10, 300
SHIFT, OWN = 0.6, 0.4  # standard deviations, in log odds or in standard deviations of a score


def accuracy(g: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, predictions [N, C], and the true accuracy of each configuration on new groups."""
    odds = rng.normal(1.0, 0.3, CONFIGURATIONS)
    here = odds + rng.normal(0, SHIFT, (g, 1)) + rng.normal(0, OWN, (g, CONFIGURATIONS))
    right = rng.random((g, SIZE, CONFIGURATIONS)) < special.expit(here)[:, None]
    y = rng.integers(0, 2, g * SIZE)
    predictions = np.where(right.reshape(-1, CONFIGURATIONS), y[:, None], 1 - y[:, None])
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    truth = special.expit(odds[:, None] + np.hypot(SHIFT, OWN) * nodes) @ weights / weights.sum()
    return y, predictions, truth


def area(g: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same for AUC: scores of whole groups are shifted."""
    apart = rng.normal(1.0, 0.3, CONFIGURATIONS)
    y = np.tile(np.arange(SIZE) % 2, g)
    shifts = rng.normal(0, SHIFT, (g, 1)) + rng.normal(0, OWN, (g, CONFIGURATIONS))
    scores = apart * y[:, None] + np.repeat(shifts, SIZE, axis=0) + rng.normal(size=(g * SIZE, CONFIGURATIONS))
    return y, scores, special.ndtr(apart / np.sqrt(2 * (1 + SHIFT**2 + OWN**2)))


def groups(options: Options, metric: str, g: int) -> list[Row]:
    """Judge simulated tables with g groups of ten samples, each group easier or harder."""
    rows = []
    for sample in range(TABLES):
        make = accuracy if metric == "accuracy" else area
        y, predictions, truth = make(g, np.random.default_rng([g, sample, len(metric)]))
        found = sobercv.bbc(y, predictions, metric, groups=np.repeat(np.arange(g), SIZE), n_bootstraps=GROUP_BOOTSTRAPS)
        assert found.interval is not None
        row = {"metric": metric, "groups": g, "sample": sample, "truth": float(truth[found.winner])}
        row |= {"naive": found.naive, "value": found.value, "low": found.interval[0], "high": found.interval[1]}
        rows.append(row | {"lower": found.lower_bound(0.95)})
    return rows


PARTS = {
    "main": Part(places, one, ordered, "%.5g"),
    "differences": Part(
        lambda: [(*d, first) for d in DESIGNS for first in range(0, TABLES, PIECE)], differences, digits="%.4g"
    ),
    "groups": Part(lambda: [(m, g) for m in ("accuracy", "roc_auc") for g in NUMBERS], groups, digits="%.4g"),
}
