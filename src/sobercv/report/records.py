"""What a report is made of: plain typed records, which msgspec writes as JSON and checks when it reads them again.

A `Summary` holds scores, notes, facts and sections; a section holds charts and tables. Renderers need nothing else, and
draw every chart with one function.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ..errors import Note
from ..inference import Estimate
from .words import between, clean, digits_for, metric_label, number

Numbers = tuple[float, ...]
Facts = dict[str, str]  # by label
#: Warnings before all others, because no correction helps (leaks, rows in training and test at once), and those after
#: them (the edge of a grid, how the table was read); others have place 1.
PLACES = {"W806": 0, "W301": 0, "W711": 2, "W801": 3, "W809": 3}
#: A share of the width of the interval: a smaller difference needs no digits of its own.
SMALL = 0.01


def order_of(note: Note) -> int:
    """Return the place of a note among others: what can make a score worthless first, suggestions last."""
    return 4 if note.severity == "suggestion" else PLACES.get(note.code, 1)


@dataclass(frozen=True)
class Score:
    """One metric, judged at the winner."""

    metric: str
    label: str
    value: float
    interval: Numbers | None
    level: float
    naive: float
    optimism: float
    n_draws: int
    n_undefined: int
    digits: int  # enough to tell the honest number from the naive one
    positive: str | None = None  # the class that the score is of, where it depends on one
    interval_method: str | None = None  # "percentile" or "calibrated"

    @classmethod
    def of(cls, estimate: Estimate) -> Score:
        """Write an estimate as the score that readers see, with as many digits as it needs."""
        low, high = estimate.interval or (0.0, 0.0)
        # Digits that only show a difference far below the width of the interval would claim too much.
        gap = estimate.optimism if abs(estimate.optimism) > SMALL * (high - low) else 0.0
        return cls(
            metric=estimate.metric,
            label=metric_label(estimate.metric, estimate.positive),
            value=float(estimate.value),
            interval=None if estimate.interval is None else tuple(map(float, estimate.interval)),
            level=estimate.confidence_level,
            naive=float(estimate.naive),
            optimism=float(estimate.optimism),
            n_draws=0 if estimate.draws is None else len(estimate.draws),
            n_undefined=estimate.n_undefined,
            digits=digits_for((estimate.value, estimate.naive, *(estimate.interval or ())), gap),
            positive=None if estimate.positive is None else clean(estimate.positive, 60),
            interval_method=estimate.interval_method,
        )

    @property
    def honest(self) -> str:
        """The honest number as it is written."""
        return number(self.value, self.digits)

    @property
    def claim(self) -> str:
        """What plain cross-validation claims, as it is written."""
        return number(self.naive, self.digits)

    @property
    def ends(self) -> str:
        """The interval as it is written; empty where there is none."""
        return between(self.interval, self.digits) if self.interval else ""

    @property
    def off_by(self) -> str:
        """How far plain cross-validation is off: the difference of the numbers as they are written."""
        return number(round(self.naive, self.digits) - round(self.value, self.digits), self.digits, "+")

    @property
    def gap(self) -> str:
        """How far it is off, in words."""
        if not self.off_by.strip("+0."):
            return "the same to the last digit shown"
        return f"{self.off_by[1:]} {'too good' if self.off_by[0] == '+' else 'lower'}"


@dataclass(frozen=True)
class Race:
    """What dropping configurations early came to."""

    n_start: int  # configurations
    n_trained: int  # models
    n_saved: int  # models that were not needed
    rule: str
    reason: str  # why some were dropped
    counted: bool  # whether the dropped take part in the correction


@dataclass(frozen=True)
class ConfigurationRow:
    """What became of a configuration; None where nothing is known."""

    index: int
    params: str
    status: str
    is_winner: bool
    rank: int
    pooled: float | None = None
    mean: float | None = None
    spread: float | None = None
    wins: float | None = None  # share of the resamples
    seconds: float | None = None
    dropped_after: int | None = None  # round, counted from 1
    p: float | None = None

    @property
    def was_compared(self) -> bool:
        """Whether it has a score that the winner's was compared with."""
        return self.status not in ("failed", "not reached")


@dataclass(frozen=True)
class Line:
    """A line of a chart with its bootstrap band; None where undefined."""

    label: str
    x: Numbers
    y: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    text: str = ""  # what a key says beside the label
    stepped: bool = False
    marked: bool = False  # whether its points are drawn

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
    """A rectangle of a chart: a bar, or a cell with words."""

    x0: float
    y0: float
    x1: float
    y1: float
    series: int = 0  # place in `Chart.series`
    hint: str = ""  # tooltip
    tint: float | None = None  # of a cell: how dark it is
    words: tuple[str, ...] = ()  # lines inside a cell


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
    """Lines, points, boxes and whiskers over two axes, drawn alike by every renderer."""

    name: str
    title: str
    x_label: str
    y_label: str
    x_range: Numbers
    y_range: Numbers
    lines: tuple[Line, ...] = ()
    sentence: str = ""
    reference: Numbers | None = None  # the ends of a line to compare with (x0, y0, x1, y1)
    points_x: Numbers = ()
    points_y: Numbers = ()
    below: tuple[tuple[str, ...], ...] = ()  # a small table under the chart, its first row the head
    marks: tuple[Mark, ...] = ()
    boxes: tuple[Box, ...] = ()
    series: tuple[str, ...] = ()  # kinds of boxes
    whiskers: tuple[Whisker, ...] = ()
    #: What replaces the numbers of an axis at 0, 1, 2, ...; those of the vertical axis run downwards.
    x_names: tuple[str, ...] = ()
    y_names: tuple[str, ...] = ()
    apart: bool = False  # whether each line is drawn in a panel of its own


@dataclass(frozen=True)
class Table:
    """A table of words and numbers as readers see them."""

    name: str
    title: str
    rows: tuple[tuple[str, ...], ...]  # the first is the head
    sentence: str = ""
    folded: bool = False  # whether it opens on a click


@dataclass(frozen=True)
class Section:
    """A part of the page under one heading."""

    name: str
    title: str
    charts: tuple[Chart, ...] = ()
    tables: tuple[Table, ...] = ()
    sentence: str = ""


@dataclass(frozen=True)
class Summary:
    """Everything that a report says, and nothing else."""

    title: str
    task: str
    created: str
    headline: str
    why: str
    scores: tuple[Score, ...]  # the first is the metric that selected
    winner: str
    about_winner: str
    data: Facts
    versions: Facts
    method: str
    citation: str
    seed: int
    command: str
    notes: tuple[Note, ...] = ()  # what the reader should know, each with a code that has a page
    race: Race | None = None  # None where nothing is known of the training, as for an estimate from predictions
    configurations: tuple[ConfigurationRow, ...] = ()
    table_note: str = ""
    sections: tuple[Section, ...] = ()  # as many as the input allows
    timing: Facts = field(default_factory=dict)
    promise: str = ""  # what the interval means
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

    def with_section(self, section: Section | None) -> Summary:
        """Return a copy with one more section; None, or one that holds nothing, is left out."""
        if section is None or not (section.charts or section.tables):
            return self
        return replace(self, sections=(*self.sections, section))

    def with_notes(self, more: Iterable[Note]) -> Summary:
        """Return a copy with more notes, in the order in which they matter."""
        return replace(self, notes=tuple(sorted((*self.notes, *more), key=order_of)))

    def to_json(self) -> bytes:
        """Write the summary as JSON."""
        import msgspec

        return msgspec.json.encode(self)
