"""sober predict: new rows, predicted by the model of a run."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

from ..runs import RunFolder
from ..runs.files import write_file
from ..runs.predict import predict as predicted
from .exit_code import DONE
from .screen import Screen


def predict(folder: Path, data: str, sheet: str | None, output: Path | None, trust: bool) -> int:
    """Write predictions as CSV, or as the suffix of the output says."""
    found = predicted(RunFolder(folder), data, trust, sheet)
    frame = found.frame
    Screen().notes(found.notes)
    if output is None:
        _print(_text(frame, ","))
    elif output.suffix == ".parquet":
        packed = io.BytesIO()
        frame.to_parquet(packed, index=False)
        write_file(output, packed.getvalue())
    else:
        write_file(output, _text(frame, "\t" if output.suffix == ".tsv" else ","))
    return DONE


def _text(frame: Any, separator: str) -> str:
    text: str = frame.to_csv(index=False, lineterminator="\n", sep=separator)
    return text


def _print(text: str) -> None:
    """Print a table as UTF-8, whatever the terminal's language is: it goes into another program."""
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:
        sys.stdout.write(text)
    else:
        sys.stdout.flush()
        binary.write(text.encode("utf-8", "replace"))
