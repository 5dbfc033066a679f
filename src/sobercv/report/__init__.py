"""Reports: a fitted search in, a plain summary, then text, HTML or plots.

Takes a finished search; everything is computed in `summarize`, and renderers only write down what it found.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..errors import SoberError
from .html import to_html
from .records import Summary
from .summary import summarize
from .text import to_text

__all__ = ["Summary", "summarize", "to_html", "to_text", "write"]


def write(summary: Summary, path: Any) -> Path:
    """Write a summary to a file; the ending of the path says how.

    Parameters
    ----------
    summary : Summary
    path : str or path
        Ends with `.html`, `.txt` or `.json`. What is there is replaced.

    Returns
    -------
    Path
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in (".html", ".htm", ".txt", ".json"):
        raise SoberError("E703", f"A report ends with .html, .txt or .json; got {str(path)!r}. Write report.html.")
    if kind == ".json":
        content = json.dumps(summary.to_dict(), indent=1, allow_nan=False) + "\n"
    else:
        content = to_text(summary) if kind == ".txt" else to_html(summary)
    path.write_text(content, encoding="utf-8")
    return path
