"""execute: a prepared run from its first fit to its last file, phase by phase.

What is late is left out: the importance of columns first, then charts, then the final model; never the honest number.
results.json is written last, so that it speaks of files that are there.
"""

from __future__ import annotations

import math
import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import monotonic
from types import NoneType
from typing import Any

import pyarrow.parquet as parquet

from ..errors import Note
from ..inference import Estimate
from ..report.evidence import positive_of
from ..report.html import to_html
from ..report.model_charts import MOST_COLUMNS, model_section
from ..report.notes import AFTER_THE_RUN
from ..report.records import Summary, Table, order_of
from ..report.subgroups import subgroup_section
from ..report.summary import finished, summarize_numbers, versions, with_charts
from ..report.words import MODEL, SELECT, clean, count, digits_for, family_of, number
from ..search.bbc_search_cv import BBCSearchCV
from ..search.results import estimate_of, trained
from ..tables import Dataset, Settings
from ..training.pool import call_in_process
from . import model
from .folder import RunFolder
from .methods import methods
from .predictions_file import FILE, long_table
from .prepare import Prepared, judging, noted
from .record import RESULTS, ModelFacts, RunRecord
from .refit import SCRIPT
from .survival_curve import SurvivalCurve

#: Seconds for all that follows when a signal has ended the training: the sender does not wait long.
HURRY = 20.0
#: Parameters of our own models in words.
PARAMETERS = {"roots": "columns tried per split (in square roots of all)"}


@dataclass(frozen=True)
class Deadline:
    """The end of a command, so many seconds (None: never) after it began, by `time.monotonic` (default: now)."""

    seconds: float | None = None
    began: float = field(default_factory=monotonic)

    def left(self, share: float = 1.0) -> float:
        """Seconds until the end, or a share of them; 0 after it, infinite where there is none."""
        return math.inf if self.seconds is None else max(0.0, share * (self.began + self.seconds - monotonic()))

    def hurried(self, search: BBCSearchCV) -> Deadline:
        """Return the deadline that holds where a signal has ended the training of a search: soon."""
        return Deadline(min(HURRY, self.left())) if search.stopped_ in ("interrupted", "terminated") else self

    def for_training(self) -> float | None:
        """Seconds that the race may take, so that the rest gets its share; None where there is no end."""
        if self.seconds is None:
            return None
        left = self.left()
        after = min(0.4 * left, 60.0 + 0.05 * left)  # for judging, the final model and the report
        # A command may end a little late, to write files whole. Where hardly any time is left, half of that goes to the
        # first fits: a number is worth more than the rest. A search refuses zero; it ends at once either way.
        late = self.began + self.seconds + max(5.0, 0.05 * self.seconds) - monotonic()
        return max(left - after, min(5.0, late), 0.001)


def execute(
    prepared: Prepared,
    folder: RunFolder,
    deadline: Deadline,
    report: str = "full",
    on_event: Any = None,
    on_phase: Callable[[str], object] = lambda words: None,
    before: RunRecord | None = None,
) -> RunRecord:
    """Train, judge, train the final model, and write everything down; the folder is locked.

    `report`: "full", "fast" (without charts and the importance of columns) or "none". `on_event`: listeners of the
    race; `on_phase` is called with what begins after it. `before`: an earlier result of the same run, which stays if it
    knows more than the new one: the record that is returned is that of what stopped, written or not.
    """
    with noted() as notes:
        search = tune(prepared, folder / "run.sqlite", deadline, on_event)
    deadline = deadline.hurried(search)
    notes += choice_noted(estimate_of(search)) if search.is_complete_ else []
    on_phase(f"training the final model on {count(prepared.data.n_rows, 'row')}")
    notes += train_final_model(search, prepared.data, deadline.left(0.8))
    deadline = deadline.hurried(search)
    with noted():  # what a model warns of while it is asked again was reported before
        summary = summarize_run(search, prepared, deadline, report, on_phase)
    notes += [note for note in summary.notes if note.code in AFTER_THE_RUN]
    on_phase("writing the files")
    record = record_of(search, prepared, summary, notes)
    if before is not None and before.knows_more_than(record):
        return record
    folder.write(FILE, partial(parquet.write_table, long_table(search.predictions_, prepared.data.rows)))
    # What is not written now is removed: it belongs to an earlier result.
    folder.write(model.MODEL, model.packed(search.best_estimator_) if record.model else None)
    folder.write("refit.py", SCRIPT if record.model else None)
    folder.write("METHODS.md", methods(record))
    folder.write("report.html", None if report == "none" else to_html(record.summary))
    folder.write_record(RESULTS, record)
    return record


def tune(
    prepared: Prepared, store: Path | None = None, deadline: Deadline | None = None, on_event: Any = None
) -> BBCSearchCV:
    """Tune and judge, without a final model; `store` keeps every fit, and training gets its share of the time."""
    planned, settings, data = prepared.plan, prepared.settings, prepared.data
    search = BBCSearchCV(
        planned.preset.estimator,
        planned.preset.configurations,
        scoring=planned.scoring[0] if len(planned.scoring) == 1 else planned.scoring,
        pos_label=planned.positive,
        cv=planned.splitter,
        drop=None if settings.no_drop else "auto",
        n_repeats=settings.repeats,
        **judging(settings),
        refit=False,
        n_jobs=settings.jobs,
        store=store,
        max_seconds=None if deadline is None else deadline.for_training(),
        on_event=on_event,
        keep="all",
    )
    return search.fit(data.X, data.y, groups=data.groups, sample_weight=data.weight)


def choice_noted(estimate: Estimate) -> list[Note]:
    """Say so where choosing cost a lot, or hardly anything."""
    if estimate.interval is None or estimate.n_configurations < 2:
        return []
    low, high = estimate.interval
    half, cost = (high - low) / 2, estimate.naive - estimate.value
    gap = number(cost, digits_for([estimate.value, estimate.naive, low, high]))
    best = f"Choosing the best of {count(estimate.n_configurations, 'configuration')}"
    if cost > half > 0:
        advice = "Report the honest score; fewer configurations or more rows make the gap smaller."
        text = f"{best} cost {gap}, more than half the width of the interval: the plain cross-validation score would "
        return [Note("W702", f"{text}mislead. {advice}")]
    text = f"{best} cost hardly anything here ({gap}): one is clearly best, or they score alike on this many rows."
    return [Note("S805", text)] if abs(cost) <= 0.02 * half else []


def train_final_model(search: BBCSearchCV, data: Dataset, seconds: float = math.inf) -> list[Note]:
    """Train the final model of a search that was fitted with `refit=False`, or say why there is none (W704)."""
    # With a time limit in a process of its own, which can be ended.
    train = trained if seconds == math.inf else partial(call_in_process, seconds, trained)
    try:
        search.train_final_model(data.X, data.y, train=train, **data.fit_arguments)
        return []
    except KeyboardInterrupt as interrupt:  # the honest number stays as it is
        search.signal_ = getattr(interrupt, "number", signal.SIGINT)
        search.stopped_ = "interrupted" if search.signal_ == signal.SIGINT else "terminated"
        reason, remedy = "its training was interrupted", "Run sober resume"
    except TimeoutError:
        reason, remedy = "the time limit was reached", "Run sober resume, with more time,"
    except Exception as error:  # any estimator may raise anything
        said = " ".join(str(error).split())[:200]
        reason = f"it failed on all data with {type(error).__name__}: {said}".rstrip(".")
        remedy = "Choose another preset"
    text = f"There is no final model: {reason}. The honest score stands without it. {remedy} to get one."
    return [Note("W704", text)]


def summarize_run(
    search: Any, prepared: Prepared, deadline: Deadline, report: str, on_phase: Callable[[str], object]
) -> Summary:
    """Say what the report of a fitted search says; `report` as in `execute`."""
    data, settings = prepared.data, prepared.settings
    # A report is shown to others: they get the name of the table, not the folders of this machine.
    command = _repeated_by(replace(settings, data=settings.data and Path(settings.data).name), search)
    title = f"{' and '.join(data.target)} in {prepared.table.name}"
    summary = summarize_numbers(search, data.X, title=title, command=command, notes=prepared.findings)
    facts = prepared.facts
    rows = [("Column", "Role", "Kind", "Read as", "Values", "Missing")]
    for c in facts["columns_read"]:
        about = c["role"], c["kind"], c["read_as"], clean(c["values"], 80)
        rows.append((clean(c["name"], 200), *about, f"{c['n_missing']:,}"))
    missing = f"{facts['missing_cells']:,} of {data.X.size:,} in {count(data.X.shape[1], 'predictor')}"
    if data.n_without_target:
        missing += f"; {count(data.n_without_target, 'row')} without a target left out"
    columns = Table("columns", "How each column was read", tuple(rows), folded=True)
    summary = replace(summary, columns=columns, data={**summary.data, "Missing cells": missing})
    if report != "full":
        asked = "--no-report" if report == "none" else "--fast"
        note = Note("W704", f"Charts and column importance were left out: {asked}.")
        return finished(summary.with_notes([note]), search)
    on_phase("drawing the charts")
    if deadline.left() > 3e-4 * search.predictions_.seen.sum():  # seconds per prediction, measured, and generously
        try:
            drawn = with_charts(summary, search, clean(settings.time or "time", 60))
            for name, labels in prepared.subgroups.items():
                drawn = drawn.with_section(subgroup_section(search, name, labels, name == settings.group))
            summary = drawn
        except Exception as error:  # a chart that cannot be drawn must not cost the run
            text = f"Charts were left out: drawing them failed with {type(error).__name__}: {clean(error, 160)}."
            summary = summary.with_notes([Note("W704", text)])
    else:
        summary = summary.with_notes([Note("W704", "Charts were left out: the time limit was reached.")])
    n_columns = min(data.X.shape[1], MOST_COLUMNS)
    on_phase(f"shuffling {count(n_columns, 'column')} for their importance")
    is_numeric = all(dtype.kind in "iufb" for dtype in data.X.dtypes)
    section, notes = model_section(
        search, data.X, data.y, sample_weight=data.weight,
        n_permutations=10 if is_numeric else max(3, min(10, 60 // n_columns)),  # text takes long to encode
        max_seconds=min(60.0, deadline.left(0.4)),
        effect_seconds=min(20.0, deadline.left(0.2)),
    )  # fmt: skip
    return finished(summary.with_section(section), search, notes)


def record_of(search: Any, prepared: Prepared, summary: Summary, notes: list[Note]) -> RunRecord:
    """Put everything together; the search is fitted, with or without a final model."""
    status = [row.status for row in summary.configurations]
    compared = {row.index for row in summary.configurations if row.was_compared}
    table, facts, curve = search.predictions_, None, None
    if hasattr(search, "best_estimator_"):
        if table.task == "survival":  # by the winner's risks of rows that it was not trained on
            own, here = search.winner_predictions_, table.seen[:, 0]
            weight = None if own.sample_weight is None else own.sample_weight[here]
            curve = SurvivalCurve.fit(own.responses["predict"][here, 0, 0], own.y[here], weight)
        facts = ModelFacts(
            columns=tuple(str(name) for name in prepared.data.X.columns),
            classes=tuple(prepared.data.classes),
            positive=positive_of(table),
            threshold=getattr(estimate_of(search).decision, "value", None),
            survival=curve,
        )
    return RunRecord(
        score=summary.scores[0],
        others=summary.scores[1:],
        n_configurations=len(summary.configurations),
        n_finished=status.count("finished"),
        n_dropped=status.count("dropped"),
        n_failed=status.count("failed"),
        n_unreached=status.count("not reached"),
        n_fits=int(search.n_fits_ + search.n_recalled_),  # of the whole run, whatever part `resume` or `extend` trained
        n_folds=prepared.plan.cv,
        n_judged=len(table.rows),
        is_complete=bool(search.is_complete_),
        space=_space(c for i, c in enumerate(prepared.plan.preset.configurations) if i in compared),
        winner=summary.winner,
        stopped=search.stopped_,
        signal=int(getattr(search, "signal_", 0) or 0),
        warnings=tuple(sorted(dict.fromkeys(notes), key=order_of)),
        command=_repeated_by(prepared.settings, search),
        settings=prepared.settings,
        data=prepared.facts,
        schema=prepared.table.schema,
        findings=tuple(prepared.findings),
        versions=versions(),
        model=facts,
        summary=summary,
    )


def _repeated_by(settings: Settings, search: Any) -> str:
    """Write the command that repeats a run, with its time limit where that ended the training."""
    limit = f" --max-time {settings.max_time:.10g}s" if settings.max_time and search.stopped_ == "max_seconds" else ""
    return f"{settings.command()}{limit}"


def _space(configurations: Iterable[Any]) -> tuple[str, ...]:
    """Write each kind of model with what was tried: ridge logistic regression (8; C 0.001 to 100)."""
    families: dict[str, list[dict[str, Any]]] = {}  # the parameters of their configurations
    for configuration in configurations:
        if MODEL in configuration.params:
            families.setdefault(family_of(configuration.params[MODEL]), []).append(configuration.params)
    found = []
    for family, listed in families.items():
        told = []
        for name in dict.fromkeys(name for params in listed for name in params if name not in (MODEL, SELECT)):
            given = (params[name] for params in listed if name in params)
            values: dict[Any, None] = dict.fromkeys(
                value for value in given if isinstance(value, (int, float, str, NoneType))
            )
            if not set(values) - {None}:
                continue
            if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
                words = " to ".join(dict.fromkeys((f"{min(values):.4g}", f"{max(values):.4g}")))
            else:
                words = " or ".join(map(str, values))
            short = name.rpartition("__")[2]
            told.append(f"{PARAMETERS.get(short, short)} {words}")
        found.append(f"{family} ({len(listed)}{'; ' * bool(told)}{', '.join(told)})")
    return tuple(found)
