"""When a race ends early: Ctrl-C, a time budget, or a judge from outside who has seen enough.

Takes the stream of outcomes and lets it pass until somebody asks for the end; never touches what passes.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

from ..containers import Array
from ..predictions import Predictions
from .fit.task import Outcome
from .keep.store import Store


class Stop:
    """Ends a race at the next good moment. Enter it around the race.

    The first Ctrl-C breaks off the fits that are under way, but never the recording of an outcome; the second one
    ends the program's work at once, as Ctrl-C always does.

    Parameters
    ----------
    max_seconds : float, optional
        Looked at whenever something comes back: after every fit, or every batch of a worker. What is under way in
        this process is not broken off.
    enough : callable, optional
        ``enough(predictions)`` is asked after every round.
    catch_interrupt : bool
        Whether Ctrl-C ends the race instead of the program.

    Attributes
    ----------
    reason : {None, "interrupted", "max_seconds", "half_width"}
    """

    def __init__(
        self,
        max_seconds: float | None = None,
        enough: Callable[[Predictions], bool] | None = None,
        catch_interrupt: bool = True,
    ) -> None:
        self.max_seconds = max_seconds
        self.enough = enough
        self.catch_interrupt = catch_interrupt
        self.reason: str | None = None
        self._start = perf_counter()
        self._waiting = self._again = False
        self._before: Any = None

    def __enter__(self) -> Stop:
        # Signals arrive in the main thread only, and a handler of somebody else's is left alone.
        here = threading.current_thread() is threading.main_thread()
        if self.catch_interrupt and here and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._before = signal.signal(signal.SIGINT, self._on_signal)
        return self

    def __exit__(self, *exception: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    def _on_signal(self, number: int, frame: Any) -> None:
        self._again, self.reason = self.reason == "interrupted", "interrupted"
        if (
            self._again or self._waiting
        ):  # while an outcome is being recorded, the loop is left to see the reason itself
            raise KeyboardInterrupt

    @property
    def wants_rounds(self) -> bool:
        """Whether somebody has to be asked between rounds."""
        return self.enough is not None

    def watch(self, outcomes: Iterator[Outcome]) -> Iterator[Outcome]:
        """Let outcomes pass until the end is asked for.

        Parameters
        ----------
        outcomes : iterator of Outcome
            Closed at the end: what is under way is abandoned.
        """
        more = False
        try:
            while more or not self._is_time():
                try:
                    self._waiting = True
                    outcome = next(outcomes, None)
                finally:
                    self._waiting = False
                if outcome is None:
                    return
                more = outcome.more
                yield outcome
        except KeyboardInterrupt:
            if self._again or not self.catch_interrupt:
                raise
            self.reason = "interrupted"
        finally:
            getattr(outcomes, "close", lambda: None)()

    def after_round(self, store: Store, alive: Array) -> bool:
        """Whether to leave out the rounds that would follow."""
        if not self._is_time() and self.enough is not None and self.enough(store.predictions(alive)):
            self.reason = "half_width"
        return self.reason is not None

    def _is_time(self) -> bool:
        late = self.max_seconds is not None and perf_counter() - self._start > self.max_seconds
        if late and self.reason is None:
            self.reason = "max_seconds"
        return self.reason is not None
