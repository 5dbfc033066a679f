"""Tables in files: read from any of the usual formats, and their columns given their roles."""

from .reading import Table, read
from .roles import Dataset, assign

__all__ = ["Dataset", "Table", "assign", "read"]
