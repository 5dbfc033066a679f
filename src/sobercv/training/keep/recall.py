"""Recall: an executor that runs only what a file does not hold, and keeps in it what it runs.

Takes another executor and a file, gives outcomes as any executor does; never decides what is run. The race cannot tell
a recalled outcome from a fresh one and asks for each in its own round, so a resumed race drops what it would have
dropped anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any

from ...errors import SoberError, warn
from ..fit.experiment import Experiment
from ..fit.plan import Plan
from ..fit.space import Configuration
from ..fit.task import Outcome, Task
from ..run.executor import Executor
from .manifest import Manifest
from .sqlite_store import SqliteStore


def recalling(
    executor: Executor,
    path: Any,
    experiment: Experiment,
    configurations: Sequence[Configuration],
    plan: Plan,
    seed: int,
) -> Executor:
    """Make an executor keep its outcomes in a file, and recall those that are there; without a path it stays as it is.

    Parameters
    ----------
    executor : Executor
    path : path or None
    experiment, configurations, plan
        As for `race`.
    seed : int
    """
    if path is None:
        return executor
    if not isinstance(path, (str, PathLike)):
        raise SoberError("E108", f'`store` must be the path of a file or None; got {path!r}. Write store="run.sqlite".')
    manifest = Manifest.build(experiment, configurations, plan, seed)
    if manifest.untold:
        listed = ", ".join(f"{name} ({kind})" for name, kind in manifest.untold.items())
        warn(
            "W503",
            f"Your code uses what a store cannot tell from another one: {listed}. After a change of it, old fits would "
            "be taken for new ones; then name another file.",
        )
    return Recalling(executor, SqliteStore(path, experiment.problem, plan, manifest))


class Recalling:
    """Runs what is not stored yet, by another executor. The file is open, and locked, from enter to exit.

    Parameters
    ----------
    executor : Executor
        Runs the rest.
    store : SqliteStore
    """

    def __init__(self, executor: Executor, store: SqliteStore) -> None:
        self.executor = executor
        self.store = store

    def __enter__(self) -> Recalling:
        self.store.open()
        try:
            self.executor.__enter__()
        except BaseException:
            self.store.close()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        try:
            self.executor.__exit__(*exception)
        finally:
            self.store.close()

    def run(
        self, experiment: Experiment, tasks: Sequence[Task], until: float | None = None, early: Sequence[Task] = ()
    ) -> Iterator[Outcome]:
        """Give the outcomes of all tasks: first those that are stored, then the others as they come."""
        missing: list[Task] = []
        for task in tasks:
            absent = []
            for configuration in task.configurations:
                outcome = self.store.recall(configuration.index, task.split)
                # An error that is to be raised must be met again, not read.
                if outcome is None or (outcome.failure is not None and experiment.raise_errors):
                    absent.append(configuration)
                else:
                    yield outcome
            if absent:
                missing.append(Task(task.split, tuple(absent)))
        if missing:
            for outcome in self.executor.run(experiment, missing, until, self._not_stored(early)):
                self.store.keep(outcome)
                yield outcome

    def _not_stored(self, early: Sequence[Task]) -> list[Task]:
        """Leave out early tasks that are stored: they are recalled in their round."""
        return [task for task in early if self.store.recall(task.configurations[0].index, task.split) is None]
