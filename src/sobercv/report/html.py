"""The report as one HTML file that works offline: no script but the table's, no request to anywhere.

Everything that comes from data is escaped; a policy in the page lets no script run but the one that is part of it.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from importlib.resources import files

from ..errors import needs
from . import svg
from .checklist import checklist
from .evidence import padded
from .records import Chart, Section, Summary, Whisker
from .tables import configurations_table, scores_table
from .words import within

#: Spaces at which no line may end: before a percent sign, and between a parameter and its value.
_BREAKS = re.compile(r"(?<=\d) (?=%)|(?<=\([a-zA-Z]) (?=\d)|(?<=, [a-zA-Z]) (?=\d)|(?<=alpha) (?=\d)")
MOST_ROWS = 1000
#: Columns of the table of configurations: what each shows, and the field that sorts it; None: its text.
COLUMNS = {
    "Rank": ("by the rule that selects", "rank"),
    "Parameters": ("the values that were set", None),
    "Status": ("finished, dropped after a round, failed, or not reached in time", None),
    "Won": ("share of the resamples in which it was the best", "wins"),
    "Pooled": ("score of all its out-of-sample predictions together", "pooled"),
    "Fold mean": ("mean of its scores over folds", "mean"),
    "Fold SD": ("standard deviation of its scores over folds", "spread"),
    "Training": ("mean time of training one model", "seconds"),
    "No.": ("its number in cv_results_", "index"),
}


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
    rows, score = summary.configurations[:MOST_ROWS], summary.scores[0]
    shown = [(*cells, str(row.index)) for row, cells in zip(rows, configurations_table(summary).rows[1:], strict=False)]
    columns = [  # of an estimate without its search, some hold nothing
        (i, name, hint, key) for i, (name, (hint, key)) in enumerate(COLUMNS.items())
        if key is None or any(getattr(row, key) is not None for row in rows)
    ]  # fmt: skip
    sections: list[tuple[Section, list[Chart]]] = [(section, []) for section in summary.sections]
    for section, charts in sections:
        for chart in section.charts:  # bands on top of each other tell nothing: lines apart have a panel each
            charts += [
                replace(chart, name=f"{chart.name}-{i}", title=f"{chart.title}: {line.label}", lines=(line,),
                        sentence=f"{line.text}. This class against the rest.")
                for i, line in enumerate(chart.lines)
            ] if chart.apart else [chart]  # fmt: skip
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
        finalize=lambda value: _BREAKS.sub("\u00a0", value) if type(value) is str else value,
    )  # fmt: skip
    # The honest number with its interval, above what plain cross-validation claims.
    low, high = score.interval or (score.value, score.value)
    scale = Chart(
        "scale", f"Honest score {score.honest}, plain cross-validation {score.claim}", "", "",
        padded([low, high, score.value, score.naive], 0.18), (1.5, -0.5),
        whiskers=(Whisker(0, low, high, score.value), Whisker(1, score.naive, score.naive, score.naive, hollow=True)),
        y_names=(f"honest {score.honest}", f"plain CV {score.claim}"),
    )  # fmt: skip
    made: str = environment.from_string(page).render(
        s=summary, score=score, rows=list(zip(rows, shown, strict=True)), columns=columns,
        scale=scale, metrics=scores_table(summary), sections=sections, draw=svg.draw, key=svg.key,
        checklist=None if summary.race is None else checklist(summary),
        policy=f"default-src 'none'; style-src 'sha256-{allowed[0]}'; script-src 'sha256-{allowed[1]}'; "
        "img-src data:; base-uri 'none'; form-action 'none'",
        style=style, script=script, within=within,
    )  # fmt: skip
    return made
