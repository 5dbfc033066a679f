"""Permutation importance of the final model: how much its score falls when columns are shuffled.

scikit-learn shuffles and scores. Of a wide table, the columns that correlate most with the model's predictions are
shuffled; of a long one, a sample of rows is scored. Strongly correlated columns are shuffled together as well.
"""

from __future__ import annotations

import math
from time import perf_counter
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import rankdata
from sklearn.inspection import permutation_importance
from sklearn.utils import check_array

from .. import seeds
from ..containers import Array
from ..errors import Note
from ..training.fit.problem import take
from .records import Bar, Importance
from .search_records import estimates_of
from .words import clean, count, metric_label, within

TOP, TOP_TOGETHER = 20, 8
#: So many columns are shuffled at most, and so many rows scored.
MOST_COLUMNS = 50
MOST_ROWS = 2000
#: Columns whose ranks correlate by this much, on average, go together.
STRONG = 0.7


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
        Time limit; a first scoring tells how many shuffles and columns it allows.

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
    try:
        X = X if hasattr(X, "iloc") else check_array(X, ensure_all_finite="allow-nan", dtype=None)
        if X.shape[0] > MOST_ROWS:
            rows = np.sort(seeds.generator(search.seed_, "permutation").permutation(X.shape[0])[:MOST_ROWS])
            X, y = take(X, rows), take(y, rows)
            sample_weight = None if sample_weight is None else take(sample_weight, rows)
        weights = () if sample_weight is None else (sample_weight,)
        start = perf_counter()
        search.score(X, y, *weights)
        columns = _closest(X, _predictions(search, X))[:MOST_COLUMNS]
        n_scorings = max_seconds / (perf_counter() - start + 1e-9)  # that the time allows
        if n_scorings < 1:
            return None, _left_out("the time was over")
        columns = columns[: int(min(n_scorings, MOST_COLUMNS))]
        units = [np.array([c]) for c in columns]
        units += correlated(X, columns) if n_scorings >= 2 * len(columns) else []
        times = max(1, int(min(n_permutations, n_scorings / len(units))))

        def score(search: Any, orders: Array, y: Any) -> float:
            return float(search.score(_shuffled(X, units, orders), y, *weights))

        orders = np.tile(np.arange(X.shape[0])[:, None], len(units))  # [N, units]: which row each unit's values are of
        seed = seeds.integer(search.seed_, "permutation")
        falls = permutation_importance(search, orders, y, scoring=score, n_repeats=times, random_state=seed).importances
    except Exception as error:  # any estimator may raise anything; the rest of the report stands
        return None, _left_out(f"the model refused shuffled data ({type(error).__name__}: {clean(error, 160)})")
    bars = [_bar(unit, fall, names) for unit, fall in zip(units, falls, strict=True)]
    alone, others = bars[: len(columns)], [bar for bar in bars[len(columns) :] if bar.value != 0]
    sentence = _sentence(search, len(names), len(columns), times)
    return Importance(_largest(alone, TOP), len(names), times, sentence, _largest(others, TOP_TOGETHER)), ()


def correlated(X: Any, columns: Array) -> list[Array]:
    """Return the groups of two or more of these columns whose ranks correlate strongly; text columns are left out."""
    numeric = [c for c in columns if is_numeric(X)[c]]
    if len(numeric) < 2:
        return []
    ranks = rankdata(_filled(X, numeric), axis=0)
    centred = ranks - ranks.mean(axis=0)
    spread = np.sqrt((centred**2).sum(axis=0))
    scaled = np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0)
    distance = 1.0 - np.abs(scaled.T @ scaled)
    np.fill_diagonal(distance, 0.0)
    found = fcluster(linkage(squareform(np.clip(distance, 0.0, 1.0), checks=False), "average"), 1 - STRONG, "distance")
    groups = (np.array(numeric)[found == label] for label in np.unique(found))
    return [group for group in groups if len(group) > 1]


def is_numeric(X: Any) -> Array:
    """Which columns hold numbers or flags, bool [P]."""
    if hasattr(X, "dtypes"):
        return np.array([dtype.kind in "iufb" for dtype in X.dtypes])
    return np.full(X.shape[1], X.dtype.kind in "iufb")


def column_names(X: Any) -> list[str]:
    """Names of the columns as text, or their numbers; empty where X has no columns."""
    shape: tuple[int, ...] = getattr(X, "shape", ())
    if len(shape) != 2:
        return []
    columns = getattr(X, "columns", None)
    return [clean(name, 200) for name in (columns if columns is not None else range(shape[1]))]


def _shuffled(X: Any, units: list[Array], orders: Array) -> Any:
    """Copy X with the columns of each unit in the order of its rows."""
    copy, step = X.copy(), np.arange(X.shape[0])
    for unit, order in zip(units, orders.T, strict=True):
        if not np.array_equal(order, step):
            for column in unit:
                if hasattr(copy, "iloc"):
                    copy.isetitem(column, X.iloc[order, column].array)
                else:
                    copy[:, column] = X[order, column]
    return copy


def _closest(X: Any, predictions: Array) -> Array:
    """Columns by how strongly they correlate with the predictions, the closest first; text columns before all."""
    numeric = np.flatnonzero(is_numeric(X))
    strength = np.full(X.shape[1], np.inf)
    if len(numeric):
        columns, targets = _standardised(_filled(X, numeric)), _standardised(predictions.reshape(len(predictions), -1))
        strength[numeric] = np.abs(columns.T @ targets).max(axis=1)
    return np.argsort(-strength, kind="stable")


def _filled(X: Any, columns: Any) -> Array:
    """Return columns of numbers with gaps filled by their medians."""
    values = np.asarray(X.iloc[:, columns] if hasattr(X, "iloc") else X[:, columns], dtype=np.float64)
    known = np.isfinite(values)
    middle = np.array([np.median(v[k]) if k.any() else 0.0 for v, k in zip(values.T, known.T, strict=True)])
    return np.where(known, values, middle)


def _standardised(values: Array) -> Array:
    spread = values.std(axis=0)
    return np.divide(values - values.mean(axis=0), spread, out=np.zeros_like(values), where=spread > 0)


def _predictions(search: Any, X: Any) -> Array:
    """What the model predicts for each row, in numbers: [N], or [N, K] for several classes."""
    for method in ("decision_function", "predict_proba"):
        if hasattr(search, method):
            return np.asarray(getattr(search, method)(X), dtype=np.float64)
    found = np.asarray(search.predict(X))
    return found.astype(np.float64) if found.dtype.kind in "iufb" else np.unique(found, return_inverse=True)[1] * 1.0


def _bar(unit: Array, falls: Array, names: list[str]) -> Bar:
    shown = [names[c] for c in unit]
    label = " + ".join(shown[:2]) + (f" + {len(shown) - 2} more" if len(shown) > 2 else "")
    return Bar(label, float(f"{falls.mean():.6g}"), float(f"{falls.std():.6g}"))


def _largest(bars: list[Bar], most: int) -> tuple[Bar, ...]:
    return tuple(sorted(bars, key=lambda bar: -bar.value)[:most])


def _sentence(search: Any, n_columns: int, done: int, times: int) -> str:
    metric, n = within(metric_label(estimates_of(search)[0].metric)), search.predictions_.n_samples
    chosen = f"{done} of {n_columns:,} columns were shuffled, " if done < n_columns else ""
    chosen += "those that correlate most with the model's predictions. " if done < n_columns else ""
    shown = f"The {TOP} largest of {done:,} columns. " if done > TOP else ""
    rows = f"{MOST_ROWS:,} of {n:,} rows, " if n > MOST_ROWS else ""
    return (
        f"{chosen}{shown}How much the score ({metric}) falls when one column is shuffled ({rows}mean of "
        f"{count(times, 'shuffle')}; whiskers: standard deviation over shuffles). Computed on the training data of the "
        "final model, so it tells what the model leans on, not what would help on new data; columns that say the same "
        "share their importance, so those that are strongly correlated are shuffled together as well."
    )


def _left_out(reason: str) -> tuple[Note, ...]:
    return (Note("W704", f"Permutation importance was left out: {reason}."),)
