"""sober predict: new rows, predicted by the model of a run."""

from __future__ import annotations

import sys
from pathlib import Path

from ..errors import SoberError
from ..runs.folder import RunFolder
from ..runs.predict import predict as predicted
from .ending import DONE
from .screen import Screen


def predict(folder: Path, data: str, output: Path | None, trust: bool, sheet: str | None = None) -> int:
    """Write predictions as CSV, and say what did not fit."""
    found = predicted(RunFolder(folder), data, trust, sheet)
    frame = found.frame
    Screen().findings([(note.code, note.text) for note in found.notes])
    if output is None:
        frame.to_csv(sys.stdout, index=False, lineterminator="\n")
        return DONE
    try:
        if output.suffix == ".parquet":
            frame.to_parquet(output, index=False)
        else:
            frame.to_csv(output, index=False, lineterminator="\n", sep="\t" if output.suffix == ".tsv" else ",")
    except OSError as error:
        reason = error.strerror or error
        raise SoberError("E809", f"{str(output)!r} cannot be written: {reason}. Name another file.") from None
    return DONE
