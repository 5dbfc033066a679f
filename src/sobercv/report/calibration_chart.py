"""Whether probabilities mean what they say: observed shares by predicted probability, in bins and as a smooth line.

Takes the winner's out-of-sample probabilities of two classes, gives a chart with bootstrap bands; never draws.
"""

from __future__ import annotations

import numpy as np

from ..containers import Array
from ..metrics import get
from ..predictions import Predictions
from ..targets import Target
from .chart_lines import bin_edges, bin_means, line_of
from .evidence import Band, Evidence
from .records import Chart, Line
from .words import class_name, number

#: Places of the smooth line, and the share of the samples that each of them looks at.
N_PLACES, SPAN = 41, 0.75
#: So many samples are enough for a smooth line.
MOST_SMOOTHED = 5000
LINE = ("calibration_slope", "calibration_intercept")


def calibration(evidence: Evidence) -> Chart | None:
    """Predicted probability against observed share: bins of equal size, and a local line through the samples."""
    two = evidence.classes is not None and len(evidence.classes) == 2
    probabilities = evidence.responses.get("predict_proba") if two else None
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
    lines = [line_of(f"{k} bins of equal size", x[keep], Band(*(part[keep] for part in _parts(band))), marked=True)]
    smooth = _smooth(evidence, probabilities, positive)
    if smooth is not None:
        lines.insert(0, smooth)
    return Chart(
        name="calibration",
        title="Calibration",
        x_label=f"predicted probability of {class_name(evidence.classes[1])}",
        y_label="observed share",
        x_range=(0.0, 1.0),
        y_range=(0.0, 1.0),
        lines=tuple(lines),
        reference=(0.0, 0.0, 1.0, 1.0),
        sentence="Where a line runs above the dashed diagonal, the event was more frequent than predicted. "
        + _line_of_logits(evidence, probabilities, positive),
    )


def _parts(band: Band) -> tuple[Array, Array, Array]:
    return band.centre, band.low, band.high


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


def _line_of_logits(evidence: Evidence, probabilities: Array, positive: Array) -> str:
    """Say the slope and the intercept of the truth on the logits."""
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
        return "The slope is not defined: the probabilities separate the classes, or are all alike."
    return (
        f"Slope {number(slope, 2)} (best 1; {'above 1, predictions are not' if slope > 1 else 'below 1, they are too'} "
        f"extreme{' enough' if slope > 1 else ''}), intercept {number(intercept, 2)} "
        f"(best 0; {'below 0, they are too high' if intercept < 0 else 'above 0, they are too low'})."
    )
