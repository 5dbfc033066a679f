"""Facts about a search or an estimate: scores, data, time, versions, method, what the interval promises, words.

Labels with texts; nothing is measured here.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable
from importlib import metadata
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..inference import Estimate
from ..inference.estimate import METHODS
from ..inference.procedures import Threshold
from .records import ConfigurationRow, Fact, Race, Score
from .words import clean, count, digits_for, metric_label, number, percent, seconds, within

CITATION = (
    "Tsamardinos, Greasidou, Borboudakis (2018). Bootstrapping the out-of-sample predictions for efficient and "
    "accurate cross-validation. Machine Learning 107, 1895-1922. doi:10.1007/s10994-018-5714-4"
)
PACKAGES = (
    "sobercv", "scikit-learn", "numpy", "scipy", "numba", "joblib", "pandas", "skrub", "skops", "scikit-survival",
)  # fmt: skip
MOST_CLASSES = 8
#: Resampling fewer groups shows too little of how they differ.
FEW_GROUPS = 10
_NUMPY = re.compile(r"np\.(?:float64|int64|bool_?|str_)\(([^()]*)\)")  # a number is enough, for readers


def estimates_of(search: Any) -> list[Estimate]:
    """Return all estimates of a search, the one of the metric that selected first."""
    return list(search.estimate_.values()) if search.multimetric_ else [search.estimate_]


def score_of(estimate: Estimate) -> Score:
    """Write an estimate as the score that readers see, with as many digits as it needs."""
    bounds = () if estimate.interval is None else estimate.interval
    digits = digits_for((estimate.value, estimate.naive, *bounds))
    while digits < 5 and 0 < abs(estimate.optimism) < 0.5 * 10**-digits and abs(estimate.value) < 10:
        digits += 1
    return Score(
        metric=estimate.metric,
        label=metric_label(estimate.metric, estimate.positive),
        value=float(estimate.value),
        interval=None if estimate.interval is None else tuple(float(v) for v in estimate.interval),
        level=estimate.confidence_level,
        naive=float(estimate.naive),
        optimism=float(estimate.optimism),
        n_draws=0 if estimate.draws is None else len(estimate.draws),
        n_undefined=estimate.n_undefined,
        digits=digits,
        positive=None if estimate.positive is None else clean(estimate.positive, 60),
        interval_method=estimate.interval_method,
    )


def wins_of_winner(estimate: Estimate) -> float | None:
    """Share of the resamples that the winner won."""
    if estimate.win_counts is None or not estimate.win_counts.sum():
        return None
    return float(estimate.win_counts[estimate.configurations == estimate.winner].sum() / estimate.win_counts.sum())


def size(estimate: Estimate) -> tuple[Fact, ...]:
    """Say how much an estimate rests on."""
    found = [Fact("Samples", f"{estimate.n_samples:,}")] if estimate.n_samples and not estimate.n_folds else []
    found += [Fact("Groups", f"{estimate.n_groups:,}")] if estimate.n_groups else []
    found += [Fact("Folds", f"{estimate.n_folds:,}, all that is known")] if estimate.n_folds else []
    found += [Fact("Repeats", f"{estimate.n_repeats:,}")] if estimate.n_repeats > 1 else []
    return (*found, Fact("Configurations", f"{estimate.n_configurations:,}"))


def data(search: Any, X: Any = None) -> tuple[Fact, ...]:
    """Say how much data there was, and what was to be predicted."""
    table = search.predictions_
    facts = [Fact("Task", _task(table)), Fact("Samples", f"{table.n_samples:,}")]
    groups = estimates_of(search)[0].n_groups
    if groups:
        facts.append(Fact("Groups", f"{groups:,}, kept together in folds and resamples"))
    n_columns = _n_columns(search, X)
    if n_columns:
        facts.append(Fact("Columns", f"{n_columns:,}"))
    facts.append(Fact("Target", _target(table)))
    if table.sample_weight is not None:
        facts.append(Fact("Weights", "samples are weighted, in fits and in every score"))
    folds = search.n_splits_ // table.n_repeats
    repeats = f", repeated {table.n_repeats} times" if table.n_repeats > 1 else ""
    each = f"each of {groups:,} groups held out once" if groups == folds else count(folds, "fold")
    facts.append(Fact("Cross-validation", f"{each}{repeats}"))
    facts.append(Fact("Configurations", f"{len(search.race_.status):,}"))
    return tuple(facts)


def _task(table: Any) -> str:
    return f"{table.task}, {count(table.n_classes, 'class', 'classes')}" if table.n_classes else str(table.task)


def _target(table: Any) -> str:
    if table.task == "survival":
        n, event = table.n_samples, table.y["event"].astype(bool)
        return f"{count(int(event.sum()), 'event')}, {n - int(event.sum()):,} censored"
    if table.y.ndim > 1:
        return count(table.y.shape[1], "output") if table.y.shape[1] else "none"
    if table.classes is None:
        spread = f"{table.y.mean():.4g} on average, standard deviation {table.y.std():.4g}"
        return f"{spread}, from {table.y.min():.4g} to {table.y.max():.4g}"
    sizes = np.bincount(table.y, minlength=len(table.classes)).tolist()
    named = [f"{clean(label, 60)}: {n:,}" for label, n in zip(table.classes.tolist(), sizes, strict=True)]
    more = f"; and {len(named) - MOST_CLASSES} more" if len(named) > MOST_CLASSES else ""
    return "; ".join(named[:MOST_CLASSES]) + more


def _n_columns(search: Any, X: Any) -> int | None:
    shape: tuple[int, ...] = getattr(X, "shape", ())
    return (
        int(shape[1]) if len(shape) == 2 else getattr(getattr(search, "best_estimator_", None), "n_features_in_", None)
    )


def timing(search: Any) -> tuple[Fact, ...]:
    """Say what was trained, and how long it took."""
    log = search.race_
    final = ", the final one included" if hasattr(search, "best_estimator_") else ""
    facts = [Fact("Models trained", f"{search.n_fits_ + search.race_.n_recalled:,}{final}")]
    if log.n_fits_saved:
        share = 100 * log.n_fits_saved / (log.n_fits + log.n_fits_saved)
        facts.append(Fact("Models not needed", f"{log.n_fits_saved:,} ({share:.0f} %)"))
    facts.append(Fact("Time of the race", seconds(log.seconds)))
    if hasattr(search, "refit_time_"):
        facts.append(Fact("Time of the final model", seconds(search.refit_time_)))
    return tuple(facts)


def versions() -> dict[str, str]:
    """Return the versions of Python and of the libraries that shape a result."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def protocol(estimate: Estimate) -> str:
    """Name the protocol in a sentence."""
    return f"{METHODS.get(estimate.method, estimate.method)}."


def method(search: Any) -> str:
    """Name the protocol, what was dropped, and what selected."""
    estimate = estimates_of(search)[0]
    text = METHODS[estimate.method]
    dropped = int((search.race_.status == "dropped").sum())
    if dropped:
        text += f"; with early dropping, in the manner of BCED-CV (BBCD-CV): {count(dropped, 'configuration')} dropped"
    by_fold = search.question_.aggregate == "fold"
    rule = "mean over folds" if by_fold else "score of all out-of-sample predictions together"
    rule += ", which ranks rows of the same fold only" if search.question_.within_folds else ""
    return f"{text}. The winner was chosen by {within(metric_label(estimate.metric, estimate.positive))}, the {rule}."


def command(search: Any) -> str:
    """Write the search as code; with its seed it repeats the run."""
    text = BaseEstimator.__repr__(search, N_CHAR_MAX=4000)
    return clean(_NUMPY.sub(r"\1", f"{text}.fit(X, y)"), 4000)


#: What the scores of single configurations are.
SINGLE = (
    "Scores of single configurations are plain cross-validation, of dropped ones on the folds that they ran; the "
    "honest number stands at the top."
)


#: From this share of the resamples on, a reader asks why a dropped configuration won so many.
WON_MANY = 0.05


def table_note(estimate: Estimate, rows: Iterable[ConfigurationRow]) -> str:
    """Say what the scores of single configurations are, and why dropped ones win resamples."""
    text = SINGLE
    if isinstance(estimate.decision, Threshold):
        text += (
            " Ranks and pooled scores are those at each configuration's own best threshold; means over folds are of "
            "the labels that it predicts untuned."
        )
    won = max((row.wins or 0.0 for row in rows if row.status == "dropped"), default=0.0)
    if won >= WON_MANY:
        text += (
            f" A dropped configuration won {percent(won)} of the resamples: it is judged only on folds that it ran, "
            "where chance weighs more, and takes part in the correction for that reason. It was dropped because it "
            "had hardly a chance to be the best on all folds."
        )
    return text


def race_note(race: Race, alive: int, is_complete: bool) -> str:
    """Say what the race dropped and saved."""
    folds = "every fold" if is_complete else "every fold that was reached before the run was ended"
    if not race.rule:
        return (
            f"There was no race: no configuration was to be dropped, so all {race.n_start:,} configurations ran on "
            f"{folds}, {race.n_trained:,} models."
        )
    if race.n_start == alive:
        return (
            f"After each round, configurations could be dropped that {race.reason}. None were: all {race.n_start:,} "
            f"ran on {folds}."
        )
    counted = " The dropped took part in the correction with the predictions that they had." if race.counted else ""
    return (
        f"After each round, configurations that {race.reason} were dropped: {race.n_start - alive:,} of "
        f"{race.n_start:,}, and {race.n_saved:,} of {race.n_saved + race.n_trained:,} models were never needed."
        f"{counted} The table below says when each was dropped."
    )


def draws_note(estimate: Estimate) -> str:
    """Say what the histogram of the draws shows."""
    n = 0 if estimate.draws is None else len(estimate.draws)
    # What is tuned is not judged by the mean of the draws, see docs/evidence/tuned.md.
    honest = "their mean, the honest number" if estimate.decision is None else "the honest number"
    undefined = f" {estimate.n_undefined} draws were undefined and left out." if estimate.n_undefined else ""
    return (
        f"{n:,} times the choice was made again on a resample, and the chosen configuration scored on what the "
        f"resample had left out. The solid line marks {honest}; the dotted line, what plain cross-validation claims; "
        f"grey bars lie outside the interval.{undefined}"
    )


def curves_note(search: Any, score: Score, n_bands: int) -> str:
    """Say what the curves show, and that they flatter the winner as plain cross-validation does."""
    of_groups = " of whole groups" if search.predictions_.groups is not None else ""
    text = (
        f"Drawn from the winner's out-of-sample predictions; bands hold {100 * score.level:g} % of {n_bands} bootstrap "
        f"resamples{of_groups}."
    )
    n_groups = estimates_of(search)[0].n_groups
    if n_groups is not None and n_groups < FEW_GROUPS:
        text += f" With {n_groups} groups, bands and intervals of this section are too narrow: read the curves only."
    if score.optimism <= 0 or len(search.race_.status) == 1:
        return text
    return (
        f"{text} They belong to the configuration that looked best, so they flatter it a little, as plain "
        f"cross-validation does: {number(score.naive, score.digits)} where the honest number is "
        f"{number(score.value, score.digits)}."
    )


#: Words that every report uses.
ALWAYS = {
    "Configuration": "One way to build a model: which columns, which kind of model, which settings.",
    "Fold": "One of the parts into which the samples were dealt. Each part is predicted by models that never saw it.",
    "Plain cross-validation": "The score of the best configuration on the same predictions that it was chosen by, so "
    "it flatters the choice.",
    "Resample": "A new table drawn from the samples with replacement, as if the study had been done again: some "
    "samples come several times, about a third not at all.",
    "Pooled": "One score over the out-of-sample predictions of all folds together; the fold mean averages one score "
    "per fold.",
    "Honest score": "The choice is made again in every resample, and what it picks is scored on the samples that the "
    "resample left out; the mean of these scores.",
}
SES = (
    "A way to choose columns: it keeps those that still tell something about the target when others are known. alpha: "
    "how easily a column is kept; k: how many others are looked at together."
)
#: What metrics mean, by a part of their names; the first that fits.
METRICS = {
    "roc_auc": "AUC: the chance that a random case gets a higher score than a random control. 0.5 is guessing, 1 is "
    "perfect.",
    "cumulative_dynamic_auc": "The chance that a sample with the event by then was given a higher risk than one "
    "without. 0.5 is guessing.",
    "average_precision": "The share of alarms that are true, averaged over how many cases are found. Guessing scores "
    "the share of cases.",
    "balanced_accuracy": "The share of each class that is predicted rightly, averaged over the classes.",
    "accuracy": "The share of samples whose class is predicted rightly.",
    "concordance_index": "Of two samples of which one had the event first, how often it was given the higher risk. 0.5 "
    "is guessing, 1 is perfect.",
    "brier": "The mean squared distance of probabilities from what happened; 0 is perfect.",
    "log_loss": "How surprised the probabilities were by what happened; 0 is perfect.",
    "sensitivity": "Of the positive samples, the share that is called so.",
    "recall": "Of the positive samples, the share that is called so.",
    "specificity": "Of the negative samples, the share that is not called positive.",
    "precision": "Of the samples called positive, the share that is.",
    "ppv": "Of the samples called positive, the share that is.",
    "npv": "Of the samples not called positive, the share that is not.",
    "net_benefit": "True positives minus false positives, the latter at the odds of the threshold, for each sample.",
    "f1": "The harmonic mean of precision and recall.",
    "matthews": "A correlation between predicted and true labels; 0 is guessing, 1 is perfect.",
    "r2": "The share of the target's variance that predictions explain; 0 is what the mean would score, 1 is perfect.",
    "absolute_error": "How far predictions are off, on average, in the unit of the target; 0 is perfect.",
    "squared_error": "The squared distance between prediction and truth; 0 is perfect.",
    "calibration_slope": "1 where probabilities are as extreme as they should be; below 1 they are too extreme.",
    "calibration_intercept": "0 where probabilities are right on average; above 0 they are too low.",
}


def glossary(task: str, winner: str, scores: tuple[Score, ...]) -> tuple[Fact, ...]:
    """Explain the metrics and the words of a report, a line each."""
    found: dict[str, str] = {}
    for score in scores:
        meant = next((text for part, text in METRICS.items() if part in score.metric), None)
        if meant is not None:
            found.setdefault(score.label, meant)
    if task == "classification" and not any("AUC" in label for label in found):
        found["AUC"] = METRICS["roc_auc"]
    if "SES" in winner:
        found["SES"] = SES
    return tuple(Fact(label, text) for label, text in (found | ALWAYS).items())


#: How an interval was made.
MADE = {"percentile": " (Percentiles of the draws.)", "calibrated": " (The calibrated interval.)"}


def promise(score: Score, unit: str) -> str:
    """Say what the interval of the metric that selected promises; `unit` is what was drawn, samples or groups."""
    if score.interval is None:
        return ""
    return (
        f"What the interval promises: if the study were repeated with other {unit} from the same source, intervals "
        f"made like this would hold the score of the chosen model on new {unit} in about {100 * score.level:g} of 100 "
        f"studies. It speaks of {unit} like these: same {'place, same ' * (unit != 'groups')}way of measuring, same "
        f"mix. It does not speak of {'other hospitals, ' * (unit != 'groups')}later years or other devices; only new "
        f"data can.{MADE.get(score.interval_method or '', '')}"
    )
