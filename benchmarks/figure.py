"""The figure of docs/evidence/benchmarks.md: the same numbers give the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

MEANING = {"N": "samples N", "C": "configurations C", "B": "resamples B", "R": "repeats R"}
COLOURS = {"accuracy": "#1b6ca8", "roc_auc": "#c8553d"}
STYLE = {
    "svg.hashsalt": "sober",  # ids that do not change from run to run
    "svg.fonttype": "none",  # text stays text
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#888888",
    "axes.labelcolor": "#333333",
    "xtick.color": "#555555",
    "ytick.color": "#555555",
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.6,
    "figure.facecolor": "white",
}


def growth(curves: Sequence[Any], path: Path) -> None:
    """CPU seconds above, MiB below, a column for each thing that grows; dotted lines are linear growth."""
    letters = list(dict.fromkeys(curve.axis for curve in curves))
    with plt.rc_context(STYLE):
        figure, panels = plt.subplots(2, len(letters), figsize=(2.5 * len(letters), 4.6), sharex="col", sharey="row")
        for column, letter in enumerate(letters):
            for row, what in enumerate(("work", "mib")):
                panel = panels[row, column]
                for curve in (c for c in curves if c.axis == letter):
                    values, colour = getattr(curve, what), COLOURS[curve.metric]
                    panel.plot(
                        curve.sizes, values, "o-", color=colour, label=curve.metric, markersize=3.5, linewidth=1.4
                    )
                    linear = [values[-1] * size / curve.sizes[-1] for size in curve.sizes]
                    panel.plot(curve.sizes, linear, ":", color=colour, linewidth=0.9, alpha=0.7)
                panel.set_xscale("log")
                panel.set_yscale("log")
                panel.minorticks_off()
            panels[1, column].set_xlabel(MEANING[letter])
        panels[0, 0].set_ylabel("CPU seconds, all cores")
        panels[1, 0].set_ylabel("MiB beyond the input")
        handles, labels = panels[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="upper center", ncols=len(labels), frameon=False)
        figure.tight_layout(rect=(0, 0, 1, 0.94))
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None, "Creator": None})
        plt.close(figure)
