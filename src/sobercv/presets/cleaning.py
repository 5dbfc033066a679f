"""The first step of every preset: any table in, scaled numbers without gaps out, learnt inside each fold."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from ..errors import SoberError

#: Text columns with at least so many different values are cut into pieces of text instead of one column per value.
MANY_CATEGORIES = 40


def _is_plain(dtype: Any) -> bool:
    """Whether a column of this type holds plain numbers."""
    if hasattr(dtype, "is_numeric"):  # polars
        return bool(dtype.is_numeric())
    return isinstance(dtype, np.dtype) and dtype.kind in "biuf"


def check_table(X: Any) -> None:
    """Refuse what no preset can use: sparse, no rows, no columns, names that are no names, infinite numbers."""
    if sparse.issparse(X):
        raise SoberError("E123", "Presets are for dense tables; got a sparse matrix. Write X.toarray().")
    shape = getattr(X, "shape", None) or np.asarray(X).shape
    if len(shape) != 2 or 0 in shape:
        raise SoberError("E101", f"X must have at least one row and one column; got shape {tuple(shape)}.")
    names = list(getattr(X, "columns", ()))
    twice = next((name for name, n in Counter(names).items() if n > 1), None)
    if twice is not None or len({isinstance(name, str) for name in names}) > 1:
        got = "text and numbers" if twice is None else f"{twice!r} more than once"
        raise SoberError("E101", f"The columns of X need names that differ, all of them text; got {got}. Rename them.")
    frame = hasattr(X, "dtypes")
    floats = [i for i, dtype in enumerate(X.dtypes) if "float" in str(dtype).lower()] if frame else []
    if hasattr(X, "iloc"):
        values = X.iloc[:, floats].to_numpy(dtype=float, na_value=np.nan)
    else:
        values = np.asarray(X[:, floats], dtype=float) if frame else np.asarray(X)
    if values.dtype.kind == "f" and np.isinf(values).any():
        bad = int(np.flatnonzero(np.isinf(values).any(axis=0))[0])
        name = names[floats[bad]] if frame else bad
        raise SoberError(
            "E102", f"Column {name!r} holds infinite values. Replace them by numbers, or by NaN for missing."
        )


def make_cleaner(X: Any, seed: int = 0) -> Pipeline:
    """Make the cleaning step that suits a table.

    Mixed tables go through skrub: text becomes categories, numbers or dates, categories become 0/1 columns (many
    different values: 10 columns that summarise the text), dates become year, month, day and seconds. Then, as for plain
    numbers: fill gaps by the median and mark them, scale, leave constant columns out.
    """
    dtypes = list(X.dtypes) if hasattr(X, "dtypes") else [np.asarray(X).dtype]
    steps: list[tuple[str, Any]] = [] if all(map(_is_plain, dtypes)) else [("types", _vectorizer(seed))]
    steps += [
        # Empty columns become constant ones: the scaler would warn about them, and a fold can make one any time.
        ("fill", SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)),
        ("scale", StandardScaler()),
        # Scaled columns have variance 1, so that this is only rounding noise.
        ("vary", VarianceThreshold(1e-12)),
    ]
    return Pipeline(steps)


def _vectorizer(seed: int) -> Any:
    try:
        from skrub import StringEncoder, TableVectorizer  # type: ignore[import-untyped,import-not-found,unused-ignore]
    except ImportError:
        raise SoberError(
            "E403",
            "Tables with text, dates or categories need skrub: pip install 'sobercv[cli]', or encode them.",
        ) from None
    return TableVectorizer(
        cardinality_threshold=MANY_CATEGORIES,
        # Without drop=: it would warn whenever a fold meets a category that its training rows lack.
        low_cardinality=OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype="float32"),
        high_cardinality=StringEncoder(n_components=10, random_state=seed),
        n_jobs=1,
    )
