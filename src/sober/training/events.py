"""What a race tells its listeners: small frozen values, nothing that could be changed.

Takes plain numbers, gives records for progress displays; never holds data or estimators.
"""

from __future__ import annotations

from dataclasses import dataclass

from .task import Failure


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
    """A round is over; `n_fits` and `seconds` count from the start of the race."""

    round: int
    n_rounds: int
    n_alive: int
    n_fits: int
    seconds: float


Event = RoundStarted | Fitted | Failed | Dropped | RoundEnded
