"""Cells: what a file holds before anything is recognised in it: an Arrow array per column.

Text stays text; what the file itself knows (numbers, booleans, dates, categories) has its own type.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress, count, islice, zip_longest
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from ..containers import Array
from ..errors import Note, SoberError
from . import source_bytes

#: Words that stand for a gap in every column but "None", which is a word of its own among words.
TEXT_GAPS = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "#N/A", "<NA>")
USUAL_GAPS = (*TEXT_GAPS, "None")
#: In the order in which they are tried; a space only where R put quotes around all text, and nothing else fits.
DELIMITERS = {";": "semicolon", "\t": "tab", "|": "vertical bar", ",": "comma", " ": "space"}
#: Bytes in which the delimiter is looked for.
_HEAD = 1_000_000
#: Numbers as Python writes them, and no codes: neither zeros in front nor more digits than a number holds.
_PLAIN = r"^[+-]?(?:(?:0|[1-9][0-9]{0,17})(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$"
#: Text beside numbers of Excel, which have a point, such as <0,5; and whether its comma is surely a decimal one.
_COMMA = re.compile(r"^([<>\u2264\u2265=\s+-]*[0-9]+),(?=[0-9]+\s*$)")
_SURE = re.compile(r"^[<>\u2264\u2265=\s+-]*(0,[0-9]+|[0-9]+,([0-9]{1,2}|[0-9]{4,}))\s*$")
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]*([eE][+-]?[0-9]+)?")
#: Cells that are converted at once: few calls for wide tables, little memory for long ones.
_BLOCK = 1_000_000
EMPTY = "is empty. Pass a table with a header and at least one row."


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a file, by column."""

    columns: dict[str, Any]
    kinds: Mapping[str, str] = field(default_factory=dict)  # number, date, boolean or category, where the file says so
    first_row: Mapping[str, str] = field(default_factory=dict)  # by column, where it may hold names or data
    named_twice: Sequence[str] = ()  # names that several columns share
    suggests_commas: bool = False  # whether the file looks as if written where decimals begin with a comma
    notes: tuple[Note, ...] = ()
    _distinct: dict[str, tuple[Any, Array]] = field(default_factory=dict, init=False)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.columns.values()), ()))

    def text(self, name: str) -> Any:
        """Return a column as text, whole numbers without a decimal point; null where the file has a gap."""
        column = self.columns[name]
        return (column.dictionary_decode() if pa.types.is_dictionary(column.type) else column).cast(pa.string())

    def distinct(self, name: str) -> tuple[Any, Array]:
        """Return the different values of a column, trimmed, in order of occurrence, without empty ones, and counts."""
        if name not in self._distinct:
            cells = pc.utf8_trim_whitespace(self.text(name)).drop_null()
            counted = pc.value_counts(cells.filter(pc.not_equal(cells, "")))
            self._distinct[name] = counted.field(0), np.asarray(counted.field(1))
        return self._distinct[name]

    def examples(self, name: str, gaps: Collection[str]) -> list[str]:
        """Return the first of the different values of a column but those that stand for gaps."""
        return [value for value in self.distinct(name)[0][:1000].to_pylist() if value not in gaps]

    def pointed(self, name: str) -> Any:
        """Return the numbers of a column that hold a point, trimmed."""
        text = self.text(name)
        values = pc.utf8_trim_whitespace(text.filter(pc.match_substring(text, ".")))
        return values.filter(pc.match_substring_regex(values, "[0-9][.]|[.][0-9]")) if len(values) else values

    def without(self, words: Sequence[str]) -> Cells:
        """Return the cells with gaps in place of these words."""
        columns = dict(self.columns)
        for name in columns if words else ():
            is_word = pc.is_in(pc.utf8_trim_whitespace(self.text(name)), value_set=pa.array(words))
            columns[name] = columns[name].take(pa.array(np.arange(self.n_rows), mask=np.asarray(is_word)))
        return replace(self, columns=columns)

    @cached_property
    def plain_numbers(self) -> dict[str, Array]:
        """The columns of text that are plain numbers, usual gaps aside: float64, or int64 where all are whole."""
        texts = [name for name, column in self.columns.items() if pa.types.is_string(column.type)]
        n, found = self.n_rows, dict[str, Array]()
        for start in range(0, len(texts), size := max(1, _BLOCK // n)):
            names = texts[start : start + size]
            cells = pc.utf8_trim_whitespace(pa.concat_arrays([self.columns[name] for name in names]))
            cells = pc.if_else(pc.is_in(cells, value_set=pa.array(USUAL_GAPS)), pa.scalar(None, pa.string()), cells)
            matched = np.asarray(pc.match_substring_regex(cells, _PLAIN).fill_null(True))
            fits: Array = np.all(matched.reshape(len(names), n), axis=1)
            cells = cells.filter(pa.array(np.repeat(fits, n)))
            values = pc.cast(cells, pa.float64()).to_numpy(zero_copy_only=False).reshape(-1, n)
            for i, name in enumerate(compress(names, fits)):
                found[name] = whole_numbers(cells.slice(i * n, n), values[i])
        return found


def whole_numbers(cells: Any, values: Array) -> Array:
    """Return int64 where all values are whole and the cells are written without a decimal point, else the values."""
    with suppress(pa.ArrowInvalid), np.errstate(invalid="ignore"):  # infinite ones are not whole
        if (values % 1 == 0).all():
            return np.asarray(pc.cast(cells, pa.int64()))
    return values


def unique_names(first: Sequence[str], has_header: bool = True) -> tuple[list[str], list[str]]:
    """Return a name of its own for every column as pandas makes them, and the names that occurred more than once."""
    names = [name or f"Unnamed: {i}" if has_header else f"col{i + 1}" for i, name in enumerate(first)]
    taken, out = set(names), []
    numbers: dict[str, Iterator[int]] = {}  # by name, those that are left for columns that share it
    for name in names:
        new = name
        if name in numbers:
            new = next(each for i in numbers[name] if (each := f"{name}.{i}") not in taken)
        else:
            numbers[name] = count(1)
        taken.add(new)
        out.append(new)
    return out, sorted({name for name, new in zip(names, out, strict=True) if name != new})


# ---- text with a delimiter -----------------------------------------------------------------------------------------
def read_delimited(raw: bytes, name: str, delimiter: str | None = None, has_header: bool = True) -> Cells:
    """Read the cells of a text file, called `name` in messages; the delimiter is found by looking at the first rows."""
    utf8, notes = _utf8(raw, name)
    if not utf8.strip():
        raise SoberError("E801", f"{name} {EMPTY}")
    delimiter = delimiter or sniff(utf8[:_HEAD])
    first = next(filter(None, _rows(utf8, delimiter)))
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(utf8),
            arrow_csv.ReadOptions(  # threads are not worth their start for a small file
                use_threads=len(utf8) > 1 << 20, autogenerate_column_names=True, block_size=max(1 << 24, len(utf8) // 8)
            ),
            arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=b'"' in utf8),
            arrow_csv.ConvertOptions(column_types={f"f{i}": pa.string() for i in range(len(first))}),
        )
        columns = [column.combine_chunks() for column in table.columns]
    except pa.ArrowInvalid:
        columns = []
    if len(columns) != len(first):  # rows differ in length
        columns, more = _padded(utf8, delimiter, name)
        notes += more
    # A quote that is opened and never closed swallows all rows that follow.
    last = next((cell for column in reversed(columns) if (cell := column[-1].as_py())), "")
    opened = b'"' + last.strip("\r\n").replace('"', '""').encode()
    end = utf8.rstrip(b"\r\n" + delimiter.encode())
    if last and end.endswith(opened) and end.removesuffix(opened)[-1:] in (b"", b"\n", b"\r", delimiter.encode()):
        row = len(columns[-1])
        raise SoberError("E801", f"{name} cannot be read: a quote is opened and never closed (row {row}). Close it.")
    names, twice = unique_names(first, has_header)
    found = {name: column[int(has_header) :] for name, column in zip(names, columns, strict=True)}
    above = dict(zip(names, first, strict=True))
    return Cells(found, {}, above, twice, delimiter == ";", notes)


def _utf8(raw: bytes, name: str) -> tuple[bytes, tuple[Note, ...]]:
    """Return text as UTF-8 without a mark of its encoding, and a note where the encoding had to be guessed."""
    marks = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
    said = next((encoding for mark, encoding in marks.items() if raw.startswith(mark)), None)
    if said is None and b"\x00" in raw[:65536]:
        raise SoberError("E801", f"{name} is not a text file. Save the table as CSV, TSV, Excel, Parquet or Arrow.")
    try:
        return raw.decode(said or "utf-8").encode(), ()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
    if said is not None:
        raise SoberError("E801", f"{name} starts with a {said} mark but is not {said}. Save it again as UTF-8.")
    text = f"{name} is not UTF-8 (line {line}), so it was read as Windows-1252. Check accents, or save it as UTF-8."
    try:
        return raw.decode("cp1252").encode(), (Note("W801", text),)
    except UnicodeDecodeError:
        raise SoberError("E801", f"{name} is neither UTF-8 nor Windows-1252 (line {line}). Save it as UTF-8.") from None


def _rows(utf8: bytes, delimiter: str) -> Any:
    """Return a reader of rows, empty for blank lines."""
    csv.field_size_limit(100_000_000)
    lines = io.TextIOWrapper(io.BytesIO(utf8), encoding="utf-8", errors="ignore", newline="")
    return csv.reader(lines, delimiter=delimiter)


def sniff(head: bytes) -> str:
    """Find the delimiter: the one that cuts the first rows into the most columns, the same number in nearly all."""
    # One that cuts the very first row into as many counts before one that does not: in `a;b` above `1,5;2,5` the commas
    # make more columns, but not of the names. A comma counts last: it also stands in numbers and names (`height, cm`).
    best, most = ",", (False, 1)
    for delimiter in DELIMITERS:
        if delimiter == " " and (most[1] > 1 or not head.startswith(b'"') or b'" ' not in head):
            break
        rows = list(islice(filter(None, _rows(head, delimiter)), 100)) or [[]]
        width, times = Counter(map(len, rows)).most_common(1)[0]
        # Not all rows need agree (ragged files get their own message), but columns in half of them are no columns.
        if width > 1 and times >= 0.7 * len(rows):
            names_fit = len(rows[0]) == width
            if names_fit and delimiter != ",":
                commas = [cell.strip() for row in rows[1:] for cell in row if "," in cell]
                if commas and all(_DECIMAL_COMMA.fullmatch(cell) for cell in commas):
                    return delimiter
            if (names_fit, width) > most:
                best, most = delimiter, (names_fit, width)
    return best


def _padded(utf8: bytes, delimiter: str, name: str) -> tuple[list[Any], tuple[Note, ...]]:
    """Return the columns of a file whose rows differ in length; refuse rows longer than the header, note short ones."""
    rows: list[list[str]] = []
    short: list[int] = []
    reader = _rows(utf8, delimiter)
    try:
        for row in filter(None, reader):
            width, line = len(rows[0] if rows else row), reader.line_num
            if any(row[width:]):
                hint = "Quote cells that hold the delimiter"
                if len(row) == width + 1:
                    hint = "If the first column holds row names, as R writes them, give it a name (or write in R: "
                    hint += 'write.csv(x, "x.csv", row.names = FALSE)); otherwise quote such cells'
                hint += " (with decimal commas, save with semicolons)" if delimiter == "," else ""
                if len(rows) > 1 or len(row) > width + 1:  # titles are fewer and shorter than the rows below the names
                    lengths = [len(row), *(len(later) for later in reader if later)]
                    n_numbers = sum(bool(re.match(r"\s*[+-]?[.,]?[0-9]", cell)) for cell in row)
                    if len(rows) < len(lengths) and width < min(lengths) and 2 * n_numbers < len(row):
                        hint = f"Delete the lines above the names of the columns, which seem to be in line {line}"
                text = f"{name} is not rectangular: line {line} has {len(row)} fields but the header has "
                text += f"{width} (delimiter: {DELIMITERS.get(delimiter, delimiter)}). {hint}."
                raise SoberError("E801", text)
            short += [line] if len(row) < width else []
            rows.append(row[:width])
    except csv.Error as error:
        raise SoberError("E801", f"{name} cannot be read at line {reader.line_num}: {error}.") from None
    columns = [pa.array(column, pa.string()) for column in zip_longest(*rows, fillvalue="")]
    if not short:
        return columns, ()
    said = "One row is" if len(short) == 1 else f"{len(short)} rows are"
    text = f"{said} shorter than the header (the first is line {short[0]}); the missing cells are treated as empty."
    return columns, (Note("W801", text),)


# ---- files that know their columns --------------------------------------------------------------------------------
def read_binary(raw: bytes, kind: str, name: str, sheet: str | None = None, has_header: bool = True) -> Cells:
    """Read an Excel, Parquet or Arrow file, called `name` in messages; one sentence says whatever a reader raises."""
    try:
        return _workbook(raw, name, sheet, has_header) if kind == "xlsx" else _columnar(raw, kind)
    except ImportError:
        raise SoberError("E403", "Excel files need openpyxl: pip install 'sobercv[excel]', or save as CSV.") from None
    except SoberError:
        raise
    except Exception as error:  # of Arrow, pandas, XML, zip or JSON
        reason = " ".join(str(error).split())[:140].rstrip(".") or type(error).__name__
        kind = "Excel" if kind == "xlsx" else kind
        raise SoberError("E801", f"{name} is a damaged {kind} file: {reason}. Save it again.") from None


def _workbook(raw: bytes, name: str, sheet: str | None, has_header: bool) -> Cells:
    """Read a sheet, which must be named where several hold something; formulas count with the value that was saved."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > source_bytes.MOST_BYTES:
            most = source_bytes.MOST_BYTES >> 20
            raise SoberError("E801", f"{name} grows beyond {most} MiB when unpacked. Save the table as CSV.")
    as_they_are: dict[str, Any] = {"header": None, "dtype": object, "keep_default_na": False, "na_values": [""]}
    with pd.ExcelFile(io.BytesIO(raw), engine="openpyxl") as book:
        sheets = {str(title): rows for title, rows in pd.read_excel(book, sheet_name=None, **as_they_are).items()}
    filled = [title for title, rows in sheets.items() if len(rows)]
    if not filled:
        raise SoberError("E801", f"{name} {EMPTY}")
    # The sheet that was asked for, capitals aside, or the only one that holds something.
    wanted = "" if sheet is None else sheet.casefold()
    found = [title for title in filled if sheet in (None, title)] or [t for t in filled if t.casefold() == wanted]
    if len(found) != 1:
        said = f"{len(filled)} filled sheets" if sheet is None else f"no sheet {sheet[:40]!r}, or it is empty"
        titles = ", ".join(repr(title[:30]) for title in list(sheets)[:8])
        raise SoberError("E808", f"{name} has {said}. The sheets are {titles}. Write --sheet NAME.")
    cells = sheets[found[0]]
    first = ["" if pd.isna(cell) else str(cell) for cell in cells.iloc[0].tolist()]
    names, twice = unique_names(first, has_header)
    rows = cells.iloc[int(has_header) :].set_axis(names, axis=1)
    nameless = [n for n in names if n.startswith("Unnamed: ") and rows[n].isna().all()]
    rows = rows.drop(columns=nameless).dropna(how="all")
    above = {n: cell for n, cell in zip(names, first, strict=True) if n in rows.columns}
    return _typed(rows, above, twice)


def _columnar(raw: bytes, kind: str) -> Cells:
    """Read a Parquet or Arrow file."""
    if kind == "parquet":
        frame = pd.read_parquet(io.BytesIO(raw))
    else:
        open_arrow = pa.ipc.open_file if raw.startswith(b"ARROW1") else pa.ipc.open_stream
        frame = open_arrow(io.BytesIO(raw)).read_all().to_pandas()
    notes: tuple[Note, ...] = ()
    only_counts = frame.index.names == [None] and frame.index.dtype.kind in "iuf"
    if only_counts and not isinstance(frame.index, pd.RangeIndex):
        text = "The row labels of the file are unnamed numbers and were left out. Give them a name to keep them."
        notes = (Note("W801", text),)
    frame = frame.reset_index(drop=only_counts)
    names, twice = unique_names([str(c) for c in frame.columns])
    return _typed(frame.set_axis(names, axis=1), {}, twice, notes)


def _typed(frame: Any, first_row: Mapping[str, str], named_twice: Sequence[str], notes: tuple[Note, ...] = ()) -> Cells:
    """Return the columns of a frame as Arrow arrays of the types that `Cells` has; refuse what no model can use."""
    columns, kinds, types = dict[str, Any](), dict[str, str](), pa.types
    for name, values in frame.items():
        try:
            column = pa.array(values, from_pandas=True)
            kind = column.type
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):  # cells of several types, or of many digits
            kind = None
        # Arrow takes a flag among fractions for 1, and a number among dates for microseconds since 1970.
        if kind is None or (
            (types.is_floating(kind) or types.is_temporal(kind))
            and pd.api.types.infer_dtype(values) in ("mixed", "mixed-integer")
        ):
            texts = [None if pd.isna(v) else f"{v:.15g}" if isinstance(v, float) else str(v) for v in values]
            if any(map(_SURE.match, filter(None, texts))):
                texts = [text and _COMMA.sub(r"\1.", text) for text in texts]
            columns[name] = pa.array(texts, pa.string())
        elif types.is_string(kind) or types.is_large_string(kind) or types.is_time(kind):
            columns[name] = column.cast(pa.string())
        elif types.is_boolean(kind) or types.is_dictionary(kind):
            columns[name], kinds[name] = column, "boolean" if types.is_boolean(kind) else "category"
        elif types.is_date(kind) or types.is_timestamp(kind):
            columns[name], kinds[name] = column.cast(pa.timestamp("s")) if types.is_date(kind) else column, "date"
        elif types.is_integer(kind) or kind in (pa.float32(), pa.float64()):
            columns[name], kinds[name] = column, "number"
        elif types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind):
            columns[name], kinds[name] = column.cast(pa.float64()), "number"
        else:
            text = f"Column {name[:60]!r} holds values of type {kind}. "
            raise SoberError("E801", f"{text}Use numbers, text, dates or booleans, one per row.")
    return Cells(columns, kinds, first_row, named_twice, notes=notes)
