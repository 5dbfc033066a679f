"""What readers of single formats hand to those who recognise columns, and what these hand on.

Takes frames and functions, gives records; never reads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import Note
from .reading_record import ColumnReading
from .text_columns import Cells

#: Gives columns of a table as text: names in, their cells out.
AsText = Callable[[list[str]], dict[str, Cells]]


@dataclass(frozen=True, eq=False)
class Typed:
    """A frame whose columns have their kinds.

    Attributes
    ----------
    frame : pandas.DataFrame
    columns : dict of str to ColumnReading
    converted : tuple of str
        Columns that pandas, left alone, would have read otherwise.
    notes : tuple of Note
    """

    frame: Any
    columns: dict[str, ColumnReading]
    converted: tuple[str, ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True, eq=False)
class Opened:
    """A file that was opened.

    Attributes
    ----------
    frame : pandas.DataFrame
        As pandas reads it.
    text_of : callable
        Gives columns back as text.
    code_for : callable
        Gives the Python that reads the same, once columns have been converted.
    first_row : list of str
        Cells that may be names or data; empty where the format itself knows the names.
    doubtful : list of str
        Columns of whole numbers that may be codes: some number in the file begins with a zero.
    named_twice : list of str
        Names that several columns share.
    has_types : bool
        Whether the format itself says what is a number and what is text.
    suggests_commas : bool
        Whether the file looks as if written where decimals begin with a comma.
    notes : tuple of Note
    """

    frame: Any
    text_of: AsText
    code_for: Callable[[Typed], str]
    first_row: list[str]
    doubtful: list[str]
    named_twice: list[str]
    has_types: bool = True
    suggests_commas: bool = False
    notes: tuple[Note, ...] = ()


def replaced(frame: Any, made: dict[str, Any]) -> Any:
    """Give a frame with some of its columns replaced, all at once: one by one takes long in wide tables."""
    import pandas as pd

    if not made:
        return frame
    return pd.DataFrame({name: made[name] if name in made else frame[name] for name in frame.columns})
