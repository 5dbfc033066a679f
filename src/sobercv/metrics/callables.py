"""Any metric at all: a function (y_true, y_pred) that is called for each resample and configuration.

Rows are repeated as often as they were drawn. Slow and general: B x C calls where the other metrics need one product or
scan. What was asked once is remembered, so that equal columns and equal rows cost one call.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from copy import copy
from hashlib import blake2b
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..targets import Target, TaskName, guess_task
from ..threads import ignored_warnings
from .contract import Core, Metric, Part

MAX_CALLS = 1000  # of a function in one correction, unless its metric allows more
_FEWEST = 100  # resamples: with fewer an interval of 95 % has no ends
_REMEMBERED = 100_000  # scores of a function; then it is forgotten, and asked again


class GeneralCore(Core):
    """Calls the function on repeated rows."""

    def __init__(self, metric: GeneralMetric, part: Part) -> None:
        self._metric, self._part = metric, part

    def scores(self, counts: Array, picked: Array | None = None) -> Array:
        n = self._part.values.shape[1]
        asked = np.broadcast_to(np.arange(n), (len(counts), n)) if picked is None else picked[:, None]
        out = np.full(asked.shape, np.nan)
        with ignored_warnings():  # thousands of calls on resamples; undefined ones come back as NaN
            for b, row in enumerate(counts):
                rows = np.repeat(np.arange(len(row)), row)
                for j, c in enumerate(asked[b] if len(rows) else ()):
                    try:
                        out[b, j] = self._metric.call(self._part, rows, int(c))
                    except ValueError as problem:  # scikit-learn's way of saying "not defined on these samples"
                        if isinstance(problem, SoberError):
                            raise
                        self.complaint = self.complaint or f"{type(problem).__name__}: {problem}"
        return out


class GeneralMetric(Metric):
    """A metric made of any function; see `sobercv.make_metric`.

    Parameters
    ----------
    function : callable
        (y_true, y_pred) -> float, and `sample_weight` where it knows them.
    name : str
    task : {"classification", "regression", "survival"} or None
        None is read off the data.
    responses : tuple of str
    greater_is_better : bool
    pos_label : label, optional
        The class whose probability or decision value the function gets, of two; default: the last.
    max_calls : int
        Calls that one correction may cost; see `affordable`.
    """

    calls_a_function = True
    range = (-np.inf, np.inf)

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        task: TaskName | None = None,
        responses: tuple[str, ...] = ("predict",),
        greater_is_better: bool = True,
        pos_label: Any = None,
        max_calls: int = MAX_CALLS,
    ) -> None:
        self.name, self.responses, self.greater_is_better = name, responses, greater_is_better
        self._max_calls = max_calls
        self._function, self.pos_label, self._known_task = function, pos_label, task
        self._memory: dict[bytes, float] = {}
        self.takes_weights = _takes_weights(function)
        if task is not None:
            self.task = task

    @property
    def task_is_open(self) -> bool:
        """Whether the kind of target is to be read off the data."""
        return self._known_task is None

    def for_target(self, y: Any) -> Metric:
        if not self.task_is_open:
            return self
        return self.for_task(y.task if isinstance(y, Target) else guess_task(y).task)

    def for_task(self, task: TaskName) -> GeneralMetric:
        """Settle the kind of target."""
        made = copy(self)
        made.task = made._known_task = task
        made._memory = {}
        return made

    def affordable(self, n_resamples: int, n_configurations: int) -> int:
        # Each resample scores every configuration once in bag, and the winner out of bag.
        return min(n_resamples, max(_FEWEST, self._max_calls // (n_configurations + 1)))

    def problems(self, target: Target) -> Iterator[tuple[str, str]]:
        settled = self.for_task(target.task) if self.task_is_open else self
        return Metric.problems(settled, target)

    def on_classes(self) -> Metric:
        return self  # the function gets labels as they are

    def core(self, part: Part, n_threads: int = 1) -> Core:
        return GeneralCore(self, part)

    def call(self, part: Part, rows: Array, configuration: int) -> float:
        """Score some rows of one configuration; a ValueError says that the function is undefined there."""
        values = np.ascontiguousarray(part.values[rows, configuration])
        y = np.ascontiguousarray(part.y[rows])
        weight = None if part.weight is None else part.weight[rows]
        classes = repr(None if part.classes is None else part.classes.tolist()).encode()
        seen = blake2b(b"".join([classes, y.tobytes(), values.tobytes(), b"" if weight is None else weight.tobytes()]))
        key = seen.digest()
        score = self._memory.get(key)
        if score is None:
            score = self._ask(part, y, values, weight)
            if len(self._memory) >= _REMEMBERED:
                self._memory.clear()  # another thread may do so at any time
            self._memory[key] = score
        return score

    def _ask(self, part: Part, y: Array, values: Array, weight: Array | None) -> float:
        if part.classes is not None:
            y = part.classes[y]
            if self.responses[0] == "predict":
                values = part.classes[values]
            elif values.ndim == 1 and self.pos_label is not None and self.pos_label == part.classes[0]:
                values = 1.0 - values if self.responses[0] == "predict_proba" else -values
        try:
            return float(self._function(y, values, **({} if weight is None else {"sample_weight": weight})))
        except ValueError:
            raise  # undefined on these samples; the core remembers what was said
        except Exception as problem:
            raise SoberError(
                "E117",
                f"The metric {self.name} failed with {type(problem).__name__}: {problem}. It must take "
                "(y_true, y_pred) and give one number.",
            ) from problem


def _takes_weights(function: Callable[..., Any]) -> bool:
    try:
        return "sample_weight" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
