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
from . import svg_charts, words
from .class_charts import MOST_WITH_INTERVALS
from .records import Bar, Chart, Summary
from .tables import share_with_interval

#: Spaces at which no line may end: before a percent sign, and between a parameter and its value.
_BREAKS = re.compile(r"(?<=\d) (?=%)|(?<=\([a-zA-Z]) (?=\d)|(?<=, [a-zA-Z]) (?=\d)|(?<=alpha) (?=\d)")
MOST_ROWS = 1000
MOST_FAILURES = 100
STATUS = ("finished", "dropped", "failed")
COLUMNS = (
    ("Rank", "by the rule that selects", "n"),
    ("Parameters", "what was set", "t"),
    ("Status", "finished, dropped after a round, or failed", "t"),
    ("Won", "share of the resamples in which it was the best", "n"),
    ("Pooled", "score of all its out-of-sample predictions together", "n"),
    ("Fold mean", "mean of its scores over folds", "n"),
    ("Fold SD", "standard deviation of its scores over folds", "n"),
    ("Training", "mean time of training one model", "n"),
    ("Nr.", "its number in cv_results_", "n"),
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
    drawn = _drawn(summary, markup)
    page: str = _template().render(
        s=summary,
        score=summary.scores[0],
        rows=summary.configurations[:MOST_ROWS],
        failures=summary.failures[:MOST_FAILURES],
        columns=COLUMNS,
        charts=drawn,
        policy=policy(style, script),
        style=markup(style),
        script=markup(script),
        json=markup(safe_json(summary)),
        num=words.number,
        within=words.within,
        off_by=words.off_by,
        gap=words.gap,
        between=words.between,
        percent=words.percent,
        seconds=words.seconds,
        status=words.status,
        status_order=lambda row: (row.dropped_after or 0) + 1e6 * STATUS.index(row.status),
        data=lambda value: "" if value is None else value,
        cells=_interval_cells(summary),
        tiny=lambda share: markup(svg_charts.tiny(share)),
    )
    return page


def _interval_cells(summary: Summary) -> tuple[tuple[str, ...], ...]:
    """Give the shares of many classes with their intervals, for which the cells of the chart have no room."""
    found = summary.confusion
    if found is None or len(found.labels) <= MOST_WITH_INTERVALS:
        return ()
    n = range(len(found.labels))
    return tuple(
        (label, *(share_with_interval(found.share[i][j], found.low[i][j], found.high[i][j]) for j in n))
        for i, label in enumerate(found.labels)
    )


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


def _drawn(summary: Summary, markup: Any) -> dict[str, Any]:
    """Draw every chart of the page."""
    score, found = summary.scores[0], summary.importance
    return {
        "scale": markup(svg_charts.scale(score)),
        "draws": None if summary.draws is None else markup(svg_charts.histogram(summary.draws, score)),
        "race": markup(svg_charts.race(summary.race)) if len(summary.race.rounds) > 1 else None,
        "curves": [curve for chart in summary.charts for curve in _curves(chart, markup)],
        "effects": [{"svg": markup(svg_charts.xy(c)), "key": _key(c, markup)} for c in summary.effects],
        "confusion": None if summary.confusion is None else markup(svg_charts.confusion(summary.confusion)),
        "importance": None if found is None else markup(svg_charts.bars(_used(found.bars))),
        "unused": 0 if found is None else len(found.bars) - len(_used(found.bars)),
        "together": markup(svg_charts.bars(_used(found.together))) if found is not None and found.together else None,
    }


def _used(bars: tuple[Bar, ...]) -> tuple[Bar, ...]:
    """Leave out columns that change nothing: the model does not look at them."""
    return tuple(bar for bar in bars if (bar.value, bar.spread) != (0, 0)) or bars[:1]


def _key(chart: Chart, markup: Any) -> list[Any]:
    """Say which line is which, where there are several or one has words."""
    if len(chart.lines) == 1 and not chart.lines[0].text:
        return []
    return [
        (markup(svg_charts.swatch(i)), f"{line.label}: {line.text}" if line.text else line.label)
        for i, line in enumerate(chart.lines)
    ]


def _curves(chart: Chart, markup: Any) -> list[dict[str, Any]]:
    """Draw a chart; curves of several classes get a panel each, since bands on top of each other tell nothing."""
    if chart.name == "roc" and len(chart.lines) > 1:
        return [
            {
                "title": f"{chart.title}: {line.label}",
                "svg": markup(svg_charts.xy(chart, i)),
                "key": [],
                "below": (),
                "sentence": f"{line.text}. This class against the rest.",
            }
            for i, line in enumerate(chart.lines)
        ]
    return [
        {
            "title": chart.title,
            "svg": markup(svg_charts.xy(chart)),
            "key": _key(chart, markup),
            "below": chart.below,
            "sentence": chart.sentence,
        }
    ]


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
