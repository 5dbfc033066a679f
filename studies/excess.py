"""How much more a cross-validated score errs than a bootstrap shows, and how published intervals do there.

Also: differences between near-equal learners, and few groups, both simulated.
"""

from __future__ import annotations

from itertools import product
from zlib import crc32

import numpy as np
from scipy import special
from sklearn.linear_model import lasso_path

import sobercv
from sobercv import metrics
from sobercv.inference.units import Units

from . import excess_rivals as rivals
from . import excess_tables, sets
from .excess_pages import PAGES  # noqa: F401
from .excess_tables import SIMULATED, Splits, Trained
from .harness import Array, Key, Options, Part, Rng, Row, ordered
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
BY_ROWS = ("accuracy", "neg_mean_squared_error")  # metrics that are a mean over rows


def places() -> list[Key]:
    """All tables, the first of every set first."""
    each = {**sets.sizes("excess"), **dict.fromkeys(SIMULATED, (100, 400))}
    real = {name: dict.fromkeys(sizes, SAMPLES * (2 if len(sizes) == 1 else 1)) for name, sizes in each.items()}
    lassos = {f"lasso_{active}": {400: LASSO_SAMPLES} for active in LASSO}
    found = sets.in_rounds(real, 2) + sets.in_rounds(lassos, 48)
    return sorted(found, key=lambda key: (key[2] // (48 if key[0] in lassos else 2), key))


def one(options: Options, name: str, n: int, sample: int) -> list[Row]:
    """Train and judge one table: for each metric the tuned winner, and two configurations as if nothing was tuned.

    A row holds what our intervals are made of, so that others can be made without training; and those of the rivals.
    """
    if name.startswith("lasso"):
        table = excess_tables.lasso(name.split("_")[1], sample, n)
    else:
        if name in SIMULATED:
            X, y = excess_tables.population(name, sets.MOST_ROWS)
            ready = sets.Ready(name, *sets.numbers(X), y)
        else:
            ready = sets.read(options, name)
        table = excess_tables.real(ready, n, sample, heavy=sample % 8 == 2)
    built, truth, seed = table.sample.table, table.sample.judges, crc32(repr((name, n, sample)).encode())
    kind, resamples = sets.kind_of(table.sample.y), Units(truth.n_samples, seed, "judges").counts(0, JUDGES)
    rows = []
    for metric in METRICS[kind]:
        true, errors = table.sample.truth(metric), metrics.get(metric).bind(truth, n_jobs=1).scores(resamples)
        for fixed in (None, 0, built.n_configurations - 1):
            some = built if fixed is None else built.take_configurations(np.array([fixed]))
            found = sobercv.bbc(None, some, metric, n_bootstraps=BOOTSTRAPS, random_state=seed)
            w = found.winner
            row = {
                "kind": kind, "metric": metric, "which": "tuned" if fixed is None else f"fixed {fixed}",
                **kept(found, true[w], np.nanstd(errors[:, w], ddof=1), (0.025, 0.05, 0.975)),
                **pair_models(table, metric, w), **by_rows(table, metric, w),
                **held_out(table, metric, fixed, true, seed),
            }  # fmt: skip
            if fixed is None:  # was tuning worth it: the winner against the first configuration
                asked = {"n_bootstraps": BOOTSTRAPS, "random_state": seed}
                gap = sobercv.difference(None, built, metric, first="best", second=[0], **asked)
                row |= claimed(gap, true[w] - true[0]) | {"gain error": np.nanstd(errors[:, w] - errors[:, 0], ddof=1)}
            rows.append(row)
    return rows


def claimed(gap: sobercv.Difference, truth: float) -> Row:
    """What is said about a difference, and what is true."""
    low, high = gap.interval
    return {"gain": gap.value, "gain low": low, "gain high": high, "gain naive": gap.naive, "gain truth": truth}


def pair_models(table: Trained, metric: str, w: int) -> Row:
    """What models without two folds say about the winner: the parts "shared" and "mutual" of the excess page.

    As `sobercv.inference.instability` measures them, but for the halves of the folds, which are drawn.
    """
    y, folds, own, f = table.sample.y, table.sample.folds[:, 0], table.sample.predictions[:, w, 0], len(table.paired)
    columns = [np.where(np.isnan(paired[:, w]), own, paired[:, w]) for paired in table.paired]
    rest, rng = np.stack([folds != j for j in range(f)]), np.random.default_rng(0)
    halves = [np.isin(folds, rng.permutation(f)[: f // 2]) for _ in range(HALVES)]
    masks = np.stack([rest & side for half in halves for side in (half, ~half)]).astype(np.uint8)
    built = sets.build(y, np.stack([*columns, own], axis=1)[:, :, None])
    scores = metrics.get(metric).bind(built, n_jobs=1).scores(masks.reshape(-1, len(y))).reshape(len(masks), f, f + 1)
    moved = np.diagonal(scores[:, :, :f], axis1=1, axis2=2) - scores[:, :, f]  # [masks, f]
    moved = moved - moved.mean(axis=1, keepdims=True)
    shared = np.nanmean((f - 1) / f * (moved[::2] * moved[1::2]).sum(axis=1))

    cells = [(j, k) for j in range(f) for k in range(f) if j != k]
    inside = [(folds == k).reshape(-1, *[1] * (own.ndim - 1)) for k in range(f)]
    changed = np.stack([*(np.where(inside[k], columns[j], own) for j, k in cells), own], axis=1)
    scores = sets.scores_on(sets.build(y, changed[:, :, None]), metric)
    E = np.full((f, f), np.nan)
    E[tuple(np.array(cells).T)] = scores[:-1] - scores[-1]
    for _ in range(20):  # the diagonal is missing, so that means are taken out in turns
        E -= np.nanmean(E, axis=1, keepdims=True)
        E -= np.nanmean(E, axis=0, keepdims=True)
    return {"J shared": shared, "J pairs": np.nansum(E * E.T)}


def by_rows(table: Trained, metric: str, w: int) -> Row:
    """Published intervals of metrics that are a mean over rows."""
    found = dict.fromkeys(("Wald", "corrected-t", "conservative-z", "Bates", "Bates 4"), rivals.NONE)
    if metric in BY_ROWS:
        y, folds, out = table.sample.y, table.sample.folds[:, 0], table.sample.predictions[:, :, 0]

        def means(splits: Splits) -> Array:
            return np.array([of_rows(metric, y[test], p[:, w]).mean() for test, p in splits])

        nested = [
            (by, of_rows(metric, y, p[:, w]), np.stack([of_rows(metric, y, one[:, w]) for one in paired]))
            for by, p, paired in [(folds, out, table.paired), *table.repeats]
        ]
        found["Wald"] = rivals.wald(nested[0][1], LEVEL)
        found["corrected-t"] = rivals.corrected_t(means(table.splits), 1 / 9, LEVEL)
        found["Bates"] = rivals.bates(nested[:1], LEVEL)
        if table.halves:
            halves = np.array([[means(half).mean() for half in two] for two in table.halves])
            found["conservative-z"] = rivals.conservative_z(means(table.splits), halves, LEVEL)
            found["Bates 4"] = rivals.bates(nested, LEVEL)
    return named(found)


def held_out(table: Trained, metric: str, fixed: int | None, true: Array, seed: int) -> Row:
    """Intervals of a hold-out: selected on the other rows (MABT: preselected there); truth is that of all rows."""
    found = {"hold-out": rivals.NONE, "MABT": rivals.NONE}
    truths = {"hold-out truth": np.nan, "MABT truth": np.nan}
    if metric in (*BY_ROWS, "roc_auc"):
        held, out, first = table.held
        y, rest = table.sample.y[held], np.delete(table.sample.y, held)
        within = sets.scores_on(sets.build(rest, out[:, :, None]), metric)
        chosen = int(np.nanargmax(within)) if fixed is None else fixed
        truths["hold-out truth"] = true[chosen]
        if metric == "roc_auc":
            found["hold-out"] = rivals.delong(y, first[:, chosen], LEVEL)
        elif metric == "accuracy":
            found["hold-out"] = rivals.wilson(of_rows(metric, y, first[:, chosen]), LEVEL)
            few = np.flatnonzero(within >= np.quantile(within, 0.9)) if fixed is None else np.array([fixed])
            each = np.column_stack([of_rows(metric, y, first[:, c]) for c in few])
            best, bound = rivals.mabt(each, LEVEL, np.random.default_rng(seed))
            found["MABT"], truths["MABT truth"] = (np.nan, np.nan, bound), true[few[best]]
        else:
            found["hold-out"] = rivals.wald(of_rows(metric, y, first[:, chosen]), LEVEL)
    return named(found) | truths


def named(found: dict[str, rivals.Ends]) -> Row:
    """Both ends and the one-sided lower bound of each interval."""
    return {f"{name} {end}": value for name, ends in found.items() for end, value in zip("lhb", ends, strict=True)}


def of_rows(metric: str, y: Array, p: Array) -> Array:
    """Scores of single rows: squared errors, or whether labels are right; predictions [N] or [N, K]."""
    if metric == "neg_mean_squared_error":
        return -((y - p) ** 2)
    label, missing = (p > 0.5, np.isnan(p)) if p.ndim == 1 else (p.argmax(axis=1), np.isnan(p[:, 0]))
    return np.where(missing, np.nan, label == y)


# ---- differences between near-equal learners, where intervals from cross-validation are known to fail ----
#: Samples, features, features with a coefficient.
DESIGNS = ((90, 30, 5), (90, 200, 5), (360, 30, 5), (360, 200, 20))
PENALTIES, FOLDS, TABLES = 15, 10, 200
#: Name -> configurations on the one side and on the other; lassos come first, strongest penalty first.
PAIRS: dict[str, tuple[list[int], list[int]]] = {
    "lasso, next penalty": ([7], [8]),
    "ridge, next penalty": ([PENALTIES + 7], [PENALTIES + 8]),
    "lasso, ridge": ([7], [PENALTIES + 7]),
    "best lasso, best ridge": (list(range(PENALTIES)), list(range(PENALTIES, 2 * PENALTIES))),
}


def fits(X: Array, y: Array) -> tuple[Array, Array]:
    """Coefficients [p, C] and intercepts [C] of all lassos and ridges."""
    n = len(y)
    mean, level = X.mean(axis=0), y.mean()
    Z, t = X - mean, y - level
    lassos = lasso_path(Z, t, alphas=np.geomspace(1.0, 0.03, PENALTIES), tol=1e-4, max_iter=5000)[1]
    u, s, vt = np.linalg.svd(Z, full_matrices=False)
    shrunk = s[:, None] / (s[:, None] ** 2 + n * np.geomspace(10, 0.01, PENALTIES))
    coefficients = np.hstack([lassos, vt.T @ (shrunk * (u.T @ t)[:, None])])
    return coefficients, level - mean @ coefficients


def differences(options: Options, n: int, p: int, active: int, sample: int) -> list[Row]:
    """Compare all pairs on a simulated table.

    Bayle, Janson and Mackey (arXiv 2508.04409) show that a comparison of two lassos, or of a lasso with a ridge, can be
    less stable than each of the learners. The true difference follows from the coefficients of the refitted models.
    """
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
    rows = []
    for name, (first, second) in PAIRS.items():
        gap = sobercv.difference(
            y, predictions, "neg_mean_squared_error", first=first, second=second, folds=folds,
            n_bootstraps=BOOTSTRAPS, random_state=sample,
        )  # fmt: skip
        rows.append({"pair": name, **claimed(gap, truth[gap.first.winner] - truth[gap.second.winner])})
    return rows


# ---- few groups ----
NUMBERS = (3, 4, 5, 6, 8, 10, 15, 20, 40)
CONFIGURATIONS, SIZE, GROUP_BOOTSTRAPS = 20, 10, 300
SHIFT, OWN = 0.6, 0.4  # standard deviations, in log odds or in standard deviations of a score


def accuracy(g: int, rng: Rng) -> tuple[Array, Array, Array]:
    """Labels, predictions [N, C], and the true accuracy of each configuration on new groups."""
    odds = rng.normal(1.0, 0.3, CONFIGURATIONS)
    here = odds + rng.normal(0, SHIFT, (g, 1)) + rng.normal(0, OWN, (g, CONFIGURATIONS))
    right = rng.random((g, SIZE, CONFIGURATIONS)) < special.expit(here)[:, None]
    y = rng.integers(0, 2, g * SIZE)
    predictions = np.where(right.reshape(-1, CONFIGURATIONS), y[:, None], 1 - y[:, None])
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    truth = special.expit(odds[:, None] + np.hypot(SHIFT, OWN) * nodes) @ weights / weights.sum()
    return y, predictions, truth


def area(g: int, rng: Rng) -> tuple[Array, Array, Array]:
    """The same for AUC: scores of whole groups are shifted."""
    apart = rng.normal(1.0, 0.3, CONFIGURATIONS)
    y = np.tile(np.arange(SIZE) % 2, g)
    shifts = rng.normal(0, SHIFT, (g, 1)) + rng.normal(0, OWN, (g, CONFIGURATIONS))
    scores = apart * y[:, None] + np.repeat(shifts, SIZE, axis=0) + rng.normal(size=(g * SIZE, CONFIGURATIONS))
    return y, scores, special.ndtr(apart / np.sqrt(2 * (1 + SHIFT**2 + OWN**2)))


def groups(options: Options, metric: str, g: int, sample: int) -> list[Row]:
    """Judge a simulated table with g groups of ten samples, each group easier or harder."""
    make = accuracy if metric == "accuracy" else area
    y, predictions, truth = make(g, np.random.default_rng([g, sample, len(metric)]))
    found = sobercv.bbc(y, predictions, metric, groups=np.repeat(np.arange(g), SIZE), n_bootstraps=GROUP_BOOTSTRAPS)
    (low, high), said = found.interval, {"naive": found.naive, "value": found.value}
    return [{"truth": truth[found.winner], **said, "low": low, "high": high, "lower": found.lower_bound(LEVEL)}]


PARTS = {
    "main": Part("set n sample", places, one, ordered, "%.5g"),
    "differences": Part("n p active sample", lambda: DESIGNS, differences, digits="%.4g", samples=TABLES, at_once=20),
    "groups": Part(
        "metric groups sample", lambda: list(product(("accuracy", "roc_auc"), NUMBERS)), groups, digits="%.4g",
        samples=TABLES, at_once=TABLES,
    ),
}  # fmt: skip
