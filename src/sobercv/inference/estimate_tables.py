"""One estimate as a table for a paper: Markdown or LaTeX.

Takes the cells, gives text; what comes from data is escaped. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\u2013": "--", "\u2212": "$-$", "\u00b2": "$^2$",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "\u2026": r"\ldots{}",
}  # fmt: skip


def tex(text: str) -> str:
    """Write text so that LaTeX prints it as it is."""
    return "".join(_TEX.get(sign, sign) for sign in text)


def markdown(head: Sequence[str], row: Sequence[str]) -> str:
    """Write a table of one row as Markdown."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(c.replace("\\", "\\\\").replace("|", "\\|") for c in cells) + " |"

    return "\n".join([line(head), "|" + " --- |" * len(head), line(row)]) + "\n"


def latex(head: Sequence[str], row: Sequence[str]) -> str:
    """Write a table of one row as LaTeX; it needs the package booktabs."""

    def line(cells: Sequence[str]) -> str:
        return " & ".join(tex(c) for c in cells) + r" \\"

    sides = "l" + "r" * (len(head) - 2) + "l"
    parts = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule", line(head), r"\midrule", line(row), r"\bottomrule"]
    return "\n".join([*parts, r"\end{tabular}"]) + "\n"
