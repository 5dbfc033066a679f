"""A unit of work: task in, outcomes out.

Takes an experiment, one split and configurations; gives predictions and times, or a failure with a name; never writes
anything down, never changes what it is given.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from math import isfinite
from time import perf_counter
from typing import Any

from sklearn.base import clone

from ...containers import Array
from ...errors import SoberError
from .experiment import Asks, Experiment, Rows, Sides
from .forests import Forests
from .plan import Split
from .problem import take
from .response import Unusable, responses_of
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
        "impossible probabilities", "worker died", "timed out"}
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
    answers : mapping of str to float
        What else was asked of the fitted model, see `Experiment.asks`.
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
    answers: Mapping[str, float] = field(default_factory=dict)
    more: bool = False


#: Told before a piece of work: for which configurations it is done.
Begins = Callable[[Sequence[Configuration]], None]


def fit_predict(experiment: Experiment, task: Task, begins: Begins | None = None) -> Iterator[Outcome]:
    """Fit every configuration of a task on its own, and predict the rows held out.

    Parameters
    ----------
    experiment : Experiment
    task : Task
    begins : callable, optional
        Hears which configuration is fitted next.

    Yields
    ------
    Outcome
    """
    forests = Forests(experiment.wanted)
    for configuration in task.configurations:
        if begins is not None:
            begins((configuration,))
        try:
            built = build(experiment.estimator, configuration)
        except BaseException as error:
            yield failed(experiment, configuration, task.split, error)
            continue
        yield fit_one(experiment, built, configuration, task.split, forests)


def build(estimator: Any, configuration: Configuration) -> Any:
    """Set a configuration on a clone; parameters that are estimators are cloned too."""
    built = clone(estimator)
    return built.set_params(**clone(dict(configuration.params), safe=False)) if configuration.params else built


def fit_one(
    experiment: Experiment, built: Any, configuration: Configuration, split: Split, forests: Forests | None = None
) -> Outcome:
    """Fit one built estimator on the training rows and predict the test rows.

    Parameters
    ----------
    experiment : Experiment
    built : estimator
        Set to the configuration; it is fitted in place.
    configuration : Configuration
    split : Split
    forests : Forests, optional
        Answer for a forest where nobody else asks for the fitted model.
    """
    problem, start, fitted = experiment.problem, perf_counter(), None
    try:
        # Rows are taken afresh for every fit: estimators with copy=False write into what they are given.
        columns = split.train if problem.is_pairwise_for(built) else None
        X_train = take(problem.X, split.train, columns)
        X_test = take(problem.X, split.test, columns)
        rows = Rows(X_train, take(problem.y, split.train), problem, split.train)
        arguments = problem.fit_arguments(split.train)
        around, asks = experiment.around, experiment.asks
        answering = None
        if forests is not None and around is None and asks is None and not arguments:
            answering = forests.grown(built, X_train, rows.y, X_test)
        if answering is None:
            with nullcontext() if around is None else around(built, configuration, split, rows, arguments):
                built.fit(X_train, *(() if rows.y is None else (rows.y,)), **arguments)
        fitted = perf_counter()
        responses = responses_of(
            problem, built if answering is None else answering, X_test, len(split.test), experiment.wanted
        )
        answers = {} if asks is None else answers_of(asks, built, Sides(problem, split, columns))
    except BaseException as error:
        end = perf_counter()
        seconds = (end - start, 0.0) if fitted is None else (fitted - start, end - fitted)
        return failed(experiment, configuration, split, error, *seconds)
    seconds = fitted - start, perf_counter() - fitted
    return Outcome(configuration.index, split.repeat, split.fold, responses, *seconds, answers=answers)


def answers_of(asks: Asks, fitted: Any, sides: Sides) -> dict[str, float]:
    """Ask a fitted model for numbers; each must be one.

    Parameters
    ----------
    asks : callable
    fitted : estimator
    sides : Sides
        The rows of its split.
    """
    answers = dict(asks(fitted, sides))
    for name, value in answers.items():
        if not isfinite(value):
            raise Unusable("not finite", f"{name} of the fitted model is {value}.")
    return answers


def failed(
    experiment: Experiment,
    configuration: Configuration,
    split: Split,
    error: BaseException,
    fit_seconds: float = 0.0,
    predict_seconds: float = 0.0,
) -> Outcome:
    """Turn an exception into an outcome, or let it out where that is asked for.

    Ctrl-C and its like are always let out. An estimator that calls `sys.exit` has failed; it does not end the run.
    """
    if isinstance(error, (KeyboardInterrupt, GeneratorExit)):
        raise error
    if isinstance(error, Unusable):
        failure = Failure(error.kind, error.message, "", split.repeat, split.fold)
        if experiment.raise_errors:
            raise SoberError("E314", f"Configuration {configuration.index} failed in {failure}") from None
    else:
        if experiment.raise_errors:
            raise error
        frames = "".join(traceback.format_exception(error, limit=-4))
        failure = Failure("raised", error_text(error), type(error).__name__, split.repeat, split.fold, frames)
    return Outcome(configuration.index, split.repeat, split.fold, {}, fit_seconds, predict_seconds, failure)


def error_text(error: BaseException) -> str:
    """Give the text of an exception, also where its own code for that raises."""
    try:
        return str(error)
    except Exception as worse:  # its __str__ raises
        return f"(its text cannot be read: {type(worse).__name__})"
