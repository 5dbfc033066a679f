"""One fit: what all fits of a search have in common, a task, and the outcomes that come of it.

Failure is a value with a name; nothing is written down, and nothing that is given is changed.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from time import perf_counter
from typing import Any

from sklearn.base import clone

from ...containers import Array
from ...errors import SoberError
from ...forests import Forests, GrownForest
from .plan import Split
from .problem import Problem, take
from .response import Unusable, Wanted, method_of, responses_of
from .space import Configuration


@dataclass(frozen=True, eq=False)
class Rows:
    """One side of a split, as the user holds it; `y` is None where the problem has none."""

    X: Any
    y: Any
    problem: Problem
    numbers: Array

    @classmethod
    def of(cls, problem: Problem, numbers: Array, columns: Array | None) -> Rows:
        """Take rows afresh: estimators with copy=False write into what they are given."""
        return cls(take(problem.X, numbers, columns), take(problem.y, numbers), problem, numbers)

    def cut(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Cut what has one entry per sample of the problem to these rows."""
        return self.problem.cut(given, self.numbers)


#: (fitted, takes the rows held out, takes the training rows) -> numbers by name.
Asks = Callable[[Any, Callable[[], Rows], Callable[[], Rows]], Mapping[str, float]]


@dataclass(frozen=True, eq=False)
class Experiment:
    """What all fits of a search have in common. A fit adds a configuration and a split.

    Attributes
    ----------
    problem : Problem
        The data.
    estimator : estimator
        Never fitted itself: each configuration is set on a clone.
    wanted : tuple of tuples of str
        For each response the methods that can give it, best first; empty where no predictions are needed.
    raise_errors : bool
        Let the first exception of a fit out instead of turning it into a failure.
    asks : callable, optional
        What else is asked of each fitted model, with the rows of its split.
    """

    problem: Problem
    estimator: Any
    wanted: Wanted
    raise_errors: bool = False
    asks: Asks | None = None


#: What a fit is known by: repeat, fold and the index of its configuration.
Place = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Task:
    """One split and the configurations to fit on it."""

    split: Split
    configurations: tuple[Configuration, ...]

    @property
    def places(self) -> list[Place]:
        """The places of its fits."""
        return [(self.split.repeat, self.split.fold, configuration.index) for configuration in self.configurations]


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

    @property
    def place(self) -> Place:
        """What the fit is known by."""
        return self.repeat, self.fold, self.configuration


#: Told before a piece of work: for which configurations it is done.
Begins = Callable[[Sequence[Configuration]], object]


def fit_predict(experiment: Experiment, task: Task, begins: Begins = lambda configurations: None) -> Iterator[Outcome]:
    """Fit every configuration of a task on its own, and predict the rows held out; `begins` hears which is next."""
    forests = Forests()
    for configuration in task.configurations:
        begins((configuration,))
        yield fit_one(experiment, configuration, task.split, forests)


def build(estimator: Any, configuration: Configuration) -> Any:
    """Set a configuration on a clone; parameters that are estimators are cloned too."""
    built = clone(estimator)
    return built.set_params(**clone(dict(configuration.params), safe=False)) if configuration.params else built


def fit_one(
    experiment: Experiment, configuration: Configuration, split: Split, forests: Forests | None = None
) -> Outcome:
    """Fit one configuration, set on a clone, on the training rows and predict the test rows.

    Random forests are grown faster with `forests`, where nothing but predictions is asked of them.
    """
    problem, asks, columns = experiment.problem, experiment.asks, None

    def held_out() -> Any:
        return take(problem.X, split.test, columns)

    def fit() -> Any:
        nonlocal columns
        built = build(experiment.estimator, configuration)
        columns = split.train if problem.is_pairwise_for(built) else None
        rows, arguments = Rows.of(problem, split.train, columns), problem.fit_arguments(split.train)
        if asks is None:
            return fitted_on(built, rows.X, rows.y, arguments, held_out, experiment.wanted, forests)
        return fitted_on(built, rows.X, rows.y, arguments)

    def ask(fitted: Any) -> tuple[Mapping[str, Array], Mapping[str, float]]:
        responses = responses_of(problem, fitted, held_out(), len(split.test), experiment.wanted)
        if asks is None:
            return responses, {}
        sides = (partial(Rows.of, problem, numbers, columns) for numbers in (split.test, split.train))
        answers = dict(asks(fitted, *sides))
        for name, value in answers.items():
            if not isfinite(value):
                raise Unusable("not finite", f"{name} of the fitted model is {value}.")
        return responses, answers

    return outcome_of(experiment, configuration, split, fit, ask)


def fitted_on(
    model: Any,
    X: Any,
    y: Any,
    arguments: Mapping[str, Any],
    rows: Callable[[], Any] | None = None,
    wanted: Wanted = (),
    forests: Forests | None = None,
) -> Any:
    """Fit a model in place and return it, or a forest that was grown in its place and predicts `rows()` alike."""
    if forests is not None and rows is not None and not arguments and y is not None:
        is_answerable = all(method_of(GrownForest, alternatives) is not None for alternatives in wanted)
        grown = forests.grown(model, X, y, rows) if is_answerable else None
        if grown is not None:
            return grown
    model.fit(X, *(() if y is None else (y,)), **arguments)
    return model


def outcome_of(
    experiment: Experiment,
    configuration: Configuration,
    split: Split,
    fit: Callable[[], Any],
    ask: Callable[[Any], tuple[Mapping[str, Array], Mapping[str, float]]],
) -> Outcome:
    """Fit, then ask what was fitted; measure both, and turn an exception into a failure."""
    start, fitted = perf_counter(), None
    try:
        model = fit()
        fitted = perf_counter()
        responses, answers = ask(model)
    except BaseException as error:
        end = perf_counter()
        seconds = (end - start, 0.0) if fitted is None else (fitted - start, end - fitted)
        return failed(experiment, configuration, split, error, *seconds)
    seconds = fitted - start, perf_counter() - fitted
    return Outcome(configuration.index, split.repeat, split.fold, responses, *seconds, answers=answers)


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
