"""The report as one HTML file that works offline: no script but the table's, no request to anywhere.

Takes a `Summary`, gives the page. Everything that comes from data is escaped; a policy in the page lets no script run
but the one that is part of it.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
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
    markup = _markup()
    style, script = _resource("page.css"), _resource("page.js")
    rows = summary.configurations[:MOST_ROWS]
    # Of an estimate without its search, some columns hold nothing.
    columns = {n: c for n, c in COLUMNS.items() if n not in UNKNOWN or any(c[1](row) is not None for row in rows)}
    page: str = _template().render(
        s=summary,
        score=summary.scores[0],
        rows=[_cells(row, shown, columns, markup)
              for row, shown in zip(rows, configurations_table(summary).rows[1:], strict=False)],
        classes=["winner" if row.is_winner else row.status for row in rows],
        columns=[(name, hint) for name, (hint, _) in columns.items()],
        scale=markup(svg.scale(summary.scores[0])),
        metrics=scores_table(summary),
        drawn=lambda chart: _drawn(chart, markup),
        checklist=None if summary.race is None else checklist(summary),
        policy=policy(style, script),
        style=markup(style),
        script=markup(script),
        json=markup(safe_json(summary)),
        num=words.number,
        within=words.within,
        gap=words.gap,
        between=words.between,
    )  # fmt: skip
    return page


def _cells(row: ConfigurationRow, shown: tuple[str, ...], columns: Any, markup: Any) -> list[tuple[str, Any, Any]]:
    """The cells of a configuration: class, what sorts (None: the text) and what is shown, with a bar for its wins."""
    texts: dict[str, Any] = dict(zip(COLUMNS, (*shown, row.index), strict=True))
    texts["Won"] = markup(f"{svg.tiny(row.wins)} ") + texts["Won"]
    cells = []
    for name, (_, key) in columns.items():
        kind = {"Parameters": "t", "Status": "state", "Won": "n nowrap", "Training": "n nowrap"}.get(name, "n")
        value = "" if key(row) is None else key(row)
        cells.append((kind, None if kind == "t" else value, texts[name]))
    return cells


def _drawn(chart: Chart, markup: Any) -> list[tuple[Chart, Any, list[Any]]]:
    """Draw a chart; lines that are to stand apart get a panel each, since bands on top of each other tell nothing."""
    if not chart.apart:
        return [(chart, markup(svg.draw(chart)), [(markup(swatch), words) for swatch, words in svg.key(chart)])]
    panels = (
        replace(chart, name=f"{chart.name}-{i}", title=f"{chart.title}: {line.label}", lines=(line,),
                sentence=f"{line.text}. This class against the rest.")
        for i, line in enumerate(chart.lines)
    )  # fmt: skip
    return [(panel, markup(svg.draw(panel)), []) for panel in panels]


def policy(style: str, script: str) -> str:
    """Forbid everything but this very style and this very script."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def safe_json(summary: Summary) -> str:
    """Write JSON that cannot end the element it stands in, nor open another one."""
    text = summary.to_json().decode()
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@lru_cache(maxsize=4)
def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _template() -> Any:
    environment = _jinja().Environment(
        autoescape=True, undefined=_jinja().StrictUndefined, trim_blocks=True, finalize=_unbroken
    )
    return environment.from_string(_resource("page.html"))


def _unbroken(value: Any) -> Any:
    """Keep a number on the line of what it belongs to: 95 %, C 0.1."""
    return _BREAKS.sub("\u00a0", value) if type(value) is str else value


def _markup() -> Any:
    _jinja()
    from markupsafe import Markup

    return Markup


def _jinja() -> Any:
    try:
        import jinja2
    except ImportError:
        raise SoberError(
            "E403", "The HTML report needs jinja2, which is not installed. Write: pip install 'sobercv[report]'."
        ) from None
    return jinja2
