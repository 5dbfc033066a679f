"""Excel workbooks: the cells of one sheet.

Columns hold what their cells hold (numbers, booleans, dates, text). Refuses what is no workbook, and asks which sheet
where several hold something. Formulas count with the value they had when the workbook was saved.
"""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pandas as pd

from ..errors import SoberError
from . import source_bytes
from .raw_table import RawTable, text_of, unique_names


def is_workbook(raw: bytes) -> bool:
    """Whether bytes are an Excel workbook of today's format, and not just any zip file."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, EOFError):
        return False


def read_workbook(raw: bytes, name: str, sheet: str | None = None, has_header: bool = True) -> RawTable:
    """Read the cells of a sheet, which must be named where several hold something; `name` is for messages."""
    _check_size(raw, name)
    try:
        with pd.ExcelFile(io.BytesIO(raw), engine="openpyxl") as book:
            rows = {
                s: pd.read_excel(book, sheet_name=s, header=None, nrows=2, dtype=object)
                for s in map(str, book.sheet_names)
            }
            chosen = _chosen(sheet, rows, name)
            cells = pd.read_excel(
                book, sheet_name=chosen, header=None, dtype=object, keep_default_na=False, na_values=[""]
            )
    except ImportError:
        raise SoberError("E403", "Excel files need openpyxl: pip install 'sobercv[excel]', or save as CSV.") from None
    except SoberError:
        raise
    except Exception as error:  # openpyxl raises whatever its XML and zip readers raise
        reason = " ".join(str(error).split())[:120].rstrip(".") or type(error).__name__
        raise SoberError("E801", f"{name} is a damaged Excel file: {reason}. Save it again.") from None
    first = ["" if pd.isna(cell) else str(cell) for cell in cells.iloc[0].tolist()]
    if has_header and sum(not cell.strip() for cell in first) * 2 > len(first):
        raise SoberError(
            "E801", f"The first row of sheet {chosen[:40]!r} names fewer than half of the columns. Put the names of "
            "the columns into the first row, and nothing above them.",
        )  # fmt: skip
    names, twice = [f"col{i + 1}" for i in range(cells.shape[1])], list[str]()
    if has_header:
        names, twice = unique_names([cell or f"Unnamed: {i}" for i, cell in enumerate(first)])
        cells = cells.iloc[1:]
    cells.columns = names
    nameless = [c for c in names if c.startswith("Unnamed: ") and cells[c].isna().all()]
    cells = cells.drop(columns=nameless).dropna(how="all").reset_index(drop=True)
    return RawTable({c: _typed(cells[c]) for c in cells.columns}, first, twice)


def _check_size(raw: bytes, name: str) -> None:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > source_bytes.MOST_BYTES:
        raise SoberError(
            "E801",
            f"{name} grows beyond {source_bytes.said(source_bytes.MOST_BYTES)} when unpacked. Save the table as CSV.",
        )


def _chosen(sheet: str | None, rows: dict[str, Any], name: str) -> str:
    """Return the sheet that was asked for, or the only one that holds something."""
    filled = [s for s, first in rows.items() if len(first)]
    names = ", ".join(repr(s[:30]) for s in list(rows)[:8])
    if sheet is not None:
        found = [s for s in rows if s == sheet] or [s for s in rows if s.casefold() == sheet.casefold()]
        if not found:
            raise SoberError("E808", f"{name} has no sheet {sheet[:40]!r}. The sheets are {names}.")
        if found[0] not in filled:
            raise SoberError("E801", f"Sheet {found[0][:40]!r} of {name} is empty. The sheets are {names}.")
        return found[0]
    if not filled:
        raise SoberError("E801", f"{name} is empty. Pass a table with a header and at least one row.")
    if len(filled) > 1:
        raise SoberError(
            "E808", f"{name} has {len(filled)} sheets with something in them: {names}. Write --sheet NAME."
        )
    return filled[0]


def _typed(column: Any) -> Any:
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind in ("integer", "floating", "mixed-integer-float", "empty"):
        return pd.to_numeric(column)
    if kind in ("datetime", "datetime64", "date"):
        return pd.to_datetime(column, errors="coerce")
    if kind == "boolean":
        return column if column.isna().any() else column.astype(bool)
    return text_of(column)
