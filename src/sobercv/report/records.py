"""What a report is made of: plain typed records, which msgspec writes as JSON and checks when it reads them again."""

from __future__ import annotations

from dataclasses import dataclass
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
class Histogram:
    """How many draws lie where: `heights[i]` draws lie between `edges[i]` and `edges[i + 1]`."""

    edges: Numbers
    heights: tuple[int, ...]


@dataclass(frozen=True)
class Round:
    """How many were still in the race after a round (counted from 1), and how many left in it."""

    number: int
    alive: int
    dropped: int
    failed: int


@dataclass(frozen=True)
class Race:
    """Who was alive when, why others were dropped, whether they were corrected for, and what dropping saved."""

    n_start: int
    rounds: tuple[Round, ...]
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
    seconds: float
    dropped_after: int | None
    p: float | None


@dataclass(frozen=True)
class Line:
    """A line of a chart with its bootstrap band; None where undefined."""

    label: str
    x: Numbers
    y: tuple[float | None, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    text: str = ""
    stepped: bool = False
    marked: bool = False


@dataclass(frozen=True)
class Mark:
    """A point of a chart with a few words beside it."""

    x: float
    y: float
    text: str


@dataclass(frozen=True)
class Chart:
    """Lines and points over two axes, drawn alike by every renderer.

    `reference` holds the two ends of a line to compare with (x0, y0, x1, y1); `below` is a small table under the
    chart, its first row the head. `faint` are lines of single samples, all over the places of the first line.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    x_range: Numbers
    y_range: Numbers
    lines: tuple[Line, ...]
    sentence: str
    reference: Numbers | None = None
    points_x: Numbers = ()
    points_y: Numbers = ()
    below: tuple[tuple[str, ...], ...] = ()
    marks: tuple[Mark, ...] = ()
    faint: tuple[Numbers, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table of words and numbers as readers see them: its first row is the head."""

    name: str
    title: str
    rows: tuple[tuple[str, ...], ...]
    sentence: str = ""


@dataclass(frozen=True)
class ConfusionMatrix:
    """A confusion matrix: of each true class (row) the share predicted as each class, with bootstrap bounds."""

    title: str
    labels: tuple[str, ...]
    share: tuple[tuple[float | None, ...], ...]
    low: tuple[tuple[float | None, ...], ...]
    high: tuple[tuple[float | None, ...], ...]
    count: tuple[Numbers, ...]
    sentence: str


@dataclass(frozen=True)
class Bar:
    """One column of the data, or some that go together, and how much the score falls when it is shuffled.

    `spread` is the standard deviation over shuffles.
    """

    label: str
    value: float
    spread: float


@dataclass(frozen=True)
class Importance:
    """Permutation importance of the final model, largest first; `together` are correlated columns shuffled as one."""

    bars: tuple[Bar, ...]
    n_columns: int
    n_permutations: int
    sentence: str
    together: tuple[Bar, ...] = ()


@dataclass(frozen=True)
class ColumnRow:
    """How a column of the table was read: see `tables.column_facts`."""

    name: str
    role: str
    kind: str
    read_as: str
    values: str
    n_missing: int


@dataclass(frozen=True)
class ChecklistItem:
    """An item of TRIPOD+AI and what the run says to it; empty where only the authors know."""

    number: str
    topic: str
    answer: str


@dataclass(frozen=True)
class FailedConfiguration:
    """A configuration that failed, and why."""

    index: int
    params: str
    where: str
    error: str
    message: str


@dataclass(frozen=True)
class Fact:
    """A label and its text."""

    label: str
    text: str


@dataclass(frozen=True)
class Summary:
    """Everything that a report says, and nothing else.

    `scores[0]` is the metric that selected. `charts` depend on the task. `notes` are what the reader should know, each
    with a code that has a page. `effects` are charts of single columns, `tables` go with the charts, `columns` say how
    the table was read, `glossary` and `promise` are for readers without statistics. Rendering needs nothing but this.
    """

    title: str
    task: str
    created: str
    headline: str
    why: str
    scores: tuple[Score, ...]
    draws: Histogram | None
    race: Race
    configurations: tuple[ConfigurationRow, ...]
    winner: Fact
    curves_note: str
    charts: tuple[Chart, ...]
    confusion: ConfusionMatrix | None
    importance: Importance | None
    notes: tuple[Note, ...]
    failures: tuple[FailedConfiguration, ...]
    data: tuple[Fact, ...]
    timing: tuple[Fact, ...]
    versions: tuple[Fact, ...]
    method: str
    citation: str
    seed: int
    command: str
    table_note: str = ""
    draws_note: str = ""
    promise: str = ""
    glossary: tuple[Fact, ...] = ()
    tables: tuple[Table, ...] = ()
    effects: tuple[Chart, ...] = ()
    columns: tuple[ColumnRow, ...] = ()
    checklist: tuple[ChecklistItem, ...] = ()

    def to_json(self) -> bytes:
        """Write the summary as JSON."""
        import msgspec

        return msgspec.json.encode(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        import msgspec

        plain: dict[str, Any] = msgspec.json.decode(self.to_json())
        return plain

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Summary:
        """Rebuild a summary from what `to_dict` returned, also after a journey through JSON; msgspec checks it."""
        import msgspec

        return msgspec.convert(values, cls)
