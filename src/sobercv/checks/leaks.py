"""Leak suspects: single columns that predict the target nearly alone.

Every column is scored by itself: by ROC AUC for classes, the squared rank correlation for numbers, concordance for
survival. Columns of few values and text are scored as categories. A leak makes every score too good.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from ..containers import Array
from ..errors import Note
from ..tables import Dataset
from ..tables.naming import some

#: Columns are suspected from this score on (with more than two classes a good measurement may separate them, as the
#: petals of iris do) where they stand apart from the rest ...
SUSPECT, SUSPECT_CLASSES = 0.94, 0.995
#: ... so that the rest misses at least so many times as much: one column, or several from the score on that follows;
#: several below it; or anyway, where a column separates perfectly.
TIMES_APART, SEVERAL, TIMES_APART_SEVERAL, PERFECT = 2.5, 0.97, 6.0, 0.999
#: More columns below that score are good measurements.
MOST_LEAKS = 3
#: A column of this score that does not stand apart, because honest ones are as good, is asked for.
STRONG, MOST_ASKED = 0.95, 10
#: Smaller classes are separated by chance in wide tables.
LEAST_SEPARATED = 20
#: Columns of so few different values are scored as categories, where each value has enough rows on average.
FEW, ROWS_PER_VALUE = 20, 5
#: Rows and cells that are looked at; concordance compares every pair of rows.
MOST_ROWS, MOST_CELLS, MOST_PAIRED_ROWS, MOST_PAIRED_COLUMNS = 20_000, 4_000_000, 700, 60

_SCORES = {"regression": "squared rank correlation", "survival": "concordance"}


def leaks(data: Dataset) -> Iterator[Note]:
    """Find columns that alone predict the target nearly perfectly, and say so of those that are ignored."""
    n = data.n_rows
    if n < 20:
        return
    most = min(MOST_ROWS, max(200, MOST_CELLS // max(1, data.X.shape[1])))
    most = min(most, MOST_PAIRED_ROWS) if data.task == "survival" else most
    # Of more rows evenly over the values of the target, or rows in turns of case and control would lose one of them.
    rows = np.sort(np.argsort(data.y, kind="stable")[np.linspace(0, n - 1, min(n, most)).astype(int)])
    y, score = data.y[rows], _SCORES.get(data.task, "ROC AUC")
    alone = single_scores(data.X.iloc[rows], y, data.task)
    found = _suspects(alone, y, data.task)
    if found:
        others = [value for name, value in alone.items() if name not in found]
        beside = f" (the next best column: {max(others):.3f})" if others else ""
        one = "One column nearly predicts the target on its own"
        text = one if len(found) == 1 else f"{len(found)} columns nearly predict the target, each on its own"
        text += f" ({score}): {_listed(found, alone, 3)}{beside}. "
        text += "Write --ignore for what is not known before the outcome: every score would depend on it."
        yield Note("W806", text, tuple(found))
    asked = [name for name, value in alone.items() if value >= STRONG and name not in found]
    if asked:
        what, are = f"{len(asked)} columns each predict", "are all of them"
        what, are = ("One column predicts", "is it") if len(asked) == 1 else (what, are)
        text = f"{what} the target well ({score}): {_listed(asked, alone, MOST_ASKED)}. Good measurements can do this, "
        text += f"and so can a leak: {are} known when the prediction is made? If not, write --ignore."
        yield Note("S801", text, tuple(asked))
    if data.ignored is not None and data.ignored.shape[1]:
        aside = single_scores(data.ignored.iloc[rows], y, data.task)
        left = [name for name in _suspects({**alone, **aside}, y, data.task) if name in aside]
        if left:
            text = f"Of the ignored columns this one nearly predicts the target on its own ({score}): "
            text += f"{_listed(left[:3], aside, 3)}. No score uses it; the best remaining column reaches "
            text += f"{max(alone.values()):.3f} on its own."
            yield Note("S801", text, tuple(left))


def _listed(names: list[str], scores: dict[str, float], most: int) -> str:
    said = "; ".join(f"{some([name])} {scores[name]:.3f}" for name in names[:most])
    return said + (f" and {len(names) - most} more" if len(names) > most else "")


def _suspects(alone: dict[str, float], y: Array, task: str) -> list[str]:
    """Name the columns that score high and stand apart from the rest, the best first."""
    if task == "survival":
        smallest = max(1, int(y["event"].sum()))
    else:
        smallest = len(y) if task == "regression" else int(np.unique(y, return_counts=True)[1].min())
    names = sorted(alone, key=alone.__getitem__, reverse=True)
    scores = [alone[name] for name in names]
    n_high = sum(score >= (SUSPECT_CLASSES if task == "multiclass" else SUSPECT) for score in scores)
    for k in range(n_high, 0, -1):
        least = scores[k - 1]
        if k > MOST_LEAKS and least < SEVERAL:
            continue
        rest = scores[k] if len(scores) > k else 0.0
        times = TIMES_APART if k == 1 or least >= SEVERAL else TIMES_APART_SEVERAL
        if 1 - rest >= times * max(1 - least, 0.5 / smallest):  # no score is known better than to half a row
            return names[:k]
    return [name for name in names if alone[name] >= PERFECT and smallest >= LEAST_SEPARATED]


def numbers_of(X: Any) -> tuple[Array, Array]:
    """Return which columns of a frame hold numbers, bool [P], and these as one matrix, NaN where missing."""
    are_numbers = np.array([dtype.kind in "iuf" for dtype in X.dtypes], dtype=bool)
    return are_numbers, X.loc[:, are_numbers].to_numpy(dtype=np.float64, na_value=np.nan)


def single_scores(X: Any, y: Array, task: str) -> dict[str, float]:
    """Return the score of each column by itself, between 0 and 1, the best first."""
    found = dict.fromkeys(map(str, X.columns), 0.0)
    for names, values in _blocks(X, task):
        for name, score in zip(names, _scored(values, y, task).tolist(), strict=True):
            found[name] = max(found[name], score)
    return dict(sorted(found.items(), key=itemgetter(1), reverse=True))


def _blocks(X: Any, task: str) -> Iterator[tuple[list[str], Array]]:
    """Yield names of columns that are scored alike, and amounts float [n, P] or codes of categories int [n, P].

    Gaps are columns of their own.
    """
    n = len(X)
    are_numbers, values = numbers_of(X)
    names = np.array([str(name) for name in X.columns[are_numbers]], dtype=object)
    gaps = ~np.isfinite(values)
    if gaps.any():
        has_gaps = gaps.any(axis=0)
        yield list(names[has_gaps]), gaps[:, has_gaps].astype(float)
        middle = pd.DataFrame(np.where(gaps, np.nan, values)).median().fillna(0.0)
        values = np.where(gaps, middle, values)
    ordered = np.sort(values, axis=0)
    distinct = 1 + (ordered[1:] != ordered[:-1]).sum(axis=0)
    few = (distinct > 2) & (distinct <= min(FEW, n // ROWS_PER_VALUE))
    many = ~few & (distinct > 1)
    if few.any():
        levels = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in values[:, few].T]
        yield list(names[few]), np.stack(levels, axis=1)
    if many.any():
        amounts = values[:, many]
        if task == "multiclass":  # a middle class is no end of any order: cut into slices of equally many rows
            slices = min(FEW, max(2, n // ROWS_PER_VALUE))
            amounts = ((rankdata(amounts, axis=0) - 0.5) * slices // n).astype(int)
        yield list(names[many]), amounts
    for name in X.columns[~are_numbers]:
        gap = X[name].isna()
        codes = X[name].astype(object).where(~gap, None).map(str).factorize()[0]
        if 1 < codes.max() + 1 <= max(2, n // ROWS_PER_VALUE):
            yield [str(name)], codes[:, None]
        if gap.any():
            yield [str(name)], gap.to_numpy(dtype=float)[:, None]


def _scored(values: Array, y: Array, task: str) -> Array:
    """Score the columns of a block: [P]."""
    are_codes = values.dtype.kind == "i"
    if task == "survival":
        return _concordance(_encoded(values, rankdata(y["time"])) if are_codes else values, y)
    if task == "regression" and are_codes:
        return np.asarray(_encoded(values, y).var(axis=0) / y.var())
    if task == "regression":
        return _squared_correlation(rankdata(values, axis=0), rankdata(y))
    aucs = []
    for label in np.unique(y)[int(task == "binary") :]:
        is_class = y == label
        n, m = int(is_class.sum()), int((~is_class).sum())
        ranks = rankdata(_encoded(values, is_class.astype(float)) if are_codes else values, axis=0)
        auc = (ranks[is_class].sum(axis=0) - n * (n + 1) / 2) / (n * m)
        aucs.append(np.maximum(auc, 1 - auc))
    return np.asarray(np.min(aucs, axis=0))


def _encoded(codes: Array, y: Array) -> Array:
    """Replace every category by the mean of y in it: float [n, P]."""
    means = [np.bincount(column, y) / np.maximum(np.bincount(column), 1) for column in codes.T]
    return np.stack([mean[column] for mean, column in zip(means, codes.T, strict=True)], axis=1)


def _squared_correlation(values: Array, target: Array) -> Array:
    spread = values.std(axis=0) * target.std()
    together = ((values - values.mean(axis=0)) * (target - target.mean())[:, None]).mean(axis=0)
    return np.asarray(np.where(spread > 0, together / np.where(spread > 0, spread, 1.0), 0.0) ** 2)


def _concordance(values: Array, y: Array) -> Array:
    """Score by Harrell's concordance, those columns only that go best with the order of times."""
    near = _squared_correlation(rankdata(values, axis=0), rankdata(y["time"]))
    earlier, later = np.nonzero((y["time"][:, None] < y["time"][None, :]) & y["event"].astype(bool)[:, None])
    found = np.zeros(values.shape[1])
    for i in np.argsort(-near, kind="stable")[:MOST_PAIRED_COLUMNS]:
        first, second = values[earlier, i], values[later, i]
        share = float(((first > second) + 0.5 * (first == second)).mean()) if len(earlier) else 0.5
        found[i] = max(share, 1 - share)
    return found
