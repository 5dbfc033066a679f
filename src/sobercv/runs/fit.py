"""execute: a prepared run from its first fit to its last file, phase by phase.

What is late is left out: the importance of columns first, then charts, then the final model; never the honest number.
Each file is written whole, one after the other; results.json comes last, so that it speaks of files that are there.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..checks import PlannedSearch
from ..errors import Note
from ..inference import Estimate, best_with_threshold
from ..predictions import Predictions
from ..report.html import to_html
from ..report.notes import AFTER_THE_RUN
from ..report.records import Summary
from ..report.summary import versions
from ..report.words import count, digits_for, family_of, number, winner_in_words
from ..search.bbc_search_cv import BBCSearchCV
from ..search.results import estimate_of
from ..targets import obvious_positive
from . import model
from .deadline import Deadline
from .final_model import train_final_model
from .folder import RunFolder
from .methods import methods
from .predictions_file import FILE, long_table
from .prepare import Prepared, noted
from .record import RESULTS, ModelFacts, RunRecord
from .refit import SCRIPT
from .run_summary import summarize_run
from .survival_curve import SurvivalCurve

#: Seconds for all that follows when a signal has ended the training: the sender does not wait long.
HURRY = 20.0
#: Parameters of our own models in words.
PARAMETERS = {"roots": "columns tried per split (in square roots of all)"}
#: Shares of half the width of the interval: a cost of choosing below the first is nothing, one above the second a lot.
NOTHING, A_LOT = 0.02, 1.0


def execute(
    prepared: Prepared,
    folder: RunFolder,
    deadline: Deadline,
    report: str = "full",
    on_event: Callable[[Any], object] | None = None,
    on_phase: Callable[[str], object] = lambda words: None,
) -> RunRecord:
    """Train, judge, train the final model, and write everything down; the folder is locked.

    `report`: "fast" leaves out what takes long, the importance of columns and charts; "none" writes no report.html
    either. `on_event` is called with the events of the race, `on_phase` with what begins after it.
    """
    with noted() as notes:
        search = tune(prepared, folder.store, deadline, on_event)
    if search.stopped_ in ("interrupted", "terminated"):
        deadline = Deadline(min(HURRY, deadline.left))
    cost = choice_noted(estimate_of(search), ended_early=bool(search.stopped_))
    notes += [] if cost is None else [cost]
    on_phase(f"training the final model on {count(prepared.data.n_rows, 'row')}")
    notes += _model(search, prepared, deadline)
    with noted():  # what a model warns of while it is asked again was reported before
        summary = summarize_run(search, prepared, deadline, report, on_phase)
    notes += [note for note in summary.notes if note.code in AFTER_THE_RUN]
    on_phase("writing the files")
    record = record_of(search, prepared, summary, notes)
    _write(record, search, prepared, folder, report != "none")
    return record


def tune(
    prepared: Prepared,
    store: Path | None = None,
    deadline: Deadline | None = None,
    on_event: Callable[[Any], object] | None = None,
) -> BBCSearchCV:
    """Tune and judge, without a final model.

    `store`: the file that keeps every fit. `deadline`: leaves training its share of the time. `on_event`: called with
    what happens.
    """
    planned, settings, data = prepared.plan, prepared.settings, prepared.data
    search = BBCSearchCV(
        planned.preset.estimator,
        planned.preset.configurations,
        scoring=planned.scoring[0] if len(planned.scoring) == 1 else planned.scoring,
        pos_label=planned.positive,
        cv=planned.splitter,
        drop=None if settings.no_drop else "auto",
        n_repeats=planned.repeats,
        aggregate=settings.aggregate,
        stratify=settings.stratify,
        within_folds=settings.within_folds,
        select=best_with_threshold() if settings.tune_threshold else "best",
        interval=settings.interval,
        refit=False,
        n_jobs=settings.jobs,
        random_state=planned.seed,
        store=store,
        max_seconds=None if deadline is None else deadline.for_training(),
        on_event=on_event,
        keep="all",
    )
    return search.fit(data.X, data.y, groups=data.groups, sample_weight=data.weight)


def choice_noted(estimate: Estimate, ended_early: bool = False) -> Note | None:
    """Say so where choosing cost a lot, or hardly anything; not where a run ended early, on few samples."""
    if estimate.interval is None or estimate.n_configurations < 2 or ended_early:
        return None
    low, high = estimate.interval
    half, cost = (high - low) / 2, estimate.naive - estimate.value
    gap = number(cost, digits_for([estimate.value, estimate.naive, low, high]))
    best = f"Choosing the best of {count(estimate.n_configurations, 'configuration')}"
    if cost > A_LOT * half > 0:
        text = (
            f"{best} cost {gap}, more than half the width of the interval: what plain cross-validation claims would "
            "mislead. Report the honest score; fewer configurations or more rows make the gap smaller."
        )
        return Note("W702", text)
    if abs(cost) <= NOTHING * half:
        text = f"{best} cost hardly anything here ({gap}): one is clearly the best, or all are alike on so many rows."
        return Note("S805", text)
    return None


def _model(search: Any, prepared: Prepared, deadline: Deadline) -> list[Note]:
    """Train the final model; an interrupt leaves the honest number as it is."""
    try:
        note = train_final_model(search, prepared.data, deadline.share(0.8))
    except KeyboardInterrupt as interrupt:
        search.signal_ = getattr(interrupt, "number", signal.SIGINT)
        search.stopped_ = "interrupted" if search.signal_ == signal.SIGINT else "terminated"
        note = Note("W704", "There is no final model: it was interrupted. Write sober resume to get one.")
    return [] if note is None else [note]


def record_of(search: Any, prepared: Prepared, summary: Summary, notes: list[Note]) -> RunRecord:
    """Put everything together; the search is fitted, with or without a final model."""
    status = [row.status for row in summary.configurations]
    return RunRecord(
        score=summary.scores[0],
        others=summary.scores[1:],
        n_configurations=len(summary.configurations),
        n_finished=status.count("finished"),
        n_dropped=status.count("dropped"),
        n_failed=status.count("failed"),
        n_fits=int(search.n_fits_),
        n_folds=prepared.plan.cv,
        n_judged=len(search.predictions_.rows),
        is_complete=bool(search.is_complete_),
        families=tuple(families_of(prepared.plan)),
        space=tuple(_in_words(name, params) for name, params in families_of(prepared.plan).items()),
        winner=winner_in_words(search),
        stopped=search.stopped_,
        signal=int(getattr(search, "signal_", 0) or 0),
        warnings=tuple(dict.fromkeys(notes)),
        command=prepared.settings.command(),
        settings=prepared.settings,
        data=prepared.facts,
        schema=prepared.table.schema,
        findings=tuple(prepared.findings),
        versions=versions(),
        model=_model_facts(search, prepared) if hasattr(search, "best_estimator_") else None,
        summary=summary,
    )


def families_of(planned: PlannedSearch) -> dict[str, list[dict[str, Any]]]:
    """Parameters of the configurations of each kind of model."""
    found: dict[str, list[dict[str, Any]]] = {}
    for configuration in planned.preset.configurations:
        if "model" in configuration.params:
            found.setdefault(family_of(configuration.params["model"]), []).append(dict(configuration.params))
    return found


def _in_words(family: str, listed: list[dict[str, Any]]) -> str:
    """Write a kind of model with what was tried: ridge logistic regression (8; C 0.001 to 100)."""
    values: dict[str, list[Any]] = {}
    for params in listed:
        for name, value in params.items():
            if not hasattr(value, "get_params") and name not in ("model", "select"):
                last = name.rpartition("__")[2]
                values.setdefault(PARAMETERS.get(last, last), []).append(value)
    told = []
    for name, tried in values.items():
        distinct: list[Any] = list(dict.fromkeys(v for v in tried if isinstance(v, (int, float, str)) or v is None))
        if distinct and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in distinct):
            ends = (min(distinct), max(distinct))
            told.append(f"{name} {ends[0]:.4g}" + (f" to {ends[1]:.4g}" if ends[0] != ends[1] else ""))
        elif distinct:
            told.append(f"{name} {' or '.join(map(str, distinct))}")
    return f"{family} ({len(listed)}{'; ' * bool(told)}{', '.join(told)})"


def _model_facts(search: Any, prepared: Prepared) -> ModelFacts:
    data = prepared.data
    return ModelFacts(
        columns=tuple(str(name) for name in data.X.columns),
        classes=tuple(c.item() if hasattr(c, "item") else c for c in data.classes),
        positive=positive_of(search.predictions_),
        threshold=getattr(estimate_of(search).decision, "value", None),
        survival=_curve(search),
    )


def _write(record: RunRecord, search: Any, prepared: Prepared, folder: RunFolder, with_report: bool) -> None:
    """Write the files of a run; what is not written now is removed, since it belongs to an earlier result."""
    import pyarrow.parquet as parquet

    table = long_table(search.predictions_, prepared.data.rows)
    folder.write(FILE, lambda file: parquet.write_table(table, file))
    if record.model is not None:
        model.save(search.best_estimator_, folder)
        folder.write("refit.py", SCRIPT)
    else:
        (folder / model.MODEL).unlink(missing_ok=True)
        (folder / "refit.py").unlink(missing_ok=True)
    folder.write("METHODS.md", methods(record))
    if with_report:
        folder.write("report.html", to_html(record.summary))
    else:
        (folder / "report.html").unlink(missing_ok=True)
    folder.write_record(RESULTS, record)


def positive_of(table: Predictions) -> Any:
    """The one of two classes whose probability decides: the positive one by choice or by name, else the second."""
    if table.classes is None or len(table.classes) != 2:
        return None
    classes, label = table.classes.tolist(), table.target.positive_label
    label = obvious_positive(classes) if label is None else label
    return classes[1] if label is None else label


def _curve(search: Any) -> SurvivalCurve | None:
    """How probable it is to survive with a risk: by the winner's risks of rows that it was not trained on."""
    table = search.predictions_
    if table.task != "survival":
        return None
    here, column = table.seen[:, 0], int(np.flatnonzero(table.configurations == search.best_index_)[0])
    weight = None if table.sample_weight is None else table.sample_weight[here]
    return SurvivalCurve.fit(table.responses["predict"][here, column, 0], table.y[here], weight)
