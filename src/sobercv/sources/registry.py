"""Which tables are read in blocks, and by which source.

Takes whatever a user passed, gives a `Source` or says that there is none; never reads a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import SoberError
from .base import Source
from .chunked import ChunkedSource
from .dask_array import DaskSource
from .memory_map import ArraySource
from .parquet import ParquetSource

#: Every storage; the first that recognises a table reads it.
STORAGES: tuple[type[Source], ...] = (ArraySource, ParquetSource, DaskSource, ChunkedSource)


def stream(predictions: Any, *, columns: Sequence[str] | None = None) -> Source:
    """Have predictions read in blocks by `sobercv.bbc`, so that they need not fit in memory.

    Parameters
    ----------
    predictions : array [N, C], zarr or HDF5 array, dask array, path, pyarrow Dataset or ParquetFile
        What holds one row a sample and one column a configuration. `sobercv.bbc` takes all of these directly; only
        arrays of numpy (memory maps up to 1 GiB among them) are read in blocks no sooner than asked for by this call.
    columns : list of str, optional
        The columns of a Parquet file that are predictions; unless given, all that are not named by another argument.

    Returns
    -------
    Source

    Examples
    --------
    >>> import numpy as np, sobercv
    >>> sobercv.stream(np.zeros((1000, 20)))
    ArraySource(1,000 samples, 20 configurations)
    """
    source = _source_of(predictions, columns)
    if source is None and isinstance(predictions, np.ndarray):
        source = ArraySource(predictions)
    if source is None:
        raise SoberError(
            "E118",
            f"`predictions` must be an array, a zarr or dask array, or Parquet; got {type(predictions).__name__}.",
        )
    if columns is not None and not source.has_names:
        raise SoberError("E114", "`columns` names columns of a Parquet file; slice arrays instead.")
    return source


def recognise(predictions: Any) -> tuple[Source, str] | None:
    """Tell predictions that are read in blocks from those in memory; give the source and the response, if named."""
    if isinstance(predictions, Mapping):
        found = {name: _source_of(values) for name, values in predictions.items()}
        if not any(source is not None for source in found.values()):
            return None
        if len(found) > 1:
            raise SoberError(
                "E118",
                f"Predictions that are read in blocks hold one response; got {len(found)}. Call sobercv.bbc for each.",
            )
        (name, source), *_ = found.items()
        return None if source is None else (source, name)
    source = _source_of(predictions)
    return None if source is None else (source, "")


def _source_of(values: Any, columns: Sequence[str] | None = None) -> Source | None:
    if isinstance(values, Source):
        return values
    return next((source for kind in STORAGES if (source := kind.of(values, columns)) is not None), None)


def vector(values: Any, source: Source) -> tuple[Any, list[str]]:
    """Give a column that goes with the samples (truth, groups, weights) and the names that are thereby taken."""
    if isinstance(values, str):
        return source.column(values), [values]
    if isinstance(values, (list, tuple)) and values and all(isinstance(v, str) for v in values) and len(values) == 2:
        return np.stack([np.asarray(source.column(v)) for v in values], axis=1), list(values)  # event and time
    if hasattr(values, "compute") and hasattr(values, "dask"):
        return values.compute(), []
    if hasattr(values, "chunks") and hasattr(values, "shape"):
        return np.asarray(values[:]), []
    return values, []
