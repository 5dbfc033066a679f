"""Charts of numbers and of survival times: predicted against true, residuals, Kaplan-Meier curves by risk group.

From the winner's out-of-sample predictions, with bootstrap bands; drawn elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..containers import Array
from .evidence import Band, Evidence, bin_edges, bin_means, line_of
from .records import Chart, Table
from .svg import ticks
from .words import count, share_with_interval

N_TIMES, SEEN_UNTIL = 101, 0.95


def survival(evidence: Evidence) -> Chart | None:
    """Kaplan-Meier curves of the thirds with the lowest, the middle and the highest out-of-sample risk."""
    if _without_risks(evidence):
        return None
    event, time = evidence.y["event"].astype(bool), evidence.y["time"].astype(float)
    end = _end(time)
    grid, lines, below = np.linspace(0.0, end, N_TIMES), [], []
    marks = [t for t in ticks((0.0, end), 4) if t < end]
    for name, here, band in _by_risk(evidence, grid):
        text = f"{count(int(here.sum()), 'sample')}, {count(int((event & here).sum()), 'event')}"
        lines.append(line_of(name, grid, band, text, stepped=True))
        below.append((name, *(str(int((here & (time >= t)).sum())) for t in marks)))
    return Chart(
        name="survival",
        title="Survival by risk group",
        x_label="time",
        y_label="share without event",
        x_range=(0.0, end),
        y_range=(0.0, 1.0),
        lines=tuple(lines),
        below=(("at risk", *(_time(t) for t in marks)), *below),
        sentence="Kaplan-Meier curves of samples grouped by their out-of-sample risk. The further the curves part, "
        "the better the risk tells which samples have the event early.",
    )


def horizons(evidence: Evidence) -> Table | None:
    """Tabulate the share without event of each risk group at round times, in percent with intervals."""
    if _without_risks(evidence):
        return None
    end = _end(evidence.y["time"].astype(float))
    marks = np.array([t for t in ticks((0.0, end), 4) if 0 < t < end])
    rows: list[tuple[str, ...]] = [("Share without event at", *(_time(t) for t in marks))]
    for name, _, band in _by_risk(evidence, marks):
        shares = zip(band.centre.tolist(), band.low.tolist(), band.high.tolist(), strict=True)
        rows.append((name, *(share_with_interval(*found) for found in shares)))
    level = f"{100 * evidence.level:g} % bootstrap intervals"
    sentence = f"Kaplan-Meier, in percent, with {level}; times in the unit of the table."
    return Table("survival_at", "Survival by risk group at round times", tuple(rows), sentence)


def _without_risks(evidence: Evidence) -> bool:
    return not evidence.y["event"].any() or "predict" not in evidence.responses


def _by_risk(evidence: Evidence, grid: Array) -> Iterator[tuple[str, Array, Band]]:
    """Name, members [N] and Kaplan-Meier band [G] of each risk group."""
    event, time = evidence.y["event"].astype(bool), evidence.y["time"].astype(float)
    group, names = risk_groups(evidence.average_prediction())
    curve = KaplanMeier(event, time, grid)
    for g, name in enumerate(names):
        here = group == g
        band = evidence.banded(lambda _, weight, here=here: curve(weight * here), 1)  # type: ignore[misc]
        yield name, here, band.where(grid <= time[here].max())  # no sample tells what comes after


def _end(time: Array) -> float:
    """Where the axis ends: a curve of the last few samples tells nothing."""
    return float(np.quantile(time, SEEN_UNTIL))


def _time(value: float) -> str:
    return f"{value:,.6g}"


class KaplanMeier:
    """Share without event at given times, of weighted samples; called with weights [N], gives shares [G]."""

    def __init__(self, event: Array, time: Array, grid: Array) -> None:
        self._order = np.argsort(time, kind="stable")
        self._event = event[self._order]
        times = time[self._order]
        self._first = np.searchsorted(times, times[self._event], side="left")  # samples at risk at an event
        self._at = np.searchsorted(times[self._event], grid, side="right")  # events up to each place of the grid
        self._run = np.unique(times[self._event], return_inverse=True)[1].reshape(-1)

    def __call__(self, weight: Array) -> Array:
        """Share without event at each place of the grid."""
        w = weight[self._order]
        if w.sum() <= 0:
            return np.full(len(self._at), np.nan)
        left = np.cumsum(w[::-1])[::-1]
        deaths = np.bincount(self._run, w[self._event])  # at each distinct time
        at_risk = left[self._first[np.unique(self._run, return_index=True)[1]]]
        with np.errstate(invalid="ignore", divide="ignore"):
            stays = np.where(deaths > 0, 1.0 - deaths / at_risk, 1.0)
        share = np.append(1.0, np.cumprod(np.clip(stays, 0.0, 1.0)))
        return np.asarray(share[np.append(0, self._run + 1)[self._at]])


def risk_groups(risk: Array) -> tuple[Array, list[str]]:
    """Cut into thirds by risk; equal risks stay together, so there may be fewer groups."""
    cuts = np.unique(np.quantile(risk, [1 / 3, 2 / 3], method="inverted_cdf"))
    group = np.unique(np.searchsorted(cuts, risk, side="left"), return_inverse=True)[1].reshape(-1)
    names = {1: ["all (equal risk)"], 2: ["low risk", "high risk"], 3: ["low risk", "middle risk", "high risk"]}
    return group, names[int(group.max()) + 1]


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
