"""The chart of survival times: Kaplan-Meier curves by risk group.

Takes the winner's out-of-sample predictions, gives charts with bootstrap bands; never draws.
"""

from __future__ import annotations

import numpy as np

from ..containers import Array
from .chart_lines import line_of
from .evidence import Evidence
from .records import Chart
from .words import count

N_TIMES = 101


def survival(evidence: Evidence) -> Chart | None:
    """Kaplan-Meier curves of the thirds with the lowest, the middle and the highest out-of-sample risk."""
    event, time = evidence.y["event"].astype(bool), evidence.y["time"].astype(float)
    if not event.any():
        return None
    group, names = risk_groups(evidence.average_prediction())
    grid = np.linspace(0.0, float(time.max()), N_TIMES)
    lines = []
    for g, name in enumerate(names):
        here = group == g
        curve = KaplanMeier(event, time, grid)
        band = evidence.banded(lambda _, weight, here=here, curve=curve: curve(weight * here), 1)  # type: ignore[misc]
        band = band.where(grid <= time[here].max())  # nobody is left to tell what comes after
        text = f"{count(int(here.sum()), 'sample')}, {count(int((event & here).sum()), 'event')}"
        lines.append(line_of(name, grid, band, text, stepped=True))
    marks = np.linspace(0.0, float(time.max()), 5)[:-1]
    below = [("at risk", *(f"{t:.3g}" for t in marks))]
    below += [(name, *(str(int(((group == g) & (time >= t)).sum())) for t in marks)) for g, name in enumerate(names)]
    return Chart(
        name="survival",
        title="Survival by risk group",
        x_label="time",
        y_label="share without event",
        x_range=(0.0, float(time.max())),
        y_range=(0.0, 1.0),
        lines=tuple(lines),
        below=tuple(below),
        sentence="Kaplan-Meier curves of samples grouped by their out-of-sample risk. The further the curves part, "
        "the better the risk tells who will have the event early.",
    )


class KaplanMeier:
    """Share without event at given times, of weighted samples; called with weights [N], gives shares [G]."""

    def __init__(self, event: Array, time: Array, grid: Array) -> None:
        self._order = np.argsort(time, kind="stable")
        self._event = event[self._order]
        times = time[self._order]
        self._first = np.searchsorted(times, times[self._event], side="left")  # who is still there at an event
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
