"""Shared work on a split: pipelines that begin alike fit their common steps once, and equal models are fitted once.

The outcomes are those of `task.fit_predict`, bit for bit, in another order; nothing is remembered between tasks. Where
a pipeline does more than its steps one after the other, every configuration is fitted alone. A step that draws from
numpy's global generator (random_state=None) is drawn once for all that share it. Two selections often choose the same
columns, and a number of columns given as a share is often the same number: such fits repeat each other bit for bit.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from ...containers import Array
from ...forests import Forests
from .problem import Problem, take
from .response import responses_of
from .space import Configuration
from .task import Begins, Experiment, Outcome, Task, failed, fit_predict, fitted_on, outcome_of

#: One key for each step but the last; equal keys mean equal steps. Empty where nothing may be shared.
Keys = tuple[Any, ...]
#: A configuration and its keys.
Member = tuple[Configuration, Keys]
#: The training rows and those held out, until the last of those that need them takes them.
Shared = list[tuple[Any, Any]]


def fit_predict_shared(
    experiment: Experiment, task: Task, begins: Begins = lambda configurations: None
) -> Iterator[Outcome]:
    """Fit every configuration of a task, common first steps of pipelines once; as `task.fit_predict`."""
    together: dict[Any, list[Member]] = {}
    for configuration, keys in zip(task.configurations, prefix_keys(experiment, task.configurations), strict=True):
        together.setdefault(keys[0] if keys else configuration.index, []).append((configuration, keys))
    alone = tuple(group[0][0] for group in together.values() if len(group) == 1)
    yield from fit_predict(experiment, Task(task.split, alone), begins)
    groups, X = [group for group in together.values() if len(group) > 1], experiment.problem.X
    walk = _Walk(experiment, task, begins, has_rivals=len({keys for group in groups for _, keys in group}) > 1)
    for group in groups:
        yield from walk.descend(group, 0, [(take(X, task.split.train), take(X, task.split.test))])


def prefix_keys(experiment: Experiment, configurations: Sequence[Configuration]) -> list[Keys]:
    """Return, for each configuration, the keys of its pipeline's first steps: the parameters that are set on each."""
    # Scorers of fitted models receive the whole pipeline, not its last step.
    if experiment.asks is not None or not _is_plain(experiment.problem, experiment.estimator):
        return [()] * len(configurations)
    names = [name for name, _ in experiment.estimator.steps]
    seen: dict[int, Any] = {}  # pickles by identity: grids repeat the same objects
    keys: list[Keys] = []
    for configuration in configurations:
        parts: dict[str, list[tuple[str, Any]]] = {name: [] for name in names}
        for parameter in sorted(configuration.params):
            step = parameter.partition("__")[0]
            if step not in parts:  # a parameter of the pipeline itself
                parts = {}
                break
            if step != names[-1]:
                parts[step].append((parameter, _key(configuration.params[parameter], seen)))
        keys.append(tuple(tuple(parts[name]) for name in names[:-1]) if parts else ())
    return keys


def _is_plain(problem: Problem, estimator: Any) -> bool:
    """Whether fitting this pipeline is no more than fitting its steps in turn."""
    if type(estimator) is not Pipeline or len(estimator.steps) < 2 or problem.is_square:
        return False
    if estimator.memory is not None or estimator.verbose or getattr(estimator, "transform_input", None) is not None:
        return False
    if not problem.has_fit_arguments:
        return True
    if get_config().get("enable_metadata_routing", False):
        return False
    steps = {name for name, _ in estimator.steps}
    return all("__" in name and name.partition("__")[0] in steps for name in problem.fit_arguments(np.arange(0)))


def _key(value: Any, seen: dict[int, Any]) -> Any:
    """Return something hashable that is equal only for values that do the same."""
    if value is None or isinstance(value, (str, bytes, bool, int, float, complex, np.generic)):
        return type(value), repr(value)  # repr: 0.0 and -0.0 differ, equal numpy numbers do not
    if id(value) not in seen:
        try:
            # The pickle holds all state, also what get_params does not tell, such as set_output.
            seen[id(value)] = pickle.dumps(value)
        except Exception:
            seen[id(value)] = id(value)
    return seen[id(value)]


class _Walk:
    """Walks the tree of common prefixes of one task, depth first."""

    def __init__(self, experiment: Experiment, task: Task, begins: Begins, has_rivals: bool) -> None:
        self.experiment, self.problem, self.split, self.begins = experiment, experiment.problem, task.split, begins
        self.shared_seconds = 0.0, 0.0  # to fit and to transform; not yet part of any outcome
        self.forests = Forests()
        self.has_rivals = has_rivals  # other first steps may make the same rows
        self.known: dict[Any, Mapping[str, Array]] = {}  # responses of models, by rows and parameters

    def descend(self, members: list[Member], depth: int, rows: Shared) -> Iterator[Outcome]:
        """Fit members whose first `depth` steps are equal and have made `rows`."""
        name, default = self.experiment.estimator.steps[depth]
        groups: dict[Any, list[Member]] = {}
        for configuration, keys in members:
            key = keys[depth] if depth < len(keys) else configuration.index
            groups.setdefault(key, []).append((configuration, keys))
        digest = (self.has_rivals and depth == len(members[0][1]) and digest_of(*rows[0])) or object()
        parts = list(groups.values())
        for part in parts:
            configurations = tuple(configuration for configuration, _ in part)
            train, test = _given(rows, last=part is parts[-1])
            is_last = depth == len(part[0][1])
            try:
                # Cloning a whole pipeline for each member would take longer than many a fit.
                step = _step(name, default, configurations[0].params)
                is_usable = hasattr(step, "fit") and not isinstance(step, str) if is_last else _can_transform(step)
            except Exception:
                is_usable = False
            if not is_usable:  # the pipeline's own message is the better one
                yield from fit_predict(self.experiment, Task(self.split, configurations), self.begins)
                continue
            self.begins(configurations)
            if is_last:
                yield self.finish(name, step, configurations[0], train, test, digest)
                continue
            try:
                made = [self.transform(name, step, train, test)]
            except BaseException as error:
                for configuration in configurations:
                    yield self.with_shared_seconds(failed(self.experiment, configuration, self.split, error))
                continue
            del step, train, test
            yield from self.descend(part, depth + 1, made)

    def transform(self, name: str, step: Any, train: Any, test: Any) -> tuple[Any, Any]:
        """Fit one step as a pipeline does, and transform both sides of the split."""
        if step is None or (isinstance(step, str) and step == "passthrough"):
            return train, test
        start, fitted = perf_counter(), None
        try:
            y, arguments = take(self.problem.y, self.split.train), self.arguments(name)
            if hasattr(step, "fit_transform"):
                train = step.fit_transform(train, y, **arguments)
            else:
                train = step.fit(train, y, **arguments).transform(train)
            fitted = perf_counter()
            return train, step.transform(test)
        finally:
            end, (fit, predict) = perf_counter(), self.shared_seconds
            fitted = end if fitted is None else fitted
            self.shared_seconds = fit + fitted - start, predict + end - fitted

    def finish(
        self, name: str, final: Any, configuration: Configuration, train: Any, test: Any, digest: Any
    ) -> Outcome:
        """Fit the last step and ask it, unless an equal one has answered for the same rows."""
        split, wanted, key = self.split, self.experiment.wanted, None

        def fit() -> Any:
            nonlocal key
            key = _model_key(final, train, self.has_rivals)
            key = None if key is None else (digest, key)
            if key in self.known:
                return None
            y = take(self.problem.y, split.train)
            return fitted_on(final, train, y, self.arguments(name), lambda: test, wanted, self.forests)

        def ask(fitted: Any) -> tuple[Mapping[str, Array], Mapping[str, float]]:
            if fitted is None:
                return {name: values.copy() for name, values in self.known[key].items()}, {}
            responses = responses_of(self.problem, fitted, test, len(split.test), wanted)
            if key is not None:
                self.known[key] = responses
            return responses, {}

        return self.with_shared_seconds(outcome_of(self.experiment, configuration, split, fit, ask))

    def arguments(self, name: str) -> dict[str, Any]:
        """Return the arguments of `fit` that are meant for one step."""
        given = self.problem.fit_arguments(self.split.train) if self.problem.has_fit_arguments else {}
        start = name + "__"
        return {key.removeprefix(start): value for key, value in given.items() if key.startswith(start)}

    def with_shared_seconds(self, outcome: Outcome) -> Outcome:
        """Add the seconds of shared steps to the first outcome that needed them."""
        (fit, predict), self.shared_seconds = self.shared_seconds, (0.0, 0.0)
        return replace(
            outcome, fit_seconds=fit + outcome.fit_seconds, predict_seconds=predict + outcome.predict_seconds
        )


def _given(rows: Shared, last: bool) -> tuple[Any, Any]:
    """Return rows as if they were made for one user; the last one takes them, so their memory goes with it."""
    if last:
        return rows.pop()
    train, test = rows[0]
    return _copy(train), _copy(test)


def _copy(rows: Any) -> Any:
    """Copy rows in their memory layout: with another layout, sums may be rounded differently."""
    if isinstance(rows, np.ndarray):
        return rows.copy(order="K")
    if sparse.issparse(rows):
        return rows.copy()
    if type(rows).__module__.partition(".")[0] == "polars":
        return rows  # never written to
    return pickle.loads(pickle.dumps(rows, protocol=5))  # pandas' own copy turns the layout round in older versions


def _step(name: str, default: Any, params: Mapping[str, Any]) -> Any:
    """Build one step of a pipeline as `task.build` would: a clone, with the parameters that are meant for it."""
    step = clone(params.get(name, default), safe=False)
    inner = {key[len(name) + 2 :]: value for key, value in params.items() if key.startswith(name + "__")}
    return step.set_params(**clone(inner, safe=False)) if inner else step


def _can_transform(step: Any) -> bool:
    """Whether a step can do its part before the last."""
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return True
    return (hasattr(step, "fit") or hasattr(step, "fit_transform")) and hasattr(step, "transform")


def _model_key(model: Any, X: Any, has_rivals: bool) -> Any:
    """Return what is equal for models that are equal on these rows; None where it is not known, or drawn anew.

    A method `settled_params(X)` of the unfitted model returns the parameters that are equal for equal fits on these
    rows; the parameters of other models are compared only where other first steps may have made the same rows.
    """
    settle = getattr(model, "settled_params", None)
    if settle is None and not (has_rivals and hasattr(model, "get_params")):
        return None
    key = []
    for name, value in sorted((model.get_params(deep=True) if settle is None else settle(X)).items()):
        if name.endswith("random_state") and value is None:
            return None
        if hasattr(value, "get_params"):
            value = type(value)  # its own parameters are listed, too
        elif not isinstance(value, str | int | float | np.generic | None):
            return None
        key.append((name, repr(value)))
    return type(model), tuple(key)


def digest_of(train: Any, test: Any) -> bytes | None:
    """Return a digest that differs where rows differ, by their layout in memory, too; None for other than arrays."""
    for rows in (train, test):
        for part in (rows.data, rows.indices) if sparse.issparse(rows) and rows.format in ("csr", "csc") else (rows,):
            if not isinstance(part, np.ndarray) or part.dtype.hasobject:
                return None
            if not (part.flags.c_contiguous or part.flags.f_contiguous):
                return None
    made = blake2b(pickle.dumps(train, protocol=5), digest_size=20)
    made.update(pickle.dumps(test, protocol=5))
    return made.digest()
