"""The charts of a report as matplotlib axes: `search.plot.roc()`, with `ax=`. The only place that knows matplotlib.

Every plot is a `Chart`, the record that the page draws, and one function draws them all.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..errors import SoberError, needs
from .charts import CHARTS
from .evidence import Evidence
from .model_charts import importance, importance_chart
from .notes import missing_charts
from .records import Chart

BLUE, GREEN, VERMILLION, GREY, LIGHT = "#0072B2", "#00785A", "#D55E00", "#57606A", "#D9DDE1"
SERIES = ((BLUE, "-"), (GREEN, ":"), (VERMILLION, "--"))
BOXES = (BLUE, VERMILLION, "#B8BDC2")


class Plots:
    """Plots of a fitted search; each draws on `ax` (default: a new figure) and returns the axes.

    Beside `importance`, each chart of the report has a plot of its name: `draws`, the histogram of the bootstrap draws,
    and `race`, how many configurations were still in the race after each round; `roc` and `confusion` for classes,
    `precision_recall`, `calibration` and `decision` for two of them, `predicted` for numbers, `survival` for survival
    times.
    """

    def __init__(self, search: Any) -> None:
        self._search = search

    def __getattr__(self, name: str) -> Any:
        if name not in CHARTS:
            raise AttributeError(f"There is no plot {name!r}. Plots are importance, {', '.join(CHARTS)}.")
        return partial(self._chart, name)

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *CHARTS])

    def importance(self, X: Any, y: Any, ax: Any = None, *, n_permutations: int = 10) -> Any:
        """Permutation importance of the final model on the data given."""
        bars, said = importance(self._search, X, y, n_permutations=n_permutations)
        if not bars:
            raise SoberError("E116", said or "`n_permutations` is 0, so there is nothing to draw.")
        return draw(importance_chart(bars, said), ax)

    def _chart(self, name: str, ax: Any = None) -> Any:
        task, make = CHARTS[name]
        source = Evidence.of(self._search) if task else self._search
        is_other = task and source.task != task
        if not is_other and (charts := make(source)):
            return draw(charts[0], ax)
        if is_other:
            why = f"is a plot for {task}; this search is for {source.task}. Choose another plot."
        elif name in ("precision_recall", "calibration", "decision") and len(source.classes) != 2:
            why = f"is a plot for two classes; this search has {len(source.classes)}. Choose another plot."
        else:
            reasons = missing_charts(source, ()) if task else []
            why = f"cannot be drawn. {reasons[0].text if reasons else 'There is nothing to draw.'}"
        raise SoberError("E116", f"`{name}` {why}")


def draw(chart: Chart, ax: Any = None) -> Any:
    """Draw a chart of a report, such as one of `summary.charts`, on matplotlib axes.

    Parameters
    ----------
    chart : Chart
    ax : matplotlib axes, optional
        Default: those of a new figure.
    """
    if ax is None:
        with needs("Plots need matplotlib", "'sobercv[plot]'"):
            import matplotlib.pyplot as plt
        ax = plt.subplots(figsize=(5.4, 4.2), layout="constrained")[1]
    if chart.reference is not None:
        ax.plot(chart.reference[::2], chart.reference[1::2], color=GREY, lw=1, ls=(0, (4, 4)))
    for box in chart.boxes:
        color, alpha = (BLUE, 0.7 * box.tint) if box.tint is not None else (BOXES[box.series], 0.85)
        ax.bar(box.x0, box.y1 - box.y0, box.x1 - box.x0, box.y0, align="edge", color=color, alpha=alpha, ec="white")
        if box.words:
            ax.text((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2, box.words[0], ha="center", va="center")
    if chart.points_x:
        ax.plot(chart.points_x, chart.points_y, ".", color=GREY, alpha=0.45, ms=4)
    for i, line in enumerate(chart.lines):
        color, dash = SERIES[i % len(SERIES)]
        color, marker = "black" if chart.boxes else color, "o" if line.marked else ""
        y, low, high = np.array([line.y, line.low, line.high], np.float64)  # NaN where undefined
        step, style = ("post", "steps-post") if line.stepped else (None, "default")
        ax.fill_between(line.x, low, high, step=step, color=color, alpha=0.18, lw=0)
        ax.plot(line.x, y, dash, color=color, lw=2, marker=marker, drawstyle=style, label=_plain(line.said))
    for whisker in chart.whiskers:
        ax.plot([whisker.low, whisker.high], [whisker.y, whisker.y], color="black" if chart.boxes else BLUE, lw=1.2)
        if whisker.value is not None:
            ax.plot(whisker.value, whisker.y, "D" if whisker.hollow else "o", color=BLUE)
    for mark in chart.marks:
        ax.plot(mark.x, mark.y, "o", color=VERMILLION, mfc="none", ms=9, label=mark.text)
    for (first, last), limits in ((chart.x_range, ax.set_xlim), (chart.y_range, ax.set_ylim)):
        room = 0.01 * (last - first)  # for half the width of a line that runs along the edge
        limits(first - room, last + room)
    for axis, names in (("x", chart.x_names), ("y", chart.y_names)):
        if names:
            getattr(ax, f"set_{axis}ticks")(range(len(names)), [_plain(name[:40]) for name in names])
    if not chart.y_names:
        ax.grid(True, axis="y", color=LIGHT, lw=0.8)
    ax.set_title(_plain(chart.title), loc="left", fontweight="bold")
    ax.set(xlabel=_plain(chart.x_label), ylabel=_plain(chart.y_label))
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_axisbelow(True)
    if ax.get_legend_handles_labels()[1]:
        ax.legend(frameon=False, fontsize="small")
    return ax


def _plain(label: str) -> str:
    """Keep matplotlib from reading dollars as formulas, and from hiding labels that begin with an underscore."""
    return (" " if label.startswith("_") else "") + label.replace("$", r"\$")
