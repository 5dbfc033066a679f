"""One opener a format: bytes in, columns as the format gives them out, before anything is recognised in them.

Takes bytes, gives an `Opened`; a new format is one opener and one entry of `OPENERS`. Never decides what a column
holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .columnar import read_columnar
from .delimited import TextTable
from .opened import AsText, Opened, Typed
from .pandas_code import cells_code, conversion_code, csv_code
from .text_columns import Cells, cells_as_text
from .workbook import read_sheet, sheet_code


def _open_csv(raw: bytes, name: str, sheet: str | None, has_header: bool) -> Opened:
    return _open_text(TextTable.of(raw, name, None, has_header))


def _open_tsv(raw: bytes, name: str, sheet: str | None, has_header: bool) -> Opened:
    return _open_text(TextTable.of(raw, name, "\t", has_header))


def _open_text(table: TextTable) -> Opened:
    frame = table.frame()
    every = list(frame.columns)
    kept: dict[str, Cells] = {}  # columns are asked for more than once, and reading them walks the whole file

    def text_of(names: list[str]) -> dict[str, Cells]:
        new = [name for name in names if name not in kept]
        if new:
            kept.update(table.cells(new, every))
        return {name: kept[name] for name in names}

    def code_for(typed: Typed) -> str:
        text = [name for name in typed.converted if str(frame[name].dtype) != "str"]
        return csv_code(table.options, text) + conversion_code(typed, has_types=False)

    doubtful: list[str] = []
    if table.has_leading_zeros:
        numbers = [c for c, dtype in zip(every, frame.dtypes, strict=True) if dtype.kind in "iuf"]
        doubtful = [c for c in numbers if _is_whole(frame[c])]
    return Opened(
        frame,
        text_of,
        code_for,
        table.first_row,
        doubtful,
        table.named_twice,
        False,
        table.delimiter == ";",
        table.notes,
    )


def _is_whole(column: Any) -> bool:
    values = column.to_numpy()
    return bool(column.dtype.kind != "f" or (values[np.isfinite(values)] % 1 == 0).all())


def _open_workbook(raw: bytes, name: str, sheet: str | None, has_header: bool) -> Opened:
    frame, chosen, first_row = read_sheet(raw, name, sheet, has_header)
    code = sheet_code(chosen, list(frame.columns), has_header) + cells_code(frame)
    twice = sorted({c for c in first_row if c and first_row.count(c) > 1}) if has_header else []

    def code_for(typed: Typed) -> str:
        return code + conversion_code(typed)

    return Opened(frame, _cells_of(frame), code_for, first_row, [], twice)


def _open_parquet(raw: bytes, name: str, sheet: str | None, has_header: bool) -> Opened:
    return _open_columnar(raw, "parquet", name)


def _open_arrow(raw: bytes, name: str, sheet: str | None, has_header: bool) -> Opened:
    return _open_columnar(raw, "arrow", name)


def _open_columnar(raw: bytes, kind: str, name: str) -> Opened:
    frame, code, twice = read_columnar(raw, kind, name)

    def code_for(typed: Typed) -> str:
        return code + conversion_code(typed)

    return Opened(frame, _cells_of(frame), code_for, [], [], twice)


def _cells_of(frame: Any) -> AsText:
    def text_of(names: list[str]) -> dict[str, Cells]:
        return {name: cells_as_text(frame[name]) for name in names}

    return text_of


OPENERS: dict[str, Callable[[bytes, str, str | None, bool], Opened]] = {
    "csv": _open_csv,
    "tsv": _open_tsv,
    "xlsx": _open_workbook,
    "parquet": _open_parquet,
    "arrow": _open_arrow,
}
