"""Fits the configurations of a task: pipelines step by step, so that those that begin alike fit common steps once.

The outcomes are those of fitting each configuration alone, bit for bit; nothing is remembered between tasks. Where a
pipeline does more than its steps one after the other, it is fitted whole. A step that draws from numpy's global
generator (random_state=None) is drawn once for all that share it. Two selections often choose the same columns, and a
number of columns given as a share is often the same number: such models repeat each other bit for bit, and are fitted
once.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from itertools import groupby
from math import isfinite
from operator import attrgetter, itemgetter
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import get_config
from sklearn.pipeline import Pipeline

from ...containers import Array
from ...forests import Forests, GrownForest
from .plan import Split
from .problem import take
from .response import Unusable, method_of, responses_of
from .space import Configuration
from .task import Experiment, Outcome, Place, Task, build, failed

#: One key for each step but the last; equal keys mean equal steps. Empty for an estimator that is fitted whole.
Keys = tuple[Any, ...]
#: A fit, and the keys of its configuration.
Member = tuple[Task, Keys]
#: Told before a piece of work: the places of the fits for which it is done.
Begins = Callable[[list[Place]], object]


def fit_predict(experiment: Experiment, tasks: Iterable[Task], begins: Begins | None = None) -> Iterator[Outcome]:
    """Make fits, split by split, and predict the rows held out; `begins` hears what is fitted next."""
    for split, part in groupby(tasks, attrgetter("split")):
        members, together = list(part), dict[Any, list[Member]]()
        keys = prefix_keys(experiment, [task.configuration for task in members])
        for member in zip(members, keys, strict=True):
            task, key = member
            together.setdefault(key[0] if key else task.place, []).append(member)
        alone = [group for group in together.values() if len(group) == 1]
        shared = [group for group in together.values() if len(group) > 1]
        has_rivals = len({key for group in shared for _, key in group}) > 1
        walk = _Walk(experiment, split, begins)
        for group in alone + shared:
            walk.has_rivals = has_rivals and len(group) > 1
            yield from walk.descend(group, 0, []) if group[0][1] else walk.whole(group)


def prefix_keys(experiment: Experiment, configurations: Sequence[Configuration]) -> list[Keys]:
    """Return, for each configuration, the keys of its pipeline's first steps: the parameters that are set on each.

    They are empty where fitting the pipeline is more than fitting its steps in turn.
    """
    estimator, problem = experiment.estimator, experiment.problem
    # Scorers of fitted models receive the whole pipeline, not its last step.
    is_plain = experiment.asks is None and type(estimator) is Pipeline and len(estimator.steps) > 1
    if not is_plain or problem.is_square or estimator.memory is not None or estimator.verbose:
        return [()] * len(configurations)
    names = [name for name, _ in estimator.steps]
    given = problem.fit_arguments(np.arange(0))
    are_routed = given and get_config().get("enable_metadata_routing", False)
    are_meant = all("__" in name and name.partition("__")[0] in names for name in given)
    if are_routed or not are_meant or getattr(estimator, "transform_input", None) is not None:
        return [()] * len(configurations)
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
    """Walks the tree of common first steps of one task, depth first."""

    def __init__(self, experiment: Experiment, split: Split, begins: Begins | None) -> None:
        self.experiment, self.problem, self.split, self.begins = experiment, experiment.problem, split, begins
        self.seconds = {"fit": 0.0, "predict": 0.0}  # not yet part of any outcome
        self.forests = Forests()
        self.can_grow = experiment.asks is None and all(method_of(GrownForest, each) for each in experiment.wanted)
        self.has_rivals = False  # whether other first steps may make the same rows
        self.known: dict[Any, Mapping[str, Array]] = {}  # responses of models, by rows and parameters

    def descend(self, members: list[Member], depth: int, rows: list[tuple[Any, Any]]) -> Iterator[Outcome]:
        """Fit members whose first `depth` steps are equal and have made `rows`, to train on and held out."""
        name, default = self.experiment.estimator.steps[depth]
        is_last = depth == len(members[0][1])
        digest = (is_last and self.has_rivals and digest_of(*rows[0])) or object()
        parts: dict[Any, list[Member]] = {}
        for task, keys in members:
            parts.setdefault(task.place if is_last else keys[depth], []).append((task, keys))
        for number, part in enumerate(parts.values(), 1):
            first = part[0][0]
            try:
                # Cloning a whole pipeline for each member would take longer than many a fit.
                step = _step(name, default, first.configuration.params, is_last)
                if depth == 0:
                    train, test = (take(self.problem.X, side) for side in (self.split.train, self.split.test))
                else:  # each part has rows of its own; the last one takes them, so that their memory goes with it
                    train, test = rows.pop() if number == len(parts) else map(_copy, rows[0])
            except Exception:  # the pipeline's own message is the better one
                yield from self.whole(part)
                continue
            if self.begins is not None:
                self.begins([task.place for task, _ in part])
            if is_last:
                yield self.finish(first, step, name, (train, test), digest)
                continue
            try:
                made = [self.transform(name, step, train, test)]
            except BaseException as error:
                for task, _ in part:
                    yield self.timed(failed(self.experiment, task, error))
                continue
            del step, train, test
            yield from self.descend(part, depth + 1, made)

    def whole(self, members: list[Member]) -> Iterator[Outcome]:
        """Fit each configuration as the estimator that it is."""
        for task, _ in members:
            if self.begins is not None:
                self.begins([task.place])
            yield self.finish(task)

    def transform(self, name: str, step: Any, train: Any, test: Any) -> tuple[Any, Any]:
        """Fit one step as a pipeline does, and transform both sides of the split."""
        if step is None:
            return train, test
        with self.clock("fit"):
            y = take(self.problem.y, self.split.train)
            arguments = self.problem.fit_arguments(self.split.train, name)
            if hasattr(step, "fit_transform"):
                train = step.fit_transform(train, y, **arguments)
            else:
                train = step.fit(train, y, **arguments).transform(train)
        with self.clock("predict"):
            return train, step.transform(test)

    def finish(self, task: Task, step: Any = None, name: str = "", rows: Any = None, digest: Any = None) -> Outcome:
        """Fit and ask a whole estimator, or the last step on rows, unless an equal one has answered for these rows."""
        problem, split, model, key, columns = self.problem, self.split, step, None, None
        responses: Mapping[str, Array]
        answers: Mapping[str, float] = {}
        held_out: Callable[[], Any]
        try:
            with self.clock("fit"):
                arguments = problem.fit_arguments(split.train, name)
                if rows is None:
                    model = build(self.experiment.estimator, task.configuration.params)
                    columns = split.train if problem.is_pairwise_for(model) else None
                    train = take(problem.X, split.train, columns)
                    held_out = partial(take, problem.X, split.test, columns)  # after the fit: it may be large
                else:
                    train, held_out = rows[0], partial(itemgetter(1), rows)
                    key = _model_key(model, train, self.has_rivals)
                responses = {name: values.copy() for name, values in self.known.get((digest, key), {}).items()}
                if not responses:
                    y, grown = take(problem.y, split.train), None
                    if self.can_grow and not arguments:
                        grown = self.forests.grown(model, train, y, held_out)  # it answers for these rows
                    if grown is None:
                        model.fit(train, *(() if y is None else (y,)), **arguments)
                    model = model if grown is None else grown
            del train  # its memory is free for the rows held out
            with self.clock("predict"):
                if not responses:
                    responses = responses_of(problem, model, held_out(), len(split.test), self.experiment.wanted)
                    if self.experiment.asks is not None:
                        answers = self.experiment.asks(model, problem, split, columns)
                    for asked, value in answers.items():
                        if not isfinite(value):
                            raise Unusable("not finite", f"{asked} of the fitted model is {value}.")
                    if key is not None:
                        self.known[digest, key] = responses
            outcome = Outcome(task.configuration.index, split.repeat, split.fold, responses, answers=answers)
        except BaseException as error:
            outcome = failed(self.experiment, task, error)
        return self.timed(outcome)

    @contextmanager
    def clock(self, kind: str) -> Iterator[None]:
        """Count the seconds of what is done inside."""
        start = perf_counter()
        try:
            yield
        finally:
            self.seconds[kind] += perf_counter() - start

    def timed(self, outcome: Outcome) -> Outcome:
        """Add the seconds since the last outcome: those of shared steps belong to the first that needed them."""
        fit, predict = self.seconds["fit"], self.seconds["predict"]
        self.seconds = {"fit": 0.0, "predict": 0.0}
        return replace(outcome, fit_seconds=fit, predict_seconds=predict)


def _copy(rows: Any) -> Any:
    """Copy rows in their memory layout: with another layout, sums may be rounded differently."""
    if isinstance(rows, np.ndarray):
        return rows.copy(order="K")
    if sparse.issparse(rows):
        return rows.copy()
    return pickle.loads(pickle.dumps(rows, protocol=5))  # pandas' own copy turns the layout round in older versions


def _step(name: str, default: Any, params: Mapping[str, Any], is_last: bool) -> Any:
    """Build one step of a pipeline, None where it passes rows on; raises where a pipeline would not fit it."""
    inner = {key[len(name) + 2 :]: value for key, value in params.items() if key.startswith(name + "__")}
    step = build(params.get(name, default), inner, safe=False)
    if not is_last and (step is None or (isinstance(step, str) and step == "passthrough")):
        return None
    for method in ("fit",) if is_last else ("fit_transform" if hasattr(step, "fit_transform") else "fit", "transform"):
        getattr(step, method)
    return step


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
