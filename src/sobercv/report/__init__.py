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
    kind = path.suffix.lower().removeprefix(".")
    if kind in FORMATS:
        content = to_format(summary, kind)
    elif kind == "json":
        content = summary.to_json().decode() + "\n"
    elif kind in ("html", "htm"):
        content = to_html(summary)
    else:
        raise SoberError(
            "E122", f"A report's name ends with .html, .md, .tex, .csv or .json; got {str(path)!r}. Write report.html."
        )
    path.write_text(content, encoding="utf-8")
    return path
