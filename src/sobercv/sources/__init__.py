"""Predictions that do not fit in memory: memory maps, zarr, Parquet, dask; one small interface for all.

A storage is one file that derives from `Source`, and one entry in `registry.STORAGES`. The libraries that the tables
come from are imported only when a table of theirs was given.
"""

from .base import ROWS, Columns, Source
from .dask_array import DaskSource
from .memory_map import ArraySource
from .parquet import ParquetSource
from .registry import recognise, stream, vector

__all__ = ["ROWS", "ArraySource", "Columns", "DaskSource", "ParquetSource", "Source", "recognise", "stream", "vector"]
