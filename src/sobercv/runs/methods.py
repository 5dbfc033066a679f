"""METHODS.md: a paragraph for a paper, with the run's own numbers and the right citation.

Labels, parameters and notes come from data and are escaped, so that Markdown shows them as they are.
"""

from __future__ import annotations

from ..inference.intervals import CROSS_VALIDATED
from ..report.notes import AFTER_THE_RUN
from ..report.records import Score, Summary
from ..report.words import between, clean, count, md, number
from .record import RunRecord


def methods(record: RunRecord) -> str:
    """Write the paragraph from the record of a run."""
    summary, score = record.summary, record.score
    label = score.label
    label = label if label[1:2].isupper() or label[1:2] == "\u00b2" else label[:1].lower() + label[1:]
    label = md(label)
    interval = (
        "" if score.interval is None else f" ({100 * score.level:g} % CI {between(score.interval, score.digits)})"
    )
    early = "; with early dropping of inferior configurations, in the manner of BCED-CV, also known as BBCD-CV"
    paragraphs = [
        "# Methods",
        f"Models were tuned and assessed with sober {record.versions['sobercv']}. The data comprised "
        f"{_data(record)}. We compared {count(record.n_configurations, 'configuration')} of {_listed(record.families)} "
        f"(preset {record.settings.preset}), tuned by {_folds(record)}. Cleaning, imputation, scaling and feature "
        f"selection were fitted inside the training folds only.{_penalties(record.families)} "
        f"{_dropping(record)}{_incomplete(record)}{_selection(record, label)}",
        f"Because the winner was chosen on the same predictions, its cross-validated {label} of "
        f"{number(score.naive, score.digits)} is optimistic. We therefore report the bootstrap bias corrected estimate "
        f"(BBC-CV{early if summary.race and summary.race.n_saved else ''}; Tsamardinos et al., 2018), which repeats "
        f"the selection in {count(score.n_draws, 'bootstrap sample')} of the out-of-sample predictions and scores each "
        f"selected configuration on the samples left out: {label} **{number(score.value, score.digits)}**{interval}. "
        f"{_interval(summary, score)}{md(summary.tuning)}{' ' if summary.tuning else ''}The selected model is "
        f"{md(record.winner)}. All random numbers derive from seed "
        f"{summary.seed}.",
        *_noted(summary),
        "# Reference",
        summary.citation,
    ]
    return "\n\n".join(paragraphs) + "\n"


def _interval(summary: Summary, score: Score) -> str:
    """Say how the interval was made, for a reader who wants to make it again."""
    if score.interval_method == "percentile":
        return "The interval holds the middle of these scores. "
    if score.interval_method == "calibrated":
        factor = CROSS_VALIDATED if summary.excess is None else summary.excess
        how = "" if factor == CROSS_VALIDATED else ", as the winner trained without each two folds tells"
        return (
            "The interval is sober's calibrated one, for the variance of the winner and of configurations that score "
            f"about the same, times {factor:.3g} because a cross-validated score errs more than a bootstrap of samples "
            f"shows{how}. "
        )
    return ""


def _noted(summary: Summary) -> list[str]:
    """What the run found out about itself, for the limitations."""
    found = [md(clean(note.text, 1000)) for note in summary.notes if note.code in AFTER_THE_RUN]
    return ["# Limitations that the run noted", *found] if found else []


def _data(record: RunRecord) -> str:
    data = record.data
    rows = count(data["rows"], "row")
    if data["groups"]:
        rows += f" of {count(data['groups'], 'group')} (kept together in folds and resamples)"
    text = f"{rows} and {count(data['columns'], 'candidate predictor')}"
    if "events" in data:
        return f"{text}; the event was observed in {count(data['events'], 'row')}"
    if "classes" not in data:
        return f"{text}; the target was numeric"
    sizes = sorted(data["classes"].items(), key=lambda each: -each[1])
    shown = ", ".join(f"{md(clean(label, 60))}: {n}" for label, n in sizes[:6])
    return f"{text}; classes {shown}" + (" and others" if len(sizes) > 6 else "")


def _listed(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names) or "one pipeline"


def _penalties(families: tuple[str, ...]) -> str:
    """Say what was made from the whole table before any split: the grid of the elastic nets' penalties."""
    if not any(name.startswith("elastic") for name in families):
        return ""
    return " The grid of elastic-net penalties was computed from all rows of the data, as glmnet's path is."


def _folds(record: RunRecord) -> str:
    kind = "stratified " if record.data["task"] != "regression" else ""
    repeats = record.settings.repeats
    again = f", repeated {repeats} times with new folds" if repeats > 1 else ""
    return f"{kind}{record.n_folds}-fold cross-validation{again}"


def _selection(record: RunRecord, label: str) -> str:
    by_fold = record.settings.aggregate == "fold"
    where = "on average over folds" if by_fold else "over all out-of-sample predictions"
    refitted = "" if record.model is None else " and was refitted on all data"
    if record.settings.tune_threshold:
        tuned = " at the best decision threshold of its own"
        again = " The threshold was tuned again in every bootstrap sample."
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
    return (
        f"{count(record.n_dropped, 'configuration')} that {md(race.reason)} were dropped early, which left "
        f"{race.n_trained:,} fits{counted}. "
    )
