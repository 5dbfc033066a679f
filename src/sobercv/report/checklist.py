"""TRIPOD+AI, the checklist for reporting prediction models, filled in where the run knows the answer.

An empty answer is for the authors to write. The items are those of Collins et al. (2024), BMJ 385, e078378, in a few
words each.
"""

from __future__ import annotations

from collections import defaultdict

from .notes import LIMITATIONS
from .records import Summary, Table
from .words import count

#: How the presets handle missing values.
FILLED = (
    " Inside each training fold, missing numbers were replaced by the median, with an indicator column; missing "
    "categories were a category of their own."
)


def checklist(summary: Summary) -> Table:
    """Fill in what the run knows."""
    fact = defaultdict(lambda: "?", summary.data)
    score, names = summary.scores[0], [section.name for section in summary.sections]
    tried = count(0 if summary.race is None else summary.race.n_start, "configuration")
    interval = f" ({100 * score.level:g} % interval {score.ends})" if score.interval else ""
    shown = [c.title for section in summary.sections if section.name == "curves" for c in section.charts]
    by = [table for table in summary.tables if table.name.startswith("by-")]
    groups = f"Groups ({fact['Groups']})." if "Groups" in fact else ""
    spread = ", with a random-effects prediction interval"  # not where there are two subgroups
    apart = "".join(f" Scored apart{spread * ('prediction interval' in t.sentence)}: {t.title}." for t in by)
    read = handled = predictors = balance = ""
    if summary.columns:
        read = f"See how each of {count(len(summary.columns.rows) - 1, 'column')} was read, in the report."
        handled = f"Missing cells: {fact['Missing cells']}.{'' if fact['Missing cells'].startswith('0 ') else FILLED}"
        predictors = f"{fact['Columns']} candidate predictors, listed under how each column was read."
    output = "A number." if summary.task else ""
    if summary.task == "classification":
        balance = f"No resampling of classes; {fact['Target']}."
        decided = any(table.name == "thresholds" for table in summary.tables)
        output = f"The class{' and its probability; see decisions by threshold' * decided}."
    elif summary.task == "survival":
        output = "A risk: the greater, the earlier the event."
    rows = (
        ("Item", "What to report", "This run"),
        ("1", "Title: a prediction model, its population and its outcome", ""),
        ("2", "Abstract: see TRIPOD+AI for Abstracts", ""),
        ("3", "Background: the health context, who would use the model, known inequalities", ""),
        ("4", "Objectives: development, evaluation, or both", "Development with internal validation."),
        ("5a", "Data: sources, and how well they represent the population", ""),
        ("5b", "Data: dates of recruitment and of the end of follow-up", ""),
        ("6", "Participants: setting, eligibility, treatments received", ""),
        ("7", "Data preparation: how columns were read and cleaned", read),
        ("8", "Outcome: definition, time horizon, who assessed it, blinding", ""),
        ("9", "Predictors: which, why, how and when measured, blinding", predictors),
        ("10", "Sample size: how it was arrived at", ""),
        ("11", "Missing data: how they were handled", handled),
        ("12a", "Analysis: how data were used for development and evaluation",
         f"All samples were used for both, by cross-validation ({fact['Cross-validation']})."),
        ("12b", "Analysis: how predictors were handled",
         "Encoded, imputed and scaled inside the training folds only." if summary.columns else ""),
        ("12c", "Analysis: types of model, tuning, internal validation",
         f"{summary.method} {tried} compared; the winner: {summary.winner}."),
        ("12d", "Analysis: heterogeneity across clusters, such as hospitals", f"{groups}{apart}".strip()),
        ("12e", "Analysis: measures and plots of performance",
         f"{', '.join(s.label for s in summary.scores)}; plots: {', '.join(shown) or 'none'}."),
        ("12f", "Analysis: model updating, if any", ""),
        ("12g", "Analysis: how predictions were calculated for evaluation",
         "Out-of-sample: each sample by models that were trained without it."),
        ("13", "Class imbalance: whether and how it was dealt with", balance),
        ("14", "Fairness: approaches and their rationale", ""),
        ("15", "Model output: what is predicted, and thresholds", output),
        ("16", "Training versus evaluation: differences between the data", ""),
        ("17", "Ethical approval", ""),
        ("18a-e", "Funding, conflicts of interest, protocol, registration, data sharing", ""),
        ("18f", "Code sharing: how to repeat the analysis",
         f"{summary.command} (seed {summary.seed}; sobercv {summary.versions.get('sobercv', '?')})."),
        ("19", "Patient and public involvement", ""),
        ("20", "Participants: flow, characteristics, numbers with the outcome",
         f"{fact['Samples']} samples; {fact['Target']}."),
        ("21", "Model development: numbers of participants and outcome events",
         f"{fact['Samples']} samples; {fact['Target']}; {fact['Columns']} candidate predictors."),
        ("22", "Model specification: enough to make predictions",
         f"{summary.winner}; trained on all samples." if "importance" in names else ""),
        ("23a", "Performance: estimates with confidence intervals",
         f"{score.label} {score.honest}{interval}, corrected for the choice among {tried}; plain cross-validation "
         f"would claim {score.claim}."),
        ("23b", "Performance: heterogeneity across clusters", " ".join(table.sentence for table in by)),
        ("24", "Results of model updating, if any", ""),
        ("25", "Interpretation: in context, fairness included", ""),
        ("26", "Limitations: sample, overfitting, missing data, generalisability",
         " ".join(n.text for n in summary.notes if n.code in LIMITATIONS)),
        ("27", "Usability: poor or missing input, skills of users, next steps", ""),
    )  # fmt: skip
    return Table("tripod_ai", "TRIPOD+AI checklist", rows)
