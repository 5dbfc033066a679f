"""The charts of a report as matplotlib axes: `search.plot.roc()`, with `ax=`. The only place that knows matplotlib.

Takes records of the summary functions, gives axes; computes nothing itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import SoberError
from . import classification_charts, search_records
from .evidence import Evidence
from .importance import importance
from .records import Chart, ConfusionMatrix, Line
from .summary import CHARTS
from .words import number, percent

BLUE, GREEN, VERMILLION, GREY, LIGHT = "#0072B2", "#00785A", "#D55E00", "#57606A", "#D9DDE1"
SERIES = ((BLUE, "-"), (GREEN, ":"), (VERMILLION, "--"))
MOST_ROWS = 20


class Plots:
    """Plots of a fitted search; each draws on `ax` (a new one unless given) and gives the axes.

    Parameters
    ----------
    search : BBCSearchCV
        Fitted.
    """

    def __init__(self, search: Any) -> None:
        self._search = search

    def draws(self, ax: Any = None) -> Any:
        """Histogram of the bootstrap draws with the honest and the naive score."""
        score = search_records.scores(self._search)[0]
        bins = search_records.draws(search_records.estimates_of(self._search)[0])
        ax = _axes(ax)
        if bins is not None:
            ax.stairs(bins.heights, bins.edges, fill=True, color=BLUE, alpha=0.35)
        if score.interval is not None:
            label = f"{100 * score.level:g} % interval"
            ax.axvspan(*score.interval, color=BLUE, alpha=0.12, lw=0, label=label)
        ax.axvline(score.value, color=BLUE, lw=2, label=f"honest {number(score.value, score.digits)}")
        ax.axvline(score.naive, color=VERMILLION, lw=2, ls="--", label=f"plain CV {number(score.naive, score.digits)}")
        return _finish(ax, "Draws", score.label, "resamples")

    def race(self, ax: Any = None) -> Any:
        """Who was still in the race after each round."""
        race = search_records.race(self._search)
        ax = _axes(ax)
        x = [r.number for r in race.rounds]
        alive, dropped = np.array([[r.alive, r.dropped] for r in race.rounds]).T
        failed = np.array([r.failed for r in race.rounds])
        ax.bar(x, alive, color=BLUE, alpha=0.85, label="still in the race")
        ax.bar(x, dropped, bottom=alive, facecolor="none", edgecolor=VERMILLION, hatch="////", label="dropped")
        if failed.any():
            ax.bar(x, failed, bottom=alive + dropped, color=GREY, alpha=0.4, label="failed")
        ax.xaxis.get_major_locator().set_params(integer=True)
        return _finish(ax, "Race", "round of the cross-validation", "configurations")

    def configurations(self, ax: Any = None) -> Any:
        """Scores of the best configurations: mean and spread over folds, and how often each won."""
        rows, score = search_records.configurations(self._search)[:MOST_ROWS], search_records.scores(self._search)[0]
        ax = _axes(ax)
        y = np.arange(len(rows))
        mean = np.array([np.nan if r.mean is None else r.mean for r in rows])
        spread = np.array([0.0 if r.spread is None else r.spread for r in rows])
        ax.errorbar(
            mean, y, xerr=spread, fmt="o", color=BLUE, ecolor=LIGHT, elinewidth=3, label="mean and SD over folds"
        )
        ax.axvline(score.value, color=BLUE, lw=1.5, label=f"honest, winner {number(score.value, score.digits)}")
        labels = [f"{r.params[:40]}  {percent(r.wins) if r.status == 'finished' else r.status}" for r in rows]
        ax.set_yticks(y, _plain(labels), fontsize="small")
        ax.invert_yaxis()
        return _finish(ax, "Configurations, and the share of resamples won", score.label, "")

    def roc(self, ax: Any = None) -> Any:
        """ROC curve, one for each class where there are more than two."""
        return self._chart("roc", ax)

    def precision_recall(self, ax: Any = None) -> Any:
        """Precision at every recall; two classes."""
        return self._chart("precision_recall", ax)

    def calibration(self, ax: Any = None) -> Any:
        """Predicted probability against observed share; two classes."""
        return self._chart("calibration", ax)

    def decision(self, ax: Any = None) -> Any:
        """Net benefit by threshold, against treating all and none; two classes."""
        return self._chart("decision", ax)

    def predicted(self, ax: Any = None) -> Any:
        """Predicted against true numbers."""
        return self._chart("predicted", ax)

    def residuals(self, ax: Any = None) -> Any:
        """Residuals against predictions."""
        return self._chart("residuals", ax)

    def survival(self, ax: Any = None) -> Any:
        """Kaplan-Meier curves by risk group."""
        return self._chart("survival", ax)

    def confusion(self, ax: Any = None) -> Any:
        """Confusion matrix, each row adding up to 100 %."""
        evidence = Evidence.of(self._search)
        found = classification_charts.confusion(evidence) if evidence.task == "classification" else None
        if found is None:
            raise _no_chart("confusion", "classification", evidence.task)
        return _matrix(_axes(ax), found)

    def importance(self, X: Any, y: Any, ax: Any = None, *, n_permutations: int = 10) -> Any:
        """Permutation importance of the final model on the data given."""
        found, reasons = importance(self._search, X, y, n_permutations=n_permutations)
        if found is None:
            raise SoberError(
                "E702", reasons[0].text if reasons else "`n_permutations` is 0, so there is nothing to draw."
            )
        ax = _axes(ax)
        names = _plain([b.label[:40] for b in found.bars])
        ax.barh(
            np.arange(len(names)),
            [b.value for b in found.bars],
            xerr=[b.spread for b in found.bars],
            color=BLUE,
            alpha=0.85,
        )
        ax.set_yticks(np.arange(len(names)), names)
        ax.invert_yaxis()
        return _finish(ax, "Permutation importance, on training data", "fall of the score", "")

    def _chart(self, name: str, ax: Any) -> Any:
        task, make = CHARTS[name]
        evidence = Evidence.of(self._search)
        chart = make(evidence) if evidence.task == task else None
        if chart is None:
            raise _no_chart(name, task, evidence.task)
        return _xy(_axes(ax), chart)


def _no_chart(name: str, task: str, given: str) -> SoberError:
    if task != given:
        return SoberError("E702", f"`{name}` is a plot for {task}; this search is one of {given}. Choose another plot.")
    return SoberError(
        "E702",
        f"The search did not keep the predictions that `{name}` needs, or there are not two classes. Add roc_auc and "
        "neg_log_loss to scoring, or choose another plot.",
    )


def _xy(ax: Any, chart: Chart) -> Any:
    if chart.reference is not None:
        x0, y0, x1, y1 = chart.reference
        ax.plot([x0, x1], [y0, y1], color=GREY, lw=1, ls=(0, (4, 4)))
    if chart.points_x:
        ax.plot(chart.points_x, chart.points_y, ".", color=GREY, alpha=0.45, ms=4)
    for i, line in enumerate(chart.lines):
        _draw(ax, line, *SERIES[i % len(SERIES)])
    for mark in chart.marks:
        ax.plot(mark.x, mark.y, "o", color=VERMILLION, mfc="none", ms=9, label=mark.text)
    ax.set(xlim=_roomy(chart.x_range), ylim=_roomy(chart.y_range))
    return _finish(ax, chart.title, chart.x_label, chart.y_label)


def _roomy(ends: Sequence[float]) -> tuple[float, float]:
    """Leave room for half the width of a line that runs along the edge."""
    room = 0.01 * (ends[1] - ends[0])
    return ends[0] - room, ends[1] + room


def _draw(ax: Any, line: Line, color: str, dash: str) -> None:
    y, low, high = (np.array([np.nan if v is None else v for v in part]) for part in (line.y, line.low, line.high))
    label = _plain([f"{line.label}: {line.text}" if line.text else line.label])[0]
    step = "post" if line.stepped else None
    drawstyle = "steps-post" if line.stepped else "default"
    ax.fill_between(line.x, low, high, step=step, color=color, alpha=0.18, lw=0)
    ax.plot(line.x, y, dash, color=color, lw=2, marker="o" if line.marked else "", drawstyle=drawstyle, label=label)


def _matrix(ax: Any, found: ConfusionMatrix) -> Any:
    share = np.array([[np.nan if v is None else v for v in row] for row in found.share])
    ax.imshow(share, cmap="Blues", vmin=0, vmax=1)
    for (i, j), value in np.ndenumerate(share):
        color = "white" if value > 0.55 else "black"
        ax.text(j, i, percent(value), ha="center", va="center", color=color)
    names = _plain([label[:20] for label in found.labels])
    ax.set_xticks(range(len(names)), names)
    ax.set_yticks(range(len(names)), names)
    return _finish(ax, found.title, "predicted", "true", grid=False)


def _plain(labels: list[str]) -> list[str]:
    """Keep matplotlib from reading dollars as formulas, and from hiding labels that begin with an underscore."""
    return [(" " if label.startswith("_") else "") + label.replace("$", r"\$") for label in labels]


def _finish(ax: Any, title: str, x_label: str, y_label: str, *, grid: bool = True) -> Any:
    ax.set_title(title, loc="left", fontweight="bold")
    ax.set(xlabel=x_label, ylabel=y_label)
    ax.spines[["top", "right"]].set_visible(False)
    if grid:
        ax.grid(True, axis="y", color=LIGHT, lw=0.8)
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
