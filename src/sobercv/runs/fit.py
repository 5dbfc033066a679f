"""execute: a prepared run from its first fit to its last file, phase by phase.

What is late is left out: the importance of columns first, then charts, then the final model; never the honest number.
Each file is written whole, one after the other; results.json comes last, so that it speaks of files that are there.
"""

from __future__ import annotations

import math
import signal
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..checks import PlannedSearch
from ..errors import Note
from ..inference import Estimate, best_with_threshold
from ..predictions import Predictions
from ..report.html import to_html
from ..report.model_charts import MOST_COLUMNS, model_section
from ..report.notes import AFTER_THE_RUN
from ..report.records import Fact, Summary, Table
from ..report.subgroups import subgroup_section
from ..report.summary import finished, summarize_numbers, versions, with_charts
from ..report.words import clean, count, digits_for, family_of, number
from ..search.bbc_search_cv import BBCSearchCV
from ..search.results import estimate_of, trained
from ..tables import Dataset
from ..targets import obvious_positive
from ..training.pool import call_in_process
from . import model
from .deadline import Deadline
from .folder import RunFolder
from .methods import methods
from .predictions_file import FILE, long_table
from .prepare import Prepared, noted
from .record import RESULTS, ModelFacts, RunRecord
from .refit import SCRIPT
from .survival_curve import SurvivalCurve

#: Seconds for all that follows when a signal has ended the training: the sender does not wait long.
HURRY = 20.0
#: Parameters of our own models in words.
PARAMETERS = {"roots": "columns tried per split (in square roots of all)"}
#: Shares of half the width of the interval: a cost of choosing below the first is nothing, one above the second a lot.
NOTHING, A_LOT = 0.02, 1.0
#: Text takes long to encode: so many shuffles of all columns together, where a table holds text.
ENCODED_SHUFFLES = 60
#: Seconds that the importance of columns may take where no limit was set, and its share of what is left elsewhere.
IMPORTANCE_SECONDS, IMPORTANCE_SHARE = 60.0, 0.4
#: The same for the effects of the first few columns.
EFFECT_SECONDS, EFFECT_SHARE = 20.0, 0.2
#: Seconds that charts take for each out-of-sample prediction of the winner, measured, and generously.
CHART_SECONDS = 3e-4


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
        search = tune(prepared, folder / "run.sqlite", deadline, on_event)
    if search.stopped_ in ("interrupted", "terminated"):
        deadline = Deadline(min(HURRY, deadline.left))
    notes += choice_noted(estimate_of(search), ended_early=bool(search.stopped_))
    on_phase(f"training the final model on {count(prepared.data.n_rows, 'row')}")
    notes += train_final_model(search, prepared.data, deadline.share(0.8))
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
        aggregate=settings.aggregate,
        stratify=settings.stratify,
        within_folds=settings.within_folds,
        select=best_with_threshold() if settings.tune_threshold else "best",
        interval=settings.interval,
        refit=False,
        n_jobs=settings.jobs,
        random_state=settings.seed,
        store=store,
        max_seconds=None if deadline is None else deadline.for_training(),
        on_event=on_event,
        keep="all",
    )
    return search.fit(data.X, data.y, groups=data.groups, sample_weight=data.weight)


def choice_noted(estimate: Estimate, ended_early: bool = False) -> list[Note]:
    """Say so where choosing cost a lot, or hardly anything; not where a run ended early, on few samples."""
    if estimate.interval is None or estimate.n_configurations < 2 or ended_early:
        return []
    low, high = estimate.interval
    half, cost = (high - low) / 2, estimate.naive - estimate.value
    gap = number(cost, digits_for([estimate.value, estimate.naive, low, high]))
    best = f"Choosing the best of {count(estimate.n_configurations, 'configuration')}"
    if cost > A_LOT * half > 0:
        text = (
            f"{best} cost {gap}, more than half the width of the interval: what plain cross-validation claims would "
            "mislead. Report the honest score; fewer configurations or more rows make the gap smaller."
        )
        return [Note("W702", text)]
    if abs(cost) <= NOTHING * half:
        text = f"{best} cost hardly anything here ({gap}): one is clearly the best, or all are alike on so many rows."
        return [Note("S805", text)]
    return []


def train_final_model(search: BBCSearchCV, data: Dataset, seconds: float = math.inf) -> list[Note]:
    """Train the final model of a search that was fitted with `refit=False`, or say why there is none (W704).

    With a time limit a process of its own trains it, which can be ended; the honest number does not need it.
    """
    train = trained if seconds == math.inf else partial(call_in_process, seconds, trained)
    try:
        search.train_final_model(data.X, data.y, train=train, **data.fit_arguments)
        return []
    except KeyboardInterrupt as interrupt:  # the honest number stays as it is
        search.signal_ = getattr(interrupt, "number", signal.SIGINT)
        search.stopped_ = "interrupted" if search.signal_ == signal.SIGINT else "terminated"
        return [Note("W704", "There is no final model: it was interrupted. Write sober resume to get one.")]
    except TimeoutError:
        reason, remedy = "the time was over", "Write sober resume, with more time,"
    except Exception as error:  # any estimator may raise anything
        said = " ".join(str(error).split())[:200]
        reason = f"it failed on all data with {type(error).__name__}: {said}".rstrip(".")
        remedy = "Choose another preset"
    text = f"There is no final model: {reason}. The honest score stands without it. {remedy} to get one."
    return [Note("W704", text)]


def summarize_run(
    search: Any, prepared: Prepared, deadline: Deadline, report: str, on_phase: Callable[[str], object]
) -> Summary:
    """Say what the report of a fitted search says: "full", "fast" or "none"."""
    data, settings = prepared.data, prepared.settings
    # A report is shown to others: they get the name of the table, not the folders of this machine.
    command = replace(settings, data=settings.data and Path(settings.data).name).command()
    title = f"{' and '.join(data.target)} in {prepared.table.name}"
    summary = summarize_numbers(search, data.X, title=title, command=command, notes=prepared.findings)
    summary = _with_columns(summary, prepared)
    if report != "full":
        asked = "--no-report" if report == "none" else "--fast"
        note = Note("W704", f"Charts and the importance of columns were left out: {asked}.")
        return finished(summary.with_notes([note]), search)
    on_phase("drawing the charts")
    if deadline.left > CHART_SECONDS * search.predictions_.seen.sum():
        summary = with_charts(summary, search, clean(settings.time or "time", 60))
        for name, labels in prepared.subgroups.items():
            found = subgroup_section(search, name, labels, name == settings.group)
            summary = summary if found is None else summary.with_section(found)
    else:
        summary = summary.with_notes([Note("W704", "Charts were left out: the time limit was reached.")])
    n_columns = min(data.X.shape[1], MOST_COLUMNS)
    on_phase(f"shuffling {count(n_columns, 'column')} for their importance")
    is_numeric = all(dtype.kind in "iufb" for dtype in data.X.dtypes)
    section, notes = model_section(
        search, data.X, data.y, sample_weight=data.weight,
        n_permutations=10 if is_numeric else max(1, min(10, ENCODED_SHUFFLES // n_columns)),
        seconds=min(IMPORTANCE_SECONDS, deadline.share(IMPORTANCE_SHARE)),
        effect_seconds=min(EFFECT_SECONDS, deadline.share(EFFECT_SHARE)),
    )  # fmt: skip
    return finished(summary if section is None else summary.with_section(section), search, notes)


def _with_columns(summary: Summary, prepared: Prepared) -> Summary:
    """Add how each column of the table was read, and how much is missing in those that models see."""
    facts, data = prepared.facts, prepared.data
    rows = [("Column", "Role", "Kind", "Read as", "Values", "Missing")]
    for c in facts["columns_read"]:
        about = c["role"], c["kind"], c["read_as"], clean(c["values"], 80)
        rows.append((clean(c["name"], 200), *about, f"{c['n_missing']:,}"))
    missing = f"{facts['missing_cells']:,} of {data.X.size:,} in {count(data.X.shape[1], 'predictor')}"
    if data.n_without_target:
        missing += f"; {count(data.n_without_target, 'row')} without a target left out"
    table = Table("columns", "How each column was read", tuple(rows), folded=True)
    return replace(summary, columns=table, data=(*summary.data, Fact("Missing cells", missing)))


def record_of(search: Any, prepared: Prepared, summary: Summary, notes: list[Note]) -> RunRecord:
    """Put everything together; the search is fitted, with or without a final model."""
    status, families = [row.status for row in summary.configurations], _families(prepared.plan)
    return RunRecord(
        score=summary.scores[0],
        others=summary.scores[1:],
        n_configurations=len(summary.configurations),
        n_finished=status.count("finished"),
        n_dropped=status.count("dropped"),
        n_failed=status.count("failed"),
        n_fits=int(search.n_fits_ + search.n_recalled_),  # of the whole run, whatever part `resume` or `extend` trained
        n_folds=prepared.plan.cv,
        n_judged=len(search.predictions_.rows),
        is_complete=bool(search.is_complete_),
        families=tuple(families),
        space=tuple(families.values()),
        winner=summary.winner.label,
        stopped=search.stopped_,
        signal=int(getattr(search, "signal_", 0) or 0),
        warnings=tuple(dict.fromkeys(notes)),
        command=prepared.settings.command(),
        settings=prepared.settings,
        data=prepared.facts,
        schema=prepared.table.schema,
        findings=tuple(prepared.findings),
        versions=versions(),
        model=_model_facts(search, prepared.data) if hasattr(search, "best_estimator_") else None,
        summary=summary,
    )


def _families(planned: PlannedSearch) -> dict[str, str]:
    """Write each kind of model with what was tried: ridge logistic regression (8; C 0.001 to 100)."""
    sizes: dict[str, int] = {}
    values: dict[str, dict[str, list[Any]]] = {}
    for params in (dict(configuration.params) for configuration in planned.preset.configurations):
        if "model" not in params:
            continue
        family = family_of(params["model"])
        sizes[family] = sizes.get(family, 0) + 1
        tried = values.setdefault(family, {})
        for name, value in params.items():
            if name not in ("model", "select") and not hasattr(value, "get_params"):
                last = name.rpartition("__")[2]
                tried.setdefault(PARAMETERS.get(last, last), []).append(value)
    found = {}
    for family, n in sizes.items():
        told = [words for name, tried in values[family].items() if (words := _range(name, tried))]
        found[family] = f"{family} ({n}{'; ' * bool(told)}{', '.join(told)})"
    return found


def _range(name: str, tried: list[Any]) -> str:
    """Write a parameter with its values: both ends of numbers, every word; empty where they are neither."""
    distinct: list[Any] = list(dict.fromkeys(v for v in tried if isinstance(v, (int, float, str)) or v is None))
    if distinct and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in distinct):
        low, high = min(distinct), max(distinct)
        return f"{name} {low:.4g}" + (f" to {high:.4g}" if low != high else "")
    return f"{name} {' or '.join(map(str, distinct))}" if distinct else ""


def _model_facts(search: Any, data: Dataset) -> ModelFacts:
    table, curve = search.predictions_, None
    if table.task == "survival":  # by the winner's risks of rows that it was not trained on
        here, column = table.seen[:, 0], int(np.flatnonzero(table.configurations == search.best_index_)[0])
        weight = None if table.sample_weight is None else table.sample_weight[here]
        curve = SurvivalCurve.fit(table.responses["predict"][here, column, 0], table.y[here], weight)
    return ModelFacts(
        columns=tuple(str(name) for name in data.X.columns),
        classes=tuple(data.classes),
        positive=positive_of(table),
        threshold=getattr(estimate_of(search).decision, "value", None),
        survival=curve,
    )


def positive_of(table: Predictions) -> Any:
    """The one of two classes whose probability decides: the positive one by choice or by name, else the second."""
    if table.classes is None or len(table.classes) != 2:
        return None
    classes, label = table.classes.tolist(), table.target.positive_label
    label = obvious_positive(classes) if label is None else label
    return classes[1] if label is None else label


def _write(record: RunRecord, search: Any, prepared: Prepared, folder: RunFolder, with_report: bool) -> None:
    """Write the files of a run; what is not written now is removed, since it belongs to an earlier result."""
    import pyarrow.parquet as parquet

    table = long_table(search.predictions_, prepared.data.rows)
    folder.write(FILE, lambda file: parquet.write_table(table, file))
    has_model = record.model is not None
    folder.write(model.MODEL, model.packed(search.best_estimator_) if has_model else None)
    folder.write("refit.py", SCRIPT if has_model else None)
    folder.write("METHODS.md", methods(record))
    folder.write("report.html", to_html(record.summary) if with_report else None)
    folder.write_record(RESULTS, record)
