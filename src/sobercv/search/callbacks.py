"""scikit-learn's callbacks (1.9 and later): the tasks of a search as GridSearchCV names them, down to the estimators.

They never change a result. Where scikit-learn has no callbacks, everything here is a no-op.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..training import Configuration, Plan, Split
from ..training.fit.task import Rows
from .final_model import trained

__all__ = ["CallbackSupport", "FitCallbacks", "SearchCallbacks", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
    from sklearn.callback import with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupport:  # type: ignore[no-redef]
        """Stands in for scikit-learn's mixin."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Leave the method as it is."""
        return method


@dataclass(frozen=True, eq=False)
class FitCallbacks:
    """What callbacks hear of one fit, where it is made; it goes to worker processes with the experiment."""

    owner: Any  #: the search
    #: By configuration, repeat and fold; made ahead, because a context cannot be given a child in another process.
    contexts: Mapping[tuple[int, int, int], Any]

    @contextmanager
    def __call__(
        self, built: Any, configuration: Configuration, split: Split, rows: Rows, arguments: Mapping[str, Any]
    ) -> Iterator[None]:
        """Wrap the training of one estimator."""
        context = self.contexts[configuration.index, split.repeat, split.fold]
        heard = {"estimator": self.owner, "X": rows.X, "y": rows.y, "metadata": _weights(arguments)}
        try:
            with context.propagate_callback_context(built):
                context.call_on_fit_task_begin(**heard)
                yield
        finally:
            context.call_on_fit_task_end(**heard)


class SearchCallbacks:
    """The tasks of one search: the race, in it every fit, and the training of the winner."""

    def __init__(
        self, owner: Any, X: Any, y: Any, arguments: Mapping[str, Any], n_configurations: int, plan: Plan
    ) -> None:
        self._owner = owner
        self._heard = {"estimator": owner, "X": X, "y": y, "metadata": _weights(arguments)}
        self._root: Any = None
        self.around: FitCallbacks | None = None
        if not getattr(owner, "_skl_callbacks", None):
            return
        self._root = owner._init_callback_context(max_subtasks=1 + bool(owner.refit))
        self._root.call_on_fit_task_begin(**self._heard)
        n_fits = n_configurations * plan.n_splits
        self._search = self._root.subcontext(task_name="search", max_subtasks=n_fits, sequential_subtasks=False)
        places = [(c, split.repeat, split.fold) for c in range(n_configurations) for split in plan.splits]
        name = "candidate-split-evaluation"
        made = {place: self._search.subcontext(task_name=name, task_id=i) for i, place in enumerate(places)}
        self.around = FitCallbacks(owner, made)

    @contextmanager
    def race(self) -> Iterator[None]:
        """Wrap all fits but the last."""
        if self._root is not None:
            self._search.call_on_fit_task_begin(estimator=self._owner)
        yield
        if self._root is not None:
            self._search.call_on_fit_task_end(estimator=self._owner)

    def train(self, model: Any, X: Any, y: Any, **arguments: Any) -> Any:
        """Train the winner, and tell of it."""
        if self._root is None:
            return trained(model, X, y, **arguments)
        context = self._root.subcontext(task_name="refit-with-best-params")
        with context.propagate_callback_context(model):
            context.call_on_fit_task_begin(**self._heard)
            trained(model, X, y, **arguments)
        context.call_on_fit_task_end(**self._heard)
        return model

    def close(self) -> None:
        """End the whole task."""
        if self._root is not None:
            self._root.call_on_fit_task_end(**self._heard)


def _weights(arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    return {"sample_weight": arguments["sample_weight"]} if arguments.get("sample_weight") is not None else None
