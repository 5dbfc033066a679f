"""METHODS.md: a paragraph for a paper, with the run's own numbers and the right citation.

Takes a fitted search and what was planned, gives text; never computes.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..checks import PlannedSearch
from ..inference.procedures import Threshold
from ..inference.wilson import CROSS_VALIDATED
from ..report import diagnostics
from ..report.configuration_words import family_of, winner_in_words
from ..report.records import Score, Summary
from ..report.search_records import reason
from ..report.words import between, count, number
from ..search.selected import estimate_of
from ..tables import Dataset


def methods(search: Any, planned: PlannedSearch, data: Dataset, summary: Summary, version: str) -> str:
    """Write the paragraph.

    Parameters
    ----------
    search : BBCSearchCV
        Fitted.
    planned : PlannedSearch
    data : Dataset
    summary : Summary
    version : str
        Of sober.
    """
    score = summary.scores[0]
    label = score.label
    label = label if label[1:2].isupper() or label[1:2] == "\u00b2" else label[:1].lower() + label[1:]
    interval = (
        "" if score.interval is None else f" ({100 * score.level:g} % CI {between(score.interval, score.digits)})"
    )
    early = "; with early dropping of inferior configurations, in the manner of BCED-CV, also known as BBCD-CV"
    paragraphs = [
        "# Methods",
        f"Models were tuned and assessed with sober {version}. The data comprised {_data(data)}. We compared "
        f"{count(planned.preset.n_configurations, 'configuration')} of {_families(planned)} "
        f"(preset {planned.preset.name}), tuned by {_folds(planned, data)}. Cleaning, "
        f"imputation, scaling and feature selection were fitted inside the training folds only. "
        f"{_dropping(search)}{_incomplete(search)}{_selection(search, label)}",
        f"Because the winner was chosen on the same predictions, its cross-validated {label} of "
        f"{number(score.naive, score.digits)} is optimistic. We therefore report the bootstrap bias corrected estimate "
        f"(BBC-CV{early if search.race_.n_fits_saved else ''}; Tsamardinos et al., 2018), which repeats the selection "
        f"in {count(score.n_draws, 'bootstrap sample')} of the out-of-sample predictions and scores each selected "
        f"configuration on the samples left out: {label} **{number(score.value, score.digits)}**{interval}. "
        f"{_interval(score)}The selected model is {winner_in_words(search)}. All random numbers derive from seed "
        f"{summary.seed}.",
        *_noted(summary),
        "# Reference",
        summary.citation,
    ]
    return "\n\n".join(paragraphs) + "\n"


def _interval(score: Score) -> str:
    """Say how the interval was made, for a reader who wants to make it again."""
    if score.interval_method == "percentile":
        return "The interval holds the middle of these scores. "
    if score.interval_method == "wilson":
        return (
            "The interval is Wilson's, for the variance of the winner and of configurations that score about the same, "
            f"times {CROSS_VALIDATED:g} because a cross-validated score errs more than a bootstrap of samples shows. "
        )
    return ""


def _noted(summary: Summary) -> list[str]:
    """What the run found out about itself, for the limitations."""
    found = [note.text for note in summary.notes if note.code in diagnostics.CODES]
    return ["# Limitations that the run noted", *found] if found else []


def _data(data: Dataset) -> str:
    rows = count(data.n_rows, "row")
    if data.groups is not None:
        rows += f" of {count(int(data.groups.max()) + 1, 'group')} (kept together in folds and resamples)"
    text = f"{rows} and {count(data.X.shape[1], 'candidate predictor')}"
    if data.task == "survival":
        return f"{text}; the event was observed in {count(int(data.y['event'].sum()), 'row')}"
    if data.task == "regression":
        return f"{text}; the target was numeric"
    sizes = Counter(map(str, data.y.tolist()))
    shown = ", ".join(f"{label}: {n}" for label, n in sizes.most_common(6))
    return f"{text}; classes {shown}" + (" and others" if len(sizes) > 6 else "")


def _families(planned: PlannedSearch) -> str:
    models = [c.params["model"] for c in planned.preset.configurations if "model" in c.params]
    names = list(dict.fromkeys(family_of(model) for model in models))
    return ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else "".join(names) or "one pipeline"


def _folds(planned: PlannedSearch, data: Dataset) -> str:
    kind = "stratified " if data.task != "regression" else ""
    repeats = f", repeated {planned.repeats} times with new folds" if planned.repeats > 1 else ""
    return f"{kind}{planned.cv}-fold cross-validation{repeats}"


def _selection(search: Any, label: str) -> str:
    where = "on average over folds" if search.aggregate == "fold" else "over all out-of-sample predictions"
    refitted = " and was refitted on all data" if hasattr(search, "best_estimator_") else ""
    if isinstance(estimate_of(search).decision, Threshold):
        tuned = " at the best decision threshold of its own"
        again = " The threshold was tuned again in every bootstrap sample."
        return f"The configuration with the best {label} {where}{tuned} was selected{refitted}.{again}"
    return f"The configuration with the best {label} {where} was selected{refitted}."


def _incomplete(search: Any) -> str:
    if search.is_complete_:
        return ""
    seen, total = len(search.predictions_.rows), count(search.predictions_.n_samples, "row")
    return (
        f"Training was stopped early; all results rest on the {seen:,} of {total} that every remaining configuration "
        "had predicted. "
    )


def _dropping(search: Any) -> str:
    dropped = int((search.race_.status == "dropped").sum())
    if not dropped:
        return ""
    counted = "; they took part in the correction with the predictions that they had"
    return (
        f"{count(dropped, 'configuration')} that {reason(search.drop_rule_)} were dropped early, which left "
        f"{search.race_.n_fits:,} fits{counted if search.predictions_.leavers else ''}. "
    )
