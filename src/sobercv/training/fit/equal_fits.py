"""Equal fits: two configurations that give the same model the same rows are fitted once.

Takes models about to be fitted and the rows that reach them, gives the responses of an equal one where there is one;
never fits, never compares what cannot be compared surely. Two selections often choose the same columns, and a number
of columns given as a share is often the same number: such fits repeat each other bit for bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy import sparse

from ...containers import Array

Responses = Mapping[str, Array]
Key = tuple[bytes, Any]


class EqualFits:
    """Responses of the models of one split, by all that they depend on."""

    def __init__(self) -> None:
        self._known: dict[Key, Responses] = {}

    def key(self, model: Any, own: Any, digest: bytes | None, X: Any) -> Key | None:
        """Give what the responses of a model depend on; None where that is not known, or is drawn anew each time.

        Parameters
        ----------
        model : estimator
            Unfitted. Its method `settled_params(X)`, if it has one, gives the parameters that are equal for equal
            fits on these rows.
        own : hashable
            Equal for equal parameters.
        digest : bytes or None
            Of the rows, see `digest_of`.
        X : array or sparse matrix
            The training rows.
        """
        if digest is None:
            return None
        settle = getattr(model, "settled_params", None)
        if settle is not None:
            params = settle(X)
            own = (type(model), tuple(sorted((name, repr(value)) for name, value in params.items())))
        else:
            params = model.get_params(deep=True) if hasattr(model, "get_params") else {"random_state": None}
        draws_anew = any(name.endswith("random_state") and value is None for name, value in params.items())
        return None if draws_anew else (digest, own)

    def recall(self, key: Key | None) -> Responses | None:
        """Give the responses of an equal fit."""
        found = None if key is None else self._known.get(key)
        return None if found is None else {name: values.copy() for name, values in found.items()}

    def keep(self, key: Key | None, responses: Responses) -> None:
        """Remember the responses of a fit."""
        if key is not None:
            self._known[key] = responses


def digest_of(train: Any, test: Any) -> bytes | None:
    """Give a digest of the rows of both sides that differs where anything does, the layout in memory included.

    Parameters
    ----------
    train, test : array or sparse matrix
        For anything else there is no digest: None.
    """
    hashed = blake2b(digest_size=20)
    for rows in (train, test):
        arrays = [rows] if isinstance(rows, np.ndarray) else _parts(rows)
        if not arrays or any(array.dtype.hasobject for array in arrays):
            return None
        for array in arrays:
            is_fortran = array.flags.f_contiguous and not array.flags.c_contiguous
            told = (type(rows).__name__, rows.shape, array.dtype.str, array.flags.c_contiguous, is_fortran)
            hashed.update(repr(told).encode())
            hashed.update((array.T if is_fortran else array).tobytes())
    return hashed.digest()


def _parts(rows: Any) -> list[Array]:
    """List the arrays of a sparse matrix; none for what is no matrix."""
    if not sparse.issparse(rows) or rows.format not in ("csr", "csc"):
        return []
    return [rows.data, rows.indices, rows.indptr]
