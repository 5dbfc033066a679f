"""Shared work on a split: pipelines that begin alike fit their common steps once, and equal models are fitted once.

The outcomes are those of `task.fit_predict`, bit for bit; nothing is remembered between tasks. Where a pipeline does
more than its steps one after the other, every configuration is fitted alone. A step that draws from numpy's global
generator (random_state=None) is drawn once for all that share it. Two selections often choose the same columns, and a
number of columns given as a share is often the same number: such fits repeat each other bit for bit.
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
from .experiment import Experiment
from .problem import Problem, take
from .response import responses_of
from .space import Configuration
from .task import Begins, Outcome, Task, build, failed, fit_predict, fitted_on

Responses = Mapping[str, Array]
Key = tuple[bytes, Any]


class EqualFits:
    """Responses of the models of one split, by all that they depend on."""

    def __init__(self) -> None:
        self._known: dict[Key, Responses] = {}

    def key(self, model: Any, own: Any, digest: bytes | None, X: Any) -> Key | None:
        """Return what the responses of a model depend on; None where that is not known, or is drawn anew each time.

        Parameters
        ----------
        model : estimator
            Unfitted. Its method `settled_params(X)`, if it has one, gives the parameters that are equal for equal
            fits on these rows.
        own : hashable
            Equal for equal parameters.
        digest : bytes or None
            Of the rows, see `digest_of`.
        X : array or sparse matrix
            The training rows.
        """
        if digest is None:
            return None
        settle = getattr(model, "settled_params", None)
        if settle is not None:
            params = settle(X)
            own = (type(model), tuple(sorted((name, repr(value)) for name, value in params.items())))
        else:
            params = model.get_params(deep=True) if hasattr(model, "get_params") else {"random_state": None}
        draws_anew = any(name.endswith("random_state") and value is None for name, value in params.items())
        return None if draws_anew else (digest, own)

    def recall(self, key: Key | None) -> Responses | None:
        """Return the responses of an equal fit."""
        found = None if key is None else self._known.get(key)
        return None if found is None else {name: values.copy() for name, values in found.items()}

    def keep(self, key: Key | None, responses: Responses) -> None:
        """Remember the responses of a fit."""
        if key is not None:
            self._known[key] = responses


def digest_of(train: Any, test: Any) -> bytes | None:
    """Return a digest of the rows of both sides that differs where anything does, the layout in memory included.

    Parameters
    ----------
    train, test : array or sparse matrix
        For anything else there is no digest: None.
    """
    hashed = blake2b(digest_size=20)
    for rows in (train, test):
        arrays = [rows] if isinstance(rows, np.ndarray) else _parts(rows)
        if not arrays or any(array.dtype.hasobject for array in arrays):
            return None
        for array in arrays:
            is_fortran = array.flags.f_contiguous and not array.flags.c_contiguous
            told = (type(rows).__name__, rows.shape, array.dtype.str, array.flags.c_contiguous, is_fortran)
            hashed.update(repr(told).encode())
            hashed.update((array.T if is_fortran else array).tobytes())
    return hashed.digest()


def _parts(rows: Any) -> list[Array]:
    """List the arrays of a sparse matrix; none for what is no matrix."""
    if not sparse.issparse(rows) or rows.format not in ("csr", "csc"):
        return []
    return [rows.data, rows.indices, rows.indptr]


#: One key for each step but the last; equal keys mean equal steps. Empty where nothing may be shared.
Keys = tuple[Any, ...]


def fit_predict_shared(experiment: Experiment, task: Task, begins: Begins | None = None) -> Iterator[Outcome]:
    """Fit every configuration of a task, common first steps of pipelines once.

    Parameters
    ----------
    experiment, task, begins
        As for `task.fit_predict`, whose outcomes these are (in another order).
    """
    keys = _step_keys(experiment, task.configurations)
    together: dict[Any, list[_Member]] = {}
    for configuration, key in zip(task.configurations, keys, strict=True):
        member = _Member(configuration, key[:-1], key[-1:])
        together.setdefault(key[0] if key else configuration.index, []).append(member)
    alone = tuple(group[0].configuration for group in together.values() if len(group) == 1)
    yield from fit_predict(experiment, Task(task.split, alone), begins)
    groups = [group for group in together.values() if len(group) > 1]
    walk = _Walk(experiment, task, begins, has_rivals=len({m.keys for group in groups for m in group}) > 1)
    for group in groups:
        yield from walk.start(group)


def prefix_keys(experiment: Experiment, configurations: Sequence[Configuration]) -> list[Keys]:
    """Return, for each configuration, the keys of its pipeline's steps, the last excepted.

    Parameters
    ----------
    experiment : Experiment
    configurations : sequence of Configuration
        All for the same estimator, so that a step is known by the parameters that are set on it.
    """
    return [keys[:-1] for keys in _step_keys(experiment, configurations)]


def _step_keys(experiment: Experiment, configurations: Sequence[Configuration]) -> list[Keys]:
    """Return, for each configuration, the keys of all steps of its pipeline."""
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
    arguments = {
        *problem.fit_params,
        *(["sample_weight"] if problem.weighted_fit and problem.sample_weight is not None else []),
    }
    return all("__" in name and name.partition("__")[0] in steps for name in arguments)


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


class _Shared:
    """Transformed rows that several consumers receive, each as if they were its own."""

    def __init__(self, train: Any, test: Any, digest: bytes | None = None) -> None:
        self._held: tuple[Any, Any] | None = (train, test)
        self.digest = digest  # None where no other model may receive the same rows

    def give(self, last: bool) -> tuple[Any, Any]:
        assert self._held is not None
        train, test = self._held
        if last:  # so no copy, and the memory goes with its user
            self._held = None
            return train, test
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


class _Walk:
    """Walks the tree of common prefixes of one task, depth first."""

    def __init__(self, experiment: Experiment, task: Task, begins: Begins | None, has_rivals: bool) -> None:
        self.experiment, self.problem, self.split = experiment, experiment.problem, task.split
        self.begins: Begins = begins or (lambda configurations: None)
        self.shared_fit_seconds = self.shared_predict_seconds = 0.0  # not yet part of any outcome
        shape: tuple[int, ...] = getattr(self.problem.X, "shape", ())
        self.is_square = len(shape) == 2 and shape[0] == shape[1]  # only then X may be a matrix between samples
        self.names: list[str] = []
        self.steps: dict[Keys, Any] = {}  # by the keys that lead to them
        self.equal_fits, self.has_rivals = EqualFits(), has_rivals  # others may give their models the same rows
        self.forests = Forests()

    def start(self, group: list[_Member]) -> Iterator[Outcome]:
        """Fit configurations that share at least the first step."""
        self.names, self.steps = [name for name, _ in self.experiment.estimator.steps], {}
        ready = []
        for member in group:
            if self.assemble(member):
                ready.append(member)
            else:
                yield from fit_predict(self.experiment, Task(self.split, (member.configuration,)), self.begins)
        if ready:
            X = self.problem.X
            yield from self.descend(ready, 0, _Shared(take(X, self.split.train), take(X, self.split.test)))

    def assemble(self, member: _Member) -> bool:
        """Build the steps that a member needs and that are not built yet; False where it must be fitted alone.

        Cloning a whole pipeline for each member would take longer than many a fit.
        """
        estimator, params = self.experiment.estimator, member.configuration.params
        try:
            if self.is_square and self.problem.is_pairwise_for(build(estimator, member.configuration)):
                return False
            for depth, (name, default) in enumerate(estimator.steps[:-1], start=1):
                if member.keys[:depth] not in self.steps:
                    self.steps[member.keys[:depth]] = _step(name, default, params)
            name, default = estimator.steps[-1]
            member.final = _step(name, default, params)
        except Exception:
            return False  # the pipeline's own message is the better one
        first = (self.steps[member.keys[:depth]] for depth in range(1, len(self.names)))
        return all(map(_can_transform, first)) and not isinstance(member.final, str) and hasattr(member.final, "fit")

    def descend(self, members: list[_Member], depth: int, rows: _Shared) -> Iterator[Outcome]:
        """Fit members whose first `depth` steps are equal and have made `rows`."""
        if depth == len(members[0].keys):
            for member in members:
                yield self.finish(member, rows.digest, *rows.give(last=member is members[-1]))
            return
        groups: dict[Any, list[_Member]] = {}
        for member in members:
            groups.setdefault(member.keys[depth], []).append(member)
        parts = list(groups.values())
        for part in parts:
            train, test = rows.give(last=part is parts[-1])
            name, step = self.names[depth], self.steps.pop(part[0].keys[: depth + 1])
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
            transformed = _Shared(train, test, digest_of(train, test) if is_compared else None)
            del train, test
            yield from self.descend(part, depth + 1, transformed)

    def transform(self, name: str, step: Any, train: Any, test: Any) -> tuple[Any, Any]:
        """Fit one step as a pipeline does, and transform both sides of the split."""
        start = perf_counter()
        try:
            y, arguments = take(self.problem.y, self.split.train), self.arguments(name)
            if hasattr(step, "fit_transform"):
                train = step.fit_transform(train, y, **arguments)
            else:
                train = step.fit(train, y, **arguments).transform(train)
        finally:
            self.shared_fit_seconds += perf_counter() - start
        start = perf_counter()
        try:
            return train, step.transform(test)
        finally:
            self.shared_predict_seconds += perf_counter() - start

    def finish(self, member: _Member, digest: bytes | None, train: Any, test: Any) -> Outcome:
        """Fit the last step and ask it, unless an equal one has answered for the same rows."""
        name, final, member.final = self.names[-1], member.final, None  # its memory goes with its outcome
        self.begins((member.configuration,))
        split, start, fitted = self.split, perf_counter(), None
        try:
            key = self.equal_fits.key(final, member.own, digest, train)
            responses = self.equal_fits.recall(key)
            if responses is None:
                y, arguments = take(self.problem.y, split.train), self.arguments(name)
                wanted = self.experiment.wanted
                answering = fitted_on(final, train, y, arguments, lambda: test, wanted, self.forests)
                fitted = perf_counter()
                responses = responses_of(self.problem, answering, test, len(split.test), wanted)
                self.equal_fits.keep(key, responses)
            else:
                fitted = perf_counter()
        except BaseException as error:
            end = perf_counter()
            seconds = (end - start, 0.0) if fitted is None else (fitted - start, end - fitted)
            return self.with_shared_seconds(failed(self.experiment, member.configuration, split, error, *seconds))
        seconds = fitted - start, perf_counter() - fitted
        outcome = Outcome(member.configuration.index, split.repeat, split.fold, responses, *seconds)
        return self.with_shared_seconds(outcome)

    def arguments(self, name: str) -> dict[str, Any]:
        """Return the arguments of `fit` that are meant for one step."""
        if not self.problem.has_fit_arguments:
            return {}
        start = name + "__"
        given = self.problem.fit_arguments(self.split.train)
        return {key.removeprefix(start): value for key, value in given.items() if key.startswith(start)}

    def with_shared_seconds(self, outcome: Outcome) -> Outcome:
        """Add the seconds of shared steps to the first outcome that needed them."""
        fit = self.shared_fit_seconds + outcome.fit_seconds
        predict = self.shared_predict_seconds + outcome.predict_seconds
        self.shared_fit_seconds = self.shared_predict_seconds = 0.0
        return replace(outcome, fit_seconds=fit, predict_seconds=predict)


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
