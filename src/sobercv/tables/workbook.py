"""Excel workbooks: one sheet as a frame of cells.

Takes bytes, gives the frame of a sheet whose columns hold what the cells hold (numbers, booleans, dates, text); refuses
what is no workbook, and asks which sheet where several hold something. Formulas count with the value they had when the
workbook was saved.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from typing import Any

from ..errors import SoberError
from . import source_bytes
from .text_columns import cells_as_text, text_series


def is_workbook(raw: bytes) -> bool:
    """Whether bytes are an Excel workbook of today's format, and not just any zip file."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, EOFError):
        return False


def read_sheet(raw: bytes, name: str, sheet: str | None = None, has_header: bool = True) -> tuple[Any, str, list[str]]:
    """Give a sheet.

    Parameters
    ----------
    raw : bytes
    name : str
        How the file is called in messages.
    sheet : str, optional
        Needed where several hold something.
    has_header : bool

    Returns
    -------
    (frame, sheet, first_row)
        A frame of the cells as they are, the name of the sheet, and the first row as text.
    """
    import pandas as pd

    _check_size(raw, name)
    try:
        with pd.ExcelFile(io.BytesIO(raw), engine="openpyxl") as book:
            rows = {
                s: pd.read_excel(book, sheet_name=s, header=None, nrows=2, dtype=object)
                for s in map(str, book.sheet_names)
            }
            chosen = _chosen(sheet, rows, name)
            first = ["" if pd.isna(cell) else str(cell) for cell in rows[chosen].iloc[0].tolist()]
            frame = pd.read_excel(book, sheet_name=chosen, header=0 if has_header else None, dtype=object)
    except ImportError:
        raise SoberError("E403", "Excel files need openpyxl: pip install 'sobercv[excel]', or save as CSV.") from None
    except SoberError:
        raise
    except Exception as error:  # openpyxl raises whatever its XML and zip readers raise
        reason = " ".join(str(error).split())[:120].rstrip(".") or type(error).__name__
        raise SoberError("E801", f"{name} is a damaged Excel file: {reason}. Save it again.") from None
    if not has_header:
        frame.columns = [f"col{i + 1}" for i in range(frame.shape[1])]
    elif sum(not cell.strip() for cell in first) * 2 > len(first):
        raise SoberError(
            "E803", f"The first row of sheet {chosen[:40]!r} names fewer than half of the columns. Put the names of "
            "the columns into the first row, and nothing above them.",
        )  # fmt: skip
    return _tidy(frame), chosen, first


def _check_size(raw: bytes, name: str) -> None:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > source_bytes.MOST_BYTES:
        raise SoberError(
            "E801",
            f"{name} grows beyond {source_bytes.said(source_bytes.MOST_BYTES)} when unpacked. Save the table as CSV.",
        )


def _chosen(sheet: str | None, rows: dict[str, Any], name: str) -> str:
    """Give the sheet that was asked for, or the only one that holds something."""
    filled = [s for s, first in rows.items() if len(first)]
    names = ", ".join(repr(s[:30]) for s in list(rows)[:8])
    if sheet is not None:
        found = [s for s in rows if s == sheet] or [s for s in rows if s.casefold() == sheet.casefold()]
        if not found:
            raise SoberError("E842", f"{name} has no sheet {sheet[:40]!r}. The sheets are {names}.")
        if found[0] not in filled:
            raise SoberError("E802", f"Sheet {found[0][:40]!r} of {name} is empty. The sheets are {names}.")
        return found[0]
    if not filled:
        raise SoberError("E802", f"{name} is empty. Give a table with a header and at least one row.")
    if len(filled) > 1:
        raise SoberError(
            "E842", f"{name} has {len(filled)} sheets with something in them: {names}. Write --sheet NAME."
        )
    return filled[0]


def _tidy(frame: Any) -> Any:
    """Leave out empty rows, and empty columns without a name; give every other column the type of its cells."""
    import pandas as pd

    frame.columns = [str(c) for c in frame.columns]
    nameless = [c for c in frame.columns if c.startswith("Unnamed: ") and frame[c].isna().all()]
    frame = frame.drop(columns=nameless).dropna(how="all").reset_index(drop=True)
    return pd.DataFrame({name: _typed(frame[name]) for name in frame.columns})


def _typed(column: Any) -> Any:
    import pandas as pd

    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind in ("integer", "floating", "mixed-integer-float", "empty"):
        return pd.to_numeric(column)
    if kind in ("datetime", "datetime64", "date"):
        return pd.to_datetime(column, errors="coerce")
    if kind == "boolean":
        return column if column.isna().any() else column.astype(bool)
    return text_series(cells_as_text(column))


def sheet_code(sheet: str, columns: Sequence[str], has_header: bool) -> str:
    """Write the Python that reads the same: an expression, then statements on `table`.

    Parameters
    ----------
    sheet : str
    columns : sequence of str
        The names that were kept.
    has_header : bool
    """
    head = "" if has_header else ", header=None"
    lines = [f"pd.read_excel(PATH, sheet_name={sheet!r}, dtype=object{head})"]
    if has_header:
        lines += ["table.columns = [str(name) for name in table.columns]"]
    else:
        lines += ['table.columns = [f"col{i + 1}" for i in range(table.shape[1])]']
    lines += [f'table = table[{list(columns)!r}].dropna(how="all").reset_index(drop=True)']
    return "\n".join(lines)
