"""Charts and tables of numbers and survival times: predicted and true, residuals, survival by risk group.

From the winner's out-of-sample predictions, with bootstrap bands; drawn elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..containers import Array
from .evidence import Band, Evidence, bin_edges, bin_means, line_of
from .records import Chart, Numbers, Table
from .svg import ticks
from .words import count, share_with_interval

N_TIMES, SEEN_UNTIL = 101, 0.95
MOST_POINTS = 400


def survival(evidence: Evidence) -> Chart | None:
    """Kaplan-Meier curves of the thirds with the lowest, the middle and the highest out-of-sample risk."""
    if _without_risks(evidence):
        return None
    event, time, end = evidence.y["event"].astype(bool), evidence.y["time"], _end(evidence)
    grid, marks, lines, below = np.linspace(0.0, end, N_TIMES), [t for t in ticks((0.0, end), 4) if t < end], [], []
    for name, here, band in _by_risk(evidence, grid):
        text = f"{count(int(here.sum()), 'sample')}, {count(int((event & here).sum()), 'event')}"
        lines.append(line_of(name, grid, band, text, stepped=True))
        below.append((name, *(str(int((here & (time >= t)).sum())) for t in marks)))
    sentence = (
        "Kaplan-Meier curves of samples grouped by their out-of-sample risk. The further the curves part, the better "
        "the risk tells which samples have the event early."
    )
    return Chart(
        "survival", "Survival by risk group", "time", "share without event", (0.0, end), (0.0, 1.0), tuple(lines),
        sentence, below=(("at risk", *(f"{t:,.6g}" for t in marks)), *below),
    )  # fmt: skip


def horizons(evidence: Evidence) -> Table | None:
    """Tabulate the share without event of each risk group at round times, in percent with intervals."""
    if _without_risks(evidence):
        return None
    end = _end(evidence)
    marks = np.array([t for t in ticks((0.0, end), 4) if 0 < t < end])
    rows: list[tuple[str, ...]] = [("Share without event at", *(f"{t:,.6g}" for t in marks))]
    for name, _, band in _by_risk(evidence, marks):
        shares = zip(band.centre.tolist(), band.low.tolist(), band.high.tolist(), strict=True)
        rows.append((name, *(share_with_interval(*found) for found in shares)))
    level = f"{100 * evidence.level:g} % bootstrap intervals"
    sentence = f"Kaplan-Meier, in percent, with {level}; times in the unit of the table."
    return Table("survival_at", "Survival by risk group at round times", tuple(rows), sentence)


def _without_risks(evidence: Evidence) -> bool:
    return not evidence.y["event"].any() or "predict" not in evidence.responses


def _end(evidence: Evidence) -> float:
    """Where the axis ends: a curve of the last few samples tells nothing."""
    return float(np.quantile(evidence.y["time"], SEEN_UNTIL))


def _by_risk(evidence: Evidence, grid: Array) -> Iterator[tuple[str, Array, Band]]:
    """Name, members [N] and Kaplan-Meier band [G] of each risk group."""
    time = evidence.y["time"].astype(float)
    group, names = risk_groups(evidence.average_prediction())
    curve = kaplan_meier(evidence.y["event"].astype(bool), time, grid)
    for g, name in enumerate(names):
        here = group == g
        band = evidence.banded(lambda _, weight, here=here: curve(weight * here), 1)  # type: ignore[misc]
        yield name, here, band.where(grid <= time[here].max())  # no sample tells what comes after


def kaplan_meier(event: Array, time: Array, grid: Array) -> Callable[[Array], Array]:
    """Return a function of weights [N]: the share without event at each place of the grid [G]."""
    times, code = np.unique(time, return_inverse=True)
    at = np.searchsorted(times, grid, side="right")

    def curve(weight: Array) -> Array:
        if weight.sum() <= 0:
            return np.full(len(grid), np.nan)
        left = np.cumsum(np.bincount(code, weight)[::-1])[::-1]
        died = np.bincount(code, weight * event)
        stays = 1.0 - np.divide(died, left, out=np.zeros(len(times)), where=died > 0)
        return np.asarray(np.append(1.0, np.cumprod(np.clip(stays, 0.0, 1.0)))[at])

    return curve


def risk_groups(risk: Array) -> tuple[Array, list[str]]:
    """Cut into thirds by risk; equal risks stay together, so there may be fewer groups."""
    cuts = np.unique(np.quantile(risk, [1 / 3, 2 / 3], method="inverted_cdf"))
    group = np.unique(np.searchsorted(cuts, risk, side="left"), return_inverse=True)[1].reshape(-1)
    names = {1: ["all (equal risk)"], 2: ["low risk", "high risk"], 3: ["low risk", "middle risk", "high risk"]}
    return group, names[int(group.max()) + 1]


def predicted(evidence: Evidence) -> Chart:
    """True values against predicted ones, and their mean in bins of equal size."""
    guess, truth = evidence.average_prediction(), evidence.y
    low, high = float(min(guess.min(), truth.min())), float(max(guess.max(), truth.max()))
    sentence = (
        "Each point is a sample; on the dashed diagonal the prediction is right. The line is the mean of the true "
        "values in {} bins of equal size."
    )
    names = ("predicted", "Predicted and true", "true", "mean of the true values")
    return _scatter(evidence, names, truth, (low, low, high, high), sentence)


def residuals(evidence: Evidence) -> Chart:
    """What is left after the prediction, against the prediction."""
    guess = evidence.average_prediction()
    low, high = _padded(guess)
    sentence = (
        "Above the dashed line the prediction was too low. A bend or a slope of the line shows what the model misses; "
        "a funnel of points, that some predictions are surer than others. {} bins of equal size."
    )
    names = ("residuals", "Residuals", "true minus predicted", "mean residual")
    return _scatter(evidence, names, evidence.y - guess, (low, 0.0, high, 0.0), sentence)


def _scatter(
    evidence: Evidence, names: tuple[str, str, str, str], values: Array, reference: Numbers, sentence: str
) -> Chart:
    """Draw values [N] over predictions, at most some hundred of them, with their mean in bins of equal size.

    `names`: of the chart, its title, the vertical axis and the line.
    """
    guess = evidence.average_prediction()
    edges = bin_edges(guess)
    k, bins = len(edges) - 1, np.searchsorted(edges[1:-1], guess, side="right")
    band = evidence.banded(lambda _, weight: bin_means(bins, k, weight, values), 1)
    places = np.unique(np.linspace(0, len(guess) - 1, min(len(guess), MOST_POINTS)).astype(int))
    shown = np.argsort(guess, kind="stable")[places]
    points_x, points_y = (tuple(float(f"{v:.6g}") for v in each[shown]) for each in (guess, values))
    name, title, y_label, label = names
    line = line_of(label, bin_means(bins, k, evidence.weight, guess), band, marked=True)
    return Chart(
        name, title, "predicted", y_label, _padded(guess), _padded(values), (line,), sentence.format(k),
        reference, points_x, points_y,
    )  # fmt: skip


def _padded(values: Array) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    room = 0.04 * (high - low) or 1.0
    return low - room, high + room
