"""Where tasks are run: here, or by joblib's workers. The only home of joblib.

Takes tasks, gives an iterator of outcomes in any order; never decides what is run. One BLAS thread serves each fit,
in every executor, because sums are rounded differently by different numbers of threads.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any, Protocol

from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import ThreadpoolController

from .batches import Batch, cut
from .prefix import fit_predict_shared
from .problem import Problem
from .response import Wanted
from .task import Outcome, Task


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
        self._stack.enter_context(_one_blas_thread())
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def run(self, problem: Problem, estimator: Any, tasks: Sequence[Task], wanted: Wanted) -> Iterator[Outcome]:
        """Give the outcomes of all tasks."""
        for task in tasks:
            yield from fit_predict_shared(problem, estimator, task, wanted, self.raise_errors)


class JoblibExecutor:
    """Runs tasks by joblib's active backend: processes, threads, or what `joblib.parallel_config` says.

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
        self._parallel: Any = None

    def __enter__(self) -> JoblibExecutor:
        # Threads share this process's BLAS, so it is limited here; processes limit their own.
        self._stack.enter_context(_one_blas_thread())
        self._parallel = self._stack.enter_context(self._make())
        return self

    def __exit__(self, *exception: object) -> None:
        self._parallel = None
        self._stack.close()

    def _make(self) -> Any:
        # Batches are ours, cut so that common prefixes stay together; joblib must not merge them.
        try:
            return Parallel(n_jobs=self.n_jobs, batch_size=1, return_as="generator_unordered")
        except ValueError:  # a backend that can only give lists
            return Parallel(n_jobs=self.n_jobs, batch_size=1)

    def run(self, problem: Problem, estimator: Any, tasks: Sequence[Task], wanted: Wanted) -> Iterator[Outcome]:
        """Give the outcomes of all tasks as batches come back."""
        parallel = self._make() if self._parallel is None else self._parallel
        batches = cut(problem, estimator, tasks, effective_n_jobs(self.n_jobs))
        call = delayed(_run_batch)
        for outcomes in parallel(call(problem, estimator, batch, wanted, self.raise_errors) for batch in batches):
            yield from outcomes


def make_executor(n_jobs: int | None = None, raise_errors: bool = False) -> SerialExecutor | JoblibExecutor:
    """Choose an executor: serial for one job, which is what None means outside of `joblib.parallel_config`.

    Parameters
    ----------
    n_jobs : int or None
    raise_errors : bool
    """
    if effective_n_jobs(n_jobs) == 1:
        return SerialExecutor(raise_errors)
    return JoblibExecutor(n_jobs, raise_errors)


def _run_batch(problem: Problem, estimator: Any, batch: Batch, wanted: Wanted, raise_errors: bool) -> list[Outcome]:
    with _one_blas_thread():
        return [
            outcome for task in batch for outcome in fit_predict_shared(problem, estimator, task, wanted, raise_errors)
        ]


@contextmanager
def _one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread while anybody is inside: the first one in sets it, the last one out resets it.

    The limit belongs to the process, so searches in several threads must not undo each other's.
    """
    with _lock:
        if not _inside:
            _limits.append(_controller(len(sys.modules)).limit(limits=1, user_api="blas"))
        _inside.append(True)
    try:
        yield
    finally:
        with _lock:
            _inside.pop()
            if not _inside:
                _limits.pop().restore_original_limits()


_lock = Lock()
_inside: list[bool] = []
_limits: list[Any] = []


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> ThreadpoolController:
    # Looking for the libraries takes milliseconds, so it is done again only after something was imported.
    return ThreadpoolController()
