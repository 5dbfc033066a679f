"""Columns that say the same: which of them are so correlated that shuffling one alone tells little.

Takes a table and the columns that are looked at, gives groups of them; never scores.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import rankdata

from ..containers import Array
from .column_screen import is_numeric

#: Columns whose ranks correlate by this much, on average, go together.
STRONG = 0.7


def correlated(X: Any, columns: Array) -> list[Array]:
    """Give the groups of two or more columns that go together.

    Parameters
    ----------
    X : pandas.DataFrame or array [N, P]
    columns : int array
        Numbers of columns; those that are not numbers are left out.
    """
    numeric = [c for c in columns if is_numeric(X)[c]]
    if len(numeric) < 2:
        return []
    values = np.asarray(X.iloc[:, numeric] if hasattr(X, "iloc") else X[:, numeric], dtype=np.float64)
    known = np.isfinite(values)
    middle = np.array([np.median(v[k]) if k.any() else 0.0 for v, k in zip(values.T, known.T, strict=True)])
    ranks = rankdata(np.where(known, values, middle), axis=0)
    centred = ranks - ranks.mean(axis=0)
    spread = np.sqrt((centred**2).sum(axis=0))
    scaled = np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0)
    distance = 1.0 - np.abs(scaled.T @ scaled)
    np.fill_diagonal(distance, 0.0)
    found = fcluster(linkage(squareform(np.clip(distance, 0.0, 1.0), checks=False), "average"), 1 - STRONG, "distance")
    groups = (np.array(numeric)[found == label] for label in np.unique(found))
    return [group for group in groups if len(group) > 1]
