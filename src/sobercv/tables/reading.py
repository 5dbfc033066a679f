"""read: a table from a path or from standard input: CSV, TSV, Parquet, Arrow.

Takes a path, gives a `Table` with its fingerprint and the line of pandas that reads the same; refuses in one sentence.
Never looks at what columns mean.
"""

from __future__ import annotations

import difflib
import gzip
import io
import sys
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..errors import SoberError
from . import delimited

#: Suffixes, and the formats they promise. What the first bytes say counts more.
FORMATS = {
    ".csv": "csv", ".txt": "csv", ".tsv": "tsv", ".tab": "tsv",
    ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
}  # fmt: skip
#: First bytes of files that people try, and what to tell them.
FOREIGN = {
    b"PK\x03\x04": "an Excel or zip file", b"\xd0\xcf\x11\xe0": "an old Excel file", b"%PDF": "a PDF",
    b"SQLite format": "an SQLite file", b"\x89HDF": "an HDF5 file", b"RDX": "an R file", b"$FL2": "an SPSS file",
    b"\x89PNG": "a picture", b"<!DOC": "a web page", b"<html": "a web page",
}  # fmt: skip


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
    format : {"csv", "tsv", "parquet", "arrow"}
    sha256 : str
        Fingerprint of the bytes.
    call : str
        Python that reads the same with pandas, the path left as ``{path}``.
    notes : tuple of (code, sentence)
    raw : bytes
        What was read.
    """

    frame: Any
    name: str
    path: Path | None
    format: str
    sha256: str
    call: str
    notes: tuple[tuple[str, str], ...]
    raw: bytes


def read(source: str | Path) -> Table:
    """Read a table.

    Parameters
    ----------
    source : path or "-"
        "-" is standard input. The format is told by the first bytes, then by the suffix; `.gz` is unpacked.

    Returns
    -------
    Table
    """
    path = None if str(source) == "-" else Path(source)
    name = "standard input" if path is None else path.name
    packed = _bytes(path)
    raw = _unpacked(packed, name)
    if not raw.strip():
        raise SoberError("E802", f"{name} is empty. Give a table with a header and at least one row.")
    kind = _format(raw, path, name)
    if kind in ("csv", "tsv"):
        parsed = delimited.parse(raw, name, "\t" if kind == "tsv" else None)
        frame, notes = parsed.frame, parsed.notes
        call = f"pd.read_csv({{path}}, {', '.join(f'{k}={v!r}' for k, v in parsed.options.items())})"
    else:
        frame, call = _columnar(raw, kind, name)
        notes = ()
    _check_shape(frame, name)
    return Table(frame, name, path, kind, sha256(packed).hexdigest(), call, notes, raw)


def _bytes(path: Path | None) -> bytes:
    if path is None:
        if sys.stdin is None or sys.stdin.isatty():
            raise SoberError("E801", "Nothing comes by standard input. Write: cat data.csv | sober check - --target y")
        return sys.stdin.buffer.read()
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise SoberError("E801", f"There is no file {str(path)!r}.{_closest(path)}") from None
    except IsADirectoryError:
        raise SoberError("E801", f"{str(path)!r} is a folder. Name the file with the table in it.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SoberError("E801", f"{str(path)!r} cannot be opened: {reason}. Name a file that you may read.") from None


def _closest(path: Path) -> str:
    try:
        near = [p.name for p in path.parent.iterdir() if p.is_file()]
    except OSError:
        return f" Nor is there a folder {str(path.parent)!r}. Look at the path."
    close = difflib.get_close_matches(path.name, near, 1)
    return f" Did you mean {str(path.with_name(close[0]))!r}?" if close else " Look at the path."


def _unpacked(packed: bytes, name: str) -> bytes:
    if not packed.startswith(b"\x1f\x8b"):
        return packed
    try:
        return gzip.decompress(packed)
    except (OSError, EOFError) as error:
        raise SoberError("E801", f"{name} is a damaged gzip file ({error}). Pack it again.") from None


def _format(raw: bytes, path: Path | None, name: str) -> str:
    if raw.startswith(b"PAR1"):
        return "parquet"
    if raw.startswith((b"ARROW1", b"FEA1", b"\xff\xff\xff\xff")):
        return "arrow"
    for start, what in FOREIGN.items():
        if raw.lstrip()[:16].lower().startswith(start.lower()):
            raise SoberError("E801", f"{name} is {what}. Save the table as CSV, TSV, Parquet or Arrow.")
    suffixes = [] if path is None else [s.lower() for s in path.suffixes if s.lower() != ".gz"]
    kind = FORMATS.get(suffixes[-1] if suffixes else "", "csv")
    if kind in ("parquet", "arrow"):
        raise SoberError("E801", f"{name} is called {kind} but is not. Write it again, or give it its real suffix.")
    if raw.lstrip()[:1] in (b"{", b"[") and suffixes[-1:] not in ([".csv"], [".tsv"]):
        raise SoberError("E801", f"{name} looks like JSON. Save the table as CSV, TSV, Parquet or Arrow.")
    return kind


def _columnar(raw: bytes, kind: str, name: str) -> tuple[Any, str]:
    import pandas as pd
    import pyarrow as pa

    try:
        if kind == "parquet":
            return pd.read_parquet(io.BytesIO(raw)).reset_index(drop=True), "pd.read_parquet({path})"
        if raw.startswith(b"\xff\xff\xff\xff"):  # a stream: no magic word, a continuation mark
            frame = pa.ipc.open_stream(io.BytesIO(raw)).read_all().to_pandas()
            return frame, "pyarrow.ipc.open_stream({path}).read_all().to_pandas()"
        return pd.read_feather(io.BytesIO(raw)), "pd.read_feather({path})"
    except (pa.ArrowException, ValueError, OSError) as error:
        reason = " ".join(str(error).split())[:160].rstrip(".")
        raise SoberError("E801", f"{name} is a damaged {kind} file: {reason}. Write it again.") from None


def _check_shape(frame: Any, name: str) -> None:
    if not len(frame.columns):
        raise SoberError("E802", f"{name} has no columns. Give a table with a header and at least one row.")
    if not len(frame):
        raise SoberError("E802", f"{name} has a header but no rows. Give at least one row a sample.")
    frame.columns = [str(c) for c in frame.columns]
    nested = [c for i, c in enumerate(frame.columns) if _is_nested(frame.iloc[:, i])]
    if nested:
        raise SoberError("E803", f"Column {nested[0][:60]!r} holds lists or records. Give each value its own column.")


def _is_nested(column: Any) -> bool:
    if column.dtype != object:
        return False
    first = next((v for v in column if v is not None), None)
    return isinstance(first, (list, tuple, dict, set)) or hasattr(first, "__array__")
