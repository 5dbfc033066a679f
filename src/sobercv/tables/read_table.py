"""read: a table from a path or from standard input: CSV, TSV, Excel, Parquet, Arrow.

A `Table` has the frame, how every column was read, and a fingerprint. Reading refuses in one sentence, and asks where a
file can be read in two ways.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..errors import Note, SoberError
from .column import FALSE_WORDS, GAP_WORDS, TRUE_WORDS, Column
from .columnar import read_columnar
from .date_formats import dates
from .delimited import read_delimited
from .number_marks import PLAIN
from .raw_table import USUAL_GAPS, RawTable
from .reading_notes import unseen_noted
from .roles import Roles
from .schema import Schema
from .source_bytes import source_bytes
from .workbook import is_workbook, read_workbook

#: Suffixes, and the formats they promise. What the first bytes say counts more.
FORMATS = {
    ".csv": "csv", ".txt": "csv", ".tsv": "tsv", ".tab": "tsv", ".xlsx": "xlsx", ".xlsm": "xlsx",
    ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
}  # fmt: skip
#: First bytes of files that people try, and what to tell them.
FOREIGN = {
    b"PK\x03\x04": "a zip file (numpy, OpenDocument or other)", b"\xd0\xcf\x11\xe0": "an old Excel file",
    b"%PDF": "a PDF", b"SQLite format": "an SQLite file", b"\x89HDF": "an HDF5 file", b"\x93NUMPY": "a numpy file",
    b"RDX": "an R file", b"$FL2": "an SPSS file", b"\x89PNG": "a picture", b"<!DOC": "a web page",
    b"<html": "a web page",
}  # fmt: skip
_KNOWN = "CSV, TSV, Excel (.xlsx), Parquet or Arrow"


#: So many names that count on (0, 1, 2, ...), or that only grow (wavelengths), are names and no measurements.
LEAST_COUNTING, LEAST_GROWING = 4, 6
_DECIMALS = {".": ".", "point": ".", "dot": ".", ",": ",", "comma": ","}


@dataclass(frozen=True)
class ReadingOptions:
    """How to read a file, where it can be read in two ways."""

    #: Of a workbook.
    sheet: str | None = None
    #: The decimal mark of columns that can be read in two ways; also "point" and "comma".
    decimal: str | None = None
    #: Whether the first row holds the names (default: looked at).
    header: bool | None = None
    #: What limits such as `<0.5` count as.
    limits: str | None = None
    #: Whether columns are added that mark limits.
    limit_flags: bool = False

    @classmethod
    def of(cls, settings: Any) -> ReadingOptions:
        """Take the options from an object that has attributes of their names."""
        return cls(**{field.name: getattr(settings, field.name) for field in fields(cls)})

    def __post_init__(self) -> None:
        if self.decimal is not None:
            known = _DECIMALS.get(self.decimal.strip().lower())
            if known is None:
                raise SoberError("E122", f"--decimal takes . or , (point or comma); got {self.decimal[:20]!r}.")
            object.__setattr__(self, "decimal", known)


@dataclass(frozen=True, eq=False)
class Table:
    """A table that was read."""

    frame: Any
    #: How the file is called in messages.
    name: str
    #: None for standard input.
    path: Path | None
    format: str
    #: Fingerprint of the bytes, unpacked.
    sha256: str
    #: How the columns were read.
    schema: Schema
    notes: tuple[Note, ...]
    #: What was read, unpacked.
    raw: bytes


def read(
    source: str | Path,
    options: ReadingOptions | None = None,
    *,
    roles: Roles | None = None,
    schema: Schema | None = None,
) -> Table:
    """Read a table.

    `source`: "-" is standard input. The format is told by the first bytes, then by the suffix; gzip is unpacked.
    `roles`: what the columns are for: ids and groups are never read as numbers. `schema`: read the columns that it
    names as they were read then, instead of recognising them.
    """
    path = None if str(source) == "-" else Path(source)
    name = "standard input" if path is None else path.name
    raw = source_bytes(path)
    if not raw.strip():
        raise SoberError("E801", f"{name} is empty. Pass a table with a header and at least one row.")
    options = options or ReadingOptions()
    kind = _format(raw, path, name)
    if options.sheet is not None and kind != "xlsx":
        raise SoberError("E808", f"{name} is no Excel file: it has no sheet {options.sheet[:40]!r}. Leave --sheet out.")
    has_header = options.header is not False if schema is None else schema.has_header
    if kind == "xlsx":
        cells = read_workbook(raw, name, options.sheet, has_header)
    elif kind in ("parquet", "arrow"):
        cells = read_columnar(raw, kind, name)
    else:
        cells = read_delimited(raw, name, "\t" if kind == "tsv" else None, has_header)
    if not cells.columns:
        raise SoberError("E801", f"{name} has no columns. Pass a table with a header and at least one row.")
    if not cells.n_rows:
        raise SoberError("E801", f"{name} has a header but no rows. Give at least one row per sample.")
    notes = cells.notes
    is_new = schema is None
    if schema is None:
        given = {} if roles is None else roles.by_column()
        schema, inferred = Schema.infer(cells, given, options.decimal, has_header, options.limits, options.limit_flags)
        notes += inferred
    frame, lost = schema.apply(cells)
    if is_new and options.header is None:
        _check_header(cells, frame, schema, name)
    unseen = () if is_new else unseen_noted(cells, schema.columns, frame)
    notes = (*notes, *lost, *unseen)
    if twice := cells.named_twice:
        some = ", ".join(repr(n[:40]) for n in twice[:3])
        text = f"Columns share a name ({some}); the later ones are called {twice[0][:40] + '.1'!r} and so on."
        notes = (Note("W801", text), *notes)
    return Table(frame, name, path, kind, sha256(raw).hexdigest(), schema, notes, raw)


def _format(raw: bytes, path: Path | None, name: str) -> str:
    if raw.startswith(b"PAR1"):
        return "parquet"
    if raw.startswith((b"ARROW1", b"FEA1", b"\xff\xff\xff\xff")):
        return "arrow"
    if raw.startswith(b"PK\x03\x04") and is_workbook(raw):
        return "xlsx"
    for start, what in FOREIGN.items():
        if raw.lstrip()[:16].lower().startswith(start.lower()):
            raise SoberError("E801", f"{name} is {what}. Save the table as {_KNOWN}.")
    suffixes = [] if path is None else [s.lower() for s in path.suffixes if s.lower() != ".gz"]
    kind = FORMATS.get(suffixes[-1] if suffixes else "", "csv")
    if kind not in ("csv", "tsv"):
        raise SoberError("E801", f"{name} is called {kind} but is not. Write it again, or give it its real suffix.")
    if raw.lstrip()[:1] in (b"{", b"[") and suffixes[-1:] not in ([".csv"], [".tsv"]):
        raise SoberError("E801", f"{name} looks like JSON. Save the table as {_KNOWN}.")
    return kind


def _check_header(cells: RawTable, frame: Any, schema: Schema, name: str) -> None:
    """Ask where the first row looks like a sample: it would be lost as names."""
    first = cells.first_row
    if looks_like_data(first, frame, schema.columns) is not None:
        row = ", ".join(c.strip()[:15] for c in first[:4]) + (", ..." if len(first) > 4 else "")
        raise SoberError(
            "E808", f"The first row of {name} looks like data ({row}), not like names of columns. Write --no-header if "
            "there are none (columns are then called col1, col2, ...), or --header if these are names.",
        )  # fmt: skip


# ---- names or data: whether the first row names the columns or is already a sample; the user is asked ---------------
def looks_like_data(header: Sequence[str], frame: Any, columns: Mapping[str, Column]) -> str | None:
    """Return a cell of the first row that looks like data where none looks like a name, else None.

    `header`: the cells of the first row. `frame`: the rows below. `columns`: how they were read, in order.
    """
    pairs = [(cell.strip(), name, reading) for cell, (name, reading) in zip(header, columns.items(), strict=False)]
    pairs = [pair for pair in pairs if pair[0] not in USUAL_GAPS and pair[0].casefold() not in GAP_WORDS]
    typed = []
    for cell, name, reading in pairs:
        if reading.kind == "text" or not frame[name].notna().any():
            continue
        if not _fits(cell, reading):
            return None
        typed.append(cell)
    if typed:
        return None if _count_on(typed) else typed[0]
    # Text only: cells that occur again below, in every column of few categories, are no names.
    few = [(cell, name) for cell, name, _ in pairs if 1 < frame[name].nunique() <= len(frame) // 2]
    if few and all((frame[name].astype(str).str.strip() == cell).any() for cell, name in few):
        return few[0][0]
    return None


def _fits(cell: str, reading: Column) -> bool:
    if reading.kind == "number":
        return any(marks.pattern.fullmatch(cell) for marks in (reading.marks, PLAIN))
    if reading.kind == "boolean":
        return cell in (*TRUE_WORDS, *FALSE_WORDS)
    return bool(reading.date_format) and bool(dates([cell], reading.date_format).notna().all())


def _count_on(cells: list[str]) -> bool:
    """Whether the cells are numbers in a growing order, as names of columns may be and rows of data seldom are."""
    try:
        numbers = [float(cell) for cell in cells]
    except ValueError:
        return False
    steps = [b - a for a, b in pairwise(numbers)]
    if len(cells) >= LEAST_COUNTING and all(step == 1 for step in steps):
        return True
    return len(cells) >= LEAST_GROWING and all(step > 0 for step in steps)
