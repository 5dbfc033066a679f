"""Where tasks are run: here, or by workers, whose deaths cost a retry and not the run.

Takes tasks, gives an iterator of outcomes in any order; never decides what is run. One BLAS thread serves each fit,
in every executor, because sums are rounded differently by different numbers of threads.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import count
from time import perf_counter
from typing import Any, Protocol

from sklearn import config_context, get_config

from ...errors import SoberError, warn
from ...threads import one_blas_thread
from ..fit.experiment import Experiment
from ..fit.plan import Split
from ..fit.prefix import fit_predict_shared
from ..fit.response import Unusable
from ..fit.space import Configuration
from ..fit.task import Outcome, Task, failed
from .batches import Batch, cut, without
from .future_workers import DaskWorkers, RayWorkers, ThreadWorkers
from .packing import unpack
from .process_workers import ProcessWorkers
from .workers import (
    JoblibWorkers,
    Workers,
    WorkersDied,
    active_backend,
    count_workers,
    is_one_here,
    thread_limits,
)


class Executor(Protocol):
    """Runs tasks. Enter it once around all runs of a search; outcomes never depend on which one it is."""

    def __enter__(self) -> Any:
        """Start workers, if any."""

    def __exit__(self, *exception: object) -> None:
        """Let workers go."""

    def run(
        self, experiment: Experiment, tasks: Sequence[Task], until: float | None = None, early: Sequence[Task] = ()
    ) -> Iterator[Outcome]:
        """Give the outcomes of all tasks, in any order; after `until` (of `perf_counter`) no more, if possible.

        Workers that would be idle may begin `early` tasks, of one configuration each. Their outcomes come now or in
        a later run, which asks for them again or not; it never waits for what it does not ask for.
        """


class SerialExecutor:
    """Runs tasks one after the other, in this process."""

    def __init__(self) -> None:
        self._stack = ExitStack()

    def __enter__(self) -> SerialExecutor:
        self._stack.enter_context(one_blas_thread())
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def run(
        self, experiment: Experiment, tasks: Sequence[Task], until: float | None = None, early: Sequence[Task] = ()
    ) -> Iterator[Outcome]:
        """Give the outcomes of all tasks; a fit that is under way here cannot be ended, and nobody is idle."""
        for task in tasks:
            yield from fit_predict_shared(experiment, task)


class ParallelExecutor:
    """Runs tasks by joblib's active backend: processes, threads, or what `joblib.parallel_config` says.

    Workers receive the data once. When a worker dies, the batches that it may have had are tried again one at a time;
    a configuration that takes its worker with it once more, alone, is given up with a failure of kind "worker died".

    Parameters
    ----------
    n_jobs : int or None
        As in scikit-learn.
    fit_timeout : float, optional
        Seconds after which a fit is ended; for processes of this machine only.
    """

    def __init__(self, n_jobs: int | None = None, fit_timeout: float | None = None) -> None:
        self.n_jobs = n_jobs
        self.fit_timeout = fit_timeout
        self._stack = ExitStack()
        self._workers: Workers | None = None
        self._experiment: Experiment | None = None  # what the workers have been given
        self._given_up: set[int] = set()
        self._seconds: dict[int, float] = {}  # of the latest fit of each configuration
        self._keys = count()  # of batches; none is used twice
        self._begun: dict[int, Task] = {}  # early tasks under way

    def __enter__(self) -> ParallelExecutor:
        # Threads share this process's BLAS, so it is limited here; processes limit their own.
        self._stack.enter_context(one_blas_thread())
        self._workers = make_workers(self.n_jobs, self.fit_timeout)
        self._stack.callback(self._workers.close)
        return self

    def __exit__(self, *exception: object) -> None:
        self._workers, self._experiment, self._given_up, self._seconds, self._begun = None, None, set(), {}, {}
        self._stack.close()

    def run(
        self, experiment: Experiment, tasks: Sequence[Task], until: float | None = None, early: Sequence[Task] = ()
    ) -> Iterator[Outcome]:
        """Give the outcomes of all tasks as they come back."""
        if self._workers is None:
            with self:
                yield from self.run(experiment, tasks, until, early)
            return
        self.prepare(experiment)
        left = self._left(experiment, tasks, cheap_first=until is not None)
        spare = self._spare(early)
        while left and (until is None or perf_counter() < until):
            try:
                for key, outcomes in self._workers.run(_run_batch, dict(left), until, spare):
                    batch = without(left.pop(key, ()), outcomes)
                    left.update({key: batch} if batch else {})
                    self._seconds.update((o.configuration, o.fit_seconds + o.predict_seconds) for o in outcomes)
                    yield from _one_batch(outcomes)
                under_way = self._workers.under_way
                self._begun = {key: task for key, task in (self._begun | spare).items() if key in under_way}
            except WorkersDied as death:
                _warn_of(death)
                self._begun, spare = {}, {}  # whatever was begun early is done in its round
                self._start(experiment)
                for key in sorted(death.suspects & left.keys()):
                    yield from self._retry(experiment, left.pop(key))
                for key in list(left):
                    batch, lost = self._without_given_up(experiment, left.pop(key))
                    left.update({key: batch} if batch else {})
                    yield from lost

    def _left(self, experiment: Experiment, tasks: Sequence[Task], cheap_first: bool) -> dict[int, Batch]:
        """Cut tasks into batches; what was begun early keeps its key, so that it is waited for and not sent again."""
        assert self._workers is not None
        asked = {place for task in tasks for place in _places(task)}
        begun = {key: (task,) for key, task in self._begun.items() if _places(task) <= asked}
        there = {place for (task,) in begun.values() for place in _places(task)}
        rest = [Task(t.split, tuple(c for c in t.configurations if (t.split, c.index) not in there)) for t in tasks]
        cuts = cut(
            experiment, [t for t in rest if t.configurations], self._workers.n_workers, self._seconds, cheap_first
        )
        return begun | {next(self._keys): batch for batch in cuts}

    def _spare(self, early: Sequence[Task]) -> dict[int, Task]:
        """Number the early tasks that have not been begun."""
        begun = {place for task in self._begun.values() for place in _places(task)}
        return {next(self._keys): task for task in early if not _places(task) & begun}

    def prepare(self, experiment: Experiment) -> None:
        """Give the workers what all tasks have in common, unless they have it."""
        if experiment is not self._experiment:
            self._start(experiment)

    def _start(self, experiment: Experiment) -> None:
        """Give the workers what all tasks have in common; those that have died are replaced."""
        assert self._workers is not None
        self._workers.start((experiment, get_config()))
        self._experiment = experiment

    def _retry(self, experiment: Experiment, batch: Batch) -> Iterator[Outcome]:
        """Try a suspect batch alone, and if its worker dies again, each of its fits alone."""
        batch, lost = self._without_given_up(experiment, batch)
        yield from lost
        outcomes = self._run_alone(experiment, batch) if batch else []
        if outcomes is not None:
            yield from outcomes
            return
        for task in batch:
            for configuration in task.configurations:
                outcomes = self._run_alone(experiment, (Task(task.split, (configuration,)),))
                if outcomes is None:
                    self._given_up.add(configuration.index)
                    outcomes = [_died(experiment, task, configuration)]
                yield from outcomes

    def _run_alone(self, experiment: Experiment, batch: Batch) -> list[Outcome] | None:
        """Run one batch and nothing else; None when the worker did not survive."""
        assert self._workers is not None
        try:
            alone = self._workers.run(_run_batch, {next(self._keys): batch})
            return [outcome for _, outcomes in alone for outcome in outcomes]
        except WorkersDied:
            self._start(experiment)
            return None

    def _without_given_up(self, experiment: Experiment, batch: Batch) -> tuple[Batch, list[Outcome]]:
        """Take out the configurations that are known to end their worker: they have failed here too."""
        kept, lost = [], []
        for task in batch:
            lost += [_died(experiment, task, c) for c in task.configurations if c.index in self._given_up]
            rest = tuple(c for c in task.configurations if c.index not in self._given_up)
            kept += [Task(task.split, rest)] if rest else []
        return tuple(kept), lost


class OneProcessExecutor:
    """Runs tasks one after the other in another process, where a fit can be ended; in this one if that cannot be.

    Parameters
    ----------
    fit_timeout : float, optional
        Seconds after which a fit is ended.
    """

    def __init__(self, fit_timeout: float | None = None) -> None:
        self.fit_timeout = fit_timeout
        self._executor: ParallelExecutor | SerialExecutor = ParallelExecutor(1, fit_timeout)

    def __enter__(self) -> OneProcessExecutor:
        self._executor.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._executor.__exit__(*exception)

    def run(
        self, experiment: Experiment, tasks: Sequence[Task], until: float | None = None, early: Sequence[Task] = ()
    ) -> Iterator[Outcome]:
        """Give the outcomes of all tasks."""
        if isinstance(self._executor, ParallelExecutor) and self.fit_timeout is None:
            try:
                self._executor.prepare(experiment)
            except SoberError as error:
                if error.code != "E602":
                    raise
                text = f"Fits run in this process, so a time limit is looked at after each of them. {error.message}"
                warn("W603", text)
                self._executor.__exit__()
                self._executor = SerialExecutor().__enter__()
        yield from self._executor.run(experiment, tasks, until)  # nobody is idle


def make_executor(
    n_jobs: int | None = None, fit_timeout: float | None = None, is_limited: bool = False
) -> SerialExecutor | ParallelExecutor | OneProcessExecutor:
    """Choose an executor: serial for one job, which is what None means outside of `joblib.parallel_config`.

    Parameters
    ----------
    n_jobs : int or None
    fit_timeout : float, optional
        Seconds after which a fit is ended.
    is_limited : bool
        Whether the whole race has a time limit. With either of the two, one job runs in a process of its own, because
        a fit in this one could not be ended.
    """
    if not is_one_here(n_jobs):
        return ParallelExecutor(n_jobs, fit_timeout)
    return OneProcessExecutor(fit_timeout) if is_limited or fit_timeout is not None else SerialExecutor()


def make_workers(n_jobs: int | None, fit_timeout: float | None = None) -> Workers:
    """Choose the workers that joblib's context asks for: for joblib's own processes, ours.

    Parameters
    ----------
    n_jobs : int or None
    fit_timeout : float, optional
    """
    backend, n_workers = active_backend(), count_workers(n_jobs)
    kind = type(backend).__name__
    if kind == "LokyBackend" or (n_workers == 1 and kind != "DaskDistributedBackend"):
        return ProcessWorkers(n_workers, thread_limits(n_workers), fit_timeout)
    if fit_timeout is not None:
        raise SoberError(
            "E605",
            f"`fit_timeout` needs processes of this machine, which can be ended; joblib's context asks for {kind}. "
            "Leave the context out, or fit_timeout.",
        )
    if kind == "DaskDistributedBackend":
        return DaskWorkers(backend)
    if kind == "RayBackend":
        return RayWorkers(n_workers, backend)
    return ThreadWorkers(n_workers) if kind == "ThreadingBackend" else JoblibWorkers(n_jobs)


def _places(task: Task) -> set[tuple[Split, int]]:
    """Split and configuration of every fit of a task."""
    return {(task.split, configuration.index) for configuration in task.configurations}


def _died(experiment: Experiment, task: Task, configuration: Configuration) -> Outcome:
    cause = Unusable(
        "worker died",
        "its worker process died, and died again when it was tried alone (killed, crashed, or out of memory).",
    )
    return failed(experiment, configuration, task.split, cause)


def _warn_of(death: WorkersDied) -> None:
    cause = f" ({death.how})" if death.how else ""
    warn(
        "W602",
        f"A worker process died{cause}: killed from outside, crashed, or out of memory. The fits that it may have "
        "been busy with are tried again.",
    )


def _one_batch(outcomes: list[Outcome]) -> list[Outcome]:
    """Say of all but the last that more is here: whoever stops the stream need not lose what has come back."""
    return [*(replace(outcome, more=True) for outcome in outcomes[:-1]), *outcomes[-1:]]


def _run_batch(key: int, token: str | None, call: Any, *common: Any) -> tuple[int, list[Outcome]]:
    """Run one batch, in a worker."""
    (experiment, config), batch = (common[0], call) if token is None else (unpack(token, common), pickle.loads(call))
    with one_blas_thread(), config_context(**config):
        return key, [outcome for task in batch for outcome in fit_predict_shared(experiment, task)]
