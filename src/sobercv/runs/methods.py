"""METHODS.md: methods and results for a paper; what comes from data is escaped, so that Markdown shows it as it is."""

from __future__ import annotations

from collections import Counter

from ..inference.intervals import CROSS_VALIDATED
from ..report.checklist import FILLED
from ..report.notes import LIMITATIONS
from ..report.words import between, clean, count, md, metric_label, number, within
from ..tables.column import LIMITS
from ..tables.naming import some
from .record import RunRecord

#: More predictors, or terms of a linear model, are listed in the report only.
MOST_NAMED, MOST_COEFFICIENTS = 30, 40


def methods(record: RunRecord) -> str:
    """Write the methods and results of a run for a paper, from its record."""
    summary, total = record.summary, count(record.n_configurations, "configuration")
    preset = f"preset {record.settings.preset}"
    n_left = record.n_configurations - record.n_failed - record.n_unreached
    models = f"We compared {total}" if n_left == record.n_configurations else f"We compared {n_left:,} of {total}"
    models += f" ({preset})" if record.settings.configurations is None else f", drawn at random from {preset}"
    models += ", before the time limit" * bool(record.n_unreached)
    models += f"; {record.n_failed:,} failed" * bool(record.n_failed)
    models += f": {'; '.join(md(each) for each in record.space) or 'one pipeline'}. "
    models += "Classes were neither resampled nor reweighted. " if "classes" in record.data else ""
    models += "Cleaning, imputation, scaling and feature selection were fitted inside the training folds only."
    if any(name.startswith("elastic") for name in record.space):
        models += " The grid of elastic-net penalties was computed from all rows of the data, as glmnet's path is."
    performance = []  # of every metric, with its natural sign
    for score in (record.score, *record.others):
        sign = -1.0 if score.metric.startswith("neg_") else 1.0
        label = md(within(metric_label(score.metric.removeprefix("neg_"), score.positive)))
        value, naive, *ends = (sign * v for v in (score.value, score.naive, *(score.interval or ())))
        told = f"{label} of **{number(value, score.digits)}**"
        told += f" ({100 * score.level:g} % CI {between(sorted(ends), score.digits)})" if ends else ""
        performance.append(f"{told}; without the correction it would be {number(naive, score.digits)}")
    first, *rest = performance
    result = f"The winner, selected by {md(within(record.score.label))}, has a corrected {first}."
    result += f" By other metrics: {'. '.join(o[:1].upper() + o[1:] for o in rest)}." if rest else ""
    software = ", ".join(f"{name} {version}" for name, version in summary.versions.items() if name != "sobercv")
    limitations = [md(clean(note.text, 1000)) for note in summary.notes if note.code in LIMITATIONS]
    below = next((chart.below[:2] for chart in summary.charts if chart.name == "calibration" and chart.below[1:]), ())
    calibration = ", ".join(map(" ".join, zip(*below, strict=True)))
    coefficients: list[str] = []
    for found in (table for table in summary.tables if table.name == "coefficients"):
        head, *rows = (f"| {' | '.join(map(md, row))} |" for row in found.rows)
        coefficients = ["\n".join([head, "|" + " --- |" * len(found.rows[0]), *rows]), md(found.sentence)]
        if len(rows) >= MOST_COEFFICIENTS:
            coefficients = [f"It has {len(rows):,} terms; the report lists them."]
    paragraphs = [
        "# Methods",
        f"**Data.** {_outcome(record)} {_predictors(record)}",
        f"**Models.** {models}",
        f"**Validation.** {_validation(record)} {_correction(record)}",
        f"**Software.** sober {record.versions['sobercv']} (Python package sobercv) with {software}. The analysis is "
        f"repeated by: {md(clean(summary.command, 1000))} (seed {summary.seed}).",
        "# Results",
        f"{result} {md(summary.tuning)}".rstrip(),
        *([f"Calibration of its out-of-sample probabilities: {calibration}."] if calibration else []),
        *(md(table.sentence) for table in summary.tables if table.name.startswith("by-")),
        f"The selected model is {md(record.winner)}.",
        *coefficients,
        *(["# Limitations noted by the run", *limitations] if limitations else []),
        "# Reference",
        summary.citation,
    ]
    return "\n\n".join(paragraphs) + "\n"


def _name(text: object) -> str:
    """Write a name from the table, cut where it is long."""
    return md(clean(text, 60))


def _outcome(record: RunRecord) -> str:
    """Say what was predicted, in how many rows, and how often it occurred."""
    data, settings = record.data, record.settings
    names = " and ".join(_name(name) for name in data["target"])
    rows = f"{data['rows']:,} rows"
    if data["groups"]:
        named = _name(settings.group or settings.id)
        rows += f" of {count(data['groups'], 'group')} ({named}), whose rows were kept together in folds and resamples"
    if data["weights"]:
        low, high = data["weights"]
        rows += f" (weighted by {_name(settings.weight)}, from {low:.4g} to {high:.4g}, in model fits and in every "
        rows += "score, but not in cleaning and feature selection; the counts here are unweighted)"
    known, what, times = md(record.summary.data["Target"]), "", ""
    if "events" in data:
        low, middle, high = data["times"]
        times = f" Times range from {low:.4g} to {high:.4g}, with a median of {middle:.4g}."
        what, known = "the time to an event, ", f"{known}; {100 * data['events'] / data['rows']:.1f} % observed"
    elif "classes" in data:
        sizes = Counter(data["classes"]).most_common()
        known = ", ".join(f"{_name(label)}: {n:,} ({100 * n / data['rows']:.1f} %)" for label, n in sizes[:6])
        known += " and others" * (len(sizes) > 6)
    return f"The outcome was {what}{names} ({known}), in {rows}.{times}"


def _predictors(record: RunRecord) -> str:
    """Name the predictors; say what limits of detection were replaced by, and how many values are missing."""
    data, n_columns, missing = record.data, record.data["columns"], ""
    features = [column for column in data["columns_read"] if column["role"] == "feature"]
    kinds = ", ".join(f"{n:,} {kind.removesuffix('s') if n == 1 else kind}" for kind, n in data["kinds"].items())
    text = f"There {'was' if n_columns == 1 else 'were'} {count(n_columns, 'candidate predictor')} ({kinds})"
    if len(features) <= MOST_NAMED and len(features) == n_columns:
        text += f": {', '.join(_name(column['name']) for column in features)}. "
    else:
        text += ", listed in the report. "
    limits = {name: column.limits for name, column in record.schema.columns.items() if column.limits}
    if limited := [column["name"] for column in features if column["name"] in limits]:
        became = LIMITS[limits[limited[0]]]  # one rule holds for a table
        text += f"Limits of detection (such as <0.5) were read as {became}, in {', '.join(map(_name, limited))}. "
    if worst := sorted((c for c in features if c["n_missing"]), key=lambda column: -column["n_missing"]):
        named = ", ".join(f"{_name(column['name'])}: {column['n_missing']:,}" for column in worst[:5])
        missing = f" ({'most in ' * (len(worst) > 5)}{named})"
    if words := record.schema.missing:
        text += f"Cells that held {md(some(words, 9))} count as missing. "
    text += f"Missing values: {record.summary.data['Missing cells']}{missing}."
    return text + FILLED * bool(data["missing_cells"])


def _validation(record: RunRecord) -> str:
    """Say how models were tuned, dropped and selected, and how many were trained."""
    settings, race = record.settings, record.summary.race
    kind = "leave-one-group-out " if settings.cv == "groups" else "stratified " * (record.data["task"] != "regression")
    text = f"Models were tuned by {kind}cross-validation ({record.summary.data['Cross-validation']}). "
    if record.n_dropped and race is not None:
        were, they = ("was", "it") if record.n_dropped == 1 else ("were", "they")
        counted = f"; {they} took part in the correction with the predictions {they} had" if race.counted else ""
        text += f"{count(record.n_dropped, 'configuration')} that {md(race.reason)} {were} dropped early{counted}. "
    if not record.is_complete:
        judged = f"{record.n_judged:,} of {count(record.data['rows'], 'row')} that every remaining configuration"
        text += f"Training was stopped early; all results rest on the {judged} had predicted. "
    where = "on average over folds" if settings.aggregate == "fold" else "over all out-of-sample predictions"
    where += ", which ranked rows of the same fold only," if settings.aggregate == "within_folds" else ""
    if settings.tune_threshold:
        where += " at its own best decision threshold, which was tuned again in every bootstrap resample,"
    refitted = "" if record.model is None else " and was refitted on all data"
    text += f"The configuration with the best {md(within(record.score.label))} {where} was selected{refitted}. "
    return text + f"In all, {count(record.n_fits, 'model was', 'models were')} trained{record.models_included}."


def _correction(record: RunRecord) -> str:
    """Say how the score was corrected and how its interval was made, for a reader who wants to make them again."""
    race, score, excess = record.summary.race, record.score, record.summary.excess
    early = "; with early dropping of inferior configurations, in the manner of BCED-CV, also known as BBCD-CV"
    early = early if race is not None and race.n_saved else ""
    unit = "groups" if record.data["groups"] else "rows"
    text = (
        "Because the winner is selected on the predictions that score it, its cross-validated score is optimistic. We "
        f"therefore report the bootstrap bias corrected estimate (BBC-CV{early}; "
        f"Tsamardinos et al., 2018), which repeats the selection in {count(score.n_draws, 'bootstrap resample')} of "
        f"the {unit} and scores each selected configuration on the {unit} left out."
    )
    if score.interval_method == "percentile":
        text += " The interval is the percentile interval of these scores."
    elif score.interval_method == "calibrated":
        factor = CROSS_VALIDATED if excess is None else excess
        how = "" if factor == CROSS_VALIDATED else " (estimated by training the winner without each pair of folds)"
        more = (
            f"; this variance is multiplied by {factor:.3g}{how}, because models of different folds share training "
            "rows, which the bootstrap does not show"
        )
        text += (
            " The confidence interval is sober's calibrated one, based on the bootstrap variance of the winner and of "
            f"configurations that score about the same{'' if factor == 1.0 else more}."
        )
    return text
