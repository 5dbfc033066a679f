"""The events of a search, for progress displays and logs: small frozen values.

A listener is any callable that takes an event. The order is `SearchStarted`; for each round `RoundStarted`, `Fitted`
for each fit, `Failed` and `Dropped` for configurations that leave the race, `RoundEnded`; at last `SearchEnded`. New
kinds may be added.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .fit.task import Failure


@dataclass(frozen=True)
class SearchStarted:
    """A search begins."""

    n_configurations: int
    n_splits: int


@dataclass(frozen=True)
class RoundStarted:
    """A round begins, with so many configurations in the race."""

    round: int
    n_rounds: int
    n_alive: int


@dataclass(frozen=True)
class Fitted:
    """One fit has come back, in no particular order."""

    configuration: int
    repeat: int
    fold: int
    ok: bool


@dataclass(frozen=True)
class Failed:
    """A configuration was set aside, with the reason."""

    configuration: int
    round: int
    failure: Failure


@dataclass(frozen=True)
class Dropped:
    """The rule dropped a configuration."""

    configuration: int
    round: int
    p: float


@dataclass(frozen=True)
class RoundEnded:
    """A round is over; `n_fits`, `n_saved` and `seconds` count from the start of the race."""

    round: int
    n_rounds: int
    n_alive: int
    n_fits: int
    seconds: float
    n_saved: int = 0


@dataclass(frozen=True)
class SearchEnded:
    """All fits are made, or as many as an early end allowed; `stopped` says what ended it. Not told after an error."""

    stopped: str
    n_fits: int
    n_saved: int
    seconds: float


Event = SearchStarted | RoundStarted | Fitted | Failed | Dropped | RoundEnded | SearchEnded
Listener = Callable[[Event], object]
