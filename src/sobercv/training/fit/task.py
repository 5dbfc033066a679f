"""One fit: what all fits of a search have in common, a task, and the outcomes that come of it.

Failure is a value with a name; nothing is written down, and nothing that is given is changed.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sklearn.base import clone

from ...containers import Array
from ...errors import SoberError
from .plan import Split
from .problem import Problem
from .response import Unusable, Wanted
from .space import Configuration

#: (fitted, problem, split, columns) -> numbers by name; `columns` are those of a matrix between samples, else None.
Asks = Callable[[Any, Problem, Split, Array | None], Mapping[str, float]]


@dataclass(frozen=True, eq=False)
class Experiment:
    """What all fits of a search have in common. A fit adds a configuration and a split."""

    problem: Problem
    estimator: Any  # never fitted itself: each configuration is set on a clone
    wanted: Wanted  # for each response the methods that can give it, best first; empty where none is needed
    raise_errors: bool = False  # whether the first exception of a fit is let out instead of becoming a failure
    asks: Asks | None = None  # what else is asked of each fitted model


#: What a fit is known by: repeat, fold and the index of its configuration.
Place = tuple[int, int, int]


class Task(NamedTuple):
    """A fit: of one configuration on one split."""

    split: Split
    configuration: Configuration

    @property
    def place(self) -> Place:
        """What the fit is known by."""
        return self.split.repeat, self.split.fold, self.configuration.index


@dataclass(frozen=True)
class Failure:
    """Why a configuration gave nothing usable.

    `kind` is "raised", "not finite", "wrong shape", "no method", "unknown label", "impossible probabilities",
    "worker died" or "timed out".
    """

    kind: str
    message: str  # the exception's text, or what was wrong with the predictions
    error: str = ""  # the exception's type; empty where nothing was raised
    repeat: int = 0  # where it happened, counted from 0
    fold: int = 0
    traceback: str = field(default="", repr=False, compare=False)  # the last frames, for the curious
    # Whether the machine raised it, not the configuration: no memory left, a file or a package missing.
    by_machine: bool = field(default=False, repr=False, compare=False)

    @property
    def is_transient(self) -> bool:
        """Whether a resumed run should try again: another machine, or a quieter hour, may not fail."""
        return self.by_machine or self.kind in ("worker died", "timed out")

    def __str__(self) -> str:
        cause = f"{self.error}: {self.message}" if self.error else self.message
        return f"fold {self.fold + 1} of repeat {self.repeat + 1}: {cause}"


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one configuration gave on one split."""

    configuration: int  # its index
    repeat: int
    fold: int
    responses: Mapping[str, Array]  # [n_test] or [n_test, K]; empty where the fit failed
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    failure: Failure | None = None
    answers: Mapping[str, float] = field(default_factory=dict)  # what else was asked, see `Experiment.asks`
    is_recalled: bool = False  # whether it was read from a file of an earlier run

    @property
    def place(self) -> Place:
        """What the fit is known by."""
        return self.repeat, self.fold, self.configuration


def build(estimator: Any, params: Mapping[str, Any], safe: bool = True) -> Any:
    """Set parameters on a clone; those that are estimators are cloned too. `safe` refuses what is no estimator."""
    built = clone(estimator, safe=safe)
    return built.set_params(**clone(dict(params), safe=False)) if params else built


def failed(experiment: Experiment, task: Task, error: BaseException, seconds: float = 0.0) -> Outcome:
    """Turn an exception into an outcome, or let it out where that is asked for.

    Ctrl-C and its like are always let out. An estimator that calls `sys.exit` has failed; it does not end the run.
    """
    if isinstance(error, (KeyboardInterrupt, GeneratorExit)):
        raise error
    repeat, fold, index = task.place
    if isinstance(error, Unusable):
        kind, message = error.args
        failure = Failure(kind, message, "", repeat, fold)
        if experiment.raise_errors:
            raise SoberError("E315", f"Configuration {index} failed in {failure}") from None
    else:
        if experiment.raise_errors:
            raise error
        frames = "".join(traceback.format_exception(error, limit=-4))
        kind, by_machine = type(error).__name__, _is_machines(error)
        failure = Failure("raised", error_text(error), kind, repeat, fold, frames, by_machine)
    return Outcome(index, repeat, fold, {}, seconds, failure=failure)


def _is_machines(error: BaseException | None) -> bool:
    """Whether the machine caused an error, directly or behind another one."""
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        out_of_memory = any("OutOfMemory" in kind.__name__ for kind in type(error).__mro__)  # torch, ray
        if isinstance(error, (MemoryError, OSError, ImportError)) or out_of_memory:
            return True
        seen.append(error)
        error = error.__cause__ or error.__context__
    return False


def error_text(error: BaseException) -> str:
    """Return the text of an exception, also where its own code for that raises."""
    try:
        return str(error)
    except Exception as worse:  # its __str__ raises
        return f"(its text cannot be read: {type(worse).__name__})"
