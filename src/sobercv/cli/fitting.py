"""sober fit, resume and extend, one job that is begun or continued; and sober report, which shows its result again."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..errors import SoberError
from ..report.words import between, count, number
from ..runs.deadline import Deadline
from ..runs.fit import execute
from ..runs.folder import SETTINGS, RunFolder, write_file
from ..runs.prepare import Prepared, begin, prepare
from ..runs.record import RESULTS, Begun, RunRecord
from ..runs.settings import Output, Settings
from ..search.progress import Bars, Lines
from . import BEGAN
from .exit_code import BAD, DONE, signal_of, tell
from .screen import Screen, honest

STOPPED = {
    "interrupted": "Interrupted; the result uses the fits completed so far.",
    "terminated": "Terminated; the result uses the fits completed so far.",
    "max_seconds": "Time limit reached; the result uses the fits completed so far.",
}


def fit(settings: Settings, output: Output, folder: RunFolder, overwrite: bool) -> int:
    """Begin a run."""
    screen, deadline = Screen(output.json, output.quiet), Deadline(settings.max_time, BEGAN)
    prepared = _prepared(screen, settings)
    folder.make()
    with folder.locked():
        folder.check_free(overwrite)
        folder.empty()
        return _run(screen, folder, begin(folder, prepared), deadline, output.report)


def go_on(folder: RunFolder, changes: dict[str, Any], output: Output) -> int:
    """Continue a run, perhaps with more repeats."""
    screen = Screen(output.json, output.quiet)
    with folder.locked():
        before = folder.read_record(SETTINGS, Begun)
        settings = before.settings.with_(**{"max_time": None, **changes})
        if settings.repeats < before.settings.repeats:
            raise SoberError(
                "E808",
                f"--repeats must be {before.settings.repeats} or more, which the run has already; got "
                f"{settings.repeats}. For fewer repeats begin a new run with sober fit.",
            )
        prepared = _prepared(screen, settings, before.sha256)
        deadline = Deadline(settings.max_time, BEGAN)
        return _run(screen, folder, begin(folder, prepared), deadline, output.report)


def report(folder: Path, output: Path | None, format: str | None, shown: Output) -> int:
    """Show the result of a run and write its report again, or write its tables."""
    from ..report.html import to_html
    from ..report.tables import to_format

    run = RunFolder(folder)
    record, screen = RunRecord.read(run), Screen(shown.json, shown.quiet)
    if format is not None:
        text = to_format(record.summary, format)
        write_file(output, text) if output is not None else sys.stdout.write(text)
        return DONE
    try:
        page = to_html(record.summary)
    except Exception as error:  # numbers that fit the schema and yet make no picture were edited
        raise run.damaged(RESULTS, f"no page can be drawn from it, {type(error).__name__}") from error
    if output is None:
        with run.locked():
            run.write("report.html", page)
    else:
        write_file(output, page)
    show(screen, record, folder)
    if output is not None:
        screen.say(f"Written: {output}")
    return DONE


def _prepared(screen: Screen, settings: Settings, sha256: str | None = None) -> Prepared:
    screen.wait("reading and checking the table")
    try:
        prepared = prepare(settings, sha256)
        prepared.plan  # noqa: B018 - errors end the run here, before a folder is made
    finally:
        screen.done()
    return prepared


def _run(screen: Screen, folder: RunFolder, prepared: Prepared, deadline: Deadline, report: str) -> int:
    planned = prepared.plan
    if screen.talks:
        screen.notes(f for f in prepared.findings if f.severity != "suggestion")
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
        number, word = signal_of(error.__cause__)
        cause = "The time was over" if error.code == "E604" else word
        hint = f"Go on with: sober resume {folder.path} [{error.code}]"
        tell(f"{cause} before one fold was complete; every fit is saved. {hint}")
        return BAD if error.code == "E604" else 128 + number
    finally:
        screen.done()
    show(screen, results, folder.path)
    if results.stopped in ("interrupted", "terminated"):
        screen.say(f"Go on with: sober resume {folder.path}", "yellow")
        return 128 + (results.signal or signal.SIGINT)
    if results.stopped == "max_seconds":
        screen.say(f"Go on with: sober resume {folder.path}", "dim")
    return DONE


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
        yield "also", f"{other.label}: {number(other.value, other.digits)}{held}, {naive}"
