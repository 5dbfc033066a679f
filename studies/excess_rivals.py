"""Published intervals by their formulas, on the splits of a table.

From losses or scores of one configuration to (low, high, lower) at a level, in the direction of a score (more is
better); NaN where a method has no such end.

- Wald: ten folds, all losses as if independent.
- corrected-t: Nadeau and Bengio (2003), 15 random splits of 90 and 10 %.
- conservative-z: the same authors, 10 halvings of 2 x 15 splits beside the 15 of all rows: 315 trainings.
- Bates, Hastie and Tibshirani (2023): nested cross-validation, 10 folds, 4 repeats here (they use 200).
- hold-out of a third: Wilson's interval of the accuracy, Wald's of an error, DeLong's of an AUC.
- MABT: Rink and Brannath (2025), bootstrap tilting of the best of the preselected on the hold-out, lower bounds only.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from . import sets
from .excess_tables import Splits, Trained
from .harness import Array, Rng, Row

Ends = tuple[float, float, float]
NONE: Ends = (np.nan, np.nan, np.nan)
LEVEL = 0.95
TILTED = 2000  # resamples of MABT


def around(centre: float, error: float, freedom: float = np.inf) -> Ends:
    """Symmetric ends, and the one-sided lower one."""
    both, one = (float(stats.t.ppf(share, freedom)) for share in ((1 + LEVEL) / 2, LEVEL))
    return centre - both * error, centre + both * error, centre - one * error


def wald(scores: Array) -> Ends:
    """Scores [N] of single rows."""
    return around(float(scores.mean()), float(scores.std(ddof=1)) / len(scores) ** 0.5)


def wilson(right: Array) -> Ends:
    """Shares of right labels [N]."""
    test = stats.binomtest(int(right.sum()), len(right))
    both, one = (test.proportion_ci(share, "wilson") for share in (LEVEL, 2 * LEVEL - 1))
    return both.low, both.high, one.low


def corrected_t(means: Array, test_by_train: float) -> Ends:
    """Mean score of each random split."""
    variance = means.var(ddof=1) * (1 / len(means) + test_by_train)
    return around(float(means.mean()), float(variance**0.5), len(means) - 1)


def conservative_z(means: Array, halves: Array) -> Ends:
    """Mean score of each random split of all rows; means of both halves of each halving [H, 2]."""
    variance = float(((halves[:, 0] - halves[:, 1]) ** 2).mean()) / 2
    return around(float(means.mean()), variance**0.5)


def bates(repeats: Sequence[tuple[Array, Array, Array]]) -> Ends:
    """Nested cross-validation: for each repeat folds [N], scores of rows [N], those without a second fold [F, N]."""
    a, b, inner, outer = [], [], [], []
    for folds, scores, paired in repeats:
        outer.append(scores.mean())
        for k in np.unique(folds):
            out = scores[folds == k]
            inside = float(paired[k, folds != k].mean())
            inner.append(inside)
            a.append((inside - out.mean()) ** 2)
            b.append(out.var(ddof=1) / len(out) if len(out) > 1 else 0.0)
    f, n = len(np.unique(folds)), len(folds)
    plain = float(np.concatenate([s for _, s, _ in repeats]).std(ddof=1)) / n**0.5
    mean_square = max(float(np.mean(a) - np.mean(b)), 0.0) * (f - 1) / f
    error = plain * min(max(mean_square**0.5 / max(plain, 1e-300), 1.0), f**0.5)
    bias = (1 + (f - 2) / f) * (float(np.mean(inner)) - float(np.mean(outer)))
    return around(float(np.mean(inner)) - bias, error)


def delong(y: Array, scores: Array) -> Ends:
    """AUC of a hold-out, with DeLong's variance."""
    wins = np.sign(scores[y == 1][:, None] - scores[y == 0][None]) / 2 + 0.5
    if min(wins.shape) < 2:
        return NONE
    variance = wins.mean(axis=1).var(ddof=1) / wins.shape[0] + wins.mean(axis=0).var(ddof=1) / wins.shape[1]
    return around(float(wins.mean()), float(variance**0.5))


def mabt(right: Array, rng: Rng) -> tuple[int, float]:
    """Which of the preselected is best on the hold-out, and the lower bound of its accuracy; NaN where none is found.

    `right` are their labels on the hold-out that are right [n, m].
    """
    n = len(right)
    counts = rng.multinomial(n, np.full(n, 1 / n), TILTED)
    drawn, whole = counts @ right / n, right.mean(axis=0)
    best = int(whole.argmax())
    ranks = stats.rankdata(drawn, "max", axis=0) / (TILTED + 1)
    largest = np.sort(ranks.max(axis=1))

    def tilted(tau: float) -> tuple[float, float]:
        weights = np.exp(tau * right[:, best])
        weights /= weights.sum()
        importance = np.exp(counts @ np.log(n * weights))
        below = float(importance[drawn[:, best] <= whole[best] + 1e-12].sum() / importance.sum())
        return 1 - np.searchsorted(largest, below, "right") / TILTED, float(weights @ right[:, best])

    low, high = -10.0, 0.0
    if tilted(low)[0] > 1 - LEVEL or tilted(high)[0] < 1 - LEVEL or whole[best] in (0.0, 1.0):
        return best, float("nan")
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if tilted(middle)[0] <= 1 - LEVEL else (low, middle)
    return best, tilted(low)[1]


# ---- on the splits of a table ----
BY_ROWS = ("accuracy", "neg_mean_squared_error")  # metrics that are a mean over rows


def by_rows(table: Trained, metric: str, w: int) -> Row:
    """Published intervals of metrics that are a mean over rows."""
    found = dict.fromkeys(("Wald", "corrected-t", "conservative-z", "Bates", "Bates 4"), NONE)
    if metric in BY_ROWS:
        y = table.sample.y

        def means(splits: Splits) -> Array:
            return np.array([of_rows(metric, y[test], p[:, w]).mean() for test, p in splits])

        nested = [
            (by, of_rows(metric, y, p[:, w]), np.stack([of_rows(metric, y, one[:, w]) for one in paired]))
            for by, p, paired in table.repeats
        ]
        found["Wald"] = wald(nested[0][1])
        found["corrected-t"] = corrected_t(means(table.splits), 1 / 9)
        found["Bates"] = bates(nested[:1])
        if table.halves:
            halves = np.array([[means(half).mean() for half in two] for two in table.halves])
            found["conservative-z"] = conservative_z(means(table.splits), halves)
            found["Bates 4"] = bates(nested)
    return named(found)


def held_out(table: Trained, metric: str, fixed: int | None, true: Array, seed: int) -> Row:
    """Intervals of a hold-out: selected on the other rows (MABT: preselected there); truth is that of all rows."""
    found = {"hold-out": NONE, "MABT": NONE}
    truths = {"hold-out truth": np.nan, "MABT truth": np.nan}
    if metric in (*BY_ROWS, "roc_auc"):
        held, out, first = table.held
        y, rest = table.sample.y[held], np.delete(table.sample.y, held)
        within = sets.scores_on(sets.build(rest, out[:, :, None]), metric)
        chosen = int(np.nanargmax(within)) if fixed is None else fixed
        truths["hold-out truth"] = true[chosen]
        if metric == "roc_auc":
            found["hold-out"] = delong(y, first[:, chosen])
        elif metric == "accuracy":
            found["hold-out"] = wilson(of_rows(metric, y, first[:, chosen]))
            few = np.flatnonzero(within >= np.quantile(within, 0.9)) if fixed is None else np.array([fixed])
            each = np.column_stack([of_rows(metric, y, first[:, c]) for c in few])
            best, bound = mabt(each, np.random.default_rng(seed))
            found["MABT"], truths["MABT truth"] = (np.nan, np.nan, bound), true[few[best]]
        else:
            found["hold-out"] = wald(of_rows(metric, y, first[:, chosen]))
    return named(found) | truths


def named(found: dict[str, Ends]) -> Row:
    """Both ends and the one-sided lower bound of each interval."""
    return {f"{name} {end}": value for name, ends in found.items() for end, value in zip("lhb", ends, strict=True)}


def of_rows(metric: str, y: Array, p: Array) -> Array:
    """Scores of single rows: squared errors, or whether labels are right; predictions [N] or [N, K]."""
    if metric == "neg_mean_squared_error":
        return -((y - p) ** 2)
    label, missing = (p > 0.5, np.isnan(p)) if p.ndim == 1 else (p.argmax(axis=1), np.isnan(p[:, 0]))
    return np.where(missing, np.nan, label == y)
