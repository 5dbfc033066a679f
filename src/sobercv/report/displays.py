"""The charts of a report as matplotlib axes: `search.plot.roc()`, with `ax=`. The only place that knows matplotlib.

Every plot is a `Chart`, the record that the page draws, and one function draws them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import SoberError
from . import class_charts, search_records
from .evidence import Evidence
from .importance import importance
from .records import Chart, Line
from .summary import CHARTS
from .words import number, percent

BLUE, GREEN, VERMILLION, GREY, LIGHT = "#0072B2", "#00785A", "#D55E00", "#57606A", "#D9DDE1"
SERIES = ((BLUE, "-"), (GREEN, ":"), (VERMILLION, "--"))


class Plots:
    """Plots of a fitted search; each draws on `ax` (default: a new figure) and returns the axes.

    Beside the methods below, each chart of the report has a plot of its name: `roc`, `precision_recall`, `calibration`
    and `decision` for two classes, `predicted` and `residuals` for numbers, `survival` for survival times.
    """

    def __init__(self, search: Any) -> None:
        self._search = search

    def __getattr__(self, name: str) -> Any:
        if name not in CHARTS:
            raise AttributeError(f"There is no plot {name!r}. Plots are draws, race, confusion, importance, {_NAMES}.")
        return lambda ax=None: self._chart(name, ax)

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *CHARTS])

    def draws(self, ax: Any = None) -> Any:
        """Histogram of the bootstrap draws with the honest and the naive score."""
        score = search_records.scores(self._search)[0]
        bins = search_records.draws(search_records.estimates_of(self._search)[0])
        heights = (0,) if bins is None else bins.heights
        top, edges = max(heights) * 1.1, (score.value,) if bins is None else bins.edges
        outline = _line("draws", edges, (*heights, heights[-1])[: len(edges)], stepped=True)
        claims = [
            _line(f"{name} {number(v, score.digits)}", (v, v), (0, top))
            for name, v in (("honest", score.value), ("plain CV", score.naive))
        ]
        ends = [*edges, score.value, score.naive]
        return draw(
            Chart("draws", "Draws", score.label, "resamples", (min(ends), max(ends)), (0, top), (outline, *claims), ""),
            ax,
        )

    def race(self, ax: Any = None) -> Any:
        """How many configurations were still in the race after each round."""
        race = search_records.race(self._search)
        rounds = tuple(float(r.number) for r in race.rounds)
        alive = _line("still in the race", rounds, [r.alive for r in race.rounds], marked=True)
        labels, ends = ("round of the cross-validation", "configurations"), (0.5, len(rounds) + 0.5)
        return draw(Chart("race", "Race", *labels, ends, (0, 1.05 * race.n_start), (alive,), ""), ax)

    def confusion(self, ax: Any = None) -> Any:
        """Confusion matrix, each row adding up to 100 %."""
        evidence = Evidence.of(self._search)
        found = class_charts.confusion(evidence) if evidence.task == "classification" else None
        if found is None:
            raise _no_chart("confusion", "classification", evidence.task)
        ax, share = _axes(ax), np.array([[np.nan if v is None else v for v in row] for row in found.share])
        ax.imshow(share, cmap="Blues", vmin=0, vmax=1)
        for (i, j), value in np.ndenumerate(share):
            ax.text(j, i, percent(value), ha="center", va="center", color="white" if value > 0.55 else "black")
        names = [_plain(label[:20]) for label in found.labels]
        ax.set_xticks(range(len(names)), names)
        ax.set_yticks(range(len(names)), names)
        return _finish(ax, found.title, "predicted", "true")

    def importance(self, X: Any, y: Any, ax: Any = None, *, n_permutations: int = 10) -> Any:
        """Permutation importance of the final model on the data given."""
        found, reasons = importance(self._search, X, y, n_permutations=n_permutations)
        if found is None:
            raise SoberError(
                "E116", reasons[0].text if reasons else "`n_permutations` is 0, so there is nothing to draw."
            )
        ax, bars = _axes(ax), found.bars
        ax.barh(range(len(bars)), [b.value for b in bars], xerr=[b.spread for b in bars], color=BLUE, alpha=0.85)
        ax.set_yticks(range(len(bars)), [_plain(b.label[:40]) for b in bars])
        ax.invert_yaxis()
        return _finish(ax, "Permutation importance, on training data", "fall of the score", "")

    def _chart(self, name: str, ax: Any) -> Any:
        task, make = CHARTS[name]
        evidence = Evidence.of(self._search)
        chart = make(evidence) if evidence.task == task else None
        if chart is None:
            raise _no_chart(name, task, evidence.task)
        return draw(chart, ax)


_NAMES = ", ".join(CHARTS)


def draw(chart: Chart, ax: Any = None) -> Any:
    """Draw a chart of a report, such as one of `summary.charts`, on matplotlib axes.

    Parameters
    ----------
    chart : Chart
    ax : matplotlib axes, optional
        Default: those of a new figure.
    """
    ax = _axes(ax)
    if chart.reference is not None:
        x0, y0, x1, y1 = chart.reference
        ax.plot([x0, x1], [y0, y1], color=GREY, lw=1, ls=(0, (4, 4)))
    if chart.points_x:
        ax.plot(chart.points_x, chart.points_y, ".", color=GREY, alpha=0.45, ms=4)
    for i, line in enumerate(chart.lines):
        color, dash = SERIES[i % len(SERIES)]
        y, low, high = (np.array([np.nan if v is None else v for v in part]) for part in (line.y, line.low, line.high))
        step, style = ("post", "steps-post") if line.stepped else (None, "default")
        label = _plain(f"{line.label}: {line.text}" if line.text else line.label)
        ax.fill_between(line.x, low, high, step=step, color=color, alpha=0.18, lw=0)
        ax.plot(line.x, y, dash, color=color, lw=2, marker="o" if line.marked else "", drawstyle=style, label=label)
    for mark in chart.marks:
        ax.plot(mark.x, mark.y, "o", color=VERMILLION, mfc="none", ms=9, label=mark.text)
    ax.set(xlim=_roomy(chart.x_range), ylim=_roomy(chart.y_range))
    ax.grid(True, axis="y", color=LIGHT, lw=0.8)
    return _finish(ax, chart.title, chart.x_label, chart.y_label)


def _line(label: str, x: Sequence[float], y: Sequence[float], *, stepped: bool = False, marked: bool = False) -> Line:
    values = tuple(float(v) for v in y)
    return Line(label, tuple(float(v) for v in x), values, values, values, stepped=stepped, marked=marked)


def _no_chart(name: str, task: str, given: str) -> SoberError:
    if task != given:
        return SoberError("E116", f"`{name}` is a plot for {task}; this search is one of {given}. Choose another plot.")
    return SoberError(
        "E116",
        f"The search did not keep the predictions that `{name}` needs, or there are not two classes. Add roc_auc and "
        "neg_log_loss to scoring, or choose another plot.",
    )


def _roomy(ends: Sequence[float]) -> tuple[float, float]:
    """Leave room for half the width of a line that runs along the edge."""
    room = 0.01 * (ends[1] - ends[0]) or 0.5
    return ends[0] - room, ends[1] + room


def _plain(label: str) -> str:
    """Keep matplotlib from reading dollars as formulas, and from hiding labels that begin with an underscore."""
    return (" " if label.startswith("_") else "") + label.replace("$", r"\$")


def _finish(ax: Any, title: str, x_label: str, y_label: str) -> Any:
    ax.set_title(title, loc="left", fontweight="bold")
    ax.set(xlabel=x_label, ylabel=y_label)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_axisbelow(True)
    if ax.get_legend_handles_labels()[1]:
        ax.legend(frameon=False, fontsize="small")
    return ax


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise SoberError(
            "E403", "Plots need matplotlib, which is not installed. Write: pip install 'sobercv[plot]'."
        ) from None
    return plt.subplots(figsize=(5.4, 4.2), layout="constrained")[1]
