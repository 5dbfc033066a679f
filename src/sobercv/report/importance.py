"""Permutation importance of the final model: how much its score falls when one column is shuffled.

Takes a finished search and the data it was given, gives bars, or the reason why there are none; never tunes. Of a wide
table, the columns that go most with the model's predictions are shuffled; of a long one, a sample of rows.
"""

from __future__ import annotations

import math
from time import monotonic
from typing import Any

import numpy as np
from sklearn.utils import check_array

from .. import seeds
from ..containers import Array
from ..errors import Note
from ..training.fit.problem import take
from .column_screen import closest_columns
from .correlated_columns import correlated
from .records import Bar, Importance
from .search_records import estimates_of
from .shuffling import Falls, Rows, falls_of
from .words import clean, count, metric_label, within

TOP, TOP_TOGETHER = 20, 8
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
        rows = _some_rows(search, X, y, sample_weight)
        columns = np.arange(len(names))
        if len(names) > MOST_COLUMNS:
            columns = closest_columns(rows.X, _predictions(search, rows.X), MOST_COLUMNS)
        together = correlated(rows.X, columns)
        units = [np.array([c]) for c in columns] + together
        found = falls_of(search, rows, units, n_permutations, end)
    except Exception as error:  # any estimator may raise anything; the rest of the report stands
        return None, _left_out(f"the model refused shuffled data ({type(error).__name__}: {clean(error, 160)})")
    if not len(found.falls):
        return None, _left_out("the time was over")
    bars = _bars(units, found, names, search.confidence_level)
    alone = [i for i, unit in enumerate(units[: len(bars)]) if len(unit) == 1]
    others = tuple(_largest([bars[i] for i in range(len(bars)) if i not in alone], TOP_TOGETHER))
    others = others if any(bar.value != 0 for bar in others) else ()  # the model looks at none of them
    sentence = _sentence(search, len(names), len(alone), found.falls.shape[1], found.draws is not None)
    largest = tuple(_largest([bars[i] for i in alone], TOP))
    return Importance(largest, len(names), found.falls.shape[1], sentence, others), ()


def _bars(units: list[Array], found: Falls, names: list[str], level: float) -> list[Bar]:
    """Write every fall as a bar, in the order of the units."""
    made, tail = [], (1.0 - level) / 2.0
    for i, falls in enumerate(found.falls):
        bounds: tuple[float | None, float | None] = (None, None)
        if found.draws is not None and not np.isnan(found.draws[i]).all():
            ends = np.nanquantile(found.draws[i], (tail, 1.0 - tail))
            bounds = float(f"{ends[0]:.6g}"), float(f"{ends[1]:.6g}")
        shown = [names[c] for c in units[i]]
        label = " + ".join(shown[:2]) + (f" + {len(shown) - 2} more" if len(shown) > 2 else "")
        made.append(Bar(label, float(f"{falls.mean():.6g}"), float(f"{falls.std():.6g}"), *bounds))
    return made


def _largest(bars: list[Bar], most: int) -> list[Bar]:
    return sorted(bars, key=lambda bar: -bar.value)[:most]


def _some_rows(search: Any, X: Any, y: Any, sample_weight: Any) -> Rows:
    n, groups = X.shape[0], search.predictions_.groups
    if n > MOST_ROWS:
        rows = np.sort(seeds.generator(search.seed_, "permutation").permutation(n)[:MOST_ROWS])
        X, y = take(X, rows), take(y, rows)
        sample_weight = None if sample_weight is None else take(sample_weight, rows)
        groups = None if groups is None else groups[rows]
    return Rows(X, y, sample_weight, None if groups is None else np.unique(groups, return_inverse=True)[1].reshape(-1))


def _predictions(search: Any, X: Any) -> Array:
    """What the model says of each row, in numbers: [N], or [N, K] for several classes."""
    if hasattr(search, "decision_function"):
        return np.asarray(search.decision_function(X), dtype=np.float64)
    if hasattr(search, "predict_proba"):
        return np.asarray(search.predict_proba(X), dtype=np.float64)
    found = np.asarray(search.predict(X))
    return found.astype(np.float64) if found.dtype.kind in "iufb" else np.unique(found, return_inverse=True)[1] * 1.0


def column_names(X: Any) -> list[str]:
    """Names of the columns as text, or their numbers; empty where X has no columns."""
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) != 2:
        return []
    columns = getattr(X, "columns", None)
    return [clean(name, 200) for name in (columns if columns is not None else range(shape[1]))]


def _sentence(search: Any, n_columns: int, done: int, times: int, has_draws: bool) -> str:
    metric, n = within(metric_label(estimates_of(search)[0].metric)), search.predictions_.n_samples
    chosen = f"{done} of {n_columns:,} columns were shuffled, " if done < n_columns else ""
    chosen += "those that go most with the model's predictions. " if done < n_columns > MOST_COLUMNS else ""
    chosen += "as many as there was time for. " if done < n_columns <= MOST_COLUMNS else ""
    shown = f"The {TOP} largest of {done:,} columns. " if done > TOP else ""
    rows = f"{MOST_ROWS:,} of {n:,} rows, " if n > MOST_ROWS else ""
    unit = "rows" if search.predictions_.groups is None else "groups"
    whiskers = f"{100 * search.confidence_level:g} % of resamples of the {unit}" if has_draws else "standard deviation"
    return (
        f"{chosen}{shown}How much the score ({metric}) falls when one column is shuffled ({rows}mean of "
        f"{count(times, 'shuffle')}; whiskers: {whiskers}). Computed on the training data of the final model, so it "
        "tells what the model leans on, not what would help on new data; columns that say the same share their "
        "importance, so those that are strongly correlated are shuffled together as well."
    )


def _left_out(reason: str) -> tuple[Note, ...]:
    return (Note("W703", f"Permutation importance was left out: {reason}."),)
