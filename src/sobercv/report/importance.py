"""Permutation importance of the final model: how much its score falls when one column is shuffled.

Takes a finished search and the data it was given, gives bars, or the reason why there are none; never tunes. Of a wide
table, the columns that go most with the model's predictions are shuffled; of a long one, a sample of rows.
"""

from __future__ import annotations

import math
from time import monotonic
from typing import Any

import numpy as np
from sklearn.utils import check_array, check_random_state

from .. import seeds
from ..containers import Array
from ..errors import Note
from ..training.fit.problem import take
from .column_screen import closest_columns
from .records import Bar, Importance
from .search_records import estimates_of
from .words import clean, count

TOP = 20
#: So many columns are shuffled at most, and so many rows scored.
MOST_COLUMNS = 50
MOST_ROWS = 2000


def importance(
    search: Any, X: Any, y: Any, *, sample_weight: Any = None, n_permutations: int = 10, max_seconds: float = math.inf
) -> tuple[Importance | None, tuple[Note, ...]]:
    """Shuffle columns of X and see how the final model's score falls.

    Parameters
    ----------
    search : BBCSearchCV
        Fitted.
    X, y, sample_weight : array-like
        The data it was given.
    n_permutations : int
        Shuffles of each column.
    max_seconds : float
        After which no more are made; every column is shuffled once before any is shuffled twice.

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
        return None, _left_out("there is no final model, as with refit=False")
    names = column_names(X)
    if not names:
        return None, _left_out("X is not a table with columns")
    end = monotonic() + max_seconds
    try:
        X = X if hasattr(X, "iloc") else check_array(X, ensure_all_finite="allow-nan", dtype=None)
        X, y, sample_weight = _some_rows(search, X, y, sample_weight)
        columns = np.arange(len(names))
        if len(names) > MOST_COLUMNS:
            columns = closest_columns(X, _predictions(search, X), MOST_COLUMNS)
        falls = _falls(search, X, y, sample_weight, columns, n_permutations, end)  # [columns, shuffles]
    except Exception as error:  # any estimator may raise anything; the rest of the report stands
        return None, _left_out(f"the model refused shuffled data ({type(error).__name__}: {clean(error, 160)})")
    if not len(falls):
        return None, _left_out("the time was over")
    mean, spread = falls.mean(axis=1), falls.std(axis=1)
    bars = tuple(
        Bar(names[columns[i]], float(f"{mean[i]:.6g}"), float(f"{spread[i]:.6g}"))
        for i in np.argsort(-mean, kind="stable")[:TOP]
    )
    return Importance(bars, len(names), falls.shape[1], _sentence(search, len(names), falls)), ()


def _some_rows(search: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    n = X.shape[0]
    if n <= MOST_ROWS:
        return X, y, sample_weight
    rows = np.sort(seeds.generator(search.seed_, "permutation").permutation(n)[:MOST_ROWS])
    return take(X, rows), take(y, rows), None if sample_weight is None else take(sample_weight, rows)


def _predictions(search: Any, X: Any) -> Array:
    """What the model says of each row, in numbers: [N], or [N, K] for several classes."""
    if hasattr(search, "decision_function"):
        return np.asarray(search.decision_function(X), dtype=np.float64)
    if hasattr(search, "predict_proba"):
        return np.asarray(search.predict_proba(X), dtype=np.float64)
    found = np.asarray(search.predict(X))
    return found.astype(np.float64) if found.dtype.kind in "iufb" else np.unique(found, return_inverse=True)[1] * 1.0


def _falls(search: Any, X: Any, y: Any, sample_weight: Any, columns: Array, n_permutations: int, end: float) -> Array:
    """How much the score falls at each shuffle of each column: [columns, shuffles], as many as there is time for."""
    weights = () if sample_weight is None else (sample_weight,)
    whole = search.score(X, y, *weights)
    # As scikit-learn shuffles: one order after the other, the same for every column.
    first = check_random_state(seeds.integer(search.seed_, "permutation"))
    generator = check_random_state(first.randint(np.iinfo(np.int32).max + 1))
    step = np.arange(X.shape[0])
    order = step.copy()
    passes: list[list[float]] = []
    for _ in range(n_permutations):
        generator.shuffle(step)
        order = order[step]
        scores: list[float] = []
        for column in columns:
            if monotonic() > end:
                return np.array(passes).T if passes else whole - np.array(scores).reshape(-1, 1)
            scores.append(search.score(_shuffled(X, column, order), y, *weights))
        passes.append([whole - score for score in scores])
    return np.array(passes).T


def _shuffled(X: Any, column: int, order: Array) -> Any:
    """Copy a table with one column in another order."""
    copy = X.copy()
    if hasattr(copy, "iloc"):
        copy.isetitem(column, X.iloc[order, column].array)
    else:
        copy[:, column] = X[order, column]
    return copy


def column_names(X: Any) -> list[str]:
    """Names of the columns as text, or their numbers; empty where X has no columns."""
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) != 2:
        return []
    columns = getattr(X, "columns", None)
    return [clean(name, 200) for name in (columns if columns is not None else range(shape[1]))]


def _sentence(search: Any, n_columns: int, falls: Array) -> str:
    metric, n, (done, times) = estimates_of(search)[0].metric, search.predictions_.n_samples, falls.shape
    chosen = f"{done} of {n_columns:,} columns were shuffled, " if done < n_columns else ""
    chosen += "those that go most with the model's predictions. " if done < n_columns > MOST_COLUMNS else ""
    chosen += "as many as there was time for. " if done < n_columns <= MOST_COLUMNS else ""
    shown = f"The {TOP} largest of {done:,} columns. " if done > TOP else ""
    rows = f"{MOST_ROWS:,} of {n:,} rows, " if n > MOST_ROWS else ""
    return (
        f"{chosen}{shown}How much the score ({metric}) falls when one column is shuffled ({rows}mean and standard "
        f"deviation of {count(times, 'shuffle')}). Computed on the training data of the final model, so it tells what "
        "the model leans on, not what would help on new data; columns that say the same share their importance."
    )


def _left_out(reason: str) -> tuple[Note, ...]:
    return (Note("W703", f"Permutation importance was left out: {reason}."),)
