"""Text with a delimiter, as people's programs really write it: BOMs, Latin-1, mixed line ends, semicolons, short rows.

Takes bytes, gives a `TextTable` that reads its columns as pandas would or as text; refuses in one sentence what is not
rectangular. Never decides what a column holds.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ..errors import Note, SoberError

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
#: Larger files are not walked twice only to find short rows; pandas still refuses the long ones.
MOST_WALKED = 50_000_000
_FIELD = 100_000_000
#: Signs in which the delimiter and the first row are looked for.
_HEAD = 4_000_000
#: More columns than this are held together by their kind.
MANY_COLUMNS = 500


@dataclass(frozen=True, eq=False)
class TextTable:
    """Delimited text, ready to be read.

    Attributes
    ----------
    text : str
    name : str
        How the file is called in messages.
    delimiter, encoding : str
    has_header : bool
    notes : tuple of Note
    """

    text: str
    name: str
    delimiter: str
    encoding: str
    has_header: bool
    notes: tuple[Note, ...]

    @classmethod
    def of(cls, raw: bytes, name: str, delimiter: str | None = None, has_header: bool = True) -> TextTable:
        """Decode, find the delimiter and look whether every row fits.

        Parameters
        ----------
        raw : bytes
        name : str
        delimiter : str, optional
            Found by looking at the first rows unless given.
        has_header : bool
        """
        text, encoding, notes = decode(raw, name)
        if not text.strip():
            raise SoberError("E802", f"{name} is empty. Give a table with a header and at least one row.")
        delimiter = delimiter or sniff(text)
        notes += _walk(text, delimiter, name)
        return cls(text, name, delimiter, encoding, has_header, tuple(notes))

    @property
    def first_row(self) -> list[str]:
        """The cells of the first row that is not blank."""
        rows = [row for row in islice(_rows(self.text[:_HEAD], self.delimiter), 100) if row]
        if len(rows) < 2 and len(self.text) > _HEAD:  # an enormous row, perhaps cut
            rows = [next(row for row in _rows(self.text, self.delimiter) if row)]
        return rows[0] if rows else []

    @property
    def options(self) -> dict[str, Any]:
        """The options of `pandas.read_csv` that read the same."""
        found = {"sep": self.delimiter, "encoding": self.encoding, "low_memory": False, "index_col": False}
        if not self.has_header:
            found |= {"header": None, "names": self.numbered_names}
        return found

    @property
    def numbered_names(self) -> list[str]:
        """Names for the columns of a file that has none."""
        return [f"col{i + 1}" for i in range(len(self.first_row))]

    def frame(self, text_columns: list[str] | None = None) -> Any:
        """Read all columns, some of them as text."""
        import pandas as pd

        options = {name: value for name, value in self.options.items() if name != "encoding"}
        try:
            found = pd.read_csv(io.StringIO(self.text), dtype=dict.fromkeys(text_columns or [], str), **options)
        except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError, OverflowError) as error:
            reason = " ".join(str(error).split())[:200].rstrip(".").removeprefix("Error tokenizing data. C error: ")
            if "EOF inside string" in reason:
                reason = f"a quote is opened and never closed{reason.partition('EOF inside string')[2]}"
            raise SoberError("E803", f"{self.name} cannot be read as a table: {reason}. Look at that line.") from None
        # A copy holds columns of a kind together: each step with thousands of columns apart takes seconds.
        return found.copy() if found.shape[1] > MANY_COLUMNS else found

    def cells(self, names: list[str], every: list[str]) -> dict[str, list[Any]]:
        """Read some columns as text; gaps are no text.

        Parameters
        ----------
        names : list of str
        every : list of str
            The names of all columns, as `frame` gave them.
        """
        import pandas as pd

        options = {name: value for name, value in self.options.items() if name not in ("encoding", "header", "names")}
        options |= {"header": 0 if self.has_header else None, "names": every, "usecols": names}
        found = pd.read_csv(io.StringIO(self.text), dtype=object, **options)
        return dict(zip(found.columns, map(list, found.to_numpy(dtype=object).T), strict=True))

    @property
    def has_leading_zeros(self) -> bool:
        """Whether some cell may be a whole number that begins with a zero."""
        # One search for each sign that can stand before it: a choice of signs in one pattern is ten times slower.
        before = (self.delimiter, "\n", "\r", '"', " ")
        found = (re.search(re.escape(sign) + "0[0-9]", self.text) for sign in before)
        return re.match("0[0-9]", self.text) is not None or any(found)

    @property
    def named_twice(self) -> list[str]:
        """Names that several columns share."""
        names = self.first_row if self.has_header else []
        return sorted(name for name, times in Counter(names).items() if times > 1 and name)


def decode(raw: bytes, name: str) -> tuple[str, str, list[Note]]:
    """Give the text, the encoding, and a note where it had to be guessed."""
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if raw.startswith(mark):
            return _decoded(raw, encoding, name), encoding, []
    if b"\x00" in raw[:65536]:
        raise SoberError("E801", f"{name} is not a text file. Save the table as CSV, TSV, Excel, Parquet or Arrow.")
    try:
        return raw.decode("utf-8"), "utf-8", []
    except UnicodeDecodeError as error:
        row = raw.count(b"\n", 0, error.start) + 1
        note = f"{name} is not UTF-8 (line {row}), so it was read as Latin-1. Look at accents, or save it as UTF-8."
        encoding = "cp1252" if _is_windows(raw) else "latin-1"
        return raw.decode(encoding), encoding, [Note("W801", note)]


def _is_windows(raw: bytes) -> bool:
    """Whether the bytes that only Windows uses (curly quotes, the euro sign) occur, and only those that it knows."""
    try:
        raw.decode("cp1252")
    except UnicodeDecodeError:
        return False
    return any(0x80 <= byte < 0xA0 for byte in set(raw))


def _decoded(raw: bytes, encoding: str, name: str) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError:
        raise SoberError("E801", f"{name} says that it is {encoding} but is not. Save it again as UTF-8.") from None


def sniff(text: str) -> str:
    """Find the delimiter: the one that cuts the first rows into the most columns, the same number in nearly all.

    One that cuts the very first row into as many counts before one that does not: in `a;b` above `1,5;2,5` the commas
    make more columns, but not of the names.
    """
    best, most = ",", (False, 1)
    for delimiter in DELIMITERS:
        widths = [len(row) for row in islice(_rows(text[:_HEAD], delimiter), 100) if row]
        if not widths:
            continue
        width, times = Counter(widths).most_common(1)[0]
        # Not all rows need agree (ragged files get their own message), but columns in half of them are no columns.
        if width > 1 and times >= 0.7 * len(widths) and (widths[0] == width, width) > most:
            best, most = delimiter, (widths[0] == width, width)
    return best


def _rows(text: str, delimiter: str) -> Any:
    csv.field_size_limit(_FIELD)
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def _walk(text: str, delimiter: str, name: str) -> list[Note]:
    """Refuse rows that are longer than the header, note rows that are shorter."""
    if len(text) > MOST_WALKED:
        return []
    reader = _rows(text, delimiter)
    short, first, width = 0, 0, 0
    try:
        for row in reader:
            if not row:
                continue
            if not width:
                width = len(row)
            elif len(row) > width and any(cell for cell in row[width:]):
                raise SoberError("E803", _too_long(name, reader.line_num, len(row), width, delimiter))
            elif len(row) < width:
                short, first = short + 1, first or reader.line_num
    except csv.Error as error:
        raise SoberError("E803", f"{name} cannot be read at line {reader.line_num}: {error}. Look there.") from None
    if not short:
        return []
    rows = "One row is" if short == 1 else f"{short} rows are"
    return [Note("W803", f"{rows} shorter than the header (the first is line {first}); what lacks counts as missing.")]


def _too_long(name: str, line: int, found: int, width: int, delimiter: str) -> str:
    hint = "Quote cells that hold the delimiter"
    if found == width + 1:
        hint = "If the first column holds row names, as R writes them, give it a name; else quote such cells"
    if delimiter == ",":
        hint += " (with decimal commas, save with semicolons)"
    fields = "field" if width == 1 else "fields"
    return (
        f"{name} is not rectangular: line {line} has {found} fields but the header has {width} {fields} "
        f"(delimiter: {DELIMITERS.get(delimiter, delimiter)}). {hint}."
    )
