"""SIGTERM and SIGHUP like Ctrl-C: a scheduler that wants the node back, a terminal that was closed.

Inside of a command both raise in the main thread; a signal that is ignored (by nohup) or handled already stays as it
is. A search takes them over while it trains, see `sobercv.training.stopping`.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: Signals that end a command, beside Ctrl-C; Windows has no SIGHUP.
TERMINATING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class Terminated(KeyboardInterrupt):
    """A signal came that wants the program to end; by custom it exits with 128 plus its number (143 for SIGTERM)."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def raises(number: int, _frame: Any) -> None:
    """Handle a signal: raise where the main thread is."""
    raise Terminated(number)


@contextmanager
def terminable() -> Iterator[None]:
    """Let signals end the command with an exception, and restore them afterwards."""
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for number in TERMINATING:
            if signal.getsignal(number) is signal.SIG_DFL:
                before[number] = signal.signal(number, raises)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
