"""Text with a delimiter, as people's programs really write it: BOMs, Latin-1, mixed line ends, semicolons, short rows.

Tokenises a file once, every cell as text; refuses in one sentence what is not rectangular. Never decides what a column
holds.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from itertools import islice
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

from ..errors import Note, SoberError
from .number_marks import Marks
from .raw_table import RawTable, unique_names

DELIMITERS = {";": "semicolon", "\t": "tab", "|": "vertical bar", ",": "comma"}
_FIELD = 100_000_000
#: Characters in which the delimiter and the first row are looked for.
_HEAD = 1_000_000


def read_delimited(raw: bytes, name: str, delimiter: str | None = None, has_header: bool = True) -> RawTable:
    """Read the cells of a text file, called `name` in messages; the delimiter is found by looking at the first rows."""
    text, encoding, notes = decode(raw, name)
    if not text.strip():
        raise SoberError("E801", f"{name} is empty. Pass a table with a header and at least one row.")
    delimiter = delimiter or sniff(text)
    first = _first_row(text, delimiter)
    utf8 = raw.removeprefix(b"\xef\xbb\xbf") if encoding in ("utf-8", "utf-8-sig") else text.encode("utf-8")
    columns = _tokenised(utf8, delimiter, len(first))
    if columns is None:
        columns, more = _padded(text, delimiter, name)
        notes += more
    _check_last_quote(utf8, delimiter, columns, name)
    if has_header:
        names, twice = unique_names([cell or f"Unnamed: {i}" for i, cell in enumerate(first)])
        columns = [column.slice(1) for column in columns]
    else:
        names, twice = [f"col{i + 1}" for i in range(len(first))], []
    found = dict(zip(names, columns, strict=True))
    return RawTable(found, first, twice, suggests_commas=delimiter == ";", notes=tuple(notes))


def decode(raw: bytes, name: str) -> tuple[str, str, list[Note]]:
    """Return the text, the encoding, and a note where it had to be guessed."""
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if raw.startswith(mark):
            try:
                return raw.decode(encoding), encoding, []
            except UnicodeDecodeError:
                said = f"{name} says that it is {encoding} but is not. Save it again as UTF-8."
                raise SoberError("E801", said) from None
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


def sniff(text: str) -> str:
    """Find the delimiter: the one that cuts the first rows into the most columns, the same number in nearly all.

    One that cuts the very first row into as many counts before one that does not: in `a;b` above `1,5;2,5` the commas
    make more columns, but not of the names. A comma counts last: it also stands in numbers and in names (`height, cm`).
    """
    best, most = ",", (False, 1)
    for delimiter in DELIMITERS:
        rows = [row for row in islice(_rows(text[:_HEAD], delimiter), 100) if row]
        widths = [len(row) for row in rows]
        if not widths:
            continue
        width, times = Counter(widths).most_common(1)[0]
        # Not all rows need agree (ragged files get their own message), but columns in half of them are no columns.
        if width > 1 and times >= 0.7 * len(widths):
            if widths[0] == width and delimiter != "," and _has_decimal_commas(rows[1:]):
                return delimiter
            if (widths[0] == width, width) > most:
                best, most = delimiter, (widths[0] == width, width)
    return best


def _has_decimal_commas(rows: list[list[str]]) -> bool:
    """Whether commas in cells, where there are any, are decimal commas of numbers."""
    cells = [cell.strip() for row in rows for cell in row if "," in cell]
    return bool(cells) and all(Marks(",").pattern.fullmatch(cell) for cell in cells)


def _rows(text: str, delimiter: str) -> Any:
    csv.field_size_limit(_FIELD)
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def _first_row(text: str, delimiter: str) -> list[str]:
    """Return the cells of the first row that is not blank."""
    rows = [row for row in islice(_rows(text[:_HEAD], delimiter), 100) if row]
    if len(rows) < 2 and len(text) > _HEAD:  # an enormous row, perhaps cut
        rows = [next(row for row in _rows(text, delimiter) if row)]
    return rows[0]


def _tokenised(utf8: bytes, delimiter: str, width: int) -> list[Any] | None:
    """Return the columns, the first row included; None where rows differ in length."""
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(utf8),
            arrow_csv.ReadOptions(autogenerate_column_names=True, block_size=max(1 << 24, len(utf8) // 8)),
            arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=b'"' in utf8),
            arrow_csv.ConvertOptions(
                column_types={f"f{i}": pa.string() for i in range(width)}, strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        return None
    return [column.combine_chunks() for column in table.columns] if table.num_columns == width else None


def _padded(text: str, delimiter: str, name: str) -> tuple[list[Any], list[Note]]:
    """Return the columns of a file whose rows differ in length; refuse rows longer than the header, note short ones."""
    rows: list[list[str]] = []
    short, first, width = 0, 0, 0
    reader = _rows(text, delimiter)
    try:
        for row in filter(None, reader):
            width = width or len(row)
            if len(row) > width and any(row[width:]):
                raise SoberError("E801", _too_long(name, reader.line_num, len(row), width, delimiter))
            if len(row) < width:
                short, first = short + 1, first or reader.line_num
            rows.append((row + [""] * (width - len(row)))[:width])
    except csv.Error as error:
        raise SoberError("E801", f"{name} cannot be read at line {reader.line_num}: {error}. Look there.") from None
    columns = [pa.array([row[i] for row in rows], pa.string()) for i in range(width)]
    if not short:
        return columns, []
    said = "One row is" if short == 1 else f"{short} rows are"
    text = f"{said} shorter than the header (the first is line {first}); the missing cells count as gaps."
    return columns, [Note("W801", text)]


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


def _check_last_quote(utf8: bytes, delimiter: str, columns: list[Any], name: str) -> None:
    """Refuse a quote that is opened and never closed: it swallows all rows that follow."""
    last = next((cell for column in reversed(columns) if (cell := column[-1].as_py())), "")
    opened = b'"' + last.strip("\r\n").replace('"', '""').encode()
    end = utf8.rstrip(b"\r\n" + delimiter.encode())
    before = end.removesuffix(opened)[-1:]
    if end.endswith(opened) and last and before in (b"", b"\n", b"\r", delimiter.encode()):
        row = len(columns[-1])
        raise SoberError("E801", f"{name} cannot be read: a quote is opened and never closed (row {row}). Close it.")
