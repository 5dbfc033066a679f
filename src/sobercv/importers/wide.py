"""Wide tables of predictions: one row a sample, one column a configuration, as AutoGluon and most people keep them.

Takes a data frame, gives a `Foreign`; refuses columns that are no predictions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..tables.roles import find
from ..tables.target_column import survival_target
from .table import Foreign


def wide(frame: Any, truth: list[str], group: str | None, ignore: Sequence[str]) -> Foreign:
    """Read a table with one row a sample and one column a configuration.

    Parameters
    ----------
    frame : pandas.DataFrame
    truth : list of str
        The column with the truth, or those with time and event.
    group : str or None
    ignore : sequence of str
        Columns to leave out.
    """
    if not truth:
        raise SoberError(
            "E808", "Say which column holds the truth: --target COLUMN. (No known long table of predictions was found.)"
        )
    for name in ignore:
        find(frame, name)
    kept = frame.loc[frame[truth].notna().all(axis=1)]
    if not len(kept):
        raise SoberError("E805", f"The truth {truth[0]!r} is missing in every row. Name another column.")
    names = [c for c in frame.columns if c not in {*truth, group, *ignore}]
    names = [c for c in names if not _is_counter(kept[c], c)]
    if not names:
        raise SoberError("E812", "Beside the truth there is no column of predictions. Give one column a configuration.")
    values = [_column(kept[c], c, kept[truth[0]]) for c in names]
    if len({v.dtype == object for v in values}) > 1:
        raise SoberError(
            "E812", "Some columns hold labels and others numbers. Give one kind; --ignore leaves some out."
        )
    trial = [re.match(r"(?i)trial[_ ]?\d+$|.*_trial\d+$", c) is not None for c in names]
    stacks = any(re.search(r"_BAG_L\d|WeightedEnsemble_L\d", c) for c in names)
    return Foreign(
        tool="AutoGluon" if stacks else "wide",
        y=survival_target(kept, truth)[0] if len(truth) == 2 else _labels(kept[truth[0]]),
        responses={"": np.ma.stack(values, axis=1)},
        names=names,
        groups=None if group is None else kept[group].astype(str).to_numpy(dtype=object).astype(str),
        is_adaptive=all(trial),
    )


def _labels(column: Any) -> Array:
    return np.asarray(column.to_numpy(dtype=None if column.dtype.kind in "iufb" else object))


def _is_counter(column: Any, name: str) -> bool:
    """Whether a column only numbers the rows, as pandas and R write them."""
    if not re.fullmatch(r"(?i)unnamed: \d+|index|row|row_?id|row_?index|id|x", name) or column.dtype.kind not in "iu":
        return False
    return bool((np.diff(column.to_numpy()) == 1).all()) and len(column) > 2


def _column(column: Any, name: str, truth: Any) -> Any:
    """Give a column of predictions as a masked array: numbers, or labels as text."""
    gaps = column.isna().to_numpy()
    if column.dtype.kind in "iufb":
        return np.ma.masked_array(column.fillna(0).to_numpy(), gaps)
    known = set(truth.astype(str)) if truth.dtype.kind not in "iufb" else set()
    strange = next((v for v in column.dropna().astype(str) if v not in known), None)
    if strange is not None:
        raise SoberError(
            "E812",
            f"Column {name[:40]!r} holds {strange[:30]!r}, which is neither a number nor one of the classes. "
            f"Leave it out with --ignore {name[:40]}.",
        )
    return np.ma.masked_array(column.fillna(next(iter(known))).to_numpy(dtype=object), gaps)
