"""sober predict: new rows, predicted by the model of a run."""

from __future__ import annotations

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
    if output is not None and kind == "parquet":
        write_file(output, lambda file: frame.to_parquet(file, index=False))
    else:
        # An apostrophe goes before text that a spreadsheet would take for a formula, names of columns included.
        n_formulas = 0
        for name in [name for name, dtype in frame.dtypes.items() if dtype.kind not in "iufb"]:
            values = frame[name].astype(object)
            safe = [spreadsheet_cell(v) if isinstance(v, str) else v for v in values]
            n_formulas += sum(a is not b for a, b in zip(values, safe, strict=True))
            frame[name] = safe
        names = list(map(str, frame.columns))
        frame.columns = [spreadsheet_cell(name) for name in names]
        n_formulas += sum(a != b for a, b in zip(frame.columns, names, strict=True))
        if n_formulas:
            what = f"{count(n_formulas, 'cell')} that a spreadsheet would read as a formula: written with a leading"
            screen.say(f"{what} apostrophe. Parquet (-o predictions.parquet) keeps them unchanged.")
        text = frame.to_csv(index=False, lineterminator="\n", sep="\t" if kind == "tsv" else ",")
        if output is not None:
            write_file(output, text)
        elif hasattr(sys.stdout, "buffer"):  # UTF-8, whatever the terminal's language is: another program reads it
            sys.stdout.flush()
            sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        else:
            sys.stdout.write(text)
    counts = ""
    if ".pred_class" in frame.columns:
        times = frame[".pred_class"].value_counts()
        counts = ": " + ", ".join(f'{n:,} "{label}"' for label, n in times.head(6).items()) + ", ..." * (len(times) > 6)
    meaning = f" ({found.meaning})" if found.meaning else ""
    screen.say(f"{count(len(frame), 'row')} predicted{counts}{meaning}")
    where = "to standard output" if output is None else str(output)
    screen.say(f"Written: {where}, columns {', '.join(map(str, frame.columns))}")
