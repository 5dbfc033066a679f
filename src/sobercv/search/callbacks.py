"""scikit-learn's callbacks (1.9 and later), fed by the events of a race.

Takes events, gives progress; never changes a result. Where scikit-learn has no callbacks, everything here is a no-op.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..training import Event, Fitted, RoundEnded, RoundStarted

__all__ = ["CallbackSupport", "RoundCallbacks", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
    from sklearn.callback import with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupport:  # type: ignore[no-redef]
        """Stands in for scikit-learn's mixin."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Leave the method as it is."""
        return method


class RoundCallbacks:
    """One task of scikit-learn's callback tree for each round of a race, or for each fit where there are no rounds."""

    def __init__(self, owner: Any, X: Any, y: Any, n_fits: int, n_rounds: int, by_fit: bool) -> None:
        self._owner, self._by_fit = owner, by_fit
        self._data = {"X": X, "y": y}
        self._round: Any = None
        self._root: Any = None
        if getattr(owner, "_skl_callbacks", None):
            n_tasks = (n_fits if by_fit else n_rounds) + bool(owner.refit)
            self._root = owner._init_callback_context(max_subtasks=n_tasks)
            self._root.call_on_fit_task_begin(estimator=owner, **self._data)

    @property
    def listener(self) -> Callable[[Event], None] | None:
        """What hears the events, or None when there is no callback."""
        return None if self._root is None else self._advance

    def _advance(self, event: Event) -> None:
        if self._by_fit and isinstance(event, Fitted):
            self._begin("fit")
            self._end()
        elif not self._by_fit and isinstance(event, RoundStarted):
            self._begin("round")
        elif not self._by_fit and isinstance(event, RoundEnded):
            self._end()

    def _begin(self, name: str) -> None:
        self._round = self._root.subcontext(task_name=name).call_on_fit_task_begin(estimator=self._owner)

    def _end(self) -> None:
        self._round.call_on_fit_task_end(estimator=self._owner)

    @contextmanager
    def refit(self) -> Iterator[None]:
        """Wrap the training of the winner."""
        if self._root is not None:
            self._begin("refit")
        yield
        if self._root is not None:
            self._end()

    def close(self) -> None:
        """End the whole task."""
        if self._root is not None:
            self._root.call_on_fit_task_end(estimator=self._owner, **self._data)
