"""Any metric at all: a function (y_true, y_pred) that is called for each resample and configuration.

Rows are repeated as often as they were drawn. Slow and general: B x C calls where the other metrics need one product or
scan.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..targets import TaskName
from ..threads import ignored_warnings
from .contract import Metric, Part

MAX_CALLS = 1000  # of a function in one correction, unless its metric allows more


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
    try:
        takes_weights = "sample_weight" in inspect.signature(function).parameters
    except (TypeError, ValueError):
        takes_weights = False
    return Metric(
        task=task,
        core=partial(Calls, function=function, response=responses[0], pos_label=pos_label),
        name=name,
        responses=responses,
        greater_is_better=greater_is_better,
        range=(-np.inf, np.inf),
        max_calls=max_calls,
        takes_weights=takes_weights,
        pos_label=pos_label,
    )


class Calls:
    """Calls a function on repeated rows of a part.

    A ValueError is scikit-learn's way of saying "not defined on these samples": the score is NaN, and `complaint` is
    what the function said first, else "".
    """

    complaint = ""

    def __init__(self, part: Part, *, function: Callable[..., Any], response: str, pos_label: Any) -> None:
        self._function, self._weight = function, part.weight
        self._y, self._values, self._metric = part.y, part.values, part.metric
        if part.classes is None:
            return
        self._y = part.classes[part.y]
        if response == "predict":
            self._values = part.classes[part.values]
        elif part.values.ndim == 2 and pos_label is not None and pos_label == part.classes[0]:
            self._values = 1.0 - part.values if response == "predict_proba" else -part.values

    def __call__(self, counts: Array, picked: Array | None = None) -> Array:
        n = self._values.shape[1]
        asked = np.broadcast_to(np.arange(n), (len(counts), n)) if picked is None else picked[:, None]
        out = np.full(asked.shape, np.nan)
        for b, row in enumerate(counts):
            rows = np.repeat(np.arange(len(row)), row)
            for j, c in enumerate(asked[b] if len(rows) else ()):
                out[b, j] = self._score(rows, int(c))
        return out

    def _score(self, rows: Array, configuration: int) -> float:
        weight = {} if self._weight is None else {"sample_weight": self._weight[rows]}
        values = np.ascontiguousarray(self._values[rows, configuration])
        try:
            with ignored_warnings():  # thousands of calls on resamples; undefined ones come back as NaN
                return float(self._function(self._y[rows], values, **weight))
        except SoberError:
            raise
        except ValueError as problem:
            self.complaint = self.complaint or f"{type(problem).__name__}: {problem}"
            return float("nan")
        except Exception as problem:
            raise SoberError(
                "E117",
                f"The metric {self._metric} failed with {type(problem).__name__}: {problem}. It must take "
                "(y_true, y_pred) and return one number.",
            ) from problem
