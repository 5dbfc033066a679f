"""What a report is made of: plain typed records, which msgspec writes as JSON and checks when it reads them again.

A `Summary` holds scores, notes, facts and sections; a section holds charts and tables. Renderers need nothing else, and
draw every chart with one function.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..errors import Note

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Score:
    """One metric, judged at the winner; `digits` are enough to tell the honest number from the naive one."""

    metric: str
    label: str
    value: float
    interval: Numbers | None
    level: float
    naive: float
    optimism: float
    n_draws: int
    n_undefined: int
    digits: int
    positive: str | None = None  # the class that the score is of, where it depends on one
    interval_method: str | None = None  # "percentile" or "calibrated"


@dataclass(frozen=True)
class Race:
    """How many configurations started, why some were dropped, whether they were corrected for, what dropping saved."""

    n_start: int
    n_trained: int
    n_saved: int
    rule: str
    reason: str
    counted: bool


@dataclass(frozen=True)
class ConfigurationRow:
    """What became of a configuration; `dropped_after` is a round counted from 1, `wins` a share of the resamples."""

    index: int
    params: str
    status: str
    is_winner: bool
    rank: int
    pooled: float | None
    mean: float | None
    spread: float | None
    wins: float | None
    seconds: float | None
    dropped_after: int | None
    p: float | None


@dataclass(frozen=True)
class Line:
    """A line of a chart with its bootstrap band; None where undefined. `stepped` and `marked` say how it is drawn."""

    label: str
    x: Numbers
    y: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    text: str = ""
    stepped: bool = False
    marked: bool = False

    @property
    def said(self) -> str:
        """What a key says of it."""
        return f"{self.label}: {self.text}" if self.text else self.label


@dataclass(frozen=True)
class Mark:
    """A point of a chart with a few words beside it."""

    x: float
    y: float
    text: str


@dataclass(frozen=True)
class Box:
    """A rectangle of a chart: a bar, or a cell with words. `series` is a place in `Chart.series`.

    `tint` makes a cell of it, as dark as the share says; `words` are the lines inside, `hint` is a tooltip.
    """

    x0: float
    y0: float
    x1: float
    y1: float
    series: int = 0
    hint: str = ""
    tint: float | None = None
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Whisker:
    """An interval beside a name: a horizontal line from `low` to `high`, with a dot at `value` where there is one."""

    y: float
    low: float
    high: float
    value: float | None = None
    hint: str = ""
    hollow: bool = False


@dataclass(frozen=True)
class Chart:
    """Lines, points, boxes and whiskers over two axes, drawn alike by every renderer.

    `reference` holds the two ends of a line to compare with (x0, y0, x1, y1); `below` is a small table under the chart,
    its first row the head. `series` names kinds of boxes. `y_names` and `x_names` replace the numbers of an axis by
    names at 0, 1, 2, ...; names of the vertical axis run downwards. `apart` draws each line in a panel of its own.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    x_range: Numbers
    y_range: Numbers
    lines: tuple[Line, ...] = ()
    sentence: str = ""
    reference: Numbers | None = None
    points_x: Numbers = ()
    points_y: Numbers = ()
    below: tuple[tuple[str, ...], ...] = ()
    marks: tuple[Mark, ...] = ()
    boxes: tuple[Box, ...] = ()
    series: tuple[str, ...] = ()
    whiskers: tuple[Whisker, ...] = ()
    x_names: tuple[str, ...] = ()
    y_names: tuple[str, ...] = ()
    apart: bool = False


@dataclass(frozen=True)
class Table:
    """A table of words and numbers as readers see them: its first row is the head. `folded` opens on a click."""

    name: str
    title: str
    rows: tuple[tuple[str, ...], ...]
    sentence: str = ""
    folded: bool = False


@dataclass(frozen=True)
class Section:
    """A part of the page under one heading."""

    name: str
    title: str
    charts: tuple[Chart, ...] = ()
    tables: tuple[Table, ...] = ()
    sentence: str = ""


@dataclass(frozen=True)
class Fact:
    """A label and its text."""

    label: str
    text: str


@dataclass(frozen=True)
class Summary:
    """Everything that a report says, and nothing else.

    `scores[0]` is the metric that selected. `sections` hold charts and tables, as many as the input allows. `notes` are
    what the reader should know, each with a code that has a page. `promise` says what the interval means.
    `race` is None where nothing is known of the training, as for an estimate from predictions.
    """

    title: str
    task: str
    created: str
    headline: str
    why: str
    scores: tuple[Score, ...]
    winner: Fact
    data: tuple[Fact, ...]
    versions: tuple[Fact, ...]
    method: str
    citation: str
    seed: int
    command: str
    notes: tuple[Note, ...] = ()
    race: Race | None = None
    configurations: tuple[ConfigurationRow, ...] = ()
    table_note: str = ""
    sections: tuple[Section, ...] = ()
    timing: tuple[Fact, ...] = ()
    promise: str = ""
    columns: Table | None = None
    tuning: str = ""  # whether it was worth it
    excess: float | None = None  # the factor on the variance of a calibrated interval

    @property
    def charts(self) -> tuple[Chart, ...]:
        """All charts, in the order of the page."""
        return tuple(chart for section in self.sections for chart in section.charts)

    @property
    def tables(self) -> tuple[Table, ...]:
        """All tables of the sections, in the order of the page."""
        return tuple(table for section in self.sections for table in section.tables)

    def fact(self, label: str, default: str = "") -> str:
        """Return the text of a fact about the data."""
        return next((fact.text for fact in self.data if fact.label == label), default)

    def with_section(self, section: Section) -> Summary:
        """Return a copy with one more section; one that holds nothing is left out."""
        return replace(self, sections=(*self.sections, section)) if section.charts or section.tables else self

    def with_notes(self, more: Any) -> Summary:
        """Return a copy with more notes; suggestions stay last."""
        found = sorted((*self.notes, *more), key=lambda note: note.severity == "suggestion")
        return replace(self, notes=tuple(found))

    def to_json(self) -> bytes:
        """Write the summary as JSON."""
        import msgspec

        return msgspec.json.encode(self)
