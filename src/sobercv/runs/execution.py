"""execute: a prepared run from its first fit to its last file, phase by phase.

Takes a `Prepared` run and a folder that is locked, gives `Results`; tells a listener where it stands. What is late is
left out, the importance of columns first, then charts, then the final model; the honest number never is.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import Note
from ..inference import Estimate
from ..report import diagnostics
from ..report.words import count
from .choice_cost import choice_noted
from .deadline import Deadline
from .final_model import train_final_model
from .folder import RunFolder
from .noted import noted
from .prepared import Prepared
from .results import Results
from .run_summary import summarize_run
from .settings import Settings
from .tuning import tune
from .writing import write_run

#: Seconds for all that follows when a signal has ended the training: those who send one do not wait long.
HURRY = 20.0


@dataclass(frozen=True)
class Progress:
    """Who hears how a run gets on.

    Attributes
    ----------
    on_event : callable, optional
        Hears the events of the race.
    on_phase : callable
        Hears what begins after it, a few words each time.
    """

    on_event: Callable[[Any], object] | None = None
    on_phase: Callable[[str], object] = lambda words: None


SILENT = Progress()


def execute(
    prepared: Prepared,
    settings: Settings,
    folder: RunFolder,
    deadline: Deadline,
    report: str = "full",
    progress: Progress = SILENT,
) -> Results:
    """Train, judge, train the final model, and write everything down.

    Parameters
    ----------
    prepared : Prepared
    settings : Settings
        With the path of the data.
    folder : RunFolder
        Locked.
    deadline : Deadline
    report : {"full", "fast", "none"}
        "fast" leaves out what takes long: the importance of columns, and charts. "none" writes no report.html either.
    progress : Progress
    """
    with noted() as notes:
        search = tune(prepared, folder.store, deadline, progress.on_event)
    if search.stopped_ in ("interrupted", "terminated"):
        deadline = Deadline(min(HURRY, deadline.left))
    cost = choice_noted(_first(search), ended_early=bool(search.stopped_))
    notes += [] if cost is None else [cost]
    size = count(prepared.data.n_rows, "row")
    progress.on_phase(f"training the final model on {size}")
    notes += _model(search, prepared, deadline)
    with noted():  # what a model warns of while it is asked again was heard before
        summary = summarize_run(search, prepared, settings, deadline, report, progress.on_phase)
    notes += [note for note in summary.notes if note.code in diagnostics.CODES]
    progress.on_phase("writing the files")
    return write_run(search, prepared, settings, summary, tuple(notes), folder, report != "none")


def _first(search: Any) -> Estimate:
    estimates = search.estimate_
    first: Estimate = next(iter(estimates.values())) if isinstance(estimates, dict) else estimates
    return first


def _model(search: Any, prepared: Prepared, deadline: Deadline) -> list[Note]:
    """Train the final model; who ends this keeps the honest number."""
    try:
        note = train_final_model(search, prepared.data, deadline.share(0.8))
    except KeyboardInterrupt as interrupt:
        search.signal_ = getattr(interrupt, "number", signal.SIGINT)
        search.stopped_ = "interrupted" if search.signal_ == signal.SIGINT else "terminated"
        note = Note("W832", "There is no final model: it was interrupted. Write sober resume to get one.")
    return [] if note is None else [note]
