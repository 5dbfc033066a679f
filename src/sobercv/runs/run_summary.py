"""summarize_run: the report of a run in plain data, as much of it as was asked for and as there is time for.

Takes a fitted search and its data, gives a `Summary`. When it is late, the importance of columns and the
learning curve are left out first, then the charts, and the summary says so. Never draws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import Note
from ..report.model_charts import MOST_COLUMNS, model_section
from ..report.records import Fact, Section, Summary, Table
from ..report.subgroups import subgroup_section
from ..report.summary import finished, summarize_numbers, with_charts
from ..report.words import clean, count
from ..tables import Dataset
from .deadline import Deadline
from .learning_curve import learning_curve
from .prepare import Prepared

#: Text takes long to encode: so many shuffles of all columns together, where a table holds text.
ENCODED_SHUFFLES = 60
#: Seconds that the importance of columns may take where no limit was set, and its share of what is left elsewhere.
IMPORTANCE_SECONDS, IMPORTANCE_SHARE = 60.0, 0.4
#: The same for the effects of the first few columns, and the share for the learning curve.
EFFECT_SECONDS, LEARNING_SHARE = 20.0, 0.2
#: Seconds that charts take for each out-of-sample prediction of the winner, measured, and generously.
CHART_SECONDS = 3e-4


def summarize_run(
    search: Any, prepared: Prepared, deadline: Deadline, report: str, on_phase: Callable[[str], object]
) -> Summary:
    """Say what the report of a fitted search says: "full", "fast" or "none"."""
    data, settings = prepared.data, prepared.settings
    title = f"{' and '.join(data.target)} in {prepared.table.name}"
    # A report is shown to others: they get the name of the table, not the folders of this machine.
    named = replace(settings, data=settings.data and Path(settings.data).name)
    summary = summarize_numbers(search, data.X, title=title, command=named.command(), notes=prepared.findings)
    summary = _with_columns(summary, prepared)
    if report != "full":
        asked = "--no-report" if report == "none" else "--fast"
        summary = summary.with_notes([Note("W704", f"Charts and the importance of columns were left out: {asked}.")])
        if settings.learning_curve:
            summary = _with_curve(summary, search, data, on_phase, seconds=deadline.left, asked=True)
        return finished(summary, search)
    on_phase("drawing the charts")
    if deadline.left > CHART_SECONDS * search.predictions_.seen.sum():
        summary = with_charts(summary, search)
        for name, labels in prepared.subgroups.items():
            found = subgroup_section(search, name, labels, name == settings.group)
            summary = summary if found is None else summary.with_section(found)
    else:
        summary = summary.with_notes([Note("W704", "Charts were left out: the time limit was reached.")])
    seconds = deadline.share(LEARNING_SHARE)
    summary = _with_curve(summary, search, data, on_phase, seconds=seconds, asked=settings.learning_curve)
    on_phase(f"shuffling {count(min(data.X.shape[1], MOST_COLUMNS), 'column')} for their importance")
    section, notes = model_section(
        search, data.X, data.y, sample_weight=data.weight, n_permutations=n_shuffles(data.X),
        seconds=min(IMPORTANCE_SECONDS, deadline.share(IMPORTANCE_SHARE)),
        effect_seconds=min(EFFECT_SECONDS, deadline.share(0.2)),
    )  # fmt: skip
    return finished(summary if section is None else summary.with_section(section), search, notes)


def _with_columns(summary: Summary, prepared: Prepared) -> Summary:
    """Add how each column of the table was read, and how much is missing in those that models see."""
    facts, data = prepared.facts, prepared.data
    rows = [("Column", "Role", "Kind", "Read as", "Values", "Missing")]
    for c in facts["columns_read"]:
        about = c["role"], c["kind"], c["read_as"], clean(c["values"], 80)
        rows.append((clean(c["name"], 200), *about, f"{c['n_missing']:,}"))
    table = Table("columns", "How each column was read", tuple(rows), folded=True)
    missing = f"{facts['missing_cells']:,} of {data.X.size:,} in {count(data.X.shape[1], 'predictor')}"
    if data.n_without_target:
        missing += f"; {count(data.n_without_target, 'row')} without a target left out"
    return replace(summary, columns=table, data=(*summary.data, Fact("Missing cells", missing)))


def _with_curve(
    summary: Summary, search: Any, data: Dataset, on_phase: Callable[[str], object], *, seconds: float, asked: bool
) -> Summary:
    on_phase("training the winner on fewer rows, for its learning curve")
    chart, notes = learning_curve(search, data, seconds, asked)
    made = Section("learning", "Would more rows help?", () if chart is None else (chart,))
    return summary.with_section(made).with_notes(notes)


def n_shuffles(X: Any) -> int:
    """Return how often each column is shuffled: ten times, less where text must be encoded anew each time."""
    if all(dtype.kind in "iufb" for dtype in X.dtypes):
        return 10
    return max(1, min(10, ENCODED_SHUFFLES // min(X.shape[1], MOST_COLUMNS)))
