"""What a reader should know about a table, each with its code; where it matters at once, a warning too.

Takes sizes, responses and scores, gives a `Note`, or None where there is nothing to say.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from ..containers import Array
from ..errors import Note, warn
from ..metrics import Metric
from ..metrics.contract import GivenScore

if TYPE_CHECKING:
    from .units import Units

FEW = 20  # samples or groups
MANY_UNDEFINED = 0.05


def warned(code: str, text: str) -> Note:
    """Warn, and give the same as a note."""
    warn(code, text)
    return Note(code, text)


def only_one(n_dropped: int) -> Note:
    """There is nothing to select from."""
    if n_dropped:
        return Note(
            "W202",
            f"All others ({n_dropped}) were dropped early, so the bootstrap had nothing to choose from; the "
            "score may be slightly too good.",
        )
    return warned(
        "W202", "There is only one configuration, so there is no selection to correct for; the interval is still valid."
    )


def with_dropped(n_dropped: int, n_configurations: int, share: float) -> Note:
    """The dropped took part in the correction; `share` of the resamples were won by one of them."""
    return Note(
        "W217",
        f"{n_dropped} of {n_configurations} configurations were dropped early. They took part in the correction with "
        f"the predictions that they have, and won {100 * share:.0f} % of the resamples.",
    )


#: How much too good BBC was on average, by numbers of samples and trials, where a tuner proposed by the scores of all
#: samples: accuracy, simulated (docs/evidence/adaptive.md). A test compares them with the results of the study.
ADAPTIVE_SAMPLES = (50, 100, 300, 1000)
ADAPTIVE_TRIALS = (50, 200, 1000)
ADAPTIVE_BIAS = ((0.015, 0.04, 0.041), (0.012, 0.032, 0.033), (0.009, 0.02, 0.022), (0.003, 0.01, 0.01))


def adaptive(n_units: int, n_trials: int) -> Note:
    """A tuner proposed configurations by the scores of earlier ones: say how much of that is not corrected."""
    i, j = (
        int(np.abs(np.log(np.array(grid) / max(size, 1))).argmin())
        for grid, size in ((ADAPTIVE_SAMPLES, n_units), (ADAPTIVE_TRIALS, n_trials))
    )
    more = " More trials, as here, add to it." if n_trials > 2 * ADAPTIVE_TRIALS[-1] else ""
    return Note(
        "W811",
        "Later configurations were chosen by the scores of earlier ones, on the same samples; the correction knows of "
        f"the choice among them, but not of that. In simulations with {ADAPTIVE_TRIALS[j]:,} trials on "
        f"{ADAPTIVE_SAMPLES[i]:,} samples the corrected accuracy was {ADAPTIVE_BIAS[i][j]:.3f} too good.{more}",
    )


def judged_apart(n_judges: int, n_samples: int) -> Note:
    """Only samples that the proposer of the configurations has not seen have judged."""
    return Note(
        "W201",
        f"The configurations were proposed by their scores on {n_samples - n_judges} of the {n_samples} samples; all "
        f"selected, and only the other {n_judges} judged: scores that led the proposals are not those that judge.",
    )


def on_size(n_configurations: int, n_dropped: int, units: Units) -> list[Note]:
    """There is nothing to select from, or little to resample."""
    found = [only_one(n_dropped)] if n_configurations == 1 else []
    if units.n < FEW:
        off = "a score that may be off either way" if units.clustered else "a conservative score"
        found.append(warned("W205", f"Only {units.n} {units.names}: expect a wide interval and {off}."))
    return found


def not_above_naive(name: str, value: float) -> Note:
    """The bootstrap of few groups came out above the plain score, which no correction for a selection should."""
    return Note(
        "W205",
        f"The bootstrap of so few groups gave {value:.4f} for {name}, more than plain cross-validation, because the "
        "groups left out of a resample are pooled with fewer others; the smaller of the two is reported.",
    )


def left_out(n_left_out: int, n_configurations: int) -> Note | None:
    """Configurations of the input lack predictions that others have."""
    if not n_left_out:
        return None
    return Note(
        "W204",
        f"{n_left_out} of {n_left_out + n_configurations} configurations lack predictions that others have, and were "
        "left out; if they were stopped for their scores, the estimate is slightly too good.",
    )


def from_probabilities(metrics: Collection[Metric], responses: Collection[str]) -> Note | None:
    """Some metric asks for labels, and there is nothing to read them off but probabilities."""
    for metric in metrics:
        if metric.responses[0] == "predict" and not set(metric.responses) & set(responses):
            return Note("W206", "Labels were read off probabilities: the likeliest class.")
    return None


def incomplete(is_complete: bool) -> Note | None:
    """Not every sample has been predicted in every repeat."""
    text = "The cross-validation is incomplete: only samples that have predictions were used."
    return None if is_complete else Note("W601", text)


def of_the_model(metrics: Collection[Metric], n_folds: int) -> Note:
    """Some score was computed on the fitted models, so there is nothing finer than folds to resample."""
    names = [metric.name for metric in metrics if isinstance(metric, GivenScore)]
    were = "was" if len(names) == 1 else "were"
    return Note(
        "W211",
        f"{', '.join(names)} {were} computed on the fitted model, fold by fold, so the {n_folds} folds were resampled "
        f"instead of samples (BBC-F). The interval is that of {n_folds} fold scores (Student's t with {n_folds - 1} "
        "degrees of freedom, and half of the correction as its standard error): wide, and it may reach beyond the "
        "possible values. A metric of predictions has a narrower one, also one that sobercv.make_metric made of a "
        "function (y_true, y_pred).",
    )


def few_calls(metric: Metric, n_resamples: int, asked: int) -> Note | None:
    """A function that is called for every score was called for fewer resamples than were asked for."""
    if not metric.calls_a_function or n_resamples >= asked:
        return None
    return Note(
        "W201",
        f"{metric.name} is a function that is called for every score, so {n_resamples} resamples were drawn instead of "
        f"{asked:,}: the interval is coarser. sobercv.make_metric(..., max_calls=) allows more.",
    )


def percentile_instead(metric: Metric) -> Note:
    """The calibrated interval was asked for, and there was nothing to make it of."""
    if not metric.selects:
        return Note(
            "W201",
            f"On few samples the {metric.name} can be far off, so the estimate is the median over resamples, and its "
            "interval the percentile one.",
        )
    return Note(
        "W201",
        f"The score by {metric.name} does not vary over resamples and has no two ends, so the calibrated interval says "
        "nothing; the interval is the percentile one.",
    )


def undefined(name: str, draws: Array) -> Note | None:
    """Many draws had nothing to judge by."""
    n = int(np.isnan(draws).sum())
    if n <= MANY_UNDEFINED * len(draws):
        return None
    return warned(
        "W201",
        f"{name} was undefined on {n} of {len(draws)} draws, which were left out of the mean: a class, or every unit, "
        "was absent from what judges. With many samples stratify=True keeps every class in every resample.",
    )


def worse_than_guessing(metric: str, value: float, naive: float, interval: tuple[float, float]) -> Note | None:
    """Scores that rank surely the wrong way round are hardly what was meant."""
    if metric not in ("roc_auc", "concordance_index") or interval[1] >= 0.5 or naive >= 0.5:
        return None
    what = "scores of the other class (see pos_label)" if metric == "roc_auc" else "times instead of risks"
    return warned(
        "W701",
        f"{metric} is {value:.3f}, surely below 0.5, which is what guessing scores: the predictions "
        f"rank the wrong way round. Are they {what}?",
    )


def labels_ranked(name: str, values: Array) -> Note | None:
    """Labels [N] where scores are wanted: only two values, 0 and 1."""
    if values.ndim > 1 or len(values) < FEW or values.min() == values.max():
        return None
    if not ((values == 0) | (values == 1)).all():
        return None
    # No warning: trees that are fully grown give nothing else.
    return Note(
        "W206",
        f"The winner's predictions are all 0 or 1, as labels are, and {name} ranks: it knows one threshold only. Pass "
        "probabilities or decision values, or choose balanced_accuracy.",
    )


def scales(values: Array, fold: Array) -> Note | None:
    """Folds whose scores [N] live on different scales are pooled by a metric that ranks (paper, section 4).

    The ranks of the scores are compared between folds (Kruskal and Wallis): a strong and significant difference in
    level means that pairs from different folds are not comparable.
    """
    k, n = len(np.unique(fold)), len(fold)
    if values.ndim > 1 or k < 2 or n - k < 10:
        return None
    ranks = stats.rankdata(values)
    centred = ranks - ranks.mean()
    total = float(np.sum(centred**2))
    if total == 0:
        return None
    sums, sizes = np.bincount(fold, centred), np.bincount(fold)
    between = float(np.sum(sums[sizes > 0] ** 2 / sizes[sizes > 0])) / total
    expected = (k - 1) / (n - 1)
    strength = (between - expected) / (1 - expected)
    if strength <= 0.2 or stats.chi2.sf((n - 1) * between, k - 1) >= 1e-6:
        return _one_fold_apart(ranks, fold)
    return warned(
        "W203",
        f"The winner's scores differ in level between folds ({100 * strength:.0f} % of their rank variance), so "
        "samples of different folds may not be comparable. Use within_folds=True (--within-folds) or "
        "aggregate='fold' (--aggregate fold), or calibrate.",
    )


def _one_fold_apart(ranks: Array, fold: Array) -> Note | None:
    """Tell a single fold whose scores lie above or below nearly all others: too few to stand out in the variance."""
    n, sizes = len(ranks), np.bincount(fold)
    for k in np.flatnonzero((sizes >= 5) & (sizes < n)):
        size, rest = int(sizes[k]), n - int(sizes[k])
        wins = float(ranks[fold == k].sum()) - size * (size + 1) / 2
        share = wins / (size * rest)  # of pairs in which the fold has the higher score
        z = (wins - size * rest / 2) / np.sqrt(size * rest * (n + 1) / 12)
        if abs(share - 0.5) >= 0.35 and 2 * stats.norm.sf(abs(z)) * len(sizes) < 1e-3:
            return warned(
                "W203",
                f"Fold {k + 1} gives scores on another level than the others ({'higher' if share > 0.5 else 'lower'} "
                f"in {100 * max(share, 1 - share):.0f} % of the pairs of a sample of it and one of another), so "
                "samples of different folds may not be comparable. Look at its rows, or use within_folds=True or "
                "aggregate='fold'.",
            )
    return None
