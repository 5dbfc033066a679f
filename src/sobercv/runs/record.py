"""The record of a run, typed: settings, schema, scores, summary, versions. results.json is it.

msgspec checks every type when it is read, and makes its JSON schema. The report, METHODS.md, the screen and the tables
are functions of this record.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from ..errors import CODES, Note
from ..report.records import Score, Summary
from ..tables import Schema, Settings
from ..tables.facts import TableFacts
from .folder import FORMAT, SETTINGS, RunFolder
from .survival_curve import SurvivalCurve

RESULTS = "results.json"
Label = str | int | float | bool


@dataclass(frozen=True)
class Begun:
    """settings.json: what a run is a run of, written before it begins so that it can be resumed."""

    settings: Settings  # with the path of the data
    sha256: str  # of the data
    versions: dict[str, str]
    format: int = FORMAT


@dataclass(frozen=True)
class ModelFacts:
    """What `sober predict` needs to know of the final model, beside the schema of its table."""

    columns: tuple[str, ...]  # that the model was trained on, in order
    classes: tuple[Label, ...] = ()  # where the target holds classes
    positive: Label | None = None  # the one of two classes whose probability decides
    threshold: float | None = None  # that was tuned
    survival: SurvivalCurve | None = None


@dataclass(frozen=True)
class RunRecord:
    """Everything that a run found; the fields are those of `results.json`."""

    score: Score  # of the metric that selected
    others: tuple[Score, ...]  # the other metrics, at the same winner
    n_configurations: int
    n_finished: int
    n_dropped: int
    n_failed: int
    n_fits: int
    n_folds: int
    n_judged: int  # rows that the score rests on; all of them where the run is complete
    is_complete: bool
    space: tuple[str, ...]  # each kind of model that was compared, with the values of its parameters, in words
    winner: str  # in words
    #: What ended the training, and the number of the signal that did, or 0.
    stopped: Literal["finished", "interrupted", "terminated", "max_seconds"]
    signal: int
    warnings: tuple[Note, ...]  # what the user was told
    command: str  # that repeats the run
    settings: Settings
    data: TableFacts  # what is in the table
    schema: Schema  # how each column was read; `sober predict` reads new rows in the same way
    findings: tuple[Note, ...]  # of the checks of the table
    versions: dict[str, str]
    model: ModelFacts | None  # None where there is no final model
    summary: Summary  # what the report says
    n_unreached: int = 0  # configurations that the time limit left out; `n_failed` does not count them
    format: int = FORMAT

    def __post_init__(self) -> None:
        unknown = [note.code for note in (*self.warnings, *self.findings) if note.code not in CODES]
        if unknown:
            raise ValueError(f"a note has a code {unknown[0][:10]!r} that does not exist")
        if not self.summary.scores:
            raise ValueError("`summary` has no score")

    def knows_more_than(self, other: RunRecord) -> bool:
        """Whether replacing this result of the same data by the other one would lose something."""
        of_both = self.settings.repeats == other.settings.repeats
        mine, theirs = ((r.n_judged, of_both and r.is_complete, r.model is not None) for r in (self, other))
        return mine > theirs

    @property
    def models_included(self) -> str:
        """Say which models `n_fits` counts beside those of the cross-validation."""
        extra = self.n_fits - (self.summary.race.n_trained if self.summary.race else self.n_fits)
        if self.model is not None and extra > 1:
            return ", the final one and those that set the width of the interval included"
        return "" if self.model is None else ", the final one included"

    @classmethod
    def read(cls, folder: RunFolder) -> RunRecord:
        """Read the record of a run; refuse what was damaged or is of another layout."""
        folder.check().read_record(SETTINGS, Begun)
        return folder.read_record(RESULTS, cls)

    def headline(self) -> dict[str, Any]:
        """Everything but the summary and the schema, ready for JSON."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        for name in ("warnings", "findings"):
            plain[name] = [note.to_dict() for note in getattr(self, name)]
        return {name: value for name, value in plain.items() if name not in ("summary", "schema", "format")}
