"""What a reader should know about a table or an estimate: notes with codes; where it matters at once, warnings too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from ..containers import Array
from ..errors import Note, warn

if TYPE_CHECKING:
    from .tables import Table

FEW = 20  # samples or groups
LEAST_PERFECT = 30  # samples that, all predicted right, are more likely training rows than a perfect model
MANY_UNDEFINED = 0.05
INCOMPLETE = Note("W601", "Samples without predictions (stopped early, or left out by the splits) were not used.")


def warned(code: str, text: str) -> Note:
    """Warn, and return the same as a note."""
    warn(code, text)
    return Note(code, text)


#: How much too good BBC was on average, by numbers of samples and trials, where a tuner proposed by the scores of all
#: samples: accuracy, simulated (docs/evidence/adaptive.md). A test compares them with the results of the study.
ADAPTIVE_SAMPLES = (50, 100, 300, 1000)
ADAPTIVE_TRIALS = (50, 200, 1000)
ADAPTIVE_BIAS = ((0.015, 0.04, 0.041), (0.012, 0.032, 0.033), (0.009, 0.02, 0.022), (0.003, 0.01, 0.01))


def adaptive(n_units: int | None, n_trials: int) -> Note:
    """Say how much of an adaptive search is not corrected; `n_units` is None where fold scores do not tell it."""
    i, j = (
        int(np.abs(np.log(np.array(grid) / max(size, 1))).argmin())
        for grid, size in ((ADAPTIVE_SAMPLES, n_units or 1), (ADAPTIVE_TRIALS, n_trials))
    )
    said = (
        f"with {ADAPTIVE_TRIALS[j]:,} trials on {ADAPTIVE_SAMPLES[i]:,} samples the corrected accuracy was "
        f"{ADAPTIVE_BIAS[i][j]:.3f} too good."
    )
    if n_units is None:
        least, most = (f"{ADAPTIVE_BIAS[k][m]:.3f} ({ADAPTIVE_SAMPLES[k]:,} samples)" for k, m in ((-1, 0), (0, -1)))
        said = f"the corrected accuracy was {least} to {most} too good."
    elif n_trials > 2 * ADAPTIVE_TRIALS[-1]:
        said += " More trials, as here, add to it."
    return Note(
        "W811",
        "Later configurations were chosen by the scores of earlier ones, on the same samples; the correction accounts "
        f"for the choice among them, but not for that. In simulations {said}",
    )


def of_table(table: Table, winner: int, score: float, chosen: Array) -> Iterator[Note]:
    """What is special about a table, its winner and its plain score, and the winners of resamples [B], -1 for none."""
    n_configurations, chosen = len(table.configurations), chosen[chosen >= 0]
    if table.dropped is not None:
        share = float(table.dropped[chosen].mean()) if len(chosen) else 0.0
        were, they, have = ("was", "It", "has") if table.dropped.sum() == 1 else ("were", "They", "have")
        yield Note(
            "W217",
            f"{table.dropped.sum()} of {n_configurations} configurations {were} dropped early. {they} took part in "
            f"the correction with the predictions {they.lower()} {have}, and won {100 * share:.0f} % of the resamples.",
        )
        winner = table.reference  # what follows is about the finishers
    units, held, question, metric = table.observed, table.predictions, table.question, table.question.first
    is_perfect = table.n_samples >= LEAST_PERFECT and score >= metric.range[1] - 1e-9 * metric.unit
    both = metric.pools_scores or (metric.at_cuts is not None and not metric.at_cuts.one_sided)
    if is_perfect and metric.depends_on_positive and not both:  # sensitivity is perfect where all are called positive
        is_right = not question.makes_labels and held.labels()[:, winner] == held.y[:, None]
        is_perfect = bool(np.all(is_right | ~held.seen))
    if is_perfect:
        text = (
            f"{metric.name} is perfect on all {table.n_samples} samples. Usually the models have seen these rows, or a "
            "column gives the outcome away, and no interval shows that: check that every prediction is out of fold."
        )
        if np.isinf(metric.range[0]):
            text += " The interval is as wide as errors vary: here it has no width, and tells nothing of new samples."
        yield Note("W301", text)
    if n_configurations == 1 and held.n_dropped:
        yield Note(
            "W202",
            f"All others ({held.n_dropped}) were dropped early, so the bootstrap had nothing to choose from; the score "
            "may be slightly too good.",
        )
    elif n_configurations == 1:
        text = "There is only one configuration, so there is no selection to correct for; the interval is still valid."
        yield warned("W202", text)
    if units.n < FEW:
        off = "a score that may be off in either direction" if units.clustered else "a conservative score"
        yield warned("W205", f"Only {units.n} {units.names}: expect a wide interval and {off}.")
    if table.units.kind == "folds" and not table.whole_scorers:
        names, k = ", ".join(m.name for m in question.metrics if m.core is None), table.units.n
        text = (
            f"Computed on the fitted models, fold by fold: {names}. The {k} folds were resampled instead of samples "
            f"(BBC-F). The interval is for fold scores (Student's t with {k - 1} degrees of freedom) and wide."
        )
        if held.target.values.ndim == 1:  # not several outputs, and not none
            text += " A metric of predictions has a narrower one, including what sobercv.make_metric makes of a "
            text += "function (y_true, y_pred)."
        yield Note("W211", text)
        if not table.given.is_complete:
            yield INCOMPLETE
        return
    if table.judges is not None:
        n, n_judges = table.n_samples, int(table.judges.sum())
        yield Note(
            "W201",
            f"The configurations were proposed by their scores on {n - n_judges} of the {n} samples; all samples "
            f"selected, and only the other {n_judges} judged, so the scores that guided the proposals do not judge.",
        )
    if metric.pools_scores and (held.folds_known or held.n_classes == 2):
        here = held.seen[:, 0]
        values = metric.response_of(held)[here, winner, 0]
        if not question.needs_folds and held.folds_known:
            yield from scales(values, held.fold_of[here, 0])
        labels = not question.makes_labels and held.n_classes == 2 and values.ndim == 1 and len(values) >= FEW
        if labels and values.min() != values.max() and ((values == 0) | (values == 1)).all():
            yield Note(  # no warning: trees that are fully grown give nothing else
                "W206",
                f"The winner's predictions are all 0 or 1, like labels; {metric.name} ranks, and gets a single "
                "threshold from them. Pass probabilities or decision values, or choose balanced_accuracy.",
            )
    if held.n_left_out:
        yield left_out(held.n_left_out, held.n_configurations)
    of_labels = [m.responses for m in question.metrics if m.responses[0] == "predict"]
    if not question.makes_labels and any(not set(wanted) & set(held.responses) for wanted in of_labels):
        yield Note("W206", "Labels were derived from probabilities: the most likely class.")
    if not table.given.is_complete:
        yield INCOMPLETE
    fewer = metric.max_calls is not None and table.n_resamples < question.n_bootstraps
    if fewer and table.counts is None and question.by == "sample":
        yield Note(
            "W201",
            f"{metric.name} is a function that is called for every score, so {table.n_resamples} resamples were drawn "
            f"instead of {question.n_bootstraps:,}: the interval is coarser. sobercv.make_metric(..., max_calls=) "
            "allows more.",
        )


def left_out(n_left_out: int, n_configurations: int) -> Note:
    """Configurations of the input lack predictions that others have."""
    return Note(
        "W204",
        f"{n_left_out} of {n_left_out + n_configurations} configurations lack predictions that others have, and were "
        "left out; if they were stopped for their scores, the estimate is slightly too good.",
    )


def are_shares(scores: Array) -> bool:
    """Whether scores, of which some may be NaN, all lie between 0 and 1, as accuracies do."""
    known = scores[~np.isnan(scores)]
    return len(known) > 0 and bool(known.min() >= 0.0 and known.max() <= 1.0)


def of_scores(
    table: Table, k: int, draws: Array, scores: Array, value: float, highest: float, is_percentile: bool
) -> Iterator[Note]:
    """What is special about an estimate by metric k, from its `draws` and the `scores` of all configurations.

    `highest` is the most that the score may be; `is_percentile` where the calibrated interval was asked for, in vain.
    """
    n, metric = int(np.isnan(draws).sum()), table.question.metrics[k]
    if n > MANY_UNDEFINED * len(draws):
        left_out = f"{metric.name} was undefined on {n} of {len(draws)} draws, which were left out of the mean: "
        why = "a class, or every sample, was absent from those that judge. With many samples stratify=True keeps every "
        why += "class in every resample."
        if table.units.names == "groups":
            why = f"a resample of {table.units.n} groups can contain all of them, or leave out too few to judge."
        yield warned("W201", left_out + why)
    if is_percentile and not metric.selects:
        yield Note(
            "W201",
            f"On few samples {metric.name} can be far off, so the estimate is the median over resamples, with a "
            "percentile interval.",
        )
    elif is_percentile:
        yield Note(
            "W201",
            f"{metric.name} does not vary over resamples and its range is unbounded, so the calibrated interval "
            "is undefined; the percentile interval is used.",
        )
    if metric.selects and np.isinf(metric.range).all() and are_shares(scores):
        which, known = "a function of your own", "pass sobercv.make_metric(function, range=(0, 1))."
        if metric.core is None:
            which = "computed on the fitted models"
            known = f'name a metric of predictions, such as "accuracy", or {known}'
            if table.predictions.target.values.ndim != 1:  # several outputs, or none
                known = "read it only up to there."
        yield Note(
            "W201",
            f"{metric.name} is {which}, so its range is unknown and the interval may reach beyond it. If the scores "
            f"cannot exceed 1, {known}",
        )
    # Scores that rank surely the wrong way round are hardly what was meant.
    if metric.name in ("roc_auc", "concordance_index") and highest < 0.5:
        what = "scores of the other class (see pos_label)" if metric.name == "roc_auc" else "times instead of risks"
        yield warned(
            "W701",
            f"{metric.name} is {value:.3f}, clearly below 0.5, the score of guessing: the predictions rank the "
            f"wrong way round. Are they {what}?",
        )


def scales(values: Array, fold: Array) -> Iterator[Note]:
    """Folds whose scores [N] live on different scales are pooled by a metric that ranks (paper, section 4).

    The ranks of the scores are compared between folds (Kruskal and Wallis): a strong and significant difference in
    level means that pairs from different folds are not comparable. A single fold whose scores lie above or below nearly
    all others may be too small to stand out in the variance, and is looked for by its pairs.
    """
    k, n = len(np.unique(fold)), len(fold)
    if values.ndim > 1 or k < 2 or n - k < 10 or values.min() == values.max():
        return
    found = stats.kruskal(*(values[fold == f] for f in np.unique(fold)))
    expected = (k - 1) / (n - 1)
    strength = (float(found.statistic) / (n - 1) - expected) / (1 - expected)
    if strength > 0.2 and found.pvalue < 1e-6:
        yield warned(
            "W203",
            f"The winner's scores differ in level between folds ({100 * strength:.0f} % of their rank variance), so "
            "samples of different folds may not be comparable. Use aggregate='within_folds' or "
            "aggregate='fold' (--aggregate), or calibrate.",
        )
        return
    for apart in np.flatnonzero(np.bincount(fold) >= 5):
        here = fold == apart
        pairs = stats.mannwhitneyu(values[here], values[~here], use_continuity=False, method="asymptotic")
        share = float(pairs.statistic) / (here.sum() * (~here).sum())  # of pairs in which the fold has the higher score
        if abs(share - 0.5) >= 0.35 and pairs.pvalue * k < 1e-3:
            yield warned(
                "W203",
                f"The scores of fold {apart + 1} are on a different level from the others ("
                f"{'higher' if share > 0.5 else 'lower'} in {100 * max(share, 1 - share):.0f} % of the pairs of "
                "one of its samples and one of another), so samples of different folds may not be comparable. Look at "
                "its rows, or use aggregate='within_folds' or aggregate='fold'.",
            )
            return
