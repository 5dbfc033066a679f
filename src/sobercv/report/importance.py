"""Permutation importance of the final model: how much its score falls when one column is shuffled.

Takes a finished search and the data it was given, gives bars, or the reason why there are none; never tunes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import seeds
from ..containers import Array
from ..errors import Note
from .records import Bar, Importance
from .search_records import estimates_of
from .words import clean, count

TOP = 20
MOST_SHUFFLES = 5000
MOST_ROWS = 2000


def importance(
    search: Any, X: Any, y: Any, *, sample_weight: Any = None, n_permutations: int = 10
) -> tuple[Importance | None, tuple[Note, ...]]:
    """Shuffle each column of X and see how the final model's score falls.

    Returns
    -------
    Importance or None, and notes
        None where it could not be computed; then a note says why, unless it was not asked for.
    """
    if X is None or n_permutations == 0:
        return None, ()
    if y is None:
        return None, _left_out("y was not given")
    if not hasattr(search, "best_estimator_"):
        return None, _left_out("refit=False, so there is no final model")
    names = column_names(X)
    if not names:
        return None, _left_out("X is not a table with columns")
    if len(names) > MOST_SHUFFLES:
        return None, _left_out(f"X has {len(names):,} columns, more than {MOST_SHUFFLES:,}")
    n_permutations = max(1, min(n_permutations, MOST_SHUFFLES // len(names)))
    n = search.predictions_.n_samples
    try:
        mean, spread = _shuffled(search, X, y, sample_weight, n_permutations, min(1.0, MOST_ROWS / n))
    except Exception as error:  # any estimator may raise anything; the rest of the report stands
        return None, _left_out(f"the model refused shuffled data ({type(error).__name__}: {clean(error, 160)})")
    order = np.argsort(-mean, kind="stable")[:TOP]
    bars = tuple(Bar(names[i], float(f"{mean[i]:.6g}"), float(f"{spread[i]:.6g}")) for i in order)
    return Importance(bars, len(names), n_permutations, _sentence(search, len(names), n_permutations, n)), ()


def _shuffled(
    search: Any, X: Any, y: Any, sample_weight: Any, n_permutations: int, share: float
) -> tuple[Array, Array]:
    """Mean and standard deviation of each column's importance."""
    from sklearn.inspection import permutation_importance

    found = permutation_importance(
        search,
        X,
        y,
        n_repeats=n_permutations,
        random_state=seeds.integer(search.seed_, "permutation"),
        sample_weight=sample_weight,
        max_samples=share,
    )
    return found.importances_mean, found.importances_std


def column_names(X: Any) -> list[str]:
    """Names of the columns as text, or their numbers; empty where X has no columns."""
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) != 2:
        return []
    columns = getattr(X, "columns", None)
    return [clean(name, 200) for name in (columns if columns is not None else range(shape[1]))]


def _sentence(search: Any, n_columns: int, n_permutations: int, n: int) -> str:
    metric = estimates_of(search)[0].metric
    shown = f"The {TOP} largest of {n_columns:,} columns. " if n_columns > TOP else ""
    rows = f"{MOST_ROWS:,} of {n:,} rows, " if n > MOST_ROWS else ""
    return (
        f"{shown}How much the score ({metric}) falls when one column is shuffled ({rows}mean and standard deviation of "
        f"{count(n_permutations, 'shuffle')}). Computed on the training data of the final model, so it tells what the "
        "model leans on, not what would help on new data; columns that say the same share their importance."
    )


def _left_out(reason: str) -> tuple[Note, ...]:
    return (Note("W703", f"Permutation importance was left out: {reason}."),)
