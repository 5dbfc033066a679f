"""Where tasks are run: here, or by a crew of workers, whose deaths cost a retry and not the run.

Takes tasks, gives an iterator of outcomes in any order; never decides what is run. One BLAS thread serves each fit,
in every executor, because sums are rounded differently by different numbers of threads.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Protocol

from joblib import effective_n_jobs
from sklearn import config_context, get_config

from ...errors import warn
from ...threads import one_blas_thread
from ..fit.prefix import fit_predict_shared
from ..fit.problem import Problem
from ..fit.response import Unusable, Wanted
from ..fit.task import Outcome, Task, failed
from .batches import Batch, cut
from .crews import Crew, WorkersDied, is_far_away, make_crew
from .parcel import unpack


class Executor(Protocol):
    """Runs tasks. Enter it once around all runs of a search; outcomes never depend on which one it is."""

    def __enter__(self) -> Any:
        """Start workers, if any."""

    def __exit__(self, *exception: object) -> None:
        """Let workers go."""

    def run(self, problem: Problem, estimator: Any, tasks: Sequence[Task], wanted: Wanted) -> Iterator[Outcome]:
        """Give the outcomes of all tasks, in any order."""


class SerialExecutor:
    """Runs tasks one after the other, in this process.

    Parameters
    ----------
    raise_errors : bool
        Let the first exception of a fit out.
    """

    def __init__(self, raise_errors: bool = False) -> None:
        self.raise_errors = raise_errors
        self._stack = ExitStack()

    def __enter__(self) -> SerialExecutor:
        self._stack.enter_context(one_blas_thread())
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def run(self, problem: Problem, estimator: Any, tasks: Sequence[Task], wanted: Wanted) -> Iterator[Outcome]:
        """Give the outcomes of all tasks."""
        for task in tasks:
            yield from fit_predict_shared(problem, estimator, task, wanted, self.raise_errors)


class JoblibExecutor:
    """Runs tasks by joblib's active backend: processes, threads, or what `joblib.parallel_config` says.

    Workers receive the data once. When a worker dies, the batches that it may have had are tried again one at a time;
    a configuration that takes its worker with it once more, alone, is given up with a failure of kind "worker died".

    Parameters
    ----------
    n_jobs : int or None
        As in scikit-learn.
    raise_errors : bool
        Let the first exception of a fit out.
    """

    def __init__(self, n_jobs: int | None = None, raise_errors: bool = False) -> None:
        self.n_jobs = n_jobs
        self.raise_errors = raise_errors
        self._stack = ExitStack()
        self._crew: Crew | None = None
        self._common: tuple[Any, ...] = ()  # what the crew has been given
        self._given_up: set[int] = set()
        self._seconds: dict[int, float] = {}  # of the latest fit of each configuration

    def __enter__(self) -> JoblibExecutor:
        # Threads share this process's BLAS, so it is limited here; processes limit their own.
        self._stack.enter_context(one_blas_thread())
        self._crew = make_crew(self.n_jobs)
        self._stack.callback(self._crew.dismiss)
        return self

    def __exit__(self, *exception: object) -> None:
        self._crew, self._common, self._given_up, self._seconds = None, (), set(), {}
        self._stack.close()

    def run(self, problem: Problem, estimator: Any, tasks: Sequence[Task], wanted: Wanted) -> Iterator[Outcome]:
        """Give the outcomes of all tasks as batches come back."""
        if self._crew is None:
            with self:
                yield from self.run(problem, estimator, tasks, wanted)
            return
        self._hire((problem, estimator, wanted))
        left = dict(enumerate(cut(problem, estimator, tasks, self._crew.n_workers, self._seconds)))
        while left:
            try:
                for key, outcomes in self._crew.run(_work, dict(left)):
                    del left[key]
                    self._seconds.update((o.configuration, o.fit_seconds + o.predict_seconds) for o in outcomes)
                    yield from _together(outcomes)
            except WorkersDied as death:
                self._mourn(death)
                for key in sorted(death.suspects & left.keys()):
                    yield from self._with_care(left.pop(key))
                for key in list(left):
                    batch, lost = self._without_given_up(left.pop(key))
                    left.update({key: batch} if batch else {})
                    yield from lost

    def _hire(self, common: tuple[Any, ...], anew: bool = False) -> None:
        """Give the crew what all tasks have in common, unless it has that."""
        assert self._crew is not None
        same = len(common) == len(self._common) and all(a is b for a, b in zip(common, self._common, strict=True))
        if anew or not same:
            self._crew.dismiss()
            self._crew.hire((*common, self.raise_errors, get_config()))
            self._common = common

    def _mourn(self, death: WorkersDied) -> None:
        cause = "" if death.__cause__ is None else f" ({type(death.__cause__).__name__})"
        warn(
            "W602",
            f"A worker process died{cause}: killed from outside, crashed, or out of memory. The fits that it may have "
            "been busy with are tried again.",
        )
        self._hire(self._common, anew=True)

    def _with_care(self, batch: Batch) -> Iterator[Outcome]:
        """Try a suspect batch alone, and if it kills again, each of its fits alone."""
        batch, lost = self._without_given_up(batch)
        yield from lost
        outcomes = self._alone(batch) if batch else []
        if outcomes is not None:
            yield from outcomes
            return
        for task in batch:
            for configuration in task.configurations:
                outcomes = self._alone((Task(task.split, (configuration,)),))
                if outcomes is None:
                    self._given_up.add(configuration.index)
                    outcomes = [self._died(task, configuration)]
                yield from outcomes

    def _alone(self, batch: Batch) -> list[Outcome] | None:
        """Run one batch and nothing else; None when the worker did not survive."""
        assert self._crew is not None
        try:
            return [outcome for _, outcomes in self._crew.run(_work, {0: batch}) for outcome in outcomes]
        except WorkersDied:
            self._hire(self._common, anew=True)
            return None

    def _without_given_up(self, batch: Batch) -> tuple[Batch, list[Outcome]]:
        """Take out the configurations that are known to kill: they have failed here too."""
        kept, lost = [], []
        for task in batch:
            lost += [self._died(task, c) for c in task.configurations if c.index in self._given_up]
            rest = tuple(c for c in task.configurations if c.index not in self._given_up)
            kept += [Task(task.split, rest)] if rest else []
        return tuple(kept), lost

    def _died(self, task: Task, configuration: Any) -> Outcome:
        cause = Unusable(
            "worker died",
            "its worker process died, and died again when it was tried alone (killed, crashed, or out of memory).",
        )
        return failed(configuration, task.split, cause, self.raise_errors)


def make_executor(n_jobs: int | None = None, raise_errors: bool = False) -> SerialExecutor | JoblibExecutor:
    """Choose an executor: serial for one job, which is what None means outside of `joblib.parallel_config`.

    Parameters
    ----------
    n_jobs : int or None
    raise_errors : bool
    """
    if effective_n_jobs(n_jobs) == 1 and not is_far_away():
        return SerialExecutor(raise_errors)
    return JoblibExecutor(n_jobs, raise_errors)


def _together(outcomes: list[Outcome]) -> list[Outcome]:
    """Say of all but the last that more is here: whoever stops the stream need not lose what has come back."""
    return [*(replace(outcome, more=True) for outcome in outcomes[:-1]), *outcomes[-1:]]


def _work(key: int, token: str | None, call: Any, *common: Any) -> tuple[int, list[Outcome]]:
    """Run one batch, in a worker."""
    (problem, estimator, wanted, raise_errors, config), batch = (
        (common[0], call) if token is None else (unpack(token, common), pickle.loads(call))
    )
    with one_blas_thread(), config_context(**config):
        return key, [
            outcome for task in batch for outcome in fit_predict_shared(problem, estimator, task, wanted, raise_errors)
        ]
