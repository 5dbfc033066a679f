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
        text = frame.to_csv(index=False, lineterminator="\n")
        if hasattr(sys.stdout, "buffer"):  # data are UTF-8, whatever the terminal can show
            sys.stdout.buffer.write(text.encode("utf-8"))
        else:
            sys.stdout.write(text)
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
