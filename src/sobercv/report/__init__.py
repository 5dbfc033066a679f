"""Reports: a fitted search in, a plain summary, then HTML, tables or plots.

Everything is computed in `summarize`; renderers only write down what it found.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import SoberError
from .html import to_html
from .records import Summary
from .summary import summarize, summarize_estimates
from .tables import to_csv, to_markdown

__all__ = ["Summary", "summarize", "summarize_estimates", "to_html", "write"]

#: What a report can be written as, by the ending of its file.
RENDERERS: dict[str, Callable[[Summary], str]] = {
    "html": to_html, "htm": to_html, "md": to_markdown, "csv": to_csv, "json": lambda s: s.to_json().decode() + "\n",
}  # fmt: skip


def write(summary: Summary, path: Any) -> Path:
    """Write a summary to a file; the ending of the path says how.

    Parameters
    ----------
    summary : Summary
    path : str or path
        Ends with `.html` (the report), `.md` or `.csv` (its tables) or `.json`. What is there is replaced.

    Returns
    -------
    Path
    """
    path = Path(path)
    made = rendered(summary, path)
    try:
        path.write_text(made, encoding="utf-8")
    except OSError as error:
        raise SoberError("E809", f"{str(path)!r} cannot be written: {error.strerror}. Name another place.") from None
    return path


def rendered(summary: Summary, path: Path) -> str:
    """Return what a summary is as a file of this path, by the ending of it; E122 where that is none of a report."""
    kind = path.suffix.lower().removeprefix(".")
    if kind in RENDERERS:
        return RENDERERS[kind](summary)
    hint = "Write report.html" + " and print it to PDF in the browser" * (kind == "pdf")
    raise SoberError("E122", f"A report's name ends with .html, .md, .csv or .json; got {str(path)!r}. {hint}.")
