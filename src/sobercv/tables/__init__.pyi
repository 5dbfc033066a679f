from .column import Column as Column
from .read_table import Table as Table
from .read_table import read as read
from .roles import Dataset as Dataset
from .roles import assign as assign
from .schema import Schema as Schema
from .settings import Settings as Settings
