"""sober fit, resume and extend, one job that is begun or continued; and sober report, which shows its result again."""

from __future__ import annotations

import signal
import sys
from collections import Counter
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import SoberError
from ..report import rendered
from ..report.summary import versions
from ..report.words import count
from ..runs.fit import Deadline, execute
from ..runs.folder import SETTINGS, RunFolder, write_file
from ..runs.prepare import Prepared, begin, prepare
from ..runs.record import RESULTS, Begun, RunRecord
from ..search.progress import Bars, Lines
from ..tables import Settings
from ..training import Event, SearchEnded
from . import BEGAN
from .exit_code import BAD, DONE, signal_of, tell
from .screen import Screen

STATUS = ("still in the race", "finished", "dropped", "failed", "not reached")
STOPPED = {"interrupted": "Interrupted", "terminated": "Terminated", "max_seconds": "Time limit reached"}


def fit(given: dict[str, Any]) -> int:
    """Begin a run."""
    screen, folder = Screen(given), given["folder"]
    with screen.waiting("reading and checking the table"):
        prepared = prepare(Settings(**given["asked"]))
    with folder.locked():
        folder.check_free(given["overwrite"])
        folder.empty()
        return _run(screen, given, begin(folder, prepared))


def resume(given: dict[str, Any]) -> int:
    """Continue a run, perhaps with more repeats."""
    screen, folder = Screen(given), given["folder"]
    with folder.locked():
        before = folder.read_record(SETTINGS, Begun)
        settings = replace(before.settings, **{"max_time": None, **given["asked"]})
        if settings.repeats < before.settings.repeats:
            text = f"--repeats must be at least {before.settings.repeats}, which the run already has; got "
            raise SoberError("E808", f"{text}{settings.repeats}. For fewer repeats, start a new run with sober fit.")
        if not Path(str(settings.data)).exists():
            text = f"The table of the run, {str(settings.data)!r}, is not there. If it has moved, name it with --data."
            raise SoberError("E801", text)
        with screen.waiting("reading and checking the table"):
            prepared = prepare(settings, before.sha256)
        result = None
        with suppress(SoberError):  # there is none, or a damaged one
            result = RunRecord.read(folder)
        return _run(screen, given, begin(folder, prepared), result)


extend = resume


def report(given: dict[str, Any]) -> None:
    """Show the result of a run and write its report again, or write its tables."""
    folder, output = given["folder"], given["output"] and Path(given["output"])
    record, screen = RunRecord.read(folder), Screen(given)
    try:
        page = rendered(record.summary, output or Path("report.html"))
    except SoberError:
        raise
    except Exception as error:  # numbers that fit the schema and yet make no picture were edited
        raise folder.damaged(RESULTS, f"no page can be drawn from it, {type(error).__name__}") from error
    with folder.locked() if output is None else nullcontext():
        write_file(output or folder / "report.html", page)
    show(screen, record, folder)
    if output is not None:
        screen.say(f"Written: {output}")


def _run(screen: Screen, given: dict[str, Any], prepared: Prepared, before: RunRecord | None = None) -> int:
    """Train and judge; `before` is the result that the folder holds."""
    planned, folder = prepared.plan, given["folder"]
    listeners: list[Any] = []
    go_on = f"Continue with: sober resume {folder.path}"
    screen.notes(f for f in prepared.findings if f.severity != "suggestion")
    asked = prepared.settings.repeats, versions(), "finished"
    is_same = before is not None and (before.settings.repeats, before.versions, before.stopped) == asked
    if is_same and (folder / "run.sqlite").exists():  # every fit is there, so there is no progress to show
        screen.say("The run is complete; writing the report again.")
    elif screen.talks:
        size = f"{count(prepared.data.n_rows, 'row')}, {count(planned.preset.n_configurations, 'configuration')}"
        screen.say(f"{size}, at most {planned.n_fits:,} fits. Ctrl-C stops and keeps the completed fits.", "dim")
        race: Any = Bars(screen.err) if screen.err.is_terminal else Lines(sys.stderr)

        def judging(event: Event) -> None:
            if isinstance(event, SearchEnded):
                if screen.err.is_terminal:
                    race.close()
                screen.phase("judging the winner in bootstrap samples")

        listeners = [race, judging]
    how_much = "none" if given["no_report"] else "fast" if given["fast"] else "full"
    try:
        deadline = Deadline(prepared.settings.max_time, BEGAN)
        results = execute(prepared, folder, deadline, how_much, listeners, screen.phase, before)
    except (KeyboardInterrupt, SoberError) as problem:
        code = getattr(problem, "code", "")  # E601 and E604: a signal, or the end of the time, too early
        if code not in ("", "E601", "E604"):
            raise
        number, word = signal_of(problem.__cause__ if code else problem)
        cause = STOPPED["max_seconds"] if code == "E604" else word
        when, mark = (" before enough folds were run", f" [{code}]") if code else ("", "")
        tell(f"{cause}{when}; every finished fit is saved. {go_on}{mark}")
        return BAD if code == "E604" else 128 + number
    finally:
        screen.status.stop()
    kept = before if before is not None and before.knows_more_than(results) else None
    show(screen, kept or results, folder)
    if kept:
        screen.say("Stopped too early to replace the earlier result, which was kept and is shown here.", "yellow")
    was_ended = results.stopped in ("interrupted", "terminated")
    if results.stopped != "finished":
        screen.say(go_on, "yellow" if was_ended else "dim")
    return 128 + (results.signal or signal.SIGINT) if was_ended else DONE


def show(screen: Screen, results: RunRecord, folder: RunFolder) -> None:
    """End with the honest number next to the plain one, and the path of the report."""
    if screen.json:
        screen.result({**results.headline(), "folder": str(folder.path)})
        return
    screen.notes(results.warnings)
    if results.stopped in STOPPED:
        screen.say(f"{STOPPED[results.stopped]}; the result uses the fits completed so far.", "yellow")
    rows = []
    if not screen.quiet:
        screen.out.print()
        status = Counter(row.status for row in results.summary.configurations)
        told = ", ".join(f"{status[what]} {what}" for what in STATUS if what in status)
        race = f"{count(results.n_configurations, 'configuration')}: {told}"
        if not results.is_complete:
            race += f"; judged on {results.n_judged:,} of {count(results.data['rows'], 'row')}"
        race += f"; {count(results.n_fits, 'model')} trained{results.models_included}"
        rows = [("winner", results.winner), ("race", race)]
    if (folder / "report.html").exists():
        rows.append(("report", str(folder / "report.html")))
    screen.scores(results.summary.scores, rows)
    for note in results.findings:
        if note.code == "W806":  # it was said before the training, far above
            screen.say(f"Before you use the score: {note.text.partition('. ')[0].rstrip('.')}. [{note.code}]", "yellow")
