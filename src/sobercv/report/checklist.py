"""TRIPOD+AI, the checklist for reporting prediction models, filled in where the run knows the answer.

The items are those of Collins et al. (2024), BMJ 385, e078378, in a few words each. A line of tripod.txt is an item:
its number, what to report and, where a run may know it, the answer with the names of facts in braces. An answer that
lacks a fact stays empty, for the authors to write.
"""

from __future__ import annotations

from importlib.resources import files

from .notes import LIMITATIONS
from .records import Summary, Table
from .words import count

#: How the presets handle missing values.
FILLED = (
    " Inside each training fold, missing numbers were replaced by the median, with an indicator column, and missing "
    "categories were a category of their own."
)
#: What a model returns, by task.
OUTPUTS = {"classification": "The class", "survival": "A risk: a higher value means an earlier event"}


def checklist(summary: Summary) -> Table:
    """Fill in what the run knows."""
    by, data = [table for table in summary.tables if table.name.startswith("by-")], summary.data
    clusters = [f"Groups ({data['Groups']})."] if "Groups" in data else []
    clusters += [f"Scored separately: {'; '.join(table.title for table in by)}."] if by else []
    plots = [chart.title for section in summary.sections if section.name == "curves" for chart in section.charts]
    decided = any(table.name == "thresholds" for table in summary.tables)
    facts = {
        **data,
        "summary": summary,
        "version": summary.versions.get("sobercv", "?"),
        "tried": count(sum(row.was_compared for row in summary.configurations), "configuration"),
        "measures": ", ".join(score.label for score in summary.scores),
        "plots": ", ".join(plots) or "none",
        "clusters": " ".join(clusters),
        "by cluster": " ".join(table.sentence for table in by),
        "output": OUTPUTS.get(summary.task, "A number") + " and its probability; see decisions by threshold" * decided,
        "limitations": " ".join(note.text for note in summary.notes if note.code in LIMITATIONS),
    }
    if summary.task == "classification":
        facts["classes"] = "No resampling of classes"
    if "Time of the final model" in summary.timing:
        facts["final"] = summary.winner
    if summary.columns:
        facts["read"] = count(len(summary.columns.rows) - 1, "column")
        facts["filled"] = "" if data.get("Missing cells", "0 ").startswith("0 ") else FILLED
    rows = [("Item", "What to report", "This run")]
    for line in files(__package__).joinpath("tripod.txt").read_text(encoding="utf-8").splitlines():
        number, what, *answer = line.split("\t")
        try:
            rows.append((number, what, "".join(answer).format_map(facts)))
        except KeyError:
            rows.append((number, what, ""))
    return Table("tripod_ai", "TRIPOD+AI checklist", tuple(rows))
