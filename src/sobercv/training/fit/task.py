"""A unit of work: task in, outcomes out.

Takes a problem, an estimator, one split and configurations; gives predictions and times, or a failure with a name;
never writes anything down, never changes what it is given.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from sklearn.base import clone

from ...containers import Array
from ...errors import SoberError
from .plan import Split
from .problem import Problem, take
from .response import Unusable, Wanted, responses_of
from .space import Configuration


@dataclass(frozen=True, eq=False)
class Task:
    """One split and the configurations to fit on it."""

    split: Split
    configurations: tuple[Configuration, ...]


@dataclass(frozen=True)
class Failure:
    """Why a configuration gave nothing usable.

    Attributes
    ----------
    kind : {"raised", "not finite", "wrong shape", "no method", "unknown label",
        "impossible probabilities", "worker died"}
    message : str
        The exception's text, or what was wrong with the predictions.
    error : str
        The exception's type; empty where nothing was raised.
    repeat, fold : int
        Where it happened, counted from 0.
    traceback : str
        The last frames, for the curious.
    """

    kind: str
    message: str
    error: str = ""
    repeat: int = 0
    fold: int = 0
    traceback: str = field(default="", repr=False, compare=False)

    def __str__(self) -> str:
        cause = f"{self.error}: {self.message}" if self.error else self.message
        return f"fold {self.fold + 1} of repeat {self.repeat + 1}: {cause}"


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one configuration gave on one split.

    Attributes
    ----------
    configuration : int
        Its index for life.
    repeat, fold : int
        The split.
    responses : mapping of str to array [n_test] or [n_test, K]
        Empty where the fit failed.
    fit_seconds, predict_seconds : float
    failure : Failure or None
    more : bool
        Whether others that came back from a worker together with it follow at once.
    """

    configuration: int
    repeat: int
    fold: int
    responses: Mapping[str, Array]
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    failure: Failure | None = None
    more: bool = False


def fit_predict(
    problem: Problem, estimator: Any, task: Task, wanted: Wanted, raise_errors: bool = False
) -> Iterator[Outcome]:
    """Fit every configuration of a task on its own, and predict the rows held out.

    Parameters
    ----------
    problem : Problem
    estimator : estimator
        Never fitted itself: each configuration is set on a clone.
    task : Task
    wanted : tuple of tuples of str
        For each response the methods that can give it, best first.
    raise_errors : bool
        Let the first exception out instead of turning it into a failure.

    Yields
    ------
    Outcome
    """
    for configuration in task.configurations:
        try:
            built = build(estimator, configuration)
        except Exception as error:
            yield failed(configuration, task.split, error, raise_errors)
            continue
        yield fit_one(problem, built, configuration, task.split, wanted, raise_errors)


def build(estimator: Any, configuration: Configuration) -> Any:
    """Set a configuration on a clone; parameters that are estimators are cloned too."""
    built = clone(estimator)
    return built.set_params(**clone(dict(configuration.params), safe=False)) if configuration.params else built


def fit_one(
    problem: Problem,
    built: Any,
    configuration: Configuration,
    split: Split,
    wanted: Wanted,
    raise_errors: bool = False,
) -> Outcome:
    """Fit one built estimator on the training rows and predict the test rows.

    Parameters
    ----------
    problem : Problem
    built : estimator
        Set to the configuration; it is fitted in place.
    configuration : Configuration
    split : Split
    wanted : tuple of tuples of str
    raise_errors : bool
    """
    start, fitted = perf_counter(), None
    try:
        # Rows are taken afresh for every fit: estimators with copy=False write into what they are given.
        columns = split.train if problem.is_pairwise_for(built) else None
        X_train = take(problem.X, split.train, columns)
        X_test = take(problem.X, split.test, columns)
        built.fit(X_train, take(problem.y, split.train), **problem.fit_arguments(split.train))
        fitted = perf_counter()
        responses = responses_of(problem, built, X_test, len(split.test), wanted)
    except Exception as error:
        end = perf_counter()
        seconds = (end - start, 0.0) if fitted is None else (fitted - start, end - fitted)
        return failed(configuration, split, error, raise_errors, *seconds)
    return Outcome(configuration.index, split.repeat, split.fold, responses, fitted - start, perf_counter() - fitted)


def failed(
    configuration: Configuration,
    split: Split,
    error: Exception,
    raise_errors: bool = False,
    fit_seconds: float = 0.0,
    predict_seconds: float = 0.0,
) -> Outcome:
    """Turn an exception into an outcome, or let it out where that is asked for."""
    if isinstance(error, Unusable):
        failure = Failure(error.kind, error.message, "", split.repeat, split.fold)
        if raise_errors:
            raise SoberError("E314", f"Configuration {configuration.index} failed in {failure}") from None
    else:
        if raise_errors:
            raise error
        frames = "".join(traceback.format_exception(error, limit=-4))
        failure = Failure("raised", str(error), type(error).__name__, split.repeat, split.fold, frames)
    return Outcome(configuration.index, split.repeat, split.fold, {}, fit_seconds, predict_seconds, failure)
