"""Shared work on a split: pipelines that begin alike fit their common steps once, and equal models are fitted once.

The outcomes are those of `task.fit_predict`, bit for bit, in another order; nothing is remembered between tasks. Where
a pipeline does more than its steps one after the other, every configuration is fitted alone. A step that draws from
numpy's global generator (random_state=None) is drawn once for all that share it. Two selections often choose the same
columns, and a number of columns given as a share is often the same number: such fits repeat each other bit for bit.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from .task import Begins, Experiment, Outcome, Task, build, failed, fit_predict, fitted_on, outcome_of

#: One key for each step but the last; equal keys mean equal steps. Empty where nothing may be shared.
Keys = tuple[Any, ...]
#: The training rows and those held out, until the last of those that need them takes them.
Shared = list[tuple[Any, Any]]


def fit_predict_shared(
    experiment: Experiment, task: Task, begins: Begins = lambda configurations: None
) -> Iterator[Outcome]:
    """Fit every configuration of a task, common first steps of pipelines once; as `task.fit_predict`."""
    together: dict[Any, list[_Member]] = {}
    for configuration, keys in zip(task.configurations, _step_keys(experiment, task.configurations), strict=True):
        member = _Member(configuration, keys[:-1], keys[-1:])
        together.setdefault(keys[0] if keys else configuration.index, []).append(member)
    alone = tuple(group[0].configuration for group in together.values() if len(group) == 1)
    yield from fit_predict(experiment, Task(task.split, alone), begins)
    groups = [group for group in together.values() if len(group) > 1]
    walk = _Walk(experiment, task, begins, has_rivals=len({m.keys for group in groups for m in group}) > 1)
    for group in groups:
        yield from walk.start(group)


def prefix_keys(experiment: Experiment, configurations: Sequence[Configuration]) -> list[Keys]:
    """Return, for each configuration, the keys of its pipeline's steps, the last excepted."""
    return [keys[:-1] for keys in _step_keys(experiment, configurations)]


def _step_keys(experiment: Experiment, configurations: Sequence[Configuration]) -> list[Keys]:
    """Return, for each configuration, the keys of all steps of its pipeline: the parameters that are set on each."""
    # Scorers of fitted models and callbacks of fits receive the whole pipeline, not its last step.
    alone = experiment.asks is not None or experiment.around is not None
    if alone or not _is_plain(experiment.problem, experiment.estimator):
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
            parts[step].append((parameter, _key(configuration.params[parameter], seen)))
        keys.append(tuple(tuple(parts[name]) for name in names) if parts else ())
    return keys


def _is_plain(problem: Problem, estimator: Any) -> bool:
    """Whether fitting this pipeline is no more than fitting its steps in turn."""
    if type(estimator) is not Pipeline or len(estimator.steps) < 2:
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


@dataclass
class _Member:
    configuration: Configuration
    keys: Keys
    own: Keys  # the key of its last step
    final: Any = None  # its last step, unfitted


class _Walk:
    """Walks the tree of common prefixes of one task, depth first."""

    def __init__(self, experiment: Experiment, task: Task, begins: Begins, has_rivals: bool) -> None:
        self.experiment, self.problem, self.split, self.begins = experiment, experiment.problem, task.split, begins
        self.shared_seconds = 0.0, 0.0  # to fit and to transform; not yet part of any outcome
        self.steps: dict[Keys, Any] = {}  # by the keys that lead to them
        self.has_rivals = has_rivals  # others may give their models the same rows
        self.known: dict[Any, Mapping[str, Array]] = {}  # responses of models, by all that they depend on
        self.forests = Forests()

    def start(self, group: list[_Member]) -> Iterator[Outcome]:
        """Fit configurations that share at least the first step."""
        self.steps, ready = {}, []
        for member in group:
            if self.assemble(member):
                ready.append(member)
            else:
                yield from fit_predict(self.experiment, Task(self.split, (member.configuration,)), self.begins)
        if ready:
            X = self.problem.X
            yield from self.descend(ready, 0, [(take(X, self.split.train), take(X, self.split.test))], None)

    def assemble(self, member: _Member) -> bool:
        """Build the steps that a member needs and that are not built yet; False where it must be fitted alone.

        Cloning a whole pipeline for each member would take longer than many a fit.
        """
        estimator, params = self.experiment.estimator, member.configuration.params
        try:
            if self.problem.is_square and self.problem.is_pairwise_for(build(estimator, member.configuration)):
                return False
            for depth, (name, default) in enumerate(estimator.steps[:-1], start=1):
                if member.keys[:depth] not in self.steps:
                    self.steps[member.keys[:depth]] = _step(name, default, params)
            name, default = estimator.steps[-1]
            member.final = _step(name, default, params)
        except Exception:
            return False  # the pipeline's own message is the better one
        first = (self.steps[member.keys[:depth]] for depth in range(1, len(member.keys) + 1))
        return all(map(_can_transform, first)) and not isinstance(member.final, str) and hasattr(member.final, "fit")

    def descend(self, members: list[_Member], depth: int, rows: Shared, digest: bytes | None) -> Iterator[Outcome]:
        """Fit members whose first `depth` steps are equal and have made `rows`, which have this digest."""
        if depth == len(members[0].keys):
            for member in members:
                yield self.finish(member, digest, *_given(rows, last=member is members[-1]))
            return
        groups: dict[Any, list[_Member]] = {}
        for member in members:
            groups.setdefault(member.keys[depth], []).append(member)
        parts = list(groups.values())
        for part in parts:
            train, test = _given(rows, last=part is parts[-1])
            name, step = self.experiment.estimator.steps[depth][0], self.steps.pop(part[0].keys[: depth + 1])
            if step is not None and step != "passthrough":
                self.begins([member.configuration for member in part])
                try:
                    train, test = self.transform(name, step, train, test)
                except BaseException as error:
                    for member in part:
                        yield self.with_shared_seconds(failed(self.experiment, member.configuration, self.split, error))
                    continue
            settles = any(hasattr(member.final, "settled_params") for member in part)
            is_compared = (self.has_rivals or settles) and depth + 1 == len(part[0].keys)
            made, transformed = digest_of(train, test) if is_compared else None, [(train, test)]
            del train, test
            yield from self.descend(part, depth + 1, transformed, made)

    def transform(self, name: str, step: Any, train: Any, test: Any) -> tuple[Any, Any]:
        """Fit one step as a pipeline does, and transform both sides of the split."""
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

    def finish(self, member: _Member, digest: bytes | None, train: Any, test: Any) -> Outcome:
        """Fit the last step and ask it, unless an equal one has answered for the same rows."""
        final, member.final = member.final, None  # its memory goes with its outcome
        self.begins((member.configuration,))
        name, split, wanted, key = self.experiment.estimator.steps[-1][0], self.split, self.experiment.wanted, None

        def fit() -> Any:
            nonlocal key
            key = None if digest is None else _fit_key(final, member.own, digest, train)
            if key is not None and key in self.known:
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

        return self.with_shared_seconds(outcome_of(self.experiment, member.configuration, split, fit, ask))

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


def _fit_key(model: Any, own: Any, digest: bytes, X: Any) -> Any:
    """Return what the responses of a model depend on; None where that is drawn anew each time.

    A method `settled_params(X)` of the unfitted model gives the parameters that are equal for equal fits on these rows;
    `own` is equal for equal parameters, `digest` for equal rows.
    """
    settle = getattr(model, "settled_params", None)
    if settle is not None:
        params = settle(X)
        own = (type(model), tuple(sorted((name, repr(value)) for name, value in params.items())))
    else:
        params = model.get_params(deep=True) if hasattr(model, "get_params") else {"random_state": None}
    draws_anew = any(name.endswith("random_state") and value is None for name, value in params.items())
    return None if draws_anew else (digest, own)


def digest_of(train: Any, test: Any) -> bytes | None:
    """Return a digest of arrays or sparse matrices that differs where anything does, the layout in memory included."""
    hashed = blake2b(digest_size=20)
    for rows in (train, test):
        is_known = sparse.issparse(rows) and rows.format in ("csr", "csc")
        parts = [rows.data, rows.indices, rows.indptr] if is_known else [rows]
        if not all(isinstance(part, np.ndarray) and not part.dtype.hasobject for part in parts):
            return None
        for part in parts:
            is_fortran = part.flags.f_contiguous and not part.flags.c_contiguous
            told = (type(rows).__name__, rows.shape, part.dtype.str, part.flags.c_contiguous, is_fortran)
            hashed.update(repr(told).encode())
            hashed.update((part.T if is_fortran else part).tobytes())
    return hashed.digest()
