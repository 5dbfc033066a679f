"""The events of a search, for progress displays and logs: small frozen values.

A listener is any callable that takes an event. The order is `SearchStarted`; for each round `RoundStarted`, `Fitted`
for each fit, `Failed` and `Dropped` for configurations that leave the race, `RoundEnded`; at last `SearchEnded`. New
kinds may be added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..errors import warn
from .fit.task import Failure, error_text


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


def teller(on_event: Listener | Sequence[Listener] | None) -> Callable[[Event], None]:
    """Make listeners harmless: the first exception of one becomes a warning, and it hears no more."""
    listeners = [] if on_event is None else [on_event] if callable(on_event) else list(on_event)

    def tell(event: Event) -> None:
        for listener in listeners[:]:
            try:
                listener(event)
            except Exception as error:
                listeners.remove(listener)
                said = f"{type(error).__name__}: {error_text(error)}"
                warn("W602", f"A listener of the race raised {said}; it receives no more events.")

    return tell
