"""predict: new rows through the model of a run.

Takes a run folder and a table, gives predictions and notes; the table is read as the table of the run was read, column
by column, whatever its own values look like. Refuses rows that lack what the model needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import Note, SoberError
from ..tables import ReadingOptions, ReadingRecord, read
from .folder import RunFolder
from .long_table import predict_table
from .model import MANIFEST, load


@dataclass(frozen=True, eq=False)
class Predicted:
    """Predictions of new rows.

    Attributes
    ----------
    frame : pandas.DataFrame
        See `predict_table`; where the run has an id column, that comes first.
    notes : tuple of Note
        What in the new rows did not fit the rows of training.
    """

    frame: Any
    notes: tuple[Note, ...]


def predict(folder: RunFolder, source: str | Path, trust: bool = False, sheet: str | None = None) -> Predicted:
    """Predict new rows.

    Parameters
    ----------
    folder : RunFolder
    source : path or "-"
    trust : bool
        Load a model that was made elsewhere.
    sheet : str, optional
        Of a workbook.
    """
    model, manifest = load(folder, trust)
    columns = list(manifest["columns"])
    record = ReadingRecord.from_dict(manifest.get("reading"), str(folder / MANIFEST))
    wanted = {name: record.columns[name] for name in [*columns, manifest.get("id")] if name in record.columns}
    table = read(source, ReadingOptions(sheet=sheet), ReadingRecord(wanted, record.has_header))
    frame = table.frame
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        some = ", ".join(repr(n[:40]) for n in missing[:3]) + (" and more" if len(missing) > 3 else "")
        raise SoberError("E816", f"The new rows lack {len(missing)} of {len(columns)} columns: {some}. Add them.")
    found = predict_table(model, frame[columns], manifest["task"], manifest["classes"])
    if manifest.get("id") in frame.columns:
        found.insert(0, manifest["id"], frame[manifest["id"]].to_numpy())
    return Predicted(found, table.notes)
