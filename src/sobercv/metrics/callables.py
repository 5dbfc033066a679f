"""Any metric at all: a function (y_true, y_pred) that is called for each resample and configuration.

Rows are repeated as often as they were drawn. Slow and general: B x C calls where the other metrics need one product or
scan. What was asked once is remembered, so that equal columns and equal rows cost one call.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..targets import TaskName
from ..threads import ignored_warnings
from .contract import Core, Metric, Part

MAX_CALLS = 1000  # of a function in one correction, unless its metric allows more
_REMEMBERED = 100_000  # scores of a function; then it is forgotten, and asked again


def calling(
    function: Callable[..., Any],
    name: str,
    *,
    task: TaskName | None = None,
    responses: tuple[str, ...] = ("predict",),
    greater_is_better: bool = True,
    pos_label: Any = None,
    max_calls: int = MAX_CALLS,
) -> Metric:
    """Declare a metric of any function; see `sobercv.make_metric`.

    `pos_label` is the class whose probability or decision value the function gets, of two (default: the last).
    """
    return Metric(
        task=task,
        core=Function(function, responses[0], pos_label),
        name=name,
        responses=responses,
        greater_is_better=greater_is_better,
        range=(-np.inf, np.inf),
        max_calls=max_calls,
        takes_weights=takes_weights(function),
        pos_label=pos_label,
    )


def takes_weights(function: Callable[..., Any]) -> bool:
    """Whether a function has an argument `sample_weight`."""
    try:
        return "sample_weight" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


class Function:
    """A user's function and what it has said so far; binds to a part as every metric does."""

    def __init__(self, function: Callable[..., Any], response: str, pos_label: Any) -> None:
        self._function, self._response, self._pos_label = function, response, pos_label
        self._memory: dict[bytes, float] = {}

    def __call__(self, part: Part) -> Core:
        return Calls(self, part)

    def of_rows(self, part: Part, rows: Array, configuration: int) -> float:
        """Score some rows of one configuration; a ValueError says that the function is undefined there."""
        values = np.ascontiguousarray(part.values[rows, configuration])
        y = np.ascontiguousarray(part.y[rows])
        weight = None if part.weight is None else part.weight[rows]
        classes = repr(None if part.classes is None else part.labels).encode()
        known = b"".join([classes, y.tobytes(), values.tobytes(), b"" if weight is None else weight.tobytes()])
        key = blake2b(known).digest()
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
            if self._response == "predict":
                values = part.classes[values]
            elif values.ndim == 1 and self._pos_label is not None and self._pos_label == part.classes[0]:
                values = 1.0 - values if self._response == "predict_proba" else -values
        try:
            return float(self._function(y, values, **({} if weight is None else {"sample_weight": weight})))
        except ValueError:
            raise  # undefined on these samples; the core remembers what was said
        except Exception as problem:
            raise SoberError(
                "E117",
                f"The metric {part.metric} failed with {type(problem).__name__}: {problem}. It must take "
                "(y_true, y_pred) and return one number.",
            ) from problem


class Calls:
    """Calls the function on repeated rows. `complaint` is what it said when it first refused, else ""."""

    complaint = ""

    def __init__(self, function: Function, part: Part) -> None:
        self._function, self._part = function, part

    def __call__(self, counts: Array, picked: Array | None = None) -> Array:
        n = self._part.values.shape[1]
        asked = np.broadcast_to(np.arange(n), (len(counts), n)) if picked is None else picked[:, None]
        out = np.full(asked.shape, np.nan)
        with ignored_warnings():  # thousands of calls on resamples; undefined ones come back as NaN
            for b, row in enumerate(counts):
                rows = np.repeat(np.arange(len(row)), row)
                for j, c in enumerate(asked[b] if len(rows) else ()):
                    try:
                        out[b, j] = self._function.of_rows(self._part, rows, int(c))
                    except ValueError as problem:  # scikit-learn's way of saying "not defined on these samples"
                        if isinstance(problem, SoberError):
                            raise
                        self.complaint = self.complaint or f"{type(problem).__name__}: {problem}"
        return out
