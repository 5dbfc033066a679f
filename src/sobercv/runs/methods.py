"""METHODS.md: methods and results for a paper; what comes from data is escaped, so that Markdown shows it as it is."""

from __future__ import annotations

from collections import Counter

from ..inference.intervals import CROSS_VALIDATED
from ..report.checklist import FILLED
from ..report.notes import LIMITATIONS
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
    summary, selected_by = record.summary, md(within(record.score.label))
    drawn = f", drawn at random from preset {record.settings.preset}"
    drawn = f" (preset {record.settings.preset})" if record.settings.configurations is None else drawn
    space = "; ".join(md(each) for each in record.space) or "one pipeline"
    models = f"We compared {count(record.n_configurations, 'configuration')}{drawn}: {space}. "
    if n_out := record.n_failed + record.n_unreached:
        models = f"Of {count(record.n_configurations, 'planned configuration')}{drawn}, "
        models += f"{count(record.n_configurations - n_out, 'was', 'were')} compared"
        models += " before the time limit" * bool(record.n_unreached)
        models += f" ({record.n_failed:,} failed)" * bool(record.n_failed) + f": {space}. "
    models += "Classes were neither resampled nor reweighted. " if "classes" in record.data else ""
    models += "Cleaning, imputation, scaling and feature selection were fitted inside the training folds only."
    if any(name.startswith("elastic") for name in record.space):
        models += " The grid of elastic-net penalties was computed from all rows of the data, as glmnet's path is."
    performance = []  # of every metric, with its natural sign
    for score in (record.score, *record.others):
        sign = -1.0 if score.metric.startswith("neg_") else 1.0
        label = md(within(metric_label(score.metric.removeprefix("neg_"), score.positive)))
        value, naive = (number(sign * v, score.digits) for v in (score.value, score.naive))
        ends = None if score.interval is None else sorted(sign * v for v in score.interval)
        interval = "" if ends is None else f" ({100 * score.level:g} % CI {between(ends, score.digits)})"
        performance.append(f"{label} of **{value}**{interval}; without the correction it would be {naive}")
    first, *rest = performance
    result = f"The winner, selected by {selected_by}, has a corrected {first}."
    result += f" By other metrics: {'. '.join(o[:1].upper() + o[1:] for o in rest)}." if rest else ""
    others = {name: version for name, version in record.versions.items() if name != "sobercv"}
    software = ", ".join(f"{'Python' if name == 'python' else name} {version}" for name, version in others.items())
    limitations = [md(clean(note.text, 1000)) for note in summary.notes if note.code in LIMITATIONS]
    below = next((chart.below for chart in summary.charts if chart.name == "calibration"), ())
    calibration, coefficients = [], []
    if len(below) > 1:
        values = ", ".join(f"{name} {value}" for name, value in zip(below[0], below[1], strict=True))
        calibration = [f"Calibration of its out-of-sample probabilities: {values}."]
    for found in (table for table in summary.tables if table.name == "coefficients"):
        head, *rows = (f"| {' | '.join(md(cell) for cell in row)} |" for row in found.rows)
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
        *calibration,
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
        rows += (
            f" (weighted by {_name(settings.weight)}, from {low:.4g} to {high:.4g}, in model fits and in every score, "
            "but not in cleaning and feature selection; the counts here are unweighted)"
        )
    if "events" in data:
        seen = f"{data['events']:,} ({100 * (data['events'] / data['rows']):.1f} %)"
        low, middle, high = data["times"]
        times = f"Times range from {low:.4g} to {high:.4g}, with a median of {middle:.4g}."
        return f"The outcome was the time to an event ({names}); the event was observed in {seen} of {rows}. {times}"
    if "classes" not in data:
        return f"The outcome was {names} ({record.summary.data['Target']}), in {rows}."
    sizes = Counter(data["classes"]).most_common()
    shown = ", ".join(f"{_name(label)}: {n:,} ({100 * n / data['rows']:.1f} %)" for label, n in sizes[:6])
    return f"The outcome was {names} ({shown}{' and others' if len(sizes) > 6 else ''}), in {rows}."


def _predictors(record: RunRecord) -> str:
    """Name the predictors; say what limits of detection were replaced by, and how many values are missing."""
    data, read = record.data, record.schema.columns
    n_columns, cells, without = data["columns"], data["missing_cells"], data["rows_without_target"]
    features = [column for column in data["columns_read"] if column["role"] == "feature"]
    kinds = ", ".join(f"{n:,} {kind.removesuffix('s') if n == 1 else kind}" for kind, n in data["kinds"].items())
    text = f"There {'was' if n_columns == 1 else 'were'} {count(n_columns, 'candidate predictor')} ({kinds})"
    if len(features) <= MOST_NAMED and len(features) == n_columns:
        text += f": {', '.join(_name(column['name']) for column in features)}. "
    else:
        text += ", listed in the report. "
    for rule, became in LIMITS.items():
        names = [c["name"] for c in features if c["name"] in read and read[c["name"]].limits == rule]
        if names:
            text += f"Limits of detection (such as <0.5) were {became}, in {', '.join(map(_name, names))}. "
    if cells:
        worst = sorted((c for c in features if c["n_missing"]), key=lambda column: -column["n_missing"])
        named = ", ".join(f"{_name(column['name'])}: {column['n_missing']:,}" for column in worst[:5])
        n_cells = data["rows"] * n_columns
        text += (
            f"{cells:,} of {n_cells:,} values of predictors ({100 * cells / n_cells:.1f} %) were missing, in "
            f"{count(len(worst), 'column')} ({'most in ' * (len(worst) > 5)}{named}).{FILLED}"
        )
    else:
        text += "No value of a predictor was missing."
    if without:
        text += f" {count(without, 'row')} without an outcome {'was' if without == 1 else 'were'} left out."
    return text


def _validation(record: RunRecord) -> str:
    """Say how models were tuned, dropped and selected, and how many were trained."""
    settings, race = record.settings, record.summary.race
    if settings.cv == "groups":
        named = _name(settings.group or settings.id)
        folds = f"leave-one-group-out cross-validation (each of the {record.n_folds} groups, {named}, held out once)"
    else:
        kind = "stratified " if record.data["task"] != "regression" else ""
        again = f", repeated {settings.repeats} times with new folds" if settings.repeats > 1 else ""
        folds = f"{kind}{record.n_folds}-fold cross-validation{again}"
    text = f"Models were tuned by {folds}. "
    if record.n_dropped and race is not None:
        were, they = ("was", "it") if record.n_dropped == 1 else ("were", "they")
        counted = f"; {they} took part in the correction with the predictions {they} had" if race.counted else ""
        text += f"{count(record.n_dropped, 'configuration')} that {md(race.reason)} {were} dropped early{counted}. "
    if not record.is_complete:
        text += (
            f"Training was stopped early; all results rest on the {record.n_judged:,} of "
            f"{count(record.data['rows'], 'row')} that every remaining configuration had predicted. "
        )
    where = "on average over folds" if settings.aggregate == "fold" else "over all out-of-sample predictions"
    where += ", which ranked rows of the same fold only," if settings.aggregate == "within_folds" else ""
    where += " at its own best decision threshold" if settings.tune_threshold else ""
    refitted = "" if record.model is None else " and was refitted on all data"
    text += f"The configuration with the best {md(within(record.score.label))} {where} was selected{refitted}. "
    if settings.tune_threshold:
        text += "The threshold was tuned again in every bootstrap resample. "
    return text + f"In all, {count(record.n_fits, 'model was', 'models were')} trained{record.models_included}."


def _correction(record: RunRecord) -> str:
    """Say how the score was corrected and how its interval was made, for a reader who wants to make them again."""
    race, score, excess = record.summary.race, record.score, record.summary.excess
    early = "; with early dropping of inferior configurations, in the manner of BCED-CV, also known as BBCD-CV"
    unit = "groups" if record.data["groups"] else "rows"
    text = (
        f"Because the winner is selected on the predictions that score it, its cross-validated score is optimistic. We "
        f"therefore report the bootstrap bias corrected estimate (BBC-CV{early if race and race.n_saved else ''}; "
        f"Tsamardinos et al., 2018), which repeats the selection in {count(score.n_draws, 'bootstrap resample')} of "
        f"the {unit} and scores each selected configuration on the {unit} left out."
    )
    if score.interval_method == "percentile":
        return f"{text} The interval is the percentile interval of these scores."
    if score.interval_method != "calibrated":
        return text
    text += (
        " The confidence interval is sober's calibrated one, based on the bootstrap variance of the winner and of "
        "configurations that score about the same"
    )
    factor = CROSS_VALIDATED if excess is None else excess
    if factor == 1.0:
        return f"{text}."
    how = "" if factor == CROSS_VALIDATED else " (estimated by training the winner without each pair of folds)"
    return (
        f"{text}; this variance is multiplied by {factor:.3g}{how}, because models of different folds share training "
        "rows, which the bootstrap does not show."
    )
