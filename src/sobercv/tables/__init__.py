"""Tables in files: read from any of the usual formats, every column by its kind, and given their roles."""

from typing import TYPE_CHECKING

from ..late_imports import late

if TYPE_CHECKING:
    from .read_table import Table, read
    from .reading_options import ReadingOptions
    from .reading_record import ColumnReading, ReadingRecord
    from .roles import Dataset, Roles, assign

__all__ = ["ColumnReading", "Dataset", "ReadingOptions", "ReadingRecord", "Roles", "Table", "assign", "read"]

__getattr__ = late(
    __name__,
    {
        "ColumnReading": "reading_record",
        "Dataset": "roles",
        "ReadingOptions": "reading_options",
        "ReadingRecord": "reading_record",
        "Roles": "roles",
        "Table": "read_table",
        "assign": "roles",
        "read": "read_table",
    },
)
