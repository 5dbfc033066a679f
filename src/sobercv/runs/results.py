"""Results: every number that a run gives, as one record; the content of results.json.

Takes a finished search, its summary and what was prepared, gives plain data and reads it again, checked. Never computes
what the search and the summary have not computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from ..errors import CODES, Note
from ..report.configuration_words import winner_in_words
from ..report.records import Score, Summary
from .folder import RunFolder
from .prepared import Prepared
from .schema import checked
from .settings import Settings
from .table_facts import table_facts
from .versions import versions

RESULTS = "results.json"
#: How a run can have ended, by `BBCSearchCV.stopped_`.
STOPPED = ("finished", "interrupted", "terminated", "max_seconds", "half_width")
MOST_DIGITS = 15


@dataclass(frozen=True)
class Honest:
    """One metric: the honest number beside the naive one."""

    metric: str
    honest: float
    interval: tuple[float, ...] | None
    confidence_level: float
    naive: float
    optimism: float
    digits: int
    positive: str | None = None
    interval_method: str | None = None

    def __post_init__(self) -> None:
        if self.interval is not None and len(self.interval) != 2:
            raise ValueError("`interval` must have two ends")
        if not 0 <= self.digits <= MOST_DIGITS:
            raise ValueError(f"`digits` must lie between 0 and {MOST_DIGITS}")

    @classmethod
    def of(cls, score: Score) -> Honest:
        """Take what the screen shows out of a summary's score."""
        return cls(
            score.metric, score.value, score.interval, score.level, score.naive, score.optimism, score.digits,
            score.positive, score.interval_method,
        )  # fmt: skip


@dataclass(frozen=True)
class Results:
    """What a run gives; the fields are those of `results.json`.

    Attributes
    ----------
    score : Honest
        The metric that selected.
    others : tuple of Honest
        The other metrics, at the same winner.
    n_configurations, n_finished, n_dropped, n_failed, n_fits : int
    winner : str
        For people.
    has_model : bool
        Whether the final model was trained.
    stopped : str
        What ended the training, see `STOPPED`.
    signal : int
        The number of the signal that did, or 0.
    warnings : tuple of Note
        What the user was told.
    folder, command : str
    data, settings, versions : mapping
    findings : tuple of mapping
    summary : Summary
        What the report says.
    """

    score: Honest
    others: tuple[Honest, ...]
    n_configurations: int
    n_finished: int
    n_dropped: int
    n_failed: int
    n_fits: int
    winner: str
    has_model: bool
    stopped: str
    signal: int
    warnings: tuple[Note, ...]
    folder: str
    command: str
    data: Mapping[str, Any]
    findings: tuple[Mapping[str, Any], ...]
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    summary: Summary

    def __post_init__(self) -> None:
        if self.stopped not in STOPPED:
            raise ValueError(f"`stopped` must be one of {', '.join(STOPPED)}")
        unknown = [note.code for note in self.warnings if note.code not in CODES]
        if unknown:
            raise ValueError(f"`warnings` has a code {unknown[0][:10]!r} that does not exist")
        if not self.summary.scores:
            raise ValueError("`summary` has no score")

    @classmethod
    def of(
        cls, search: Any, prepared: Prepared, settings: Settings, summary: Summary, notes: tuple[Note, ...], folder: str
    ) -> Results:
        """Put everything together.

        Parameters
        ----------
        search : BBCSearchCV
            Fitted.
        prepared : Prepared
        settings : Settings
            With the path of the data.
        summary : Summary
        notes : tuple of Note
            What the user is told.
        folder : str
        """
        first, *others = (Honest.of(score) for score in summary.scores)
        status = [row.status for row in summary.configurations]
        return cls(
            score=first,
            others=tuple(others),
            n_configurations=summary.race.n_start,
            n_finished=status.count("finished"),
            n_dropped=status.count("dropped"),
            n_failed=status.count("failed"),
            n_fits=int(search.n_fits_),
            winner=winner_in_words(search),
            has_model=hasattr(search, "best_estimator_"),
            stopped=search.stopped_,
            signal=int(getattr(search, "signal_", 0) or 0),
            warnings=tuple(dict.fromkeys(notes)),
            folder=folder,
            command=settings.command(),
            data=table_facts(prepared),
            findings=tuple(finding.to_dict() for finding in prepared.findings),
            settings=settings.to_dict(),
            versions=versions(),
            summary=summary,
        )

    @classmethod
    def read(cls, folder: RunFolder) -> Results:
        """Read the results of a run; refuse what was damaged or edited.

        Parameters
        ----------
        folder : RunFolder
        """
        return checked(cls, folder.check().read_json(RESULTS), folder / RESULTS)

    def headline(self) -> dict[str, Any]:
        """Everything but the summary, ready for JSON."""
        plain = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "summary"}
        plain["score"] = asdict(self.score)
        plain["others"] = [asdict(score) for score in self.others]
        plain["warnings"] = [note.to_dict() for note in self.warnings]
        return plain

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {**self.headline(), "summary": self.summary.to_dict()}
