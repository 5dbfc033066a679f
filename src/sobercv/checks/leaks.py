"""Leak suspects: single columns that predict the target nearly alone.

Scores every column by itself on the rows of the table: ROC AUC for classes, the squared rank correlation for numbers,
concordance for survival. Columns of few values and text are scored as categories. No model is trained. A leak makes
every score too good, and no correction can repair that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

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
    if data.n_rows < 20:
        return
    most = min(MOST_ROWS, max(200, MOST_CELLS // max(1, data.X.shape[1])))
    if data.task == "survival":
        most = min(most, MOST_PAIRED_ROWS)
    rows = np.arange(0, data.n_rows, -(-data.n_rows // most))
    y, score = data.y[rows], _SCORES.get(data.task, "ROC AUC")
    alone = single_scores(data.X.iloc[rows], y, data.task)
    found = _suspects(alone, data.task, _smallest_part(y, data.task))
    if found:
        said = "; ".join(f"{some([name])} {alone[name]:.3f}" for name in found[:3])
        more = f" and {len(found) - 3} more" if len(found) > 3 else ""
        what = "One column nearly predicts" if len(found) == 1 else f"{len(found)} columns, each alone, nearly predict"
        others = [value for name, value in alone.items() if name not in found]
        beside = f" (the next best column: {max(others):.3f})" if others else ""
        by_itself = " by itself" if len(found) == 1 else ""
        text = f"{what} the target{by_itself} ({score}): {said}{more}{beside}. "
        text += "Write --ignore for what is not known before the outcome: every score would depend on it."
        yield Note("W806", text, tuple(found))
    asked = [name for name in sorted(alone, key=lambda name: -alone[name]) if alone[name] >= STRONG]
    asked = [name for name in asked if name not in found]
    if asked:
        said = "; ".join(f"{some([name])} {alone[name]:.3f}" for name in asked[:MOST_ASKED])
        more = f" and {len(asked) - MOST_ASKED} more" if len(asked) > MOST_ASKED else ""
        one = len(asked) == 1
        text = (
            f"{'One column predicts' if one else f'{len(asked)} columns, each alone, predict'} the target well "
            f"({score}): {said}{more}. Good measurements can, and so does a leak: "
            f"{'is it' if one else 'are all of them'} known when the prediction is made? If not, write --ignore."
        )
        yield Note("S801", text, tuple(asked))
    if data.ignored is not None and data.ignored.shape[1]:
        aside = single_scores(data.ignored.iloc[rows], y, data.task)
        left = [
            name for name in _suspects({**alone, **aside}, data.task, _smallest_part(y, data.task)) if name in aside
        ]
        if left:
            said = "; ".join(f"{some([name])} {aside[name]:.3f}" for name in left[:3])
            text = (
                f"Of the ignored columns this one nearly predicts the target by itself ({score}): {said}. All scores "
                f"are without it; the best column that is left reaches {max(alone.values()):.3f} by itself."
            )
            yield Note("S801", text, tuple(left))


def single_scores(X: Any, y: Array, task: str) -> dict[str, float]:
    """Return the score of each column by itself, between 0 and 1."""
    found = dict.fromkeys(map(str, X.columns), 0.0)
    for block in _blocks(X, task):
        for name, score in zip(block.names, _scored(block, y, task).tolist(), strict=True):
            found[name] = max(found[name], score)
    return found


def _suspects(alone: dict[str, float], task: str, smallest: int) -> list[str]:
    """Name the columns that score high and stand apart from the rest, best first."""
    ordered = sorted(alone, key=lambda name: -alone[name])
    limit = SUSPECT_CLASSES if task == "multiclass" else SUSPECT
    high = [name for name in ordered if alone[name] >= limit]
    for k in range(len(high), 0, -1):
        if k > MOST_LEAKS and alone[high[k - 1]] < SEVERAL:
            continue
        rest = alone[ordered[k]] if len(ordered) > k else 0.0
        least_error = max(1 - alone[high[k - 1]], 0.5 / smallest)  # no score is known better than to half a row
        times = TIMES_APART if k == 1 or alone[high[k - 1]] >= SEVERAL else TIMES_APART_SEVERAL
        if 1 - rest >= times * least_error:
            return high[:k]
    return [name for name in high if alone[name] >= PERFECT and smallest >= LEAST_SEPARATED]


def _smallest_part(y: Array, task: str) -> int:
    if task == "survival":
        return max(1, int(y["event"].sum()))
    return len(y) if task == "regression" else int(np.unique(y, return_counts=True)[1].min())


class _Block(NamedTuple):
    """Columns that are scored alike: amounts float [n, P], or categories as codes int [n, P]."""

    names: list[str]
    values: Array
    are_codes: bool


@dataclass(frozen=True, eq=False)
class NumericColumns:
    """Numbers of a frame as one matrix: a look at each of twenty thousand columns takes no loop over the frame."""

    names: list[str]
    #: Where they stand in the frame [P].
    positions: Array
    #: NaN where missing [N, P].
    values: Array

    @classmethod
    def of(cls, X: Any) -> NumericColumns:
        """Take whole numbers and fractions out of a frame."""
        held = [i for i, dtype in enumerate(X.dtypes) if dtype.kind in "iuf"]
        values = X.iloc[:, held].to_numpy(dtype=np.float64, na_value=np.nan)
        names = X.columns.tolist()
        return cls([names[i] for i in held], np.array(held, dtype=int), values)

    @property
    def whole(self) -> Array:
        """Which of them hold whole numbers only, gaps aside: bool [P]."""
        with np.errstate(invalid="ignore"):
            return np.asarray(((self.values % 1 == 0) | np.isnan(self.values)).all(axis=0))

    @property
    def largest(self) -> Array:
        """The largest finite size of a number in each: [P], 0 where there is none."""
        return np.where(np.isfinite(self.values), np.abs(self.values), 0.0).max(axis=0, initial=0.0)


def not_fractions(X: Any) -> list[str]:
    """Name the columns that are no measurements with fractions: whole numbers, text, dates, flags."""
    numbers = NumericColumns.of(X)
    fractions = set(numbers.positions[~numbers.whole].tolist())
    return [name for i, name in enumerate(X.columns) if i not in fractions]


def _blocks(X: Any, task: str) -> Iterator[_Block]:
    """Yield the columns of a frame as blocks, gaps as columns of their own."""
    n = len(X)
    numbers = NumericColumns.of(X)
    gaps = ~np.isfinite(numbers.values)
    values = np.where(gaps, np.nan, numbers.values)
    names = np.array(numbers.names, dtype=object)
    if gaps.any():
        has_gaps = gaps.any(axis=0)
        yield _Block(list(names[has_gaps]), gaps[:, has_gaps].astype(float), False)
        with np.errstate(all="ignore"):
            middle = np.nanmedian(np.where(gaps.all(axis=0), 0.0, values), axis=0)
        values = np.where(gaps, middle, values)
    ordered = np.sort(values, axis=0)
    distinct = 1 + (ordered[1:] != ordered[:-1]).sum(axis=0)
    few = (distinct > 2) & (distinct <= min(FEW, n // ROWS_PER_VALUE))
    if few.any():
        yield _Block(list(names[few]), _levels(values[:, few]), True)
    many = ~few & (distinct > 1)
    if many.any():
        amounts = values[:, many]
        if task == "multiclass":  # a middle class is no end of any order
            yield _Block(list(names[many]), _slices(amounts), True)
        else:
            yield _Block(list(names[many]), amounts, False)
    taken = set(numbers.positions.tolist())
    for i in range(X.shape[1]):
        if i not in taken:
            column = X.iloc[:, i]
            codes = column.astype(object).where(column.notna(), None).map(str).factorize()[0]
            if 1 < codes.max() + 1 <= max(2, n // ROWS_PER_VALUE):
                yield _Block([str(X.columns[i])], codes[:, None], True)
            gap = column.isna().to_numpy()
            if gap.any():
                yield _Block([str(X.columns[i])], gap[:, None].astype(float), False)


def _levels(values: Array) -> Array:
    """Number the different values of each column."""
    return np.stack([np.unique(column, return_inverse=True)[1].reshape(-1) for column in values.T], axis=1)


def _slices(values: Array) -> Array:
    """Cut each column into slices of about equally many rows."""
    n = min(FEW, max(2, len(values) // ROWS_PER_VALUE))
    return np.asarray((_ranks(values) - 0.5) * n // len(values), dtype=int)


def _ranks(values: Array) -> Array:
    from scipy.stats import rankdata

    return np.asarray(rankdata(values, axis=0))


def _scored(block: _Block, y: Array, task: str) -> Array:
    """Score the columns of a block: [P]."""
    if task == "survival":
        return _concordance(block, y)
    if task == "regression":
        if not block.are_codes:
            return _squared_correlation(_ranks(block.values), _ranks(y[:, None])[:, 0])
        return np.asarray(_encoded(block.values, y).var(axis=0) / y.var())
    aucs = [
        _auc(_encoded(block.values, is_class.astype(float)) if block.are_codes else block.values, is_class)
        for is_class in (y == label for label in np.unique(y)[int(task == "binary") :])
    ]
    return np.asarray(np.min(aucs, axis=0))


def _encoded(codes: Array, y: Array) -> Array:
    """Replace every category by the mean of y in it: float [n, P]."""
    out = np.zeros(codes.shape)
    for level in range(int(codes.max()) + 1):
        is_level = codes == level
        mean = (is_level * y[:, None]).sum(axis=0) / np.maximum(is_level.sum(axis=0), 1)
        out += is_level * mean
    return out


def _auc(values: Array, is_class: Array) -> Array:
    n, m = int(is_class.sum()), int((~is_class).sum())
    found = (_ranks(values)[is_class].sum(axis=0) - n * (n + 1) / 2) / (n * m)
    return np.asarray(np.maximum(found, 1 - found))


def _squared_correlation(values: Array, target: Array) -> Array:
    spread = values.std(axis=0) * target.std()
    together = ((values - values.mean(axis=0)) * (target - target.mean())[:, None]).mean(axis=0)
    return np.asarray(np.where(spread > 0, together / np.where(spread > 0, spread, 1.0), 0.0) ** 2)


def _concordance(block: _Block, y: Array) -> Array:
    """Score by Harrell's concordance, those columns only that go best with the order of times."""
    times = _ranks(y["time"][:, None])[:, 0]
    values = _encoded(block.values, times) if block.are_codes else block.values
    near = _squared_correlation(_ranks(values), times)
    earlier, later = np.nonzero((y["time"][:, None] < y["time"][None, :]) & y["event"].astype(bool)[:, None])
    found = np.zeros(values.shape[1])
    for i in np.argsort(-near, kind="stable")[:MOST_PAIRED_COLUMNS]:
        first, second = values[earlier, i], values[later, i]
        share = float(((first > second) + 0.5 * (first == second)).mean()) if len(earlier) else 0.5
        found[i] = max(share, 1 - share)
    return found
