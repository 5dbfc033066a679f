"""sober fit, resume and extend: one job, begun or gone on with."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

from ..errors import SoberError, SoberWarning
from ..report.words import count
from ..runs.folder import RunFolder
from ..runs.settings import Settings
from ..runs.train import Prepared, prepare, train
from ..runs.write import begin, stored, write
from ..search.progress import Bars, Lines
from .ending import BAD, DONE, INTERRUPTED, tell
from .request import Request
from .screen import Screen, honest

STOPPED = {
    "interrupted": "Interrupted: this is what the fits made so far say.",
    "max_seconds": "The time was over: this is what the fits made so far say.",
}


def fit(request: Request, overwrite: bool) -> int:
    """Begin a run."""
    screen = Screen(request.json, request.quiet)
    folder = RunFolder(request.output or _folder_for(request.settings))
    if not overwrite and folder.path.exists():
        folder.make()  # refuses what is there, before anything is read
    prepared = prepare(request.settings)
    prepared.plan  # noqa: B018 - errors end the run here, before a folder is made
    folder.make(overwrite)
    settings = begin(folder, prepared)
    return _run(screen, folder, prepared, settings)


def go_on(path: Path, given: dict[str, Any], *, json: bool, quiet: bool) -> int:
    """Go on with a run, perhaps with more repeats."""
    screen = Screen(json, quiet)
    folder = RunFolder(path)
    settings, sha256 = stored(folder)
    changes = {k: str(v) if k == "data" else v for k, v in given.items() if v is not None}
    settings = settings.with_(**{"max_time": None, **changes})
    prepared = prepare(settings, sha256)
    prepared.plan  # noqa: B018
    settings = begin(folder, prepared)
    return _run(screen, folder, prepared, settings)


def _folder_for(settings: Settings) -> str:
    name = "stdin" if settings.data in (None, "-") else Path(str(settings.data)).name.partition(".")[0]
    return f"{name or 'table'}-run"


def _run(screen: Screen, folder: RunFolder, prepared: Prepared, settings: Settings) -> int:
    planned = prepared.plan
    if screen.talks:
        screen.findings([(f.code, f.text) for f in prepared.findings if f.severity != "suggestion"])
        size = f"{count(prepared.data.n_rows, 'row')}, {count(planned.preset.n_configurations, 'configuration')}"
        screen.say(f"{size}, at most {planned.n_fits:,} fits. Ctrl-C stops and keeps what is done.", "dim")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", SoberWarning)
            search = train(prepared, folder.store, _listener(screen))
        with screen.busy("Writing the report"):
            results = write(search, prepared, settings, folder)
    except KeyboardInterrupt:
        tell(f"Interrupted; every finished fit is saved. Go on with: sober resume {folder.path}")
        return INTERRUPTED
    except SoberError as error:
        if error.code not in ("E601", "E604"):
            raise
        # Too early to judge anything, but what was done is kept.
        was_time = error.code == "E604"
        cause = "The time was over" if was_time else "Interrupted"
        resume = f"Go on: sober resume {folder.path} [{error.code}]"
        tell(f"{cause} before one fold was complete; every fit is saved. {resume}")
        return BAD if was_time else INTERRUPTED
    stopped = search.stopped_
    notes = [(w.message.code, w.message.message) for w in caught if isinstance(w.message, SoberWarning)]
    results["stopped"] = stopped
    results["warnings"] = [{"code": code, "message": text} for code, text in dict.fromkeys(notes)]
    results["folder"] = str(folder.path)
    folder.write_json("results.json", results)
    show(screen, results, folder.path, list(dict.fromkeys(notes)))
    if stopped == "interrupted":
        screen.say(f"Go on with: sober resume {folder.path}", "yellow")
        return INTERRUPTED
    if stopped == "max_seconds":
        screen.say(f"Go on with: sober resume {folder.path}", "dim")
    return DONE


def _listener(screen: Screen) -> Any:
    if not screen.talks:
        return None
    return Bars(screen.err) if screen.err.is_terminal else Lines(sys.stderr)


def show(screen: Screen, results: dict[str, Any], folder: Path, notes: list[tuple[str, str]]) -> None:
    """End with the honest number next to the plain one, and the path of the report."""
    if screen.json:
        screen.result({k: v for k, v in results.items() if k != "summary"})
        return
    if screen.talks:
        screen.findings(notes)
        if results.get("stopped") in STOPPED:
            screen.say(STOPPED[results["stopped"]], "yellow")
    rows = honest(results["score"], results["summary"]["scores"][0]["digits"])
    if not screen.quiet:
        race = f"{results['n_configurations']} configurations: {results['n_finished']} finished"
        race += f", {results['n_dropped']} dropped" if results["n_dropped"] else ""
        race += f", {results['n_failed']} failed" if results["n_failed"] else ""
        rows += [
            ("winner", results["winner"]),
            ("race", f"{race}; {results['n_fits']:,} models trained"),
        ]
        for name, other in results["others"].items():
            rows.append(("also", f"{name}: honest {other['honest']:.4f}, plain CV {other['naive']:.4f}"))
        screen.out.print()
    rows.append(("report", str(folder / "report.html")))
    screen.facts(rows)
