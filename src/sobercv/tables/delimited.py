"""Text with a delimiter, as people's programs really write it: BOMs, Latin-1, mixed line ends, semicolons, short rows.

Takes bytes, gives a data frame and the options with which plain pandas would read the same; refuses in one sentence
what cannot be read without guessing.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ..errors import SoberError

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
#: Larger files are not walked twice only to find short rows; pandas still refuses the long ones.
MOST_WALKED = 50_000_000
_FIELD = 100_000_000


@dataclass(frozen=True, eq=False)
class Parsed:
    """A frame, the options of `pandas.read_csv` that give it, and what the reader should know: (code, sentence)."""

    frame: Any
    options: dict[str, Any]
    notes: tuple[tuple[str, str], ...]


def parse(raw: bytes, name: str, delimiter: str | None = None) -> Parsed:
    """Read delimited text.

    Parameters
    ----------
    raw : bytes
    name : str
        How the file is called in messages.
    delimiter : str, optional
        Found by looking at the first rows unless given.
    """
    text, encoding, notes = decode(raw, name)
    if not text.strip():
        raise SoberError("E802", f"{name} is empty. Give a table with a header and at least one row.")
    delimiter = delimiter or sniff(text)
    notes = [*notes, *_walk(text, delimiter, name)]
    options = {"sep": delimiter, "encoding": encoding, "low_memory": False, "index_col": False}
    frame = _frame(text, delimiter, name)
    frame.attrs["named_twice"] = _named_twice(text, delimiter)
    return Parsed(frame, options, (*notes, *_said_twice(frame.attrs["named_twice"])))


def decode(raw: bytes, name: str) -> tuple[str, str, list[tuple[str, str]]]:
    """Give the text, the encoding, and a note where it had to be guessed."""
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if raw.startswith(mark):
            return _decoded(raw, encoding, name), encoding, []
    if b"\x00" in raw[:65536]:
        raise SoberError("E801", f"{name} is not a text file. Save the table as CSV, TSV, Parquet or Arrow.")
    try:
        return raw.decode("utf-8"), "utf-8", []
    except UnicodeDecodeError as error:
        row = raw.count(b"\n", 0, error.start) + 1
        note = f"{name} is not UTF-8 (line {row}), so it was read as Latin-1. Look at accents, or save it as UTF-8."
        encoding = "cp1252" if _is_windows(raw) else "latin-1"
        return raw.decode(encoding), encoding, [("W801", note)]


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
    """Find the delimiter: the one that cuts the first rows into the most columns, the same number in nearly all."""
    best, most = ",", 1.0
    for delimiter in DELIMITERS:
        widths = [len(row) for row in islice(_rows(text, delimiter), 100) if row]
        if not widths:
            continue
        width, times = Counter(widths).most_common(1)[0]
        # Not all rows need agree (ragged files get their own message), but columns in half of them are no columns.
        if width > 1 and times >= 0.7 * len(widths) and width > most:
            best, most = delimiter, width
    return best


def _rows(text: str, delimiter: str) -> Any:
    csv.field_size_limit(_FIELD)
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def _walk(text: str, delimiter: str, name: str) -> list[tuple[str, str]]:
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
    return [("W803", f"{rows} shorter than the header (the first is line {first}); what lacks counts as missing.")]


def _too_long(name: str, line: int, found: int, width: int, delimiter: str) -> str:
    hint = "Quote cells that hold the delimiter."
    if found == width + 1:
        hint = "If the first column holds row names, as R writes them, give it a name; else quote such cells."
    fields = "field" if width == 1 else "fields"
    return (
        f"{name} is not rectangular: line {line} has {found} fields but the header has {width} {fields} "
        f"(delimiter: {DELIMITERS.get(delimiter, delimiter)}). {hint}"
    )


def _frame(text: str, delimiter: str, name: str) -> Any:
    import pandas as pd

    try:
        return pd.read_csv(io.StringIO(text), sep=delimiter, low_memory=False, index_col=False)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError, OverflowError) as error:
        reason = " ".join(str(error).split())[:200].rstrip(".").removeprefix("Error tokenizing data. C error: ")
        if "EOF inside string" in reason:
            reason = f"a quote is opened and never closed{reason.partition('EOF inside string')[2]}"
        raise SoberError("E803", f"{name} cannot be read as a table: {reason}. Look at that line.") from None


def _named_twice(text: str, delimiter: str) -> list[str]:
    header: list[str] = next((row for row in _rows(text, delimiter) if row), [])
    return sorted(n for n, times in Counter(header).items() if times > 1 and n)


def _said_twice(twice: list[str]) -> list[tuple[str, str]]:
    if not twice:
        return []
    some = ", ".join(repr(n[:40]) for n in twice[:3])
    return [("W802", f"Columns share a name ({some}); the later ones are called {twice[0][:40] + '.1'!r} and so on.")]
