"""sober predict: new rows, predicted by the model of a run."""

from __future__ import annotations

import io
import sys
from typing import Any

from ..report.tables import spreadsheet_cell
from ..report.words import count
from ..runs.files import write_file
from ..runs.folder import RunFolder
from ..runs.predict import predict as predicted
from .arguments import check_output
from .exit_code import DONE
from .screen import Screen

#: An example of a file that holds every text as it is.
PARQUET = "predictions.parquet"


def predict(given: dict[str, Any]) -> int:
    """Write predictions as CSV, or as the suffix of the output says, and say what they are."""
    output, screen = given["output"], Screen(quiet=given["quiet"])
    if output is not None:
        check_output(output, given["folder"], given["overwrite"], given["data"])
    asked = given["sheet"], given["threshold"], given["at"] or ()
    found = predicted(RunFolder(given["folder"]), given["data"], *asked)
    frame = found.frame
    if screen.talks:
        screen.notes(found.notes)
    if output is None or output.suffix != ".parquet":
        frame, n_formulas = _without_formulas(frame)
        if n_formulas:
            what = f"{count(n_formulas, 'cell')} that a spreadsheet would take for a formula"
            screen.say(f"{what}: written with an apostrophe before. Parquet (-o {PARQUET}) has them as they are.")
    if output is None:
        _print(_text(frame, ","))
    elif output.suffix == ".parquet":
        packed = io.BytesIO()
        frame.to_parquet(packed, index=False)
        write_file(output, packed.getvalue())
    else:
        write_file(output, _text(frame, "\t" if output.suffix == ".tsv" else ","))
    meaning = f" ({found.meaning})" if found.meaning else ""
    screen.say(f"{count(len(frame), 'row')} predicted{_counts(frame)}{meaning}")
    where = "to standard output" if output is None else str(output)
    screen.say(f"Written: {where}, columns {', '.join(map(str, frame.columns))}")
    return DONE


def _counts(frame: Any) -> str:
    """How often each label was given, where there are a few."""
    if ".pred_class" not in frame.columns:
        return ""
    times = frame[".pred_class"].value_counts()
    shown = ", ".join(f'{n:,} "{label}"' for label, n in times.head(6).items())
    return f": {shown}{', ...' if len(times) > 6 else ''}"


def _without_formulas(frame: Any) -> tuple[Any, int]:
    """Put an apostrophe before text that a spreadsheet would take for a formula, names of columns included."""
    made, n_changed = frame.copy(), 0
    for name in [name for name, dtype in frame.dtypes.items() if dtype.kind not in "iufb"]:
        values = frame[name].astype(object)
        safe = [spreadsheet_cell(v) if isinstance(v, str) else v for v in values]
        n_changed += sum(a is not b for a, b in zip(values, safe, strict=True))
        made[name] = safe
    made.columns = [spreadsheet_cell(str(name)) for name in made.columns]
    return made, n_changed + sum(a != str(b) for a, b in zip(made.columns, frame.columns, strict=True))


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
