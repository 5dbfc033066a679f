"""Columns of Parquet: a path, a `pyarrow.dataset.Dataset` or a `pyarrow.parquet.ParquetFile`.

Takes a table with named columns, gives blocks of those that are predictions, and others by name. Never holds more than
a block and what pyarrow unpacks with it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from ..containers import Array
from ..errors import SoberError
from .base import ROWS, Columns, Source

_BUFFERED: dict[str, Any] = {"use_buffered_stream": True, "buffer_size": 1 << 20}


class ParquetSource(Source):
    """Columns of one or several Parquet files."""

    has_names: ClassVar[bool] = True

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

    @classmethod
    def of(cls, values: Any, names: Sequence[str] | None = None) -> Source | None:
        if isinstance(values, (str, os.PathLike)):
            return cls(_open(values), names)
        return cls(values, names) if hasattr(values, "iter_batches") or hasattr(values, "count_rows") else None

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


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:6])) + (", ..." if len(names) > 6 else "")
