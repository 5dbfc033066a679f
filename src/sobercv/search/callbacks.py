"""scikit-learn's callbacks (1.9 and later): the tasks of a search as GridSearchCV names them, down to the estimators.

They never change a result. Where scikit-learn has no callbacks, everything here is a no-op.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from ..training import Configuration, Plan, Split
from ..training.fit.task import Rows

__all__ = ["CallbackSupport", "SearchCallbacks", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
    from sklearn.callback import with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupport:  # type: ignore[no-redef]
        """Stands in for scikit-learn's mixin."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Leave the method as it is."""
        return method


@contextmanager
def _told(context: Any, model: Any = None, **heard: Any) -> Iterator[None]:
    """Tell callbacks of a task's begin and end; those of the search reach the model that is trained in it."""
    try:
        with nullcontext() if model is None else context.propagate_callback_context(model):
            context.call_on_fit_task_begin(**heard)
            yield
    finally:
        context.call_on_fit_task_end(**heard)


@dataclass(frozen=True, eq=False)
class FitCallbacks:
    """Wraps every fit where it is made; it goes to worker processes with the experiment."""

    search: Any
    #: By configuration, repeat and fold; made ahead, because a context cannot be given a child in another process.
    contexts: Mapping[tuple[int, int, int], Any]

    def __call__(
        self, built: Any, configuration: Configuration, split: Split, rows: Rows, arguments: Mapping[str, Any]
    ) -> Any:
        """Wrap the training of one estimator."""
        context = self.contexts[configuration.index, split.repeat, split.fold]
        return _told(context, built, estimator=self.search, X=rows.X, y=rows.y, metadata=_weights(arguments))


class SearchCallbacks:
    """The tasks of one search: the race, in it every fit, and the training of the winner."""

    def __init__(self, search: Any, X: Any, y: Any, arguments: Mapping[str, Any]) -> None:
        self._search = search
        self._root: Any = None
        if getattr(search, "_skl_callbacks", None):
            self._heard = {"estimator": search, "X": X, "y": y, "metadata": _weights(arguments)}
            self._root = search._init_callback_context(max_subtasks=1 + bool(search.refit))

    @contextmanager
    def task(
        self, name: str, model: Any = None, splits: tuple[int, Plan] | None = None
    ) -> Iterator[FitCallbacks | None]:
        """Wrap the search ("fit"), its race with so many configurations on splits, or the training of the winner.

        Returns what wraps each fit of the race.
        """
        if self._root is None:
            yield None
        elif splits is None:
            with _told(self._root if name == "fit" else self._root.subcontext(task_name=name), model, **self._heard):
                yield None
        else:
            places = [(c, split.repeat, split.fold) for c in range(splits[0]) for split in splits[1].splits]
            race = self._root.subcontext(task_name=name, max_subtasks=len(places), sequential_subtasks=False)
            each = "candidate-split-evaluation"
            made = {place: race.subcontext(task_name=each, task_id=i) for i, place in enumerate(places)}
            with _told(race, estimator=self._search):
                yield FitCallbacks(self._search, made)


def _weights(arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    return {"sample_weight": arguments["sample_weight"]} if arguments.get("sample_weight") is not None else None
