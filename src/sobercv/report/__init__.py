"""Reports: a fitted search in, a plain summary, then HTML, tables or plots.

Everything is computed in `summarize`; renderers only write down what it found.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import SoberError
from .html import to_html
from .records import Summary
from .summary import summarize, summarize_estimates
from .tables import FORMATS, to_format

__all__ = ["Summary", "summarize", "summarize_estimates", "to_html", "write"]


def write(summary: Summary, path: Any) -> Path:
    """Write a summary to a file; the ending of the path says how.

    Parameters
    ----------
    summary : Summary
    path : str or path
        Ends with `.html` (the report), `.md`, `.tex` or `.csv` (its tables) or `.json`. What is there is replaced.

    Returns
    -------
    Path
    """
    path = Path(path)
    path.write_text(rendered(summary, path), encoding="utf-8")
    return path


def rendered(summary: Summary, path: Path) -> str:
    """Return what a summary is as a file of this path, by the ending of it; E122 where that is none of a report."""
    kind = path.suffix.lower().removeprefix(".")
    if kind in FORMATS:
        return to_format(summary, kind)
    if kind == "json":
        return summary.to_json().decode() + "\n"
    if kind in ("html", "htm"):
        return to_html(summary)
    hint = "Write report.html" + " and print it to PDF in the browser" * (kind == "pdf")
    known = ".html, .md, .tex, .csv or .json"
    raise SoberError("E122", f"A report's name ends with {known}; got {str(path)!r}. {hint}.")
