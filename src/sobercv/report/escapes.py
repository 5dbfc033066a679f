"""Text for Markdown and LaTeX: what comes from data is escaped."""

from __future__ import annotations

import re

_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\u2013": "--", "\u2212": "$-$", "\u00b2": "$^2$",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "\u2026": r"\ldots{}",
}  # fmt: skip


#: What Markdown or the HTML in it would act on; an underscore inside a word is plain text.
_MARKDOWN = re.compile(r"[\\`*\[\]<>&|~$]|(?<!\w)_|_(?!\w)|^[#+-](?= )")


def md(text: str) -> str:
    """Write text so that Markdown shows it as it is, HTML included."""
    return _MARKDOWN.sub(r"\\\g<0>", text)


def tex(text: str) -> str:
    """Write text so that LaTeX prints it as it is."""
    return "".join(_TEX.get(sign, sign) for sign in text)
