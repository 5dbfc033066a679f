"""The report as one HTML file that works offline: no script but the table's, no request to anywhere.

Takes a `Summary`, gives the page. Everything that comes from data is escaped; a policy in the page lets no script run
but the one that is part of it.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import lru_cache
from importlib.resources import files
from typing import Any

from ..errors import SoberError
from . import svg, words
from .records import Chart, ConfigurationRow, Summary
from .tables import scores_table, tables_of

#: Spaces at which no line may end: before a percent sign, and between a parameter and its value.
_BREAKS = re.compile(r"(?<=\d) (?=%)|(?<=\([a-zA-Z]) (?=\d)|(?<=, [a-zA-Z]) (?=\d)|(?<=alpha) (?=\d)")
MOST_ROWS = 1000
STATUS = ("finished", "still in the race", "dropped", "failed")
#: Columns of the table of configurations, and what each shows.
COLUMNS = (
    ("Rank", "by the rule that selects"),
    ("Parameters", "what was set"),
    ("Status", "finished, dropped after a round, or failed"),
    ("Won", "share of the resamples in which it was the best"),
    ("Pooled", "score of all its out-of-sample predictions together"),
    ("Fold mean", "mean of its scores over folds"),
    ("Fold SD", "standard deviation of its scores over folds"),
    ("Training", "mean time of training one model"),
    ("Nr.", "its number in cv_results_"),
)


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
    columns = [c for c in COLUMNS if c[0] not in _unknown(summary)]
    page: str = _template().render(
        s=summary,
        score=summary.scores[0],
        rows=[[cell for name, cell in _cells(row, summary, markup).items() if name in dict(columns)]
              for row in summary.configurations[:MOST_ROWS]],
        classes=["winner" if row.is_winner else row.status for row in summary.configurations[:MOST_ROWS]],
        columns=columns,
        scale=markup(svg.scale(summary.scores[0])),
        metrics=scores_table(summary),
        drawn=lambda chart: _drawn(chart, markup),
        checklist=next((t for t in tables_of(summary) if t.name == "tripod_ai"), None),
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


def _cells(row: ConfigurationRow, summary: Summary, markup: Any) -> dict[str, tuple[str, Any, Any]]:
    """The cells of a configuration by column: class, what sorts (None: the text) and what is shown."""
    digits = summary.scores[0].digits
    wins = markup(f"{svg.tiny(row.wins)} ") + words.percent(row.wins)
    return {
        "Rank": ("n", row.rank, row.rank),
        "Parameters": ("t", None, row.params),
        "Status": ("state", (row.dropped_after or 0) + 1e6 * STATUS.index(row.status), words.status(row)),
        "Won": ("n nowrap", _sorted_by(row.wins), wins),
        "Pooled": ("n", _sorted_by(row.pooled), words.number(row.pooled, digits)),
        "Fold mean": ("n", _sorted_by(row.mean), words.number(row.mean, digits)),
        "Fold SD": ("n", _sorted_by(row.spread), words.number(row.spread, digits)),
        "Training": ("n nowrap", _sorted_by(row.seconds), words.seconds(row.seconds)),
        "Nr.": ("n", row.index, row.index),
    }


def _sorted_by(value: float | None) -> Any:
    return "" if value is None else value


def _unknown(summary: Summary) -> set[str]:
    """Columns of which nothing is known of any configuration, as of an estimate without its search."""
    rows = summary.configurations
    found = {"Fold mean": "mean", "Fold SD": "spread", "Training": "seconds"}
    return {name for name, field in found.items() if all(getattr(row, field) is None for row in rows)}


def _drawn(chart: Chart, markup: Any) -> list[dict[str, Any]]:
    """Draw a chart; lines that are to stand apart get a panel each, since bands on top of each other tell nothing."""
    if chart.apart:
        return [
            {"title": f"{chart.title}: {line.label}", "svg": markup(svg.draw(chart, i)), "key": [], "below": (),
             "sentence": f"{line.text}. This class against the rest."}
            for i, line in enumerate(chart.lines)
        ]  # fmt: skip
    key = [(markup(swatch), text) for swatch, text in svg.key(chart)]
    drawing = markup(svg.draw(chart))
    return [{"title": chart.title, "svg": drawing, "key": key, "below": chart.below, "sentence": chart.sentence}]


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
