"""Charts of a regression: predicted against true, residuals.

Takes the winner's out-of-sample predictions, gives charts with bootstrap bands; never draws.
"""

from __future__ import annotations

import numpy as np

from ..containers import Array
from .chart_lines import bin_edges, bin_means, line_of
from .evidence import Band, Evidence
from .records import Chart

MOST_POINTS = 400


def predicted(evidence: Evidence) -> Chart:
    """True values against predicted ones, and their mean in bins of equal size."""
    guess, truth = evidence.average_prediction(), evidence.y
    low, high = float(min(guess.min(), truth.min())), float(max(guess.max(), truth.max()))
    band, x, k = _binned(evidence, guess, truth)
    return Chart(
        name="predicted",
        title="Predicted and true",
        x_label="predicted",
        y_label="true",
        x_range=_padded(guess),
        y_range=_padded(truth),
        lines=(line_of("mean of the true values", x, band, marked=True),),
        points_x=_sample(guess, guess),
        points_y=_sample(truth, guess),
        reference=(low, low, high, high),
        sentence="Each point is a sample; on the dashed diagonal the prediction is right. "
        f"The line is the mean of the true values in {k} bins of equal size.",
    )


def residuals(evidence: Evidence) -> Chart:
    """What is left after the prediction, against the prediction."""
    guess = evidence.average_prediction()
    rest = evidence.y - guess
    band, x, k = _binned(evidence, guess, rest)
    x_range = _padded(guess)
    return Chart(
        name="residuals",
        title="Residuals",
        x_label="predicted",
        y_label="true minus predicted",
        x_range=x_range,
        y_range=_padded(rest),
        lines=(line_of("mean residual", x, band, marked=True),),
        points_x=_sample(guess, guess),
        points_y=_sample(rest, guess),
        reference=(x_range[0], 0.0, x_range[1], 0.0),
        sentence="Above the dashed line the prediction was too low. A bend or a slope of the line shows what the "
        f"model misses; a funnel of points, that some predictions are surer than others. {k} bins of equal size.",
    )


def _binned(evidence: Evidence, guess: Array, values: Array) -> tuple[Band, Array, int]:
    """Band [k] around the mean of values in bins of equal size by prediction, where the bins are [k], and k."""
    edges = bin_edges(guess)
    k = len(edges) - 1
    bins = np.searchsorted(edges[1:-1], guess, side="right")
    band = evidence.banded(lambda _, weight: bin_means(bins, k, weight, values), 1)
    return band, bin_means(bins, k, evidence.weight, guess), k


def _sample(values: Array, by: Array) -> tuple[float, ...]:
    """At most some hundred values, evenly from the lowest prediction to the highest."""
    n = len(values)
    places = np.arange(n) if n <= MOST_POINTS else np.linspace(0, n - 1, MOST_POINTS).astype(int)
    return tuple(float(f"{v:.6g}") for v in values[np.argsort(by, kind="stable")[places]])


def _padded(values: Array) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    room = 0.04 * (high - low) or 1.0
    return low - room, high + room
