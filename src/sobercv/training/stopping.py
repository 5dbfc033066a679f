"""When a race ends early: Ctrl-C, a signal that asks to end, or a time limit."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from time import perf_counter
from typing import Any

from ..signals import TERMINATING, Terminated, raises
from .fit.task import Outcome


class Stop:
    """Ends a race at the next good moment. Enter it around the race.

    The first Ctrl-C, SIGTERM or SIGHUP breaks off the fits that are under way, but never the recording of an outcome;
    the second one ends the program's work at once, as Ctrl-C always does. SIGTERM and SIGHUP end the process when the
    race has been left, as they would have without it; a command inside of `signals.terminable` goes on instead. Without
    `catch_signals` they end the program. At the end of `max_seconds`, from now on, fits in other processes of this
    machine are ended; elsewhere the clock is looked at whenever something comes back.
    """

    def __init__(self, max_seconds: float | None = None, catch_signals: bool = True) -> None:
        self.until = None if max_seconds is None else perf_counter() + max_seconds
        self.catch_signals = catch_signals
        self.reason: str | None = None  # or "interrupted", "terminated" or "max_seconds"
        self.signal: int | None = None  # the number of the one that ended the race
        self._waiting = self._again = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Stop:
        # Signals arrive in the main thread only, and a handler of the program's own is left alone.
        if self.catch_signals and threading.current_thread() is threading.main_thread():
            known = (signal.SIG_DFL, signal.default_int_handler, raises)
            for number in (signal.SIGINT, *TERMINATING):
                if any(signal.getsignal(number) is handler for handler in known):
                    self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *exception: object) -> None:
        before, self._before = self._before, {}
        for number, handler in before.items():
            signal.signal(number, handler)
        came = self.signal
        if came is not None and came in TERMINATING and before.get(came) is signal.SIG_DFL:
            signal.raise_signal(came)  # what is done is stored and workers are gone: now the process ends

    def _on_signal(self, number: int, frame: Any) -> None:
        self._again = self.signal is not None
        self.signal = int(number)
        self.reason = "terminated" if number in TERMINATING else "interrupted"
        if self._again or self._waiting:  # while an outcome is recorded, the loop is left to see the reason itself
            raise Terminated(number) if number in TERMINATING else KeyboardInterrupt

    def watch(self, outcomes: Iterator[list[Outcome]]) -> Iterator[list[Outcome]]:
        """Let outcomes pass until the end is asked for; then what is under way is abandoned. A list is never cut."""
        try:
            while not self.is_time():
                try:
                    self._waiting = True
                    came = next(outcomes, None)
                finally:
                    self._waiting = False
                if came is None:
                    self.is_time()  # outcomes end early at the time limit
                    return
                yield came
        except KeyboardInterrupt as interrupt:
            if self._again or not self.catch_signals:
                raise
            self.reason = self.reason or ("terminated" if isinstance(interrupt, Terminated) else "interrupted")

    def is_time(self) -> bool:
        """Whether the race is to end here."""
        if self.until is not None and self.reason is None and perf_counter() >= self.until:
            self.reason = "max_seconds"
        return self.reason is not None
