"""Predictions that do not fit in memory: memory maps, zarr, Parquet, dask; one small interface for all.

Takes a table that lives on disk or on a cluster, gives its rows in blocks cut at fixed places, and lets work be done
where the rows are. Never imports the libraries that the tables come from unless a table of theirs was given, never
looks at what the numbers mean.
"""

from __future__ import annotations

import mmap
import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from .containers import Array
from .errors import SoberError

ROWS = 1 << 16  # rows of a block: what the bootstrap draws together, so that no result depends on the user's chunks
LARGE = 1 << 30  # bytes of a memory map that is read in blocks without being asked
_READ = 1 << 28  # bytes read in one go, so that a chunk or a row group is not unpacked again for every block of it
_WINDOW = 64  # blocks that are sent to a cluster together
_BUFFERED: dict[str, Any] = {"use_buffered_stream": True, "buffer_size": 1 << 20}

#: Which configurations to read: a range of columns, or their indices.
Columns = slice | Array


class Source(ABC):
    """A table of predictions, a row a sample and a column a configuration, of which only blocks are in memory.

    Attributes
    ----------
    shape : (int, int)
        N samples, C configurations.
    """

    shape: tuple[int, int]

    @abstractmethod
    def blocks(self, columns: Columns) -> Iterator[tuple[int, Array]]:
        """Give (first row, values) of every block of 65,536 rows, in order, for some of the configurations."""

    def columns(self, columns: Columns) -> Array:
        """Give all rows of some of the configurations [N, columns]."""
        out: Array | None = None
        for start, values in self.blocks(columns):
            if out is None:
                out = np.empty((self.shape[0], values.shape[1]), values.dtype)
            out[start : start + len(values)] = values
        assert out is not None
        return out

    def map(
        self, work: Callable[[Array, Any], Any], parcel: Callable[[int, int], Any], columns: Columns, n_threads: int
    ) -> Iterator[Any]:
        """Do work on every block, where the block is: `work(values, parcel(first row, last row + 1))`, in order.

        Results can be added; a source may give sums of several instead of each.
        """
        jobs = ((values, parcel(start, start + len(values))) for start, values in self.blocks(columns))
        if n_threads == 1:
            yield from (work(*job) for job in jobs)
            return
        with ThreadPoolExecutor(n_threads) as pool:
            waiting: deque[Future[Any]] = deque()
            for job in jobs:
                waiting.append(pool.submit(work, *job))
                if len(waiting) > n_threads:  # one block is read ahead, no more: blocks are what memory is spent on
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def column(self, name: str) -> Array:
        """Give a column by its name, such as the truth; only files with named columns have those."""
        raise SoberError(
            "E118", f"{name!r} cannot name a column: only Parquet files have names. Pass an array, one entry a sample."
        )

    def without(self, names: Sequence[str]) -> Source:
        """Leave these columns out, because they are no predictions."""
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.shape[0]:,} samples, {self.shape[1]:,} configurations)"


class ArraySource(Source):
    """Anything that is sliced like an array: memory maps, zarr, HDF5."""

    def __init__(self, array: Any) -> None:
        _check_axes(array)
        self._array = array
        self.shape = (int(array.shape[0]), int(array.shape[1]))

    def blocks(self, columns: Columns) -> Iterator[tuple[int, Array]]:
        n, step = self.shape[0], self._step(columns)
        for first in range(0, n, step):
            values = self._read(first, min(first + step, n), columns)
            for at in range(0, len(values), ROWS):
                yield first + at, values[at : at + ROWS]

    def _step(self, columns: Columns) -> int:
        """Rows to read in one go: a chunk of the file where that is not too much, else a block."""
        chunks = getattr(self._array, "chunks", None)
        if not chunks or chunks[0] <= ROWS:
            return ROWS
        row = _width(columns, self.shape[1]) * np.dtype(self._array.dtype).itemsize
        whole = -(-chunks[0] // ROWS) * ROWS
        return int(whole) if whole * row <= _READ else ROWS

    def _read(self, start: int, stop: int, columns: Columns) -> Array:
        if isinstance(columns, slice):
            values = np.array(self._array[start:stop, columns])
        else:
            values = np.stack([np.asarray(self._array[start:stop, int(c)]) for c in columns], axis=1)
        pages = getattr(self._array, "_mmap", None)
        if pages is not None and getattr(self._array, "mode", "") in ("r", "r+") and hasattr(mmap, "MADV_DONTNEED"):
            pages.madvise(mmap.MADV_DONTNEED)  # what has been copied need not stay: it would count as our memory
        return values


class ParquetSource(Source):
    """Columns of Parquet: files, a `pyarrow.dataset.Dataset` or a `pyarrow.parquet.ParquetFile`."""

    def __init__(self, table: Any, names: Sequence[str] | None = None) -> None:
        self._table = table
        self._schema = table.schema if hasattr(table, "count_rows") else table.schema_arrow
        known = list(self._schema.names)
        lost = [name for name in names or () if name not in known]
        if lost:
            raise SoberError("E804", f"The file has no column {lost[0]!r}; it has {_some(known)}.")
        self.names = list(names) if names is not None else known
        n = table.count_rows() if hasattr(table, "count_rows") else table.metadata.num_rows
        self.shape = (int(n), len(self.names))

    def blocks(self, columns: Columns) -> Iterator[tuple[int, Array]]:
        names = self.names[columns] if isinstance(columns, slice) else [self.names[int(c)] for c in columns]
        kind = self._kind(names)
        start, left = 0, np.empty((0, len(names)), kind)
        for batch in self._batches(names):
            values = np.empty((len(batch), len(names)), kind)
            for j, name in enumerate(names):
                column = batch.column(batch.schema.get_field_index(name))
                if column.null_count:
                    raise SoberError(
                        "E102",
                        f"The column {name!r} lacks {column.null_count} predictions in rows {start + len(left):,} to "
                        f"{start + len(left) + len(batch) - 1:,}. Leave those samples or that configuration out.",
                    )
                values[:, j] = column.to_numpy(zero_copy_only=False)
            left = np.concatenate([left, values]) if len(left) else values
            while len(left) >= ROWS:
                yield start, left[:ROWS]
                start, left = start + ROWS, left[ROWS:]
        if len(left):
            yield start, left

    def _batches(self, names: list[str]) -> Iterator[Any]:
        if isinstance(self._table, ParquetFiles):
            yield from self._table.batches(names)
        elif hasattr(self._table, "iter_batches"):
            yield from self._table.iter_batches(batch_size=ROWS, columns=names)
        else:
            options: dict[str, Any] = {"batch_size": ROWS, "batch_readahead": 1, "fragment_readahead": 1}
            if getattr(getattr(self._table, "format", None), "default_extname", "") == "parquet":
                from pyarrow.dataset import ParquetFragmentScanOptions

                # The scanner would else fill memory with row groups.
                options["fragment_scan_options"] = ParquetFragmentScanOptions(pre_buffer=False, **_BUFFERED)
            yield from self._table.to_batches(columns=names, **options)

    def _kind(self, names: list[str]) -> np.dtype[Any]:
        """Find the type that holds all these columns."""
        kinds = {np.dtype(self._schema.field(name).type.to_pandas_dtype()) for name in names}
        if any(kind.kind not in "biuf" for kind in kinds):
            return np.dtype(object)
        return np.result_type(*kinds)

    def column(self, name: str) -> Array:
        if name not in self._schema.names:
            raise SoberError("E804", f"The file has no column {name!r}; it has {_some(self._schema.names)}.")
        return np.concatenate([b.column(0).to_numpy(zero_copy_only=False) for b in self._batches([name])])

    def without(self, names: Sequence[str]) -> Source:
        kept = [name for name in self.names if name not in names]
        return ParquetSource(self._table, kept) if len(kept) < len(self.names) else self


class ParquetFiles:
    """Files of one table, read page by page: a dataset of pyarrow's would hold several row groups at a time."""

    def __init__(self, dataset: Any) -> None:
        self.schema, self._files, self.count_rows = dataset.schema, dataset.files, dataset.count_rows

    def batches(self, names: list[str]) -> Iterator[Any]:
        """Give the rows of all files, in order."""
        from pyarrow.parquet import ParquetFile

        for path in self._files:
            with ParquetFile(path, pre_buffer=False, buffer_size=_BUFFERED["buffer_size"]) as file:
                yield from file.iter_batches(batch_size=ROWS, columns=names)


class DaskSource(Source):
    """A dask array: blocks stay on the workers that hold them, sums come back."""

    def __init__(self, array: Any) -> None:
        _check_axes(array)
        if any(size != size for size in array.shape):
            raise SoberError(
                "E101", "The dask array does not know how long its chunks are. Call array.compute_chunk_sizes() first."
            )
        self._array = array
        self.shape = (int(array.shape[0]), int(array.shape[1]))

    def _delayed(self, columns: Columns) -> list[Any]:
        return list(self._array[:, columns].rechunk({0: ROWS, 1: -1}).to_delayed().ravel())

    def blocks(self, columns: Columns) -> Iterator[tuple[int, Array]]:
        for k, block in enumerate(self._delayed(columns)):
            yield k * ROWS, np.asarray(block.compute())

    def map(
        self, work: Callable[[Array, Any], Any], parcel: Callable[[int, int], Any], columns: Columns, n_threads: int
    ) -> Iterator[Any]:
        import dask

        task = dask.delayed(work, pure=False)
        add = dask.delayed(sum_of, pure=False)
        blocks = self._delayed(columns)
        for first in range(0, len(blocks), _WINDOW):
            window = range(first, min(first + _WINDOW, len(blocks)))
            parcels = _send([parcel(k * ROWS, min((k + 1) * ROWS, self.shape[0])) for k in window])
            done = [task(blocks[k], p) for k, p in zip(window, parcels, strict=True)]
            while len(done) > 1:  # a tree: workers add up what they have, and one sum travels
                done = [add(done[at : at + 8]) for at in range(0, len(done), 8)]
            yield done[0].compute()


def sum_of(parts: list[Any]) -> Any:
    """Add up results of blocks, in order."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _send(parcels: list[Any]) -> list[Any]:
    """Put parcels onto the cluster where there is one: inside of the tasks they would pass through the scheduler."""
    from dask.base import get_scheduler

    client: Any = getattr(get_scheduler(), "__self__", None)
    return list(client.scatter(parcels, hash=False)) if hasattr(client, "scatter") else parcels


# ---- which tables are read in blocks --------------------------------------------------------------------------------
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
    source = _recognise(predictions, columns)
    if source is None and isinstance(predictions, np.ndarray):
        source = ArraySource(predictions)
    if source is None:
        raise SoberError(
            "E118",
            f"`predictions` must be an array, a zarr or dask array, or Parquet; got {type(predictions).__name__}.",
        )
    if columns is not None and not isinstance(source, ParquetSource):
        raise SoberError("E114", "`columns` names columns of a Parquet file; slice arrays instead.")
    return source


def recognise(predictions: Any) -> tuple[Source, str] | None:
    """Tell predictions that are read in blocks from those in memory; give the source and the response, if named."""
    if isinstance(predictions, Mapping):
        found = {name: _recognise(values) for name, values in predictions.items()}
        if not any(source is not None for source in found.values()):
            return None
        if len(found) > 1:
            raise SoberError(
                "E118",
                f"Predictions that are read in blocks hold one response; got {len(found)}. Call sobercv.bbc for each.",
            )
        (name, source), *_ = found.items()
        return None if source is None else (source, name)
    source = _recognise(predictions)
    return None if source is None else (source, "")


def _recognise(values: Any, columns: Sequence[str] | None = None) -> Source | None:
    if isinstance(values, Source):
        return values
    if isinstance(values, np.ndarray):
        large = isinstance(values, np.memmap) and values.ndim == 2 and values.nbytes > LARGE
        return ArraySource(values) if large else None
    if isinstance(values, (str, os.PathLike)):
        return ParquetSource(_open(values), columns)
    if hasattr(values, "iter_batches") or hasattr(values, "count_rows"):
        return ParquetSource(values, columns)
    if hasattr(values, "rechunk") and hasattr(values, "to_delayed"):
        return DaskSource(values)
    sliced = all(hasattr(values, name) for name in ("shape", "dtype", "chunks", "__getitem__"))
    return ArraySource(values) if sliced and not hasattr(values, "to_numpy") else None


def _open(where: str | os.PathLike[str]) -> Any:
    path = os.fspath(where)
    if not os.path.isdir(path) and not path.lower().endswith((".parquet", ".pq")):
        raise SoberError(
            "E118", f"A path to predictions must end in .parquet; got {path!r}. Pass an array, or write Parquet."
        )
    if not os.path.exists(path):
        raise SoberError("E801", f"There is no file {path!r}. Check the path.")
    try:
        import pyarrow.dataset
    except ImportError:
        raise SoberError("E403", "Parquet files need pyarrow. Write: pip install 'sobercv[big]'.") from None
    try:
        return ParquetFiles(pyarrow.dataset.dataset(path, format="parquet"))
    except (pyarrow.ArrowException, OSError) as problem:
        reason = str(problem).splitlines()[0]
        raise SoberError("E801", f"{path!r} cannot be read as Parquet: {reason}") from None


def vector(values: Any, source: Source, name: str) -> tuple[Any, list[str]]:
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


def _check_axes(array: Any) -> None:
    if len(array.shape) != 2:
        raise SoberError(
            "E118",
            f"Predictions that are read in blocks must be [N, C]; got {len(array.shape)} axes. Repeats and "
            "probabilities of several classes have to fit in memory: pass a numpy array.",
        )
    if 0 in array.shape:
        raise SoberError("E101", f"`predictions` holds nothing; got shape {tuple(array.shape)}.")


def _width(columns: Columns, n: int) -> int:
    return len(range(*columns.indices(n))) if isinstance(columns, slice) else len(columns)


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:6])) + (", ..." if len(names) > 6 else "")
