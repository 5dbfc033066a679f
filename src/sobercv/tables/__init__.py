"""Tables in files: read from any of the usual formats, every column by its schema, and given their roles."""

from typing import TYPE_CHECKING

from ..late_imports import late

if TYPE_CHECKING:
    from .column import Column
    from .read_table import Table, read
    from .roles import Dataset, assign
    from .schema import Schema
    from .settings import Settings

__all__ = ["Column", "Dataset", "Schema", "Settings", "Table", "assign", "read"]

__getattr__ = late(
    __name__,
    {
        "Column": "column",
        "Dataset": "roles",
        "Schema": "schema",
        "Settings": "settings",
        "Table": "read_table",
        "assign": "roles",
        "read": "read_table",
    },
)
