"""Progress for people and for logs: bars, lines and JSON lines, all fed by the events of a search.

A listener is any callable that takes an event. It cannot change a result: what it raises becomes a warning, and it is
not called again.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import timedelta
from importlib.util import find_spec
from os import PathLike
from typing import Any, TextIO

from ..errors import SoberError, warn
from ..training import Dropped, Event, Failed, Fitted, Listener, RoundEnded, SearchEnded, SearchStarted, error_text

__all__ = ["Bars", "JsonLines", "Lines", "display", "listening"]


class Lines:
    """A printed line for each round, for places that are no terminal; it counts where the search stands.

    Parameters
    ----------
    file : text file, optional
        Default: standard output.
    """

    n_configurations = n_splits = round = n_rounds = n_alive = n_dropped = n_failed = n_fits = n_saved = 0

    def __init__(self, file: TextIO | None = None) -> None:
        self.file = file

    def __call__(self, event: Event) -> None:
        """Count an event, and show what changed."""
        if isinstance(event, SearchStarted):  # perhaps not the first one
            self.round = self.n_rounds = self.n_dropped = self.n_failed = self.n_fits = self.n_saved = 0
            self.n_alive = event.n_configurations
        self.n_dropped += isinstance(event, Dropped)
        self.n_failed += isinstance(event, Failed)
        self.n_alive -= isinstance(event, (Dropped, Failed))
        self.n_fits += isinstance(event, Fitted)
        for name in ("n_configurations", "n_splits", "round", "n_rounds", "n_alive", "n_fits", "n_saved"):
            setattr(self, name, getattr(event, name, getattr(self, name)))
        self.show(event)

    @property
    def n_expected(self) -> int:
        """Fits in all, unless more configurations leave the race."""
        return max(self.n_configurations * self.n_splits - self.n_saved, self.n_fits)

    def show(self, event: Event) -> None:
        """Print a line at the end of a round, and at an early end."""
        if isinstance(event, RoundEnded):
            print(
                f"round {event.round + 1} of {event.n_rounds}: {_count(event.n_alive, 'configuration')} in the race, "
                f"{self.n_dropped} dropped, {self.n_failed} failed, {_count(event.n_fits, 'fit')}, "
                f"{event.n_saved} saved, {event.seconds:.1f} s", file=self.file, flush=True,
            )  # fmt: skip
        elif isinstance(event, SearchEnded) and event.stopped != "finished":
            text = f"stopped ({event.stopped}): {_count(event.n_fits, 'fit')}, {event.seconds:.1f} s"
            print(text, file=self.file, flush=True)


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


class Bars(Lines):
    """A live bar in a terminal or a notebook, drawn by rich: fits, configurations in the race, and the time left.

    Parameters
    ----------
    console : rich.console.Console, optional
        Default: standard error.
    """

    def __init__(self, console: Any = None) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        super().__init__()
        columns = BarColumn(), MofNCompleteColumn(), TextColumn("fits, {task.description}")
        self._progress = Progress(*columns, console=_console() if console is None else console)
        self._task: Any = None

    def show(self, event: Event) -> None:
        """Move the bar."""
        parts = [f"round {self.round + 1}/{self.n_rounds}"] if self.n_rounds > 1 else []
        parts += [f"{self.n_alive} alive", f"{self.n_dropped} dropped"]
        parts += [f"{self.n_failed} failed"] if self.n_failed else []
        parts += [f"{self.n_saved} fits saved"] if self.n_saved else []
        if self._task is None:  # with all that is known, so that the first line has no holes
            self._task = self._progress.add_task(", ".join(parts), total=self.n_expected)
            self._progress.start()
        seconds = self._progress.tasks[0].time_remaining
        parts += [] if seconds is None else [f"{timedelta(seconds=round(seconds))} left"]
        self._progress.update(self._task, completed=self.n_fits, total=self.n_expected, description=", ".join(parts))

    def close(self) -> None:
        """Leave the last state on the screen, and release the screen."""
        self._progress.stop()
        if self._task is not None:  # another search has its own
            self._progress.remove_task(self._task)
            self._task = None


class JsonLines:
    """A log with one JSON object per line: the event, when it was, and what it says.

    Parameters
    ----------
    path : path
        Appended to.

    Examples
    --------
    >>> search = sobercv.BBCSearchCV(model, grid, on_event=sobercv.progress.JsonLines("log.jsonl"))  # doctest: +SKIP
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        if not isinstance(path, (str, PathLike)):
            raise SoberError("E123", f"`path` must be the path of a file; got {path!r}.")
        self.path = path

    def __call__(self, event: Event) -> None:
        """Write one line."""
        name = "".join("_" + c.lower() if c.isupper() else c for c in type(event).__name__).lstrip("_")
        record = {"event": name, "time": time.time(), **asdict(event)}
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")


def display(verbose: int) -> Listener:
    """Choose what to show: for 1 a bar in a terminal or a notebook, and lines elsewhere or for more."""
    console = _console() if verbose == 1 else None
    # Without ipywidgets rich draws nothing in a notebook and warns at every step.
    can_draw = console and (find_spec("ipywidgets") is not None if console.is_jupyter else console.is_terminal)
    return Bars(console) if can_draw else Lines()


def _console() -> Any:
    """Return a console on standard error, or None where rich is not installed."""
    try:
        from rich.console import Console
    except ImportError:
        return None
    return Console(file=sys.stderr)


@contextmanager
def listening(on_event: Any, verbose: int) -> Iterator[Listener]:
    """Return one harmless listener for all of them; those with a `close` are closed at the end, whatever happened."""
    one_or_more = [] if on_event is None else on_event
    listeners: list[Any] = list(one_or_more) if isinstance(one_or_more, (list, tuple)) else [one_or_more]
    if wrong := [listener for listener in listeners if not callable(listener)]:
        raise SoberError(
            "E123", f"`on_event` must be a function of one event, or a list of such functions; got {wrong[0]!r}."
        )
    listeners = [display(verbose), *listeners] if verbose else listeners
    unharmed = list(listeners)

    def tell(event: Event) -> None:
        for listener in unharmed[:]:
            try:
                listener(event)
            except Exception as error:
                unharmed.remove(listener)
                said = f"{type(error).__name__}: {error_text(error)}"
                warn("W602", f"A listener of the search raised {said}; it receives no further events.")

    try:
        yield tell
    finally:
        for close in [listener.close for listener in listeners if hasattr(listener, "close")]:
            try:
                close()
            except Exception as error:
                warn("W602", f"A listener could not be closed: {type(error).__name__}: {error}.")
