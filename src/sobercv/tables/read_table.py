"""read: a table from a path or from standard input: CSV, TSV, Excel, Parquet, Arrow."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec.structs import replace

from ..errors import Note, SoberError
from .cells import EMPTY, USUAL_GAPS, Cells, read_binary, read_delimited
from .column import GAP_WORDS, PLAIN, Column, read_text
from .naming import some
from .schema import Schema, unseen
from .settings import Settings
from .source_bytes import source_bytes

#: Suffixes, and the formats they promise. What the first bytes say counts more.
FORMATS = {
    ".tsv": "tsv", ".tab": "tsv", ".xlsx": "xlsx", ".xlsm": "xlsx", ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
}  # fmt: skip
#: First bytes of files, and their format; of others that people try, what they are.
STARTS = {
    b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow",
    b"PK\x03\x04": "a zip file (numpy, OpenDocument or other)", b"\xd0\xcf\x11\xe0": "an old Excel file",
    b"%PDF": "a PDF", b"\x93NUMPY": "a numpy file", b"<!DOC": "a web page", b"<html": "a web page",
}  # fmt: skip
_KNOWN = "CSV, TSV, Excel (.xlsx), Parquet or Arrow"
#: So many names that count on (0, 1, 2, ...), or that only grow (wavelengths), are names and no measurements.
LEAST_COUNTING, LEAST_GROWING = 4, 6


@dataclass(frozen=True, eq=False)
class Table:
    """A table that was read."""

    frame: Any
    name: str  # how the file is called in messages
    path: Path | None  # None for standard input
    format: str
    #: Fingerprint of the bytes, unpacked.
    sha256: str
    schema: Schema  # how the columns were read
    notes: tuple[Note, ...]
    raw: bytes  # what was read, unpacked


def read(source: str | Path, settings: Settings | None = None, *, schema: Schema | None = None) -> Table:
    """Read a table.

    `source`: "-" is standard input. The format is told by the first bytes, then by the suffix; gzip is unpacked.
    `settings`: what the columns are for (ids and groups are never read as numbers), and how to read what can be read in
    two ways. `schema`: read the columns that it names as they were read then, instead of recognising them.
    """
    path = None if str(source) == "-" else Path(source)
    name = "standard input" if path is None else path.name
    raw = source_bytes(path)
    if not raw.strip():
        raise SoberError("E801", f"{name} {EMPTY}")
    settings = settings or Settings()
    kind = _format(raw, path, name)
    if settings.sheet is not None and kind != "xlsx":
        text = f"{name} is not an Excel file, so it has no sheet {settings.sheet[:40]!r}. Leave --sheet out."
        raise SoberError("E808", text)
    has_header = settings.header is not False if schema is None else schema.has_header
    if kind in ("csv", "tsv"):
        cells = read_delimited(raw, name, "\t" if kind == "tsv" else None, has_header)
    else:
        cells = read_binary(raw, kind, name, settings.sheet, has_header)
    if not cells.columns:
        raise SoberError("E801", f"{name} has no columns. Pass a table with a header and at least one row.")
    if not cells.n_rows:
        raise SoberError("E801", f"{name} has a header but no rows. Give at least one row per sample.")
    notes = cells.notes
    cells = cells.without(settings.missing if schema is None else schema.missing)
    if twice := cells.named_twice:
        text = f"Columns share a name ({some(twice)}); the later ones are called {twice[0][:40] + '.1'!r} and so on."
        notes = (Note("W801", text), *notes)
    if schema is not None:
        frame, lost = schema.apply(cells)
        notes = (*notes, *lost, *unseen(cells, schema.columns, frame))
    else:
        schema, inferred = Schema.infer(cells, settings)
        frame, lost = schema.apply(cells)
        notes = (*notes, *inferred, *lost)
        if has_header:
            _check_header(cells, frame, schema.columns, settings.header is not None, name)
    return Table(frame, name, path, kind, sha256(raw).hexdigest(), schema, notes, raw)


def _format(raw: bytes, path: Path | None, name: str) -> str:
    start = raw.lstrip()[:16]
    if start.startswith(b"PK\x03\x04") and b"xl/workbook.xml" in raw:
        return "xlsx"
    if known := next((what for first, what in STARTS.items() if start.startswith(first)), None):
        if known in FORMATS.values():
            return known
        raise SoberError("E801", f"{name} is {known}. Save the table as {_KNOWN}.")
    suffix = "" if path is None else Path(path.name.lower().removesuffix(".gz")).suffix
    kind = FORMATS.get(suffix, "csv")
    if kind not in ("csv", "tsv"):
        raise SoberError("E801", f"{name} is not {kind} despite its name. Save it again, or use its real suffix.")
    if start[:1] in (b"{", b"[") and suffix not in (".csv", ".tsv"):
        raise SoberError("E801", f"{name} looks like JSON. Save the table as {_KNOWN}.")
    return kind


def _check_header(cells: Cells, frame: Any, columns: Mapping[str, Column], is_asked: bool, name: str) -> None:
    """Refuse a first row that names too few columns, and one that looks like data unless the user has been asked."""
    nameless = [c for c, cell in cells.first_row.items() if not cell.strip() and frame[c].notna().any()]
    if 2 * len(nameless) > len(cells.first_row):
        text = f"The first row of {name} names fewer than half of the columns. Put the names of the columns into "
        raise SoberError("E801", f"{text}the first row, and nothing above them.")
    if not is_asked and _first_row_is_data(cells, frame, columns):
        first = [cell.strip()[:15] for cell in cells.first_row.values()]
        row = ", ".join(first[:4]) + (", ..." if len(first) > 4 else "")
        text = f"The first row of {name} looks like data ({row}), not like column names. Write --no-header "
        text += "if there are none (they are then called col1, col2, ...), or --header if these are names."
        raise SoberError("E808", text)


def _first_row_is_data(cells: Cells, frame: Any, columns: Mapping[str, Column]) -> bool:
    """Whether the cells of the first row fit the rows below them where none looks like a name."""
    gaps = {*USUAL_GAPS, *GAP_WORDS.to_pylist()}
    trimmed = {name: cell.strip() for name, cell in cells.first_row.items()}
    above = {name: cell for name, cell in trimmed.items() if not {cell, cell.casefold()} & gaps}
    is_filled = frame.notna().any()
    typed = [name for name in above if columns[name].kind != "text" and is_filled[name]]
    for name in typed:
        ways = (columns[name], replace(columns[name], marks=PLAIN))
        if all(read_text(pa.array([above[name]]), way)[1] for way in ways):
            return False  # a name
    if typed:
        # Numbers that count on or grow are names, too: rows of data seldom do.
        with suppress(ValueError):
            steps = np.diff([float(above[name]) for name in typed])
            least = LEAST_COUNTING if (steps == 1).all() else LEAST_GROWING
            return not (len(typed) >= least and (steps > 0).all())
        return True
    # Text only: cells that occur again below, in every column of few categories, are no names.
    few = [name for name in above if 1 < frame[name].nunique() <= len(frame) // 2]
    return bool(few) and all((frame[name].astype(str).str.strip() == above[name]).any() for name in few)
