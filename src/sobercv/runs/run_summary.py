"""summarize_run: the report of a run in plain data, as much of it as was asked for and as there is time for.

When it is late, the importance of columns is left out first, then the charts, and the summary says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import Note
from ..report.model_charts import MOST_COLUMNS, model_section
from ..report.records import Fact, Summary, Table
from ..report.subgroups import subgroup_section
from ..report.summary import finished, summarize_numbers, with_charts
from ..report.words import clean, count
from .deadline import Deadline
from .prepare import Prepared

#: Text takes long to encode: so many shuffles of all columns together, where a table holds text.
ENCODED_SHUFFLES = 60
#: Seconds that the importance of columns may take where no limit was set, and its share of what is left elsewhere.
IMPORTANCE_SECONDS, IMPORTANCE_SHARE = 60.0, 0.4
#: The same for the effects of the first few columns.
EFFECT_SECONDS, EFFECT_SHARE = 20.0, 0.2
#: Seconds that charts take for each out-of-sample prediction of the winner, measured, and generously.
CHART_SECONDS = 3e-4


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
