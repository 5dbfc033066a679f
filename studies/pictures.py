"""How the studies draw: one style, and files that are the same for the same numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent / "docs"


def pyplot() -> Any:
    """Give matplotlib without a screen, in our style."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "sober"
    plt.rcParams["svg.fonttype"] = "none"  # text stays text: small files that can be searched
    plt.rcParams["font.sans-serif"] = ["DejaVu Sans", "Arial", "Helvetica", "sans-serif"]
    plt.rcParams["axes.spines.top"] = plt.rcParams["axes.spines.right"] = False
    return plt


def keep(figure: Any, name: str) -> None:
    """Save a figure for the docs."""
    figure.tight_layout()
    (DOCS / "figures").mkdir(exist_ok=True)
    figure.savefig(DOCS / "figures" / f"{name}.svg", metadata={"Date": None})
    pyplot().close(figure)
