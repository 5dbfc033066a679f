"""Tables in files: read from any of the usual formats, every column by its kind, and given their roles."""

from .read_table import Table, read
from .reading_options import ReadingOptions
from .reading_record import ColumnReading, ReadingRecord
from .roles import Dataset, Roles, assign

__all__ = ["ColumnReading", "Dataset", "ReadingOptions", "ReadingRecord", "Roles", "Table", "assign", "read"]
