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

    def whole(self) -> Any:
        """Wrap the whole search."""
        return nullcontext() if self._root is None else _told(self._root, **self._heard)

    @contextmanager
    def race(self, n_configurations: int, plan: Plan) -> Iterator[FitCallbacks | None]:
        """Wrap all fits but the last; return what wraps each of them."""
        if self._root is None:
            yield None
            return
        places = [(c, split.repeat, split.fold) for c in range(n_configurations) for split in plan.splits]
        search = self._root.subcontext(task_name="search", max_subtasks=len(places), sequential_subtasks=False)
        name = "candidate-split-evaluation"
        made = {place: search.subcontext(task_name=name, task_id=i) for i, place in enumerate(places)}
        with _told(search, estimator=self._search):
            yield FitCallbacks(self._search, made)

    def refit(self, model: Any) -> Any:
        """Wrap the training of the winner."""
        if self._root is None:
            return nullcontext()
        return _told(self._root.subcontext(task_name="refit-with-best-params"), model, **self._heard)


def _weights(arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    return {"sample_weight": arguments["sample_weight"]} if arguments.get("sample_weight") is not None else None
