"""The report as one HTML file that works offline: no request to anywhere.

Everything that comes from data is escaped; a policy in the page lets its own script alone run.
"""

from __future__ import annotations

import base64
import hashlib
import re
from importlib.resources import files

from ..errors import needs
from . import svg
from .checklist import checklist
from .evidence import padded
from .records import Chart, Summary, Whisker
from .tables import configurations_table, scores_table
from .words import within

#: Spaces at which no line may end: before a percent sign, and between a parameter and its value.
_BREAKS = re.compile(r"(?<=\d) (?=%)|(?<=\([a-zA-Z]) (?=\d)|(?<=, [a-zA-Z]) (?=\d)|(?<=alpha) (?=\d)")
MOST_ROWS = 1000


def to_html(summary: Summary) -> str:
    """Write a summary as one self-contained page.

    Parameters
    ----------
    summary : Summary

    Returns
    -------
    str
        HTML that needs no other file and no network.
    """
    with needs("The HTML report needs jinja2", "'sobercv[report]'"):
        import jinja2
    page, style, script = (
        files(__package__).joinpath(f"page.{kind}").read_text(encoding="utf-8") for kind in ("html", "css", "js")
    )
    allowed = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in (style, script)]
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
        finalize=lambda value: _BREAKS.sub("\u00a0", value) if type(value) is str else value,
    )  # fmt: skip
    score = summary.scores[0]
    # The honest number with its interval, above what plain cross-validation claims.
    low, high = score.interval or (score.value, score.value)
    scale = Chart(
        "scale", f"Honest score {score.honest}, plain cross-validation {score.claim}", "", "",
        padded([low, high, score.value, score.naive], 0.18), (1.5, -0.5),
        whiskers=(Whisker(0, low, high, score.value), Whisker(1, score.naive, score.naive, score.naive, hollow=True)),
        y_names=(f"honest {score.honest}", f"plain CV {score.claim}"),
    )  # fmt: skip
    head, *rows = configurations_table(summary).rows
    made: str = environment.from_string(page).render(
        s=summary, score=score, head=head, rows=list(zip(summary.configurations, rows, strict=True))[:MOST_ROWS],
        scale=scale, metrics=scores_table(summary), panels=svg.panels, draw=svg.draw, key=svg.key,
        checklist=None if summary.race is None else checklist(summary),
        policy=f"default-src 'none'; style-src 'sha256-{allowed[0]}'; script-src 'sha256-{allowed[1]}'; "
        "img-src data:; base-uri 'none'; form-action 'none'",
        style=style, script=script, within=within,
    )  # fmt: skip
    return made
