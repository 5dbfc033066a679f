"""read: a table from a path or from standard input: CSV, TSV, Excel, Parquet, Arrow.

Takes a path, gives a `Table`: its frame, how every column was read, its fingerprint and the Python that reads the same.
Refuses in one sentence, and asks where a file can be read in two ways. Never looks at what columns mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..errors import Note, SoberError
from .header import looks_like_data
from .opened import Opened, Typed
from .openers import OPENERS
from .reading_options import ReadingOptions
from .reading_record import ReadingRecord
from .recorded_columns import by_record
from .source_bytes import source_bytes
from .typed_columns import recognise
from .workbook import is_workbook

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


@dataclass(frozen=True, eq=False)
class Table:
    """A table that was read.

    Attributes
    ----------
    frame : pandas.DataFrame
    name : str
        How the file is called in messages.
    path : Path or None
        None for standard input.
    format : {"csv", "tsv", "xlsx", "parquet", "arrow"}
    sha256 : str
        Fingerprint of the bytes, unpacked.
    code : str
        Python that reads the same with pandas from `PATH`: an expression, then statements on `table`.
    record : ReadingRecord
        How the columns were read.
    notes : tuple of Note
    raw : bytes
        What was read, unpacked.
    """

    frame: Any
    name: str
    path: Path | None
    format: str
    sha256: str
    code: str
    record: ReadingRecord
    notes: tuple[Note, ...]
    raw: bytes


def read(source: str | Path, options: ReadingOptions | None = None, record: ReadingRecord | None = None) -> Table:
    """Read a table.

    Parameters
    ----------
    source : path or "-"
        "-" is standard input. The format is told by the first bytes, then by the suffix; gzip is unpacked.
    options : ReadingOptions, optional
    record : ReadingRecord, optional
        Read the columns that it names as they were read then, instead of recognising them.

    Returns
    -------
    Table
    """
    path = None if str(source) == "-" else Path(source)
    name = "standard input" if path is None else path.name
    raw = source_bytes(path)
    if not raw.strip():
        raise SoberError("E802", f"{name} is empty. Give a table with a header and at least one row.")
    options = options or ReadingOptions()
    kind = _format(raw, path, name)
    if options.sheet is not None and kind != "xlsx":
        raise SoberError("E808", f"{name} is no Excel file: it has no sheet {options.sheet[:40]!r}. Leave --sheet out.")
    has_header = options.header is not False if record is None else record.has_header
    opened = OPENERS[kind](raw, name, options.sheet, has_header)
    _check_shape(opened.frame, name)
    if record is None:
        typed = recognise(opened, options.decimal)
        if options.header is None:
            _check_header(opened, typed, name)
    else:
        typed = by_record(opened, record.columns)
    typed.frame.attrs["named_twice"] = opened.named_twice
    notes = (*opened.notes, *_named_twice_noted(opened.named_twice), *typed.notes)
    record = ReadingRecord(typed.columns, has_header)
    code = opened.code_for(typed)
    return Table(typed.frame, name, path, kind, sha256(raw).hexdigest(), code, record, notes, raw)


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


def _check_shape(frame: Any, name: str) -> None:
    if not len(frame.columns):
        raise SoberError("E802", f"{name} has no columns. Give a table with a header and at least one row.")
    if not len(frame):
        raise SoberError("E802", f"{name} has a header but no rows. Give at least one row a sample.")


def _check_header(opened: Opened, typed: Typed, name: str) -> None:
    """Ask where the first row looks like a sample: it would be lost as names."""
    cell = looks_like_data(opened.first_row, typed.frame, typed.columns)
    if cell is not None:
        row = ", ".join(c.strip()[:15] for c in opened.first_row[:4]) + (", ..." if len(opened.first_row) > 4 else "")
        raise SoberError(
            "E843", f"The first row of {name} looks like data ({row}), not like names of columns. Write --no-header if "
            "there are none (columns are then called col1, col2, ...), or --header if these are names.",
        )  # fmt: skip


def _named_twice_noted(twice: list[str]) -> list[Note]:
    if not twice:
        return []
    some = ", ".join(repr(n[:40]) for n in twice[:3])
    text = f"Columns share a name ({some}); the later ones are called {twice[0][:40] + '.1'!r} and so on."
    return [Note("W802", text)]
