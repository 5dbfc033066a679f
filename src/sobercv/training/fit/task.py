"""A unit of work: task in, outcomes out.

Takes an experiment, one split and configurations; gives predictions and times, or a failure with a name; never writes
anything down, never changes what it is given.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from time import perf_counter
from typing import Any

from sklearn.base import clone

from ...containers import Array
from ...errors import SoberError
from ...forests import Forests, GrownForest
from .experiment import Asks, Experiment, Rows, Sides
from .plan import Split
from .problem import take
from .response import Unusable, Wanted, method_of, responses_of
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
    by_machine : bool
        Whether the machine raised it, not the configuration: no memory left, a file or a package missing.
    """

    kind: str
    message: str
    error: str = ""
    repeat: int = 0
    fold: int = 0
    traceback: str = field(default="", repr=False, compare=False)
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
    """What one configuration gave on one split.

    Attributes
    ----------
    configuration : int
        Its index.
    repeat, fold : int
        The split.
    responses : mapping of str to array [n_test] or [n_test, K]
        Empty where the fit failed.
    fit_seconds, predict_seconds : float
    failure : Failure or None
    answers : mapping of str to float
        What else was asked of the fitted model, see `Experiment.asks`.
    is_recalled : bool
        Whether it was read from a file of an earlier run.
    """

    configuration: int
    repeat: int
    fold: int
    responses: Mapping[str, Array]
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    failure: Failure | None = None
    answers: Mapping[str, float] = field(default_factory=dict)
    is_recalled: bool = False


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
    forests = Forests()
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
        Grow random forests faster where nothing but predictions is asked of them.
    """
    problem, start, fitted = experiment.problem, perf_counter(), None
    try:
        # Rows are taken afresh for every fit: estimators with copy=False write into what they are given.
        columns = split.train if problem.is_pairwise_for(built) else None
        rows = Rows(take(problem.X, split.train, columns), take(problem.y, split.train), problem, split.train)
        held_out = partial(take, problem.X, split.test, columns)
        arguments = problem.fit_arguments(split.train)
        around, asks = experiment.around, experiment.asks
        if around is None and asks is None:
            answering = fitted_on(built, rows.X, rows.y, arguments, held_out, experiment.wanted, forests)
        else:
            with nullcontext() if around is None else around(built, configuration, split, rows, arguments):
                answering = fitted_on(built, rows.X, rows.y, arguments)
        del rows  # its memory is free before the rows held out take theirs
        fitted = perf_counter()
        responses = responses_of(problem, answering, held_out(), len(split.test), experiment.wanted)
        answers = {} if asks is None else answers_of(asks, built, Sides(problem, split, columns))
    except BaseException as error:
        end = perf_counter()
        seconds = (end - start, 0.0) if fitted is None else (fitted - start, end - fitted)
        return failed(experiment, configuration, split, error, *seconds)
    seconds = fitted - start, perf_counter() - fitted
    return Outcome(configuration.index, split.repeat, split.fold, responses, *seconds, answers=answers)


def fitted_on(
    model: Any,
    X: Any,
    y: Any,
    arguments: Mapping[str, Any],
    rows: Callable[[], Any] | None = None,
    wanted: Wanted = (),
    forests: Forests | None = None,
) -> Any:
    """Fit a model in place and return it, or a forest that was grown in its place and predicts `rows` alike.

    Parameters
    ----------
    model : estimator
    X, y : array-like
        The training rows; without a target, `y` is None.
    arguments : mapping
        What `fit` receives beside them.
    rows : callable, optional
        Returns the rows to predict.
    wanted : tuple of tuples of str
        What will be asked, see `Experiment.wanted`.
    forests : Forests, optional
    """
    is_answerable = all(method_of(GrownForest, alternatives) is not None for alternatives in wanted)
    if forests is not None and rows is not None and is_answerable and not arguments and y is not None:
        grown = forests.grown(model, X, y, rows)
        if grown is not None:
            return grown
    model.fit(X, *(() if y is None else (y,)), **arguments)
    return model


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
            raise SoberError("E315", f"Configuration {configuration.index} failed in {failure}") from None
    else:
        if experiment.raise_errors:
            raise error
        frames = "".join(traceback.format_exception(error, limit=-4))
        failure = Failure(
            "raised", error_text(error), type(error).__name__, split.repeat, split.fold, frames, _is_machines(error)
        )
    return Outcome(configuration.index, split.repeat, split.fold, {}, fit_seconds, predict_seconds, failure)


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
