"""For readers without statistics: what the interval promises and for whom, and what the words mean, a line each.

Takes a finished search, gives sentences; the only place in which a report explains itself.
"""

from __future__ import annotations

from typing import Any

from .configuration_words import winner_in_words
from .records import Fact, Score

#: Words that every report uses.
ALWAYS = {
    "Configuration": "One way to build a model: which columns, which kind of model, which settings.",
    "Fold": "One of the parts into which the samples were dealt. Each part is predicted by models that never saw it.",
    "Plain cross-validation": "The score of the best configuration on the same predictions that it was chosen by, so "
    "it flatters the choice.",
    "Resample": "A new table drawn from the samples with replacement, as if the study had been done again: some "
    "samples come several times, about a third not at all.",
    "Pooled": "One score over the out-of-sample predictions of all folds together; the fold mean averages one score a "
    "fold.",
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
    "cumulative_dynamic_auc": "The chance that somebody who had the event by then was given a higher risk than "
    "somebody who had not. 0.5 is guessing.",
    "average_precision": "The share of alarms that are true, averaged over how many cases are found. Guessing scores "
    "the share of cases.",
    "balanced_accuracy": "The share of each class that is predicted rightly, averaged over the classes.",
    "accuracy": "The share of samples whose class is predicted rightly.",
    "concordance_index": "Of two samples of which one had the event first, how often it was given the higher risk. 0.5 "
    "is guessing, 1 is perfect.",
    "brier": "The mean squared distance of probabilities from what happened; 0 is perfect.",
    "log_loss": "How surprised the probabilities were by what happened; 0 is perfect.",
    "sensitivity": "Of those who are positive, the share that is called so.",
    "recall": "Of those who are positive, the share that is called so.",
    "specificity": "Of those who are not positive, the share that is not called so.",
    "precision": "Of those who are called positive, the share that is.",
    "ppv": "Of those who are called positive, the share that is.",
    "npv": "Of those who are not called positive, the share that is not.",
    "net_benefit": "True positives minus false positives, the latter at the odds of the threshold, for each sample.",
    "f1": "The harmonic mean of precision and recall.",
    "matthews": "A correlation between predicted and true labels; 0 is guessing, 1 is perfect.",
    "r2": "The share of the target's variance that predictions explain; 0 is what the mean would score, 1 is perfect.",
    "absolute_error": "How far predictions are off, on average, in the unit of the target; 0 is perfect.",
    "squared_error": "The squared distance between prediction and truth; 0 is perfect.",
    "calibration_slope": "1 where probabilities are as extreme as they should be; below 1 they are too extreme.",
    "calibration_intercept": "0 where probabilities are right on average; above 0 they are too low.",
}


def glossary(search: Any, scores: tuple[Score, ...]) -> tuple[Fact, ...]:
    """Explain the metrics of a search and the words of every report, a line each.

    Parameters
    ----------
    search : BBCSearchCV
        Fitted.
    scores : tuple of Score
    """
    found: dict[str, str] = {}
    for score in scores:
        meant = next((text for part, text in METRICS.items() if part in score.metric), None)
        if meant is not None:
            found.setdefault(score.label, meant)
    if search.predictions_.task == "classification" and not any("AUC" in label for label in found):
        found["AUC"] = METRICS["roc_auc"]
    if "SES" in winner_in_words(search):
        found["SES"] = SES
    return tuple(Fact(label, text) for label, text in (found | ALWAYS).items())


#: How an interval was made.
MADE = {"percentile": " (Percentiles of the draws.)", "wilson": " (Wilson's interval.)"}


def promise(search: Any, score: Score) -> str:
    """Say what the interval promises, and for whom.

    Parameters
    ----------
    search : BBCSearchCV
        Fitted.
    score : Score
        Of the metric that selected.
    """
    if score.interval is None:
        return ""
    unit = "samples" if search.predictions_.groups is None else "groups"
    return (
        f"What the interval promises: if the study were repeated with other {unit} from the same source, intervals "
        f"made like this would hold the score of the chosen model on new {unit} in about {100 * score.level:g} of 100 "
        f"studies. It speaks of {unit} like these: same place, same way of measuring, same mix. It does not speak of "
        f"other hospitals, later years or other devices; only new data can.{MADE.get(score.interval_method or '', '')}"
    )
