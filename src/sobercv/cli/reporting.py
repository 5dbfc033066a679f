"""sober report: the result of a run, once more."""

from __future__ import annotations

from pathlib import Path

from ..errors import SoberError
from ..report.html import to_html
from ..report.records import Summary
from ..runs.folder import RunFolder
from .ending import DONE
from .fitting import show
from .screen import Screen


def report(path: Path, output: Path | None, *, json: bool, quiet: bool) -> int:
    """Show the result, and write the report again."""
    folder = RunFolder(path).check()
    results = folder.read_json("results.json")
    try:
        page = to_html(Summary.from_dict(results["summary"]))
    except (KeyError, TypeError, AttributeError):
        raise SoberError(
            "E809", f"{folder / 'results.json'} is damaged or of another release. Write: sober resume {path}"
        ) from None
    place = folder / "report.html" if output is None else output
    try:
        place.write_text(page, encoding="utf-8")
    except OSError as error:
        raise SoberError("E809", f"{str(place)!r} cannot be written: {error.strerror}. Name another file.") from None
    screen = Screen(json, quiet)
    show(screen, results, path, [(w["code"], w["message"]) for w in results.get("warnings", [])])
    if output is not None:
        screen.say(f"Written: {output}")
    return DONE
