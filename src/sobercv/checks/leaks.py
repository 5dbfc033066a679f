"""Leak suspects: single columns that predict the target (nearly) alone.

Takes a `Dataset`, grows tiny trees on one column at a time, gives notes. What leaks makes every score too good, and
no correction can mend that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import Note
from ..tables import Dataset
from .naming import some
from .numeric_columns import NumericColumns

#: A column that reaches this alone is a suspect: balanced accuracy, R2, or concordance with the time.
SUSPECT = 0.985
MOST_ROWS = 2000
#: Trees are grown only for the columns that go best with the target; one glance finds those.
MOST_COLUMNS = 60
#: Columns of so few different values are looked at value by value.
FEW = 20


def leaks(data: Dataset) -> Iterator[Note]:
    """Find columns that alone predict the target nearly perfectly.

    Parameters
    ----------
    data : Dataset
    """
    if data.n_rows < 20:
        return
    step = max(1, data.n_rows // MOST_ROWS)
    rows = np.arange(0, data.n_rows, step)
    y = _codes(data)[rows]
    found = []
    for name, values in _candidates(data, rows, y):
        score = _alone(values, y, data.task)
        if score >= SUSPECT:
            found.append((name, score))
    if found:
        found.sort(key=lambda pair: -pair[1])
        names = [name for name, _ in found]
        if len(names) == 1:
            text = f"Column {some(names)} alone predicts the target nearly perfectly. Was it known before the outcome?"
        else:
            text = f"Columns {some(names)} predict the target nearly perfectly, each alone. Were they known before it?"
        text += " If not, write --ignore."
        yield Note("W806", text, tuple(names))


def _codes(data: Dataset) -> Array:
    if data.task == "survival":  # the order of times; their few largest must not decide
        return np.argsort(np.argsort(data.y["time"], kind="stable"))
    return data.y if data.task == "regression" else np.unique(data.y, return_inverse=True)[1].reshape(-1)


def _candidates(data: Dataset, rows: Array, y: Array) -> list[tuple[str, Array]]:
    """Give the columns as numbers [n, 2] (value, whether it is missing), those most associated with y first."""
    frame = data.X.iloc[rows]
    strength = np.zeros(frame.shape[1])
    numbers = NumericColumns.of(frame)
    varied = np.flatnonzero(_varied(numbers.values))
    strength[numbers.positions[varied]] = _associations(numbers.values[:, varied], y, data.task)
    others = np.setdiff1d(np.arange(frame.shape[1]), numbers.positions[varied])
    for i in others:
        strength[i] = _association(_numbers(frame.iloc[:, i]), y, data.task)
    best = np.argsort(-strength, kind="stable")[:MOST_COLUMNS]
    return [(frame.columns[i], _numbers(frame.iloc[:, i])) for i in best]


def _varied(values: Array) -> Array:
    """Which columns have no gap and so many different values that ten slices cut through none: bool [P]."""
    ordered = np.sort(values, axis=0)
    distinct = 1 + (ordered[1:] != ordered[:-1]).sum(axis=0)
    return np.asarray(np.isfinite(values).all(axis=0) & (distinct > FEW))


def _numbers(column: Any) -> Array:
    gap = column.isna().to_numpy()
    if column.dtype.kind in "iufb":
        values = column.to_numpy(dtype=float, na_value=np.nan)
    else:
        values = column.astype(str).factorize(sort=True)[0].astype(float)
    return np.column_stack([np.where(gap | ~np.isfinite(values), 0.0, values), gap])


def _targets(y: Array, task: str) -> list[Array]:
    """What columns are compared with: the target in numbers, or each class against the others."""
    if task == "multiclass":
        return [(y == k).astype(float) for k in np.unique(y)]
    return [y.astype(float) if task == "binary" else np.argsort(np.argsort(y.astype(float))).astype(float)]


def _association(values: Array, y: Array, task: str) -> float:
    """Glance at how a column goes with the target, whatever the shape: the spread of y between ten slices of it."""
    return max(_between(values, target) for target in _targets(y, task))


def _associations(values: Array, y: Array, task: str) -> Array:
    """Glance at many columns [n, P] at a time, where each has many values and no gap: [P]."""
    order = np.argsort(values, axis=0, kind="stable")
    found = np.zeros(values.shape[1])
    for target in _targets(y, task):
        slices = np.array_split(target[order], 10)
        means = np.stack([part.mean(axis=0) for part in slices if len(part)])
        total = target.var()
        found = np.maximum(found, means.var(axis=0) / total if total else 0.0)
    return found


def _between(values: Array, target: Array) -> float:
    total = target.var()
    if total == 0:
        return 0.0
    best = 0.0
    for column in values.T:
        order = np.argsort(column, kind="stable")
        means = [part.mean() for part in np.array_split(target[order], 10) if len(part)]
        distinct = len(np.unique(column))
        if distinct <= FEW:  # slices would cut through equal values
            means = [target[column == v].mean() for v in np.unique(column)]
        best = max(best, float(np.var(means) / total) if distinct > 1 else 0.0)
    return best


def _alone(values: Array, y: Array, task: str) -> float:
    from sklearn.model_selection import KFold, cross_val_predict
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    if task in ("binary", "multiclass"):
        least = int(np.bincount(y).min())
        if least < 3:
            return 0.0
        tree = DecisionTreeClassifier(max_depth=4, min_samples_leaf=2, random_state=0)
        guess = cross_val_predict(tree, values, y, cv=3)
        return float(np.mean([(guess[y == k] == k).mean() for k in np.unique(y)]))
    tree = DecisionTreeRegressor(min_samples_leaf=2, random_state=0)
    target = y.astype(float)
    guess = cross_val_predict(tree, values, target, cv=KFold(3, shuffle=True, random_state=0))
    return float(1.0 - np.mean((guess - target) ** 2) / target.var())
