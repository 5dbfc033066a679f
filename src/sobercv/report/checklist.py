"""TRIPOD+AI, the checklist for reporting prediction models, filled in where the run knows the answer.

An empty answer is for the authors to write. The items (tripod.txt) are those of Collins et al. (2024), BMJ 385,
e078378, in a few words each.
"""

from __future__ import annotations

from collections import defaultdict
from importlib.resources import files

from .notes import LIMITATIONS
from .records import Summary, Table
from .words import count

#: How the presets handle missing values.
FILLED = (
    " Inside each training fold, missing numbers were replaced by the median, with an indicator column, and missing "
    "categories were a category of their own."
)


def checklist(summary: Summary) -> Table:
    """Fill in what the run knows."""
    fact, score = defaultdict(lambda: "?", summary.data), summary.scores[0]
    tried = count(sum(row.was_compared for row in summary.configurations), "configuration")
    interval = f" ({100 * score.level:g} % interval {score.ends})" if score.interval else ""
    sections = {section.name: section for section in summary.sections}
    plots = [chart.title for chart in sections["curves"].charts] if "curves" in sections else []
    by = [table for table in summary.tables if table.name.startswith("by-")]
    groups = f"Groups ({fact['Groups']})." if "Groups" in fact else ""
    spread = ", with a random-effects prediction interval"  # not where there are two subgroups
    apart = "".join(f" Scored separately{spread * ('prediction interval' in t.sentence)}: {t.title}." for t in by)
    people = f"{fact['Samples']} samples; {fact['Target']}"
    known = {
        "4": "Development with internal validation.",
        "12a": f"All samples were used for both, by cross-validation ({fact['Cross-validation']}).",
        "12c": f"{summary.method} {tried} compared; the winner: {summary.winner}.",
        "12d": f"{groups}{apart}".strip(),
        "12e": f"{', '.join(s.label for s in summary.scores)}; plots: {', '.join(plots) or 'none'}.",
        "12g": "Out-of-sample: each sample by models that were trained without it.",
        "15": "A number." if summary.task else "",
        "18f": f"{summary.command} (seed {summary.seed}; sobercv {summary.versions.get('sobercv', '?')}).",
        "20": f"{people}.",
        "21": f"{people}; {fact['Columns']} candidate predictors.",
        "22": f"{summary.winner}; trained on all samples." if "importance" in sections else "",
        "23a": f"{score.label} {score.honest}{interval}, corrected for the choice among {tried}; plain "
        f"cross-validation would claim {score.claim}.",
        "23b": " ".join(table.sentence for table in by),
        "26": " ".join(note.text for note in summary.notes if note.code in LIMITATIONS),
    }
    if summary.columns:
        missing, n_columns = fact["Missing cells"], count(len(summary.columns.rows) - 1, "column")
        known |= {
            "7": f"See how each of {n_columns} was read, in the report.",
            "9": f"{fact['Columns']} candidate predictors, listed under how each column was read.",
            "11": f"Missing cells: {missing}.{'' if missing.startswith('0 ') else FILLED}",
            "12b": "Encoded, imputed and scaled inside the training folds only.",
        }
    if summary.task == "classification":
        decided = any(table.name == "thresholds" for table in summary.tables)
        known["13"] = f"No resampling of classes; {fact['Target']}."
        known["15"] = f"The class{' and its probability; see decisions by threshold' * decided}."
    elif summary.task == "survival":
        known["15"] = "A risk: a higher value means an earlier event."
    items = files(__package__).joinpath("tripod.txt").read_text(encoding="utf-8").splitlines()
    rows = ((number, what, known.get(number, "")) for number, what in (item.split("\t") for item in items))
    return Table("tripod_ai", "TRIPOD+AI checklist", (("Item", "What to report", "This run"), *rows))
