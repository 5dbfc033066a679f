"""Tables in files: read from any of the usual formats, every column by its schema, and given their roles."""

from typing import TYPE_CHECKING

from ..late_imports import late

if TYPE_CHECKING:
    from .column import Column
    from .read_table import Table, read
    from .roles import Dataset, Roles, assign
    from .schema import ReadingOptions, Schema

__all__ = ["Column", "Dataset", "ReadingOptions", "Roles", "Schema", "Table", "assign", "read"]

__getattr__ = late(
    __name__,
    {
        "Column": "column",
        "Dataset": "roles",
        "ReadingOptions": "schema",
        "Roles": "roles",
        "Schema": "schema",
        "Table": "read_table",
        "assign": "roles",
        "read": "read_table",
    },
)
