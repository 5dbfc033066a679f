"""METHODS.md: methods and results for a paper, with the run's own numbers and the right citation.

Labels, parameters and notes come from data and are escaped, so that Markdown shows them as they are.
"""

from __future__ import annotations

from ..inference.intervals import CROSS_VALIDATED
from ..report.notes import LIMITATIONS
from ..report.records import Score, Summary
from ..report.words import between, clean, count, md, metric_label, number, within
from .record import RunRecord

#: More predictors, or terms of a linear model, are listed in the report only.
MOST_NAMED, MOST_COEFFICIENTS = 30, 40
#: What was done to limits of detection, by the rule of `--limits`.
LIMITS = {
    "value": "replaced by the limit",
    "half": "replaced by half of the limit (upper limits by the limit itself)",
    "missing": "treated as missing",
}


def methods(record: RunRecord) -> str:
    """Write the methods and results of a run for a paper, from its record."""
    summary = record.summary
    paragraphs = [
        "# Methods",
        f"**Data.** {_outcome(record)} {_predictors(record)} {_limits(record)}{_missing(record)}",
        f"**Models.** We compared {count(record.n_configurations, 'configuration')}{_drawn(record)}: "
        f"{_space(record)}. {_imbalance(record)}Cleaning, imputation, scaling and feature selection were fitted inside "
        f"the training folds only.{_penalties(record.families)}",
        f"**Validation.** Models were tuned by {_folds(record)}. {_dropping(record)}{_incomplete(record)}"
        f"{_selection(record, _named(record.score))} {_trained(record)} {_correction(record)}",
        f"**Software.** {_software(record)} The analysis is repeated by: {md(clean(summary.command, 1000))} (seed "
        f"{summary.seed}).",
        "# Results",
        f"{_performance(record)} {md(summary.tuning)}".rstrip(),
        *_calibration(summary),
        *(md(table.sentence) for table in summary.tables if table.name.startswith("by-")),
        f"The selected model is {md(record.winner)}.",
        *_coefficients(summary),
        *_noted(summary),
        "# Reference",
        summary.citation,
    ]
    return "\n\n".join(paragraphs) + "\n"


def _named(score: Score) -> str:
    """Write the name of a metric in the middle of a sentence."""
    return md(within(score.label))


def _outcome(record: RunRecord) -> str:
    """Say what was predicted, in how many rows, and how often it occurred."""
    data = record.data
    names = " and ".join(md(clean(name, 60)) for name in data["target"])
    rows = f"{data['rows']:,} rows"
    if data["groups"]:
        named = f" ({md(clean(record.settings.group or record.settings.id, 60))})"
        rows += f" of {count(data['groups'], 'group')}{named}, whose rows were kept together in folds and resamples"
    if data.get("weights"):
        low, high = data["weights"]
        rows += (
            f" (weighted by {md(clean(record.settings.weight, 60))}, from {low:.4g} to {high:.4g}, in model fits and "
            "in every score, but not in cleaning and feature selection; the counts here are unweighted)"
        )
    if "events" in data:
        share = data["events"] / data["rows"]
        seen = f"{data['events']:,} ({100 * share:.1f} %)"
        low, middle, high = data["times"]
        times = f"Times range from {low:.4g} to {high:.4g}, with a median of {middle:.4g}."
        return f"The outcome was the time to an event ({names}); the event was observed in {seen} of {rows}. {times}"
    if "classes" not in data:
        return f"The outcome was {names} ({record.summary.fact('Target')}), in {rows}."
    sizes = sorted(data["classes"].items(), key=lambda each: -each[1])
    shown = ", ".join(f"{md(clean(label, 60))}: {n:,} ({100 * n / data['rows']:.1f} %)" for label, n in sizes[:6])
    return f"The outcome was {names} ({shown}{' and others' if len(sizes) > 6 else ''}), in {rows}."


def _predictors(record: RunRecord) -> str:
    """Name the predictors, or say where they are listed."""
    read = record.data["columns_read"]
    names = [md(clean(c["name"], 60)) for c in read if c["role"] == "feature"]
    n_columns, each = record.data["columns"], record.data["kinds"].items()
    kinds = ", ".join(f"{n:,} {kind.removesuffix('s') if n == 1 else kind}" for kind, n in each)
    text = f"There {'was' if n_columns == 1 else 'were'} {count(n_columns, 'candidate predictor')} ({kinds})"
    if len(names) <= MOST_NAMED and len(names) == n_columns:
        return f"{text}: {', '.join(names)}."
    return f"{text}, listed in the report."


def _limits(record: RunRecord) -> str:
    """Say what values beyond a detection limit were replaced by."""
    columns = record.schema.columns
    features = [c["name"] for c in record.data["columns_read"] if c["role"] == "feature" and c["name"] in columns]
    text = ""
    for rule, became in LIMITS.items():
        read = ", ".join(md(clean(name, 60)) for name in features if columns[name].limits == rule)
        text += f"Limits of detection (such as <0.5) were {became}, in {read}. " if read else ""
    return text


def _missing(record: RunRecord) -> str:
    """Say how many values are missing, where, and what became of them."""
    data = record.data
    cells, all_cells = data["missing_cells"], data["rows"] * data["columns"]
    left = data["rows_without_target"]
    lacking = f" {count(left, 'row')} without an outcome {'was' if left == 1 else 'were'} left out." if left else ""
    if not cells:
        return f"No value of a predictor was missing.{lacking}"
    lacking_some = [c for c in data["columns_read"] if c["role"] == "feature" and c["n_missing"]]
    worst = sorted(lacking_some, key=lambda c: -c["n_missing"])
    named = ", ".join(f"{md(clean(c['name'], 60))}: {c['n_missing']:,}" for c in worst[:5])
    return (
        f"{cells:,} of {all_cells:,} values of predictors ({100 * cells / all_cells:.1f} %) were missing, in "
        f"{count(len(worst), 'column')} ({'most in ' * (len(worst) > 5)}{named}). Inside each training fold, missing "
        "numbers were replaced by the median, with an indicator column, and missing categories were a category of "
        f"their own.{lacking}"
    )


def _trained(record: RunRecord) -> str:
    """How many models were trained, as on the screen."""
    return f"In all, {count(record.n_fits, 'model was', 'models were')} trained{record.models_included}."


def _drawn(record: RunRecord) -> str:
    """Name the preset, and say so where a part of it was drawn."""
    preset = f"preset {record.settings.preset}"
    return f" ({preset})" if record.settings.configurations is None else f", drawn at random from {preset}"


def _imbalance(record: RunRecord) -> str:
    return "Classes were neither resampled nor reweighted. " if "classes" in record.data else ""


def _space(record: RunRecord) -> str:
    return "; ".join(md(each) for each in record.space) or "one pipeline"


def _software(record: RunRecord) -> str:
    names = ", ".join(f"{'Python' if n == 'python' else n} {v}" for n, v in record.versions.items() if n != "sobercv")
    return f"sober {record.versions['sobercv']} (Python package sobercv) with {names}."


def _correction(record: RunRecord) -> str:
    race, score = record.summary.race, record.score
    early = "; with early dropping of inferior configurations, in the manner of BCED-CV, also known as BBCD-CV"
    unit = "groups" if record.data["groups"] else "rows"
    return (
        f"Because the winner is selected on the predictions that score it, its cross-validated score is optimistic. We "
        f"therefore report the bootstrap bias corrected estimate (BBC-CV{early if race and race.n_saved else ''}; "
        f"Tsamardinos et al., 2018), which repeats the selection in {count(score.n_draws, 'bootstrap resample')} of "
        f"the {unit} and scores each selected configuration on the {unit} left out. {_interval(record.summary, score)}"
    ).rstrip()


def _performance(record: RunRecord) -> str:
    """Every metric with its interval and its natural sign."""
    parts = []
    for score in (record.score, *record.others):
        sign = -1.0 if score.metric.startswith("neg_") else 1.0
        label = metric_label(score.metric.removeprefix("neg_"), score.positive)
        ends = None if score.interval is None else sorted(sign * v for v in score.interval)
        held = "" if ends is None else f" ({100 * score.level:g} % CI {between(ends, score.digits)})"
        strong = f"**{number(sign * score.value, score.digits)}**"
        plain = number(sign * score.naive, score.digits)
        parts.append(f"{md(within(label))} of {strong}{held}; without the correction it would be {plain}")
    first, *others = parts
    text = f"The winner, selected by {_named(record.score)}, has a corrected {first}."
    return text + (f" By other metrics: {'. '.join(o[:1].upper() + o[1:] for o in others)}." if others else "")


def _calibration(summary: Summary) -> list[str]:
    below = next((chart.below for chart in summary.charts if chart.name == "calibration"), ())
    if len(below) < 2:
        return []
    values = dict(zip(below[0], below[1], strict=True))
    return ["Calibration of its out-of-sample probabilities: " + ", ".join(f"{n} {v}" for n, v in values.items()) + "."]


def _coefficients(summary: Summary) -> list[str]:
    """Write the coefficients of a linear winner, where they are few."""
    found = next((table for table in summary.tables if table.name == "coefficients"), None)
    if found is None:
        return []
    if len(found.rows) > MOST_COEFFICIENTS:
        return [f"It has {len(found.rows) - 1:,} terms; the report lists them."]
    head, *rows = (f"| {' | '.join(md(cell) for cell in row)} |" for row in found.rows)
    return ["\n".join([head, "|" + " --- |" * len(found.rows[0]), *rows]), md(found.sentence)]


def _interval(summary: Summary, score: Score) -> str:
    """Say how the interval was made, for a reader who wants to make it again."""
    if score.interval_method == "percentile":
        return "The interval holds the middle of these scores. "
    if score.interval_method == "calibrated":
        factor = CROSS_VALIDATED if summary.excess is None else summary.excess
        text = (
            "The confidence interval is sober's calibrated one, from the bootstrap variance of the winner and of "
            "configurations that score about the same"
        )
        if factor == 1.0:
            return f"{text}. "
        how = "" if factor == CROSS_VALIDATED else " (estimated by training the winner without each pair of folds)"
        return (
            f"{text}; this variance is multiplied by {factor:.3g}{how}, because models of different folds share "
            "training rows, which the bootstrap does not show. "
        )
    return ""


def _noted(summary: Summary) -> list[str]:
    """What the run found out about itself, for the limitations."""
    found = [md(clean(note.text, 1000)) for note in summary.notes if note.code in LIMITATIONS]
    return ["# Limitations that the run noted", *found] if found else []


def _penalties(families: tuple[str, ...]) -> str:
    """Say what was made from the whole table before any split: the grid of the elastic nets' penalties."""
    if not any(name.startswith("elastic") for name in families):
        return ""
    return " The grid of elastic-net penalties was computed from all rows of the data, as glmnet's path is."


def _folds(record: RunRecord) -> str:
    if record.settings.cv == "groups":
        named = md(clean(record.settings.group or record.settings.id, 60))
        return f"leave-one-group-out cross-validation (each of the {record.n_folds} groups, {named}, held out once)"
    kind = "stratified " if record.data["task"] != "regression" else ""
    repeats = record.settings.repeats
    again = f", repeated {repeats} times with new folds" if repeats > 1 else ""
    return f"{kind}{record.n_folds}-fold cross-validation{again}"


def _selection(record: RunRecord, label: str) -> str:
    by_fold = record.settings.aggregate == "fold"
    where = "on average over folds" if by_fold else "over all out-of-sample predictions"
    where += ", which ranked rows of the same fold only," if record.settings.within_folds else ""
    refitted = "" if record.model is None else " and was refitted on all data"
    if record.settings.tune_threshold:
        tuned = " at the best decision threshold of its own"
        again = " The threshold was tuned again in every bootstrap resample."
        return f"The configuration with the best {label} {where}{tuned} was selected{refitted}.{again}"
    return f"The configuration with the best {label} {where} was selected{refitted}."


def _incomplete(record: RunRecord) -> str:
    if record.is_complete:
        return ""
    return (
        f"Training was stopped early; all results rest on the {record.n_judged:,} of "
        f"{count(record.data['rows'], 'row')} that every remaining configuration had predicted. "
    )


def _dropping(record: RunRecord) -> str:
    race = record.summary.race
    if not record.n_dropped or race is None:
        return ""
    counted = "; they took part in the correction with the predictions that they had" if race.counted else ""
    return f"{count(record.n_dropped, 'configuration')} that {md(race.reason)} were dropped early{counted}. "
