"""Leak suspects: single columns that predict the target nearly alone.

Every column is scored by itself: by ROC AUC for classes, the squared rank correlation for numbers, concordance for
survival. Columns of few values and text are scored as categories. A leak makes every score too good.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from .. import metrics
from ..containers import Array
from ..errors import Note
from ..predictions import Predictions
from ..tables import Dataset
from ..tables.naming import some
from ..targets import task_name

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
#: Rows and cells that are looked at.
MOST_ROWS, MOST_CELLS = 20_000, 4_000_000

_SCORES = {"regression": "squared rank correlation", "survival": "concordance"}


def leaks(data: Dataset) -> Iterator[Note]:
    """Find columns that alone predict the target nearly perfectly, and say so of those that are ignored."""
    n = data.n_rows
    if n < 20:
        return
    most = min(MOST_ROWS, max(200, MOST_CELLS // max(1, data.X.shape[1])))
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
    if data.ignored.shape[1]:
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
    targets = [y]
    if task in ("binary", "multiclass"):  # each class against the rest
        targets = [y == label for label in np.unique(y)[int(task == "binary") :]]
    names, codes, are_categories = _codes_of(X, task == "multiclass")
    scores = np.min([_scores(codes, are_categories, target, task) for target in targets], axis=0)
    best = pd.Series(scores, names).groupby(level=0, sort=False).max()
    return best.sort_values(ascending=False, kind="stable").to_dict()


def _codes_of(X: Any, only_categories: bool) -> tuple[list[str], Array, Array]:
    """Return names [P], the values of columns and of their gaps as ordered codes [n, P], and which are categories [P].

    `only_categories`: amounts are cut into slices of equally many rows.
    """
    n, (are_numbers, values) = len(X), numbers_of(X)
    most = max(2, n // ROWS_PER_VALUE)
    few, words = min(FEW, most), X.loc[:, ~are_numbers]
    values = np.where(np.isfinite(values), values, np.nan)
    middle = pd.DataFrame(values).median().fillna(0.0).to_numpy()
    gaps = np.hstack([np.isnan(values), words.isna()]).astype(bool)
    amounts = np.hstack([np.where(np.isnan(values), middle, values), gaps[:, gaps.any(axis=0)]])
    codes = rankdata(amounts, "dense", axis=0).astype(int) - 1
    are_categories = codes.max(axis=0, initial=0) < few
    if only_categories:  # a middle class is no end of any order
        codes[:, ~are_categories] = (rankdata(codes[:, ~are_categories], axis=0) - 0.5) * few // n
    texts = [c.astype(object).where(c.notna(), None).map(str).factorize()[0] for _, c in words.items()]
    texts = [each if each.max() < most else 0 * each for each in texts]
    codes = np.hstack([codes, np.array(texts, dtype=int).reshape(-1, n).T])
    are_categories = np.append(are_categories | only_categories, np.ones(len(texts), dtype=bool))
    columns = X.columns[are_numbers].append(words.columns)
    names = [*columns[: values.shape[1]], *columns[gaps.any(axis=0)], *words]
    return list(map(str, names)), codes, are_categories


def _scores(codes: Array, are_categories: Array, target: Array, task: str) -> Array:
    """Score columns [P]; a category counts as the mean rank of the target in it."""
    order = rankdata(target["time"] if task == "survival" else target)
    decisions = codes.astype(float)
    for i in np.flatnonzero(are_categories):
        column = codes[:, i]  # ties can leave slices without a row
        decisions[:, i] = (np.bincount(column, order) / np.maximum(np.bincount(column), 1))[column]
    if task == "regression":
        ranks, order = rankdata(decisions, axis=0) - order.mean(), order - order.mean()  # all means are the same
        squares = (ranks**2).sum(axis=0) * (order @ order)
        return np.asarray((order @ ranks) ** 2 / np.maximum(1.0, squares))
    metric = metrics.get("concordance_index" if task == "survival" else "roc_auc")
    predictions = Predictions.build(target, {metric.responses[0]: decisions}, task=task_name(task))
    scores = metric.scores(predictions, np.ones((1, len(target)), np.uint8))[0]
    return np.nan_to_num(np.maximum(scores, 1 - scores))  # of times without any comparable pair
