"""sober report: the result of a run, once more."""

from __future__ import annotations

import sys
from pathlib import Path

from ..report.html import to_html
from ..report.tables import to_format
from ..runs.files import write_file
from ..runs.folder import RunFolder
from ..runs.record import RESULTS, RunRecord
from .arguments import check_output
from .exit_code import DONE
from .fitting import show
from .screen import Screen


def report(folder: Path, output: Path | None, overwrite: bool, format: str | None, json: bool, quiet: bool) -> int:
    """Show the result and write the report again, or write its tables."""
    held = RunFolder(folder).check()
    if output is not None:
        check_output(output, folder, overwrite)
    results = RunRecord.read(held)
    if format is not None:
        text = to_format(results.summary, format)
        if output is None:
            sys.stdout.write(text)
        else:
            write_file(output, text)
        return DONE
    try:
        page = to_html(results.summary)
    except Exception as error:  # numbers that fit the schema and yet make no picture were edited
        raise held.damaged(RESULTS, f"no page can be drawn from it, {type(error).__name__}") from error
    if output is None:
        with held.locked():
            held.write("report.html", page)
    else:
        write_file(output, page)
    screen = Screen(json, quiet)
    show(screen, results, folder)
    if output is not None:
        screen.say(f"Written: {output}")
    return DONE
