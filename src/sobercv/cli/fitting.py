"""sober fit, resume and extend: one job, begun or gone on with."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..errors import Note, SoberError
from ..report.words import between, count, number
from ..runs.deadline import Deadline
from ..runs.fit import execute
from ..runs.folder import SETTINGS, RunFolder
from ..runs.prepare import Prepared, begin, prepare
from ..runs.record import Begun, RunRecord
from ..runs.settings import Settings
from ..search.progress import Bars, Lines
from . import BEGAN
from .arguments import Arguments, report_of, settings_of
from .exit_code import BAD, DONE, signal_of, tell
from .screen import Screen, honest

STOPPED = {
    "interrupted": "Interrupted; the result uses the fits completed so far.",
    "terminated": "Terminated; the result uses the fits completed so far.",
    "max_seconds": "Time limit reached; the result uses the fits completed so far.",
}


def fit(arguments: Arguments, overwrite: bool) -> int:
    """Begin a run."""
    screen = Screen(arguments.json, arguments.quiet)
    deadline = Deadline(arguments.settings.max_time, BEGAN)
    folder = arguments.folder
    prepared = _prepared(screen, arguments.settings)
    folder.make()
    with folder.locked() as note:
        folder.check_free(overwrite)
        folder.empty()
        return _run(screen, folder, begin(folder, prepared), deadline, arguments.report, note)


def go_on(given: dict[str, Any]) -> int:
    """Go on with a run, perhaps with more repeats."""
    screen = Screen(given["json"], given["quiet"])
    folder = RunFolder(given["folder"]).check()
    with folder.locked() as note:
        before = folder.read_record(SETTINGS, Begun)
        changes = {k: str(v) if k == "data" else v for k, v in settings_of(given).items() if v is not None}
        settings = before.settings.with_(**{"max_time": None, **changes})
        if settings.repeats < before.settings.repeats:
            raise SoberError(
                "E808",
                f"--repeats must be {before.settings.repeats} or more, which the run has already; got "
                f"{settings.repeats}. For fewer repeats begin a new run with sober fit.",
            )
        deadline = Deadline(settings.max_time, BEGAN)
        prepared = _prepared(screen, settings, before.sha256)
        return _run(screen, folder, begin(folder, prepared), deadline, report_of(given), note)


def _prepared(screen: Screen, settings: Settings, sha256: str | None = None) -> Prepared:
    screen.wait("reading and checking the table")
    try:
        prepared = prepare(settings, sha256)
        prepared.plan  # noqa: B018 - errors end the run here, before a folder is made
    finally:
        screen.done()
    return prepared


def _run(
    screen: Screen, folder: RunFolder, prepared: Prepared, deadline: Deadline, report: str, note: Note | None
) -> int:
    planned = prepared.plan
    if screen.talks:
        found = [f for f in prepared.findings if f.severity != "suggestion"]
        screen.notes(found if note is None else [*found, note])
        size = f"{count(prepared.data.n_rows, 'row')}, {count(planned.preset.n_configurations, 'configuration')}"
        screen.say(f"{size}, at most {planned.n_fits:,} fits. Ctrl-C stops and keeps what is done.", "dim")
    try:
        listener = _Listener(screen) if screen.talks else None
        results = execute(prepared, folder, deadline, report, listener, screen.phase)
    except KeyboardInterrupt as interrupt:
        number, word = signal_of(interrupt)
        tell(f"{word}; every finished fit is saved. Go on with: sober resume {folder.path}")
        return 128 + number
    except SoberError as error:
        if error.code not in ("E601", "E604"):
            raise
        return _too_early(error, folder)
    finally:
        screen.done()
    show(screen, results, folder.path)
    if results.stopped in ("interrupted", "terminated"):
        screen.say(f"Go on with: sober resume {folder.path}", "yellow")
        return 128 + (results.signal or signal.SIGINT)
    if results.stopped == "max_seconds":
        screen.say(f"Go on with: sober resume {folder.path}", "dim")
    return DONE


def _too_early(error: SoberError, folder: RunFolder) -> int:
    """Say that there is nothing to judge yet, but that what was done is kept."""
    number, word = signal_of(error.__cause__)
    was_time = error.code == "E604"
    cause = "The time was over" if was_time else word
    hint = f"Go on with: sober resume {folder.path} [{error.code}]"
    tell(f"{cause} before one fold was complete; every fit is saved. {hint}")
    return BAD if was_time else 128 + number


class _Listener:
    """Shows the race, and what follows it before the search is done."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._race: Any = Bars(screen.err) if screen.err.is_terminal else Lines(sys.stderr)

    def __call__(self, event: Any) -> None:
        self._race(event)

    def close(self) -> None:
        """Hear that the race is over; the search goes on to judge."""
        getattr(self._race, "close", lambda: None)()
        self._screen.phase("judging the winner in bootstrap samples")


def show(screen: Screen, results: RunRecord, folder: Path) -> None:
    """End with the honest number next to the plain one, and the path of the report."""
    if screen.json:
        screen.result({**results.headline(), "folder": str(folder)})
        return
    if screen.talks:
        screen.notes(results.warnings)
        if results.stopped in STOPPED:
            screen.say(STOPPED[results.stopped], "yellow")
    rows = honest(results.score)
    if not screen.quiet:
        rows += _more(results)
        screen.out.print()
    if (folder / "report.html").exists():
        rows.append(("report", str(folder / "report.html")))
    screen.facts(rows)


def _more(results: RunRecord) -> Iterable[tuple[str, str]]:
    out = "failed or not reached" if results.stopped == "max_seconds" else "failed"
    racing = results.n_configurations - results.n_finished - results.n_dropped - results.n_failed
    parts = {"finished": results.n_finished, "still in the race": racing, "dropped": results.n_dropped}
    told = ", ".join(f"{n} {what}" for what, n in {**parts, out: results.n_failed}.items() if n)
    race = f"{count(results.n_configurations, 'configuration')}: {told}"
    if not results.is_complete:
        race += f"; judged on {results.n_judged:,} of {count(results.data['rows'], 'row')}"
    yield "winner", results.winner
    yield "race", f"{race}; {count(results.n_fits, 'model')} trained{results.models_included}"
    for other in results.others:
        held = "" if other.interval is None else f" ({between(other.interval, other.digits)})"
        naive = f"plain CV {number(other.naive, other.digits)}"
        yield (
            "also",
            f"{other.label}: {number(other.value, other.digits)}{held}, {naive}",
        )
