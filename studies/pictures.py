"""How the studies draw: one style, and files that are the same for the same numbers."""

from __future__ import annotations

from typing import Any

from .evidence import FOLDER


def pyplot() -> Any:
    """Import matplotlib without a screen, in the style of the docs."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "sober"
    plt.rcParams["svg.fonttype"] = "none"  # text stays text: small files that can be searched
    plt.rcParams["font.sans-serif"] = ["DejaVu Sans", "Arial", "Helvetica", "sans-serif"]
    plt.rcParams["axes.spines.top"] = plt.rcParams["axes.spines.right"] = False
    return plt


def keep(figure: Any, name: str) -> None:
    """Save the figure of an evidence page."""
    figure.tight_layout()
    FOLDER.mkdir(exist_ok=True)
    figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})
    pyplot().close(figure)
