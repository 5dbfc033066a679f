"""Ahead: an executor whose idle workers begin fits of later rounds, the surest to survive first.

Takes another executor and the rounds of a plan, gives outcomes round by round as any executor does; holds what comes
back early until it is asked for. What was made for a configuration that is then dropped is never looked at, so that
results are the same for any number of workers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..containers import Array
from .fit.experiment import Experiment
from .fit.plan import Split
from .fit.space import Configuration
from .fit.task import Outcome, Task
from .run.executor import Executor

#: So many tasks are offered: more than workers begin before the next offer.
MOST = 256

Place = tuple[int, int, int]  # repeat, fold, configuration


class Ahead:
    """Runs the tasks of a round, and meanwhile those of later ones.

    Parameters
    ----------
    executor : Executor
        Entered by the caller.
    rounds : sequence of sequences of Split
    configurations : sequence of Configuration
    """

    def __init__(
        self, executor: Executor, rounds: Sequence[Sequence[Split]], configurations: Sequence[Configuration]
    ) -> None:
        self._executor = executor
        self._rounds = rounds
        self._configurations = configurations
        self._order = [c.index for c in configurations]  # whose fits to begin; until the rule has spoken, anybody's
        self._held: dict[Place, Outcome] = {}

    def expect(self, alive: Array, p: Array) -> None:
        """Hear who is alive, and how sure the drop rule is that each of them is worse than the best.

        Parameters
        ----------
        alive : bool array [C]
        p : float array [C]
        """
        self._order = [int(c) for c in np.argsort(p, kind="stable") if alive[c]]

    def run(
        self, experiment: Experiment, tasks: Sequence[Task], index: int, until: float | None = None
    ) -> Iterator[Outcome]:
        """Give the outcomes of all tasks of round `index`, in any order."""
        asked = {(t.split.repeat, t.split.fold, c.index) for t in tasks for c in t.configurations}
        for place in sorted(asked & self._held.keys()):
            yield self._held.pop(place)
            asked.remove(place)
        missing = [
            Task(t.split, tuple(c for c in t.configurations if _place(t.split, c.index) in asked)) for t in tasks
        ]
        missing = [task for task in missing if task.configurations]
        if not missing:
            return
        # An error that is to be raised must be one that the race meets; against the clock, only this round counts.
        early = [] if experiment.raise_errors or until is not None else self._offer(index)
        for outcome in self._executor.run(experiment, missing, until, early):
            place = (outcome.repeat, outcome.fold, outcome.configuration)
            if place in asked:
                yield outcome
            else:
                self._held[place] = outcome

    def _offer(self, index: int) -> list[Task]:
        """Give tasks of the rounds after this one, round by round."""
        places = ((s, c) for splits in self._rounds[index + 1 :] for s in splits for c in self._order)
        new = (Task(s, (self._configurations[c],)) for s, c in places if _place(s, c) not in self._held)
        return [task for task, _ in zip(new, range(MOST), strict=False)]

    @property
    def n_in_vain(self) -> int:
        """Fits that came back and were not asked for: of configurations that were dropped in the meantime."""
        return len(self._held)


def _place(split: Split, configuration: int) -> Place:
    return split.repeat, split.fold, configuration
