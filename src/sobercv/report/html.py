"""The report as one HTML file that works offline: no script but the table's, no request to anywhere.

Everything that comes from data is escaped; a policy in the page lets no script run but the one that is part of it.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from typing import Any

from ..errors import SoberError
from . import svg, words
from .checklist import checklist
from .records import Chart, ConfigurationRow, Summary
from .tables import configurations_table, scores_table

#: Spaces at which no line may end: before a percent sign, and between a parameter and its value.
_BREAKS = re.compile(r"(?<=\d) (?=%)|(?<=\([a-zA-Z]) (?=\d)|(?<=, [a-zA-Z]) (?=\d)|(?<=alpha) (?=\d)")
MOST_ROWS = 1000
UNKNOWN = ("Fold mean", "Fold SD", "Training")
KINDS = {"Parameters": "t", "Status": "state", "Won": "n nowrap", "Training": "n nowrap"}
STATUS = ("finished", "still in the race", "dropped", "failed")
#: Columns of the table of configurations: its name, what it shows, and what it is sorted by.
COLUMNS: dict[str, tuple[str, Callable[[ConfigurationRow], Any]]] = {
    "Rank": ("by the rule that selects", lambda row: row.rank),
    "Parameters": ("what was set", lambda row: row.params),
    "Status": (
        "finished, dropped after a round, or failed",
        lambda row: (row.dropped_after or 0) + 1e6 * STATUS.index(row.status),
    ),
    "Won": ("share of the resamples in which it was the best", lambda row: row.wins),
    "Pooled": ("score of all its out-of-sample predictions together", lambda row: row.pooled),
    "Fold mean": ("mean of its scores over folds", lambda row: row.mean),
    "Fold SD": ("standard deviation of its scores over folds", lambda row: row.spread),
    "Training": ("mean time of training one model", lambda row: row.seconds),
    "Nr.": ("its number in cv_results_", lambda row: row.index),
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
    try:
        import jinja2
        from markupsafe import Markup
    except ImportError:
        raise SoberError(
            "E403", "The HTML report needs jinja2, which is not installed. Write: pip install 'sobercv[report]'."
        ) from None
    page, style, script = (
        files(__package__).joinpath(f"page.{kind}").read_text(encoding="utf-8") for kind in ("html", "css", "js")
    )
    allowed = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in (style, script)]
    data = summary.to_json().decode()
    for sign in "<>&":  # so that the data cannot end the element that they stand in, nor open another one
        data = data.replace(sign, f"\\u{ord(sign):04x}")
    rows = summary.configurations[:MOST_ROWS]
    # Of an estimate without its search, some columns hold nothing.
    columns = {n: c for n, c in COLUMNS.items() if n not in UNKNOWN or any(c[1](row) is not None for row in rows)}
    cells = []  # class, what sorts (None: the text) and what is shown, with a bar for the wins
    for row, shown in zip(rows, configurations_table(summary).rows[1:], strict=False):
        texts: dict[str, Any] = dict(zip(COLUMNS, (*shown, row.index), strict=True))
        texts["Won"] = Markup(f"{svg.tiny(row.wins)} ") + texts["Won"]
        keys = ((name, KINDS.get(name, "n"), key(row)) for name, (_, key) in columns.items())
        cells.append([(k, None if k == "t" else "" if v is None else v, texts[name]) for name, k, v in keys])
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, finalize=_unbroken
    )
    made: str = environment.from_string(page).render(
        s=summary,
        score=summary.scores[0],
        rows=cells,
        classes=["winner" if row.is_winner else row.status for row in rows],
        columns=[(name, hint) for name, (hint, _) in columns.items()],
        scale=Markup(svg.scale(summary.scores[0])),
        metrics=scores_table(summary),
        drawn=lambda chart: [
            (one, Markup(svg.draw(one)), [(Markup(swatch), text) for swatch, text in key])
            for one, key in _panels(chart)
        ],
        checklist=None if summary.race is None else checklist(summary),
        policy=f"default-src 'none'; style-src 'sha256-{allowed[0]}'; script-src 'sha256-{allowed[1]}'; "
        "img-src data:; base-uri 'none'; form-action 'none'",
        style=Markup(style),
        script=Markup(script),
        json=Markup(data),
        num=words.number,
        within=words.within,
        gap=words.gap,
        between=words.between,
    )
    return made


def _panels(chart: Chart) -> list[tuple[Chart, list[tuple[str, str]]]]:
    """Give lines that are to stand apart a panel each, since bands on top of each other tell nothing."""
    if not chart.apart:
        return [(chart, svg.key(chart))]
    return [
        (replace(chart, name=f"{chart.name}-{i}", title=f"{chart.title}: {line.label}", lines=(line,),
                 sentence=f"{line.text}. This class against the rest."), [])
        for i, line in enumerate(chart.lines)
    ]  # fmt: skip


def _unbroken(value: Any) -> Any:
    """Keep a number on the line of what it belongs to: 95 %, C 0.1."""
    return _BREAKS.sub("\u00a0", value) if type(value) is str else value
