"""The outcomes of a race in memory, and the `Predictions` that they make; what outlives the process is in `cache`.

What it returns depends on which outcomes it holds, not on the order in which they came. Axes: N, C, R, K.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...containers import Array
from ...errors import SoberError
from ...predictions import Predictions
from ..fit.plan import Plan
from ..fit.problem import Problem
from ..fit.task import Failure, Outcome


class MemoryStore:
    """Keeps everything in arrays that are made when the first outcome tells their shape."""

    def __init__(self, problem: Problem, plan: Plan, n_configurations: int) -> None:
        self.problem, self.plan = problem, plan
        shape = (n_configurations, plan.n_splits)
        self.done: Array = np.zeros(shape, bool)  # which fits have an outcome, failures included
        self.fit_seconds: Array = np.zeros(shape)  # 0 where not done
        self.predict_seconds: Array = np.zeros(shape)
        self.answers: dict[str, Array] = {}  # [C, splits], what else was asked of the models; NaN where there is none
        self.failures: dict[int, Failure] = {}  # the first, in the order of the plan, of each that failed
        self._tensors: dict[str, Array] = {}  # [C, R, N(, K)]: one configuration's column is contiguous
        self._given: dict[str, Array] = {}  # bool [C, splits]: not every model has what is only kept

    def record(self, outcome: Outcome) -> None:
        """Keep one outcome."""
        index, position = outcome.configuration, self.plan.positions[outcome.repeat, outcome.fold]
        self.fit_seconds[index, position] = outcome.fit_seconds
        self.predict_seconds[index, position] = outcome.predict_seconds
        if outcome.failure is not None:
            earlier = self.failures.get(index)
            if earlier is None or position < self.plan.positions[earlier.repeat, earlier.fold]:
                self.failures[index] = outcome.failure
        else:
            rows = self.plan.splits[position].test
            for name, values in outcome.responses.items():
                if name not in self._tensors:
                    shape = (len(self.done), self.plan.n_repeats, self.plan.n_samples, *values.shape[1:])
                    self._given[name] = np.zeros(self.done.shape, bool)
                    self._tensors[name] = np.zeros(shape, values.dtype)
                self._tensors[name][index, outcome.repeat, rows] = values
                self._given[name][index, position] = True
            for name, value in outcome.answers.items():
                self.answers.setdefault(name, np.full(self.done.shape, np.nan))[index, position] = value
        self.done[index, position] = True

    def predictions(self, alive: Array | None = None) -> Predictions:
        """Return the predictions of the live configurations that have not failed, on the rows that all have predicted.

        `alive` is bool [C]; a response that some of them lack is left out.
        """
        keep = np.ones(len(self.done), bool) if alive is None else np.array(alive, bool)
        keep[list(self.failures)] = False
        configurations = np.flatnonzero(keep)
        if not len(configurations) or not (self._tensors or self.answers):
            raise SoberError("E315", "No configuration has predictions yet; fit at least one that does not fail.")
        positions = np.flatnonzero(self.done[keep].all(axis=0))
        chosen = slice(None) if keep.all() else configurations  # a view where none is left out
        # [C, R, N(, K)] to [N, C, R(, K)]
        responses = {
            name: np.moveaxis(tensor[chosen], 2, 0)
            for name, tensor in self._tensors.items()
            if self._given[name][np.ix_(configurations, positions)].all()
        }
        return replace(
            self.nothing_yet(),
            responses=responses,
            seen=self.plan.seen(positions),
            configurations=configurations,
            n_dropped=len(keep) - len(configurations),
        )

    def nothing_yet(self) -> Predictions:
        """Return the table before anything is predicted, with samples, folds, groups, weights and configurations."""
        return Predictions(
            target=self.problem.target,
            responses={},
            seen=self.plan.seen([]),
            fold_of=self.plan.fold_of,
            groups=self.problem.group_codes,
            sample_weight=self.problem.sample_weight,
            configurations=np.arange(len(self.done)),
        )
