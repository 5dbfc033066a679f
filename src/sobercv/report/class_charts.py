"""Charts and tables of a classification: ROC, precision and recall, confusion, calibration, thresholds.

From the winner's out-of-sample predictions, with bootstrap bands; drawn elsewhere. All but calibration and confusion
come from one count: how many samples of either kind reach each of some cuts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..containers import Array
from ..inference.procedures import Threshold
from ..metrics import get
from ..predictions import Predictions
from ..search.results import estimate_of
from ..targets import Target
from .evidence import Band, Evidence, bin_edges, bin_means, line_of, widened
from .records import Box, Chart, Line, Mark, Table
from .words import between, class_name, clean, metric_label, number, percent, share_with_interval

GRID = np.linspace(0.0, 1.0, 101)
MOST_CLASSES = 12
#: Cells of more classes are too small for an interval: a table below the chart has them.
MOST_WITH_INTERVALS = 5
SHARES = (0.0, 1.0)
DIAGONAL = (0.0, 0.0, 1.0, 1.0)
#: Weights [N] -> samples found and false alarms [G], where a score reaches each of G ascending cuts.
Counter = Callable[[Array], tuple[Array, Array]]


def counter(scores: Array, positive: Array, cuts: Array) -> Counter:
    """Sort scores [N] into cuts once, to count them again in every resample."""
    place = np.searchsorted(cuts, scores, side="right")

    def counted(weight: Array) -> tuple[Array, Array]:
        both = (np.bincount(place, weight * side, len(cuts) + 1) for side in (positive, ~positive))
        found, alarms = (np.cumsum(each[::-1])[::-1][1:] for each in both)
        return found, alarms

    return counted


def roc(evidence: Evidence) -> Chart | None:
    """ROC curve; with more than two classes, one for each class against the rest."""
    lines = _one_against_rest(evidence, roc_curve, "AUC")
    if lines is None:
        return None
    marks = operating_point(evidence) if is_binary(evidence) else ()
    more = "; the table of thresholds says more" if "predict_proba" in evidence.responses else ""
    sentence = "How many true cases are found (up) for how many false alarms (right). The dashed line is guessing."
    sentence += f" The circle is where the predicted labels stand{more}." if marks else ""
    return Chart(
        "roc", "ROC", "false positive rate", "true positive rate", SHARES, SHARES, lines, sentence,
        reference=DIAGONAL, marks=marks, apart=len(lines) > 1,
    )  # fmt: skip


def precision_recall(evidence: Evidence) -> Chart | None:
    """Precision at every recall; two classes only."""
    lines = _one_against_rest(evidence, precision_curve, "average precision") if is_binary(evidence) else None
    if lines is None:
        return None
    share = float(evidence.weight @ (evidence.y == 1) / evidence.weight.sum())
    sentence = (
        f"How many alarms are true (up) for how many cases found (right). Guessing would be right in {100 * share:.0f} "
        "% of its alarms, the dashed line."
    )
    ends = (0.0, share, 1.0, share)
    return Chart(
        "precision_recall", "Precision and recall", "recall", "precision", SHARES, SHARES, lines, sentence,
        reference=ends,
    )  # fmt: skip


def confusion(evidence: Evidence) -> tuple[Chart, Table] | None:
    """Of each true class, the share predicted as each class: a chart, and a table with intervals."""
    labels = evidence.labels()
    if labels is None or evidence.classes is None or len(evidence.classes) > MOST_CLASSES:
        return None
    k = len(evidence.classes)

    def share(repeat: int, weight: Array) -> Array:
        table = np.bincount(evidence.y * k + labels[:, repeat], weight, minlength=k * k).reshape(k, k)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(table / table.sum(axis=1, keepdims=True)).reshape(-1)

    sizes = [evidence.units((evidence.y == i)[:, None] & np.ones_like(evidence.seen)) for i in range(k)]
    band = widened(evidence.banded(share), np.repeat(sizes, k), evidence.level)
    cells = evidence.y[:, None] * k + labels
    count = np.bincount(cells[evidence.seen], minlength=k * k).reshape(k, k) / evidence.n_repeats
    names = tuple(clean(label, 60) for label in evidence.classes.tolist())
    shares = [share_with_interval(*map(float, each)) for each in zip(band.centre, band.low, band.high, strict=True)]
    boxes = tuple(_cell(names, i, j, band.at(np.array([i * k + j])), count) for i in range(k) for j in range(k))
    where = "Small print: samples, and" if k <= MOST_WITH_INTERVALS else "In the table below:"
    sentence = (
        f"Of each true class (row), the share predicted as each class (column). {where} {100 * evidence.level:g} % "
        "bootstrap intervals (Wilson's where the share is 0 or 100 %)."
    )
    ends = (-0.5, k - 0.5)
    chart = Chart(
        "confusion", "Confusion", "predicted", "true", ends, ends[::-1], sentence=sentence, boxes=boxes,
        x_names=names, y_names=names,
    )  # fmt: skip
    rows = [("true \\ predicted", *names), *((name, *shares[i * k : i * k + k]) for i, name in enumerate(names))]
    return chart, Table("confusion", "Confusion in percent, with intervals", tuple(rows), sentence, folded=True)


def _cell(names: tuple[str, ...], i: int, j: int, band: Band, count: Array) -> Box:
    """Write a cell of a confusion matrix: its share, and in small print samples and interval."""
    share, low, high = (None if v != v else float(v) for v in (band.centre[0], band.low[0], band.high[0]))
    n, total = (f"{v:.1f}".removesuffix(".0") for v in (count[i, j], count[i].sum()))
    counted = f"{n} of {total}" if len(names) < MOST_WITH_INTERVALS else n
    return Box(
        j - 0.5, i - 0.5, j + 0.5, i + 0.5,
        tint=share or 0.0,
        words=(
            percent(share).replace(" ", "\u202f"), counted,
            f"{100 * (low or 0):.0f}\u2013{100 * (high or 0):.0f}\u202f%",
        ),
        hint=f"true {names[i]}, predicted {names[j]}: {n} samples, {percent(share)}",
    )  # fmt: skip


# ---- curves of weights ---------------------------------------------------------------------------------------------
Curve = Callable[[Array], Array]  # weight [N] -> [G + 1]: the curve and, last, the area under it


def roc_curve(scores: Array, positive: Array) -> Curve:
    """Return the true positive rate on the grid of false positive rates, and the area."""
    count = counter(scores, positive, np.unique(scores))

    def curve(weight: Array) -> Array:
        found, alarms = (each[::-1] for each in count(weight))
        if found[-1] <= 0 or alarms[-1] <= 0:
            return np.full(len(GRID) + 1, np.nan)
        y, x = np.append(0.0, found / found[-1]), np.append(0.0, alarms / alarms[-1])
        return np.append(np.interp(GRID, x, y), np.sum(np.diff(x) * (y[1:] + y[:-1])) / 2)

    return curve


def precision_curve(scores: Array, positive: Array) -> Curve:
    """Return the precision on the grid of recalls, and the average precision."""
    count = counter(scores, positive, np.unique(scores))

    def curve(weight: Array) -> Array:
        found, alarms = (each[::-1] for each in count(weight))
        if found[-1] <= 0:
            return np.full(len(GRID) + 1, np.nan)
        first = np.flatnonzero(found + alarms > 0)[0]
        recall, precision = found[first:] / found[-1], found[first:] / (found + alarms)[first:]
        at = np.minimum(np.searchsorted(recall, np.maximum(GRID - 1e-12, 1e-12)), len(recall) - 1)
        return np.append(precision[at], np.sum(np.diff(recall, prepend=0.0) * precision))

    return curve


def _one_against_rest(evidence: Evidence, make: Callable[[Array, Array], Curve], area: str) -> tuple[Line, ...] | None:
    scores, classes = evidence.scores(), evidence.classes
    if scores is None or classes is None or len(classes) < 2:
        return None
    ranked = {1: scores} if scores.ndim == 2 else {k: scores[:, :, k] for k in range(min(len(classes), MOST_CLASSES))}
    lines = []
    for code, values in ranked.items():
        curves = [make(values[:, r], evidence.y == code) for r in range(evidence.n_repeats)]
        band = evidence.banded(lambda r, weight, curves=curves: curves[r](weight))  # type: ignore[misc]
        text = f"{area} {number(band.centre[-1])}, {between((band.low[-1], band.high[-1]))}"
        lines.append(line_of(class_name(classes[code]), GRID, band.at(slice(-1)), text))
    return tuple(lines)


def is_binary(evidence: Evidence) -> bool:
    """Whether there are two classes."""
    return evidence.classes is not None and len(evidence.classes) == 2


#: Places of the smooth line, and the share of the samples that each of them looks at.
N_PLACES, SPAN = 41, 0.75
#: So many samples are enough for a smooth line.
MOST_SMOOTHED = 5000
LINE = ("calibration_slope", "calibration_intercept")


def calibration(evidence: Evidence) -> Chart | None:
    """Predicted probability against observed share: bins of equal size, and a local line through the samples."""
    probabilities = _chances(evidence)
    if probabilities is None or evidence.classes is None:
        return None
    edges = bin_edges(probabilities[evidence.seen])
    bins = np.searchsorted(edges[1:-1], probabilities, side="right")  # [N, R]
    k = len(edges) - 1
    positive = (evidence.y == 1).astype(float)

    def observed(repeat: int, weight: Array) -> Array:
        return bin_means(bins[:, repeat], k, weight, positive)

    def predicted(repeat: int, weight: Array) -> Array:
        return bin_means(bins[:, repeat], k, weight, probabilities[:, repeat])

    band, x = evidence.banded(observed), evidence.banded(predicted).centre
    keep = ~np.isnan(x)
    lines = [line_of(f"{k} bins of equal size", x[keep], band.at(keep), marked=True)]
    smooth = _smooth(evidence, probabilities, positive)
    if smooth is not None:
        lines.insert(0, smooth)
    said, below = _line_of_logits(evidence, probabilities, positive)
    sentence = "Where a line runs above the dashed diagonal, the event was more frequent than predicted. " + said
    return Chart(
        "calibration", "Calibration", f"predicted probability of {class_name(evidence.classes[1])}", "observed share",
        SHARES, SHARES, tuple(lines), sentence, reference=DIAGONAL, below=below,
    )  # fmt: skip


def _smooth(evidence: Evidence, probabilities: Array, positive: Array) -> Line | None:
    """A local line with tricube weights (loess of degree 1); None where all probabilities are alike."""
    some = np.unique(np.linspace(0, len(positive) - 1, min(len(positive), MOST_SMOOTHED)).astype(int))
    seen = probabilities[evidence.seen]
    low, high = np.quantile(seen, (0.01, 0.99))
    if high - low < 1e-3:
        return None
    places = np.linspace(low, high, N_PLACES)
    kernels = []
    for repeat in range(evidence.n_repeats):
        distance = np.abs(probabilities[some, repeat] - places[:, None])  # [G, n]
        here = distance[:, evidence.seen[some, repeat]]
        # A run that was ended early may have nothing of a repeat; it has no weight then.
        reach = np.quantile(here, SPAN, axis=1, keepdims=True) if here.size else np.ones((len(places), 1))
        kernels.append(np.clip(1.0 - (distance / np.maximum(reach, 1e-3)) ** 3, 0.0, None) ** 3)

    def curve(repeat: int, weight: Array) -> Array:
        p, y, w = probabilities[some, repeat], positive[some], weight[some]
        columns = np.stack([w, w * p, w * p * p, w * y, w * p * y], axis=1)
        one, first, second, truth, product = (kernels[repeat] @ columns).T
        with np.errstate(invalid="ignore", divide="ignore"):
            spread = second * one - first * first
            slope = np.where(spread > 1e-9 * one * one, (product * one - first * truth) / spread, 0.0)
            return np.asarray(np.clip((truth - slope * first) / one + slope * places, 0.0, 1.0))

    return line_of("smooth", places, evidence.banded(curve))


def _line_of_logits(
    evidence: Evidence, probabilities: Array, positive: Array
) -> tuple[str, tuple[tuple[str, ...], ...]]:
    """Say the slope and the intercept of the truth on the logits, in words and as a small table."""
    table = Predictions(
        target=Target("classification", positive.astype(np.int64), evidence.classes, 1),
        responses={"predict_proba": probabilities[:, None]},
        seen=evidence.seen,
        fold_of=np.zeros(evidence.seen.shape, np.int64),
        sample_weight=evidence.weight,
    )
    ones = np.ones((1, len(positive)), np.uint8)
    slope, intercept = (float(get(name).scores(table, ones)[0, 0]) for name in LINE)
    if not np.isfinite(slope + intercept):
        return "The slope is not defined: the probabilities separate the classes, or are all alike.", ()
    text = (
        f"Slope {number(slope, 2)} (best 1; {'above 1, predictions are not' if slope > 1 else 'below 1, they are too'} "
        f"extreme{' enough' if slope > 1 else ''}), intercept {number(intercept, 2)} "
        f"(best 0; {'below 0, they are too high' if intercept < 0 else 'above 0, they are too low'})."
    )
    return text, (("slope", "intercept"), (number(slope, 2), number(intercept, 2)))


THRESHOLDS = np.array([0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
CUTS = np.linspace(0.01, 0.99, 99)


def _counters(evidence: Evidence, values: Array, cuts: Array) -> list[Counter]:
    """Return what counts the second class by values [N, R], per repeat."""
    return [counter(values[:, r], evidence.y == 1, cuts) for r in range(evidence.n_repeats)]


def _shares(counted: tuple[Array, Array], ill: float, well: float) -> Array:
    """Sensitivity, specificity, PPV, NPV, and the share that is called positive: [5, G]."""
    found, alarms = counted
    parts = np.array([found, well - alarms, found, well - alarms, found + alarms])
    called = found + alarms
    every = np.full_like(found, ill + well)
    wholes = np.array([0.0 * found + ill, 0.0 * found + well, called, every - called, every])
    return np.divide(parts, wholes, out=np.full(parts.shape, np.nan), where=wholes > 0)


def _shares_banded(evidence: Evidence, values: Array, cuts: Array) -> Band:
    """Put bands around the shares [5 * G] of samples whose values [N, R] reach cuts."""
    counters, ill = _counters(evidence, values, cuts), evidence.y == 1
    return evidence.banded(
        lambda r, w: _shares(counters[r](w), float(w @ ill), float(w @ ~ill)).reshape(-1),
    )


def operating_point(evidence: Evidence) -> tuple[Mark, ...]:
    """Mark the share of false alarms and of cases found by the labels that were predicted."""
    labels = evidence.labels()
    if labels is None:
        return ()
    found = _shares_banded(evidence, labels, np.ones(1)).centre
    if np.isnan(found[:2]).any():
        return ()
    sensitivity, specificity = float(found[0]), float(found[1])
    return (Mark(1.0 - specificity, sensitivity, f"sensitivity {sensitivity:.2f}, specificity {specificity:.2f}"),)


def thresholds(evidence: Evidence) -> Table | None:
    """Tabulate sensitivity, specificity and predictive values by threshold, in percent with intervals."""
    chances = _chances(evidence)
    if chances is None or evidence.classes is None:
        return None
    name = class_name(evidence.classes[1])
    ill = np.broadcast_to((evidence.y == 1)[:, None], chances.shape)
    called = [chances >= threshold for threshold in THRESHOLDS]
    parts = ([ill] * len(called), [~ill] * len(called), called, [~c for c in called])  # what each is a share of
    sizes = np.array([[evidence.units(each) for each in part] for part in parts] + [[1.0] * len(called)])
    band = widened(_shares_banded(evidence, chances, THRESHOLDS), sizes.reshape(-1), evidence.level)
    shown = [share_with_interval(*map(float, each)) for each in zip(band.centre, band.low, band.high, strict=True)]
    by_threshold = np.array(shown, dtype=object).reshape(5, -1).T
    rows: list[tuple[str, ...]] = [("Threshold", f"Called {name}", "Sensitivity", "Specificity", "PPV", "NPV")]
    for threshold, share, cells in zip(THRESHOLDS, band.centre[-len(called) :], by_threshold, strict=True):
        rows.append((f"{threshold:g}", percent(float(share)), *cells[:4]))
    return Table(
        "thresholds",
        "Decisions by threshold",
        tuple(rows),
        f"A sample whose probability of {name} reaches the threshold is called {name}. Sensitivity: of those that are "
        f"{name}, the share called so; specificity: of the others, the share not called so; PPV and NPV: the share of "
        f"either call that is right. In percent, with {100 * evidence.level:g} % bootstrap intervals (Wilson's "
        "where the share is 0 or 100). Choose a threshold by what a miss and a false alarm cost, not by the best row.",
    )


def decision_curve(evidence: Evidence) -> Chart | None:
    """Net benefit by threshold, against treating all and treating none."""
    chances = _chances(evidence)
    if chances is None or evidence.classes is None:
        return None
    counters, odds = _counters(evidence, chances, CUTS), CUTS / (1.0 - CUTS)

    def benefit(repeat: int, weight: Array) -> Array:
        found, alarms = counters[repeat](weight)
        total = weight.sum()
        return np.asarray((found - odds * alarms) / total) if total > 0 else np.full(len(CUTS), np.nan)

    share = float(evidence.weight @ (evidence.y == 1) / evidence.weight.sum())
    everyone = share - odds * (1.0 - share)
    lines = (
        line_of("treat by the model", CUTS, evidence.banded(benefit)),
        line_of("treat all", CUTS, Band(everyone, everyone, everyone)),
    )
    sentence = (
        f"What treating those called {class_name(evidence.classes[1])} is worth: true positives for each sample, minus "
        "false alarms at the odds of the threshold. It is useful where it runs above treating all and above the dashed "
        "line, treating none."
    )
    return Chart(
        "decision", "Decision curve", "threshold probability", "net benefit", SHARES, (-0.15 * share, 1.1 * share),
        lines, sentence, reference=(0.0, 0.0, 1.0, 0.0),
    )  # fmt: skip


def _chances(evidence: Evidence) -> Array | None:
    """Probabilities [N, R] of the second of two classes."""
    return evidence.responses.get("predict_proba") if is_binary(evidence) else None


def tuned_threshold(evidence: Evidence, search: Any) -> Chart | None:
    """Draw the score over thresholds; None where none was tuned, or where it is no probability."""
    estimate, formula = estimate_of(search), search.question_.first.at_cuts
    decision, chances = estimate.decision, _chances(evidence)
    if not isinstance(decision, Threshold) or chances is None or evidence.classes is None or formula is None:
        return None
    if decision.response != "predict_proba" or not 0.0 < decision.value < 1.0:
        return None
    second = bool(evidence.classes[1] == decision.positive)
    values, ill = (chances, evidence.y == 1) if second else (1.0 - chances, evidence.y == 0)
    cuts = np.unique(np.append(GRID, decision.value))
    counters = [counter(values[:, r], ill, cuts) for r in range(evidence.n_repeats)]
    band = evidence.banded(lambda r, w: formula.scores(*counters[r](w), float(w @ ill), float(w @ ~ill)))
    known = np.concatenate([band.low, band.high, band.centre])
    known = known[~np.isnan(known)]
    room = 0.05 * float(np.ptp(known)) or 0.05
    at = float(band.centre[np.searchsorted(cuts, decision.value)])
    return Chart(
        "tuned_threshold", "Score by threshold", f"threshold: {class_name(decision.positive)} from this probability on",
        metric_label(estimate.metric, estimate.positive), SHARES,
        (float(known.min()) - room, float(known.max()) + room), (line_of("winner", cuts, band),),
        "What the winner scores at each threshold by plain cross-validation. The circle is the threshold that was "
        f"tuned, {decision.value:.3g}. It was picked for being the best here, so its height is too good: the honest "
        "score is the corrected one. Where the line is flat, another threshold is as good.",
        marks=(Mark(decision.value, at, f"threshold {decision.value:.3g}"),),
    )  # fmt: skip
