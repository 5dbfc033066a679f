"""From a finished search to the plain data of its report.

Takes a fitted search and, for the importance of columns, its data; gives a `Summary`. All that a report shows is
computed here; renderers only write it down.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..errors import Note, SoberError
from . import class_charts, facts, numeric_charts, search_records
from .checklist import checklist
from .class_charts import calibration, decision_curve, thresholds, tuned_threshold
from .effects import effects
from .evidence import N_BANDS, Evidence
from .facts import glossary, promise
from .families_table import families_table
from .importance import importance
from .notes import in_order
from .notes import notes as notes_of
from .records import Chart, ColumnRow, ConfusionMatrix, Fact, Importance, Summary, Table
from .words import clean

CHARTS: dict[str, tuple[str, Callable[[Evidence], Chart | None]]] = {
    "roc": ("classification", class_charts.roc),
    "precision_recall": ("classification", class_charts.precision_recall),
    "calibration": ("classification", calibration),
    "decision": ("classification", decision_curve),
    "predicted": ("regression", numeric_charts.predicted),
    "residuals": ("regression", numeric_charts.residuals),
    "survival": ("survival", numeric_charts.survival),
}
TABLES: dict[str, Callable[[Evidence], Table | None]] = {
    "classification": thresholds,
    "survival": numeric_charts.horizons,
}


def summarize(
    search: Any,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    title: str | None = None,
    command: str | None = None,
    n_permutations: int = 10,
    notes: Iterable[Note] = (),
) -> Summary:
    """Put all that a report says about a finished search into plain data.

    Parameters
    ----------
    search : BBCSearchCV
        Fitted. Everything but the importance of columns comes from what it keeps.
    X, y : array-like, optional
        The data it was given; needed only for the permutation importance of the final model.
    sample_weight : array-like [N], optional
        Goes into the score behind the permutation importance. All else uses the weights that the search was given.
    title : str, optional
    command : str, optional
        What repeats the run, such as a command line; the search as code unless given.
    n_permutations : int, default=10
        Shuffles for each column; 0 leaves the importance out.
    notes : iterable of Note
        What checks of the table found, such as `sobercv.checks.check_dataset`; said among the caveats.

    Returns
    -------
    Summary
    """
    check_is_fitted(search, "estimate_")
    _check(search, X, y, n_permutations)
    summary = with_charts(summarize_numbers(search, X, title=title, command=command, notes=notes), search)
    found = importance(search, X, y, sample_weight=sample_weight, n_permutations=n_permutations)
    return with_checklist(with_importance(summary, search, X, *found))


def summarize_numbers(
    search: Any, X: Any = None, *, title: str | None = None, command: str | None = None, notes: Iterable[Note] = ()
) -> Summary:
    """Put all that takes no time into plain data: everything but charts and the importance of columns.

    Parameters
    ----------
    search, X, title, command, notes
        As in `summarize`.
    """
    scores = search_records.scores(search)
    return Summary(
        title=clean(title or "Tuning report", 120),
        task=search.predictions_.task,
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        headline=search_records.headline(scores[0]),
        why=search_records.why(search, scores[0]),
        scores=scores,
        draws=search_records.draws(search_records.estimates_of(search)[0]),
        race=search_records.race(search),
        configurations=search_records.configurations(search),
        winner=search_records.winner(search),
        curves_note=facts.curves_note(search, scores[0], N_BANDS),
        charts=(),
        confusion=None,
        importance=None,
        notes=notes_of(search, notes),
        failures=search_records.failures(search),
        data=facts.data(search, X),
        timing=facts.timing(search),
        versions=facts.versions(),
        method=facts.method(search),
        citation=facts.CITATION,
        seed=int(search.seed_),
        command=clean(command or facts.command(search), 4000),
        table_note=facts.table_note(search),
        draws_note=facts.draws_note(search),
        promise=promise(search, scores[0]),
        glossary=glossary(search, scores),
    )


def with_charts(summary: Summary, search: Any) -> Summary:
    """Add the charts, and say which ones the reader may miss."""
    if not search.winner_predictions_.responses:
        text = "The search scored models and kept no predictions, so there are no charts; add a metric to scoring."
        return with_notes(summary, (Note("W704", text),))
    evidence = Evidence.of(search)
    charts, confusion = charts_of(evidence)
    tuned = tuned_threshold(evidence, search)
    charts = charts if tuned is None else (*charts, tuned)
    make = TABLES.get(evidence.task)
    made = (None if make is None else make(evidence), families_table(search))
    tables = tuple(table for table in made if table is not None)
    summary = replace(summary, charts=charts, confusion=confusion, tables=tables)
    return with_notes(summary, _missing(evidence, charts, confusion))


def with_importance(
    summary: Summary,
    search: Any,
    X: Any,
    found: Importance | None,
    reasons: Iterable[Note] = (),
    max_seconds: float = math.inf,
) -> Summary:
    """Add the importance of columns and the effects of the first few, or the reason why there is none.

    Parameters
    ----------
    summary : Summary
    search : BBCSearchCV
        Fitted.
    X : array-like
        The data that it was given.
    found : Importance or None
    reasons : iterable of Note
    max_seconds : float
        What the effects may take.
    """
    try:
        drawn = effects(search, X, found, max_seconds)
    except Exception as error:  # any estimator may raise anything; the rest of the report stands
        cause = f"{type(error).__name__}: {clean(error, 160)}"
        text = f"The model refused changed columns ({cause}), so the effects of columns were left out."
        drawn, reasons = (), (*reasons, Note("W704", text))
    return with_notes(replace(summary, importance=found, effects=drawn), reasons)


def with_columns(summary: Summary, columns: Iterable[Mapping[str, Any]], missing: str) -> Summary:
    """Add how each column of the table was read, and how much is missing in those that models see.

    Parameters
    ----------
    summary : Summary
    columns : iterable of mappings
        See `tables.column_facts`.
    missing : str
        How many cells of predictors are missing, over all columns and rows that were used.
    """
    made = (ColumnRow(**{**c, "name": clean(c["name"], 200), "values": clean(c["values"], 80)}) for c in columns)
    return replace(summary, columns=tuple(made), data=(*summary.data, Fact("Missing cells", missing)))


def with_checklist(summary: Summary) -> Summary:
    """Add the checklist, once all else is there."""
    return replace(summary, checklist=checklist(summary))


def with_notes(summary: Summary, more: Iterable[Note]) -> Summary:
    """Add notes; suggestions stay last."""
    return replace(summary, notes=in_order((*summary.notes, *more)))


def charts_of(evidence: Evidence) -> tuple[tuple[Chart, ...], ConfusionMatrix | None]:
    """All charts that the task and the predictions allow."""
    made = [chart(evidence) for task, chart in CHARTS.values() if task == evidence.task]
    confusion = class_charts.confusion(evidence) if evidence.task == "classification" else None
    return tuple(chart for chart in made if chart is not None), confusion


def _missing(evidence: Evidence, charts: tuple[Chart, ...], confusion: ConfusionMatrix | None) -> tuple[Note, ...]:
    """Say which charts the reader may miss, and what would bring them."""
    shown = {chart.name for chart in charts}
    found = []
    if evidence.task == "classification" and evidence.scores() is None:
        text = (
            "Of the winner only labels are known, so there is no ROC curve: it gives neither probabilities nor scores, "
            'or they were not kept (in Python, pass keep="all" or name roc_auc as a metric).'
        )
        found.append(Note("W704", text))
    elif evidence.classes is not None and len(evidence.classes) == 2 and "calibration" not in shown:
        text = (
            "The winner gives no probabilities, so there is no calibration curve, no decision curve and no table of "
            "thresholds. With neg_log_loss as a second metric, sober fit calibrates such models, and others fail."
        )
        found.append(Note("W704", text))
    if evidence.task == "classification" and confusion is None:
        most = class_charts.MOST_CLASSES
        text = f"With more than {most} classes there is no confusion matrix, and ROC curves for some only."
        found.append(Note("W704", text))
    if evidence.task == "survival" and not charts:
        why = "The search kept no risks" if "predict" not in evidence.responses else "No sample had the event"
        found.append(Note("W704", f"{why}, so there are no survival curves."))
    return tuple(found)


def _check(search: Any, X: Any, y: Any, n_permutations: int) -> None:
    if isinstance(n_permutations, bool) or not isinstance(n_permutations, int) or n_permutations < 0:
        raise SoberError("E108", f"`n_permutations` must be a whole number of 0 or more; got {n_permutations!r}.")
    n = search.predictions_.n_samples
    for name, values in (("X", X), ("y", y)):
        shape = getattr(values, "shape", None)
        rows = n if values is None else shape[0] if shape else len(values)
        if rows != n:
            raise SoberError(
                "E502",
                f"`{name}` has {rows:,} rows, but the search was given {n:,}. Pass the data that it was tuned on.",
            )
