"""sober predict: new rows, predicted by the model of a run."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import Any

from ..errors import SoberError
from ..report.tables import spreadsheet_cell
from ..report.words import count
from ..runs.folder import write_file
from ..runs.model import predict as predicted
from ..tables.read_table import FORMATS
from .screen import Screen


def predict(given: dict[str, Any]) -> None:
    """Write predictions as CSV, or as the suffix of the output says, and say what they are."""
    output, screen = given["output"] and Path(given["output"]), Screen(given)
    suffix = "" if output is None else output.suffix.lower()
    kind = FORMATS.get(suffix, "csv")
    if kind not in ("csv", "tsv", "parquet") or suffix in (".gz", ".xls", ".ods"):  # no program would read text there
        raise SoberError("E809", f"Predictions are written as .csv, .tsv or .parquet; got {str(output)!r}.")
    found = predicted(given["folder"], given["data"], given["sheet"], given["threshold"], given["at"] or ())
    frame = found.frame
    screen.notes(found.notes)
    if kind == "parquet":
        write_file(output, lambda file: frame.to_parquet(file, index=False))
    else:
        sep, safe = "\t" if kind == "tsv" else ",", io.StringIO()
        text = frame.to_csv(index=False, lineterminator="\n", sep=sep)
        csv.field_size_limit(max(csv.field_size_limit(), len(text)))
        rows = csv.reader(io.StringIO(text), delimiter=sep)
        csv.writer(safe, delimiter=sep, lineterminator="\n").writerows(map(spreadsheet_cell, row) for row in rows)
        if safe.getvalue() != text:
            screen.say(
                "Text that a spreadsheet would read as a formula is written with a leading apostrophe. Parquet "
                "(-o predictions.parquet) keeps it unchanged."
            )
        if output is not None:
            write_file(output, safe.getvalue())
        elif hasattr(sys.stdout, "buffer"):  # UTF-8, whatever the terminal's language is: another program reads it
            sys.stdout.flush()
            sys.stdout.buffer.write(safe.getvalue().encode("utf-8", "replace"))
        else:
            sys.stdout.write(safe.getvalue())
    counts = ""
    if ".pred_class" in frame.columns:
        times = frame[".pred_class"].value_counts()
        counts = ": " + ", ".join(f'{n:,} "{label}"' for label, n in times.head(6).items()) + ", ..." * (len(times) > 6)
    meaning = f" ({found.meaning})" if found.meaning else ""
    screen.say(f"{count(len(frame), 'row')} predicted{counts}{meaning}")
    screen.say(f"Written: {output or 'to standard output'}, columns {', '.join(map(str, frame.columns))}")
