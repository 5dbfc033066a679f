"""Worker processes of this machine: each outcome is sent as soon as it is there, and a fit can be ended.

Takes batches, gives outcomes as they come back; a worker that dies or takes too long is replaced, the others go on.
joblib's own processes are left alone: they cannot end one fit, and other settings than another tool's restart them.
"""

from __future__ import annotations

import os
import pickle
import queue
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from ...containers import Array
from ...errors import SoberError
from ..fit.experiment import Experiment
from ..fit.response import Unusable
from ..fit.task import Outcome, Task, failed
from . import process
from .batches import Batch, without
from .packing import as_bytes, pack
from .process import Inbox, Process
from .shared_bytes import SMALL, SharedBytes
from .workers import Work, WorkersDied

#: The longest that nobody looks at the clock, in seconds.
LOOK_SECONDS = 1.0
#: So many processes in a row may end before they have started.
MAX_FALSE_STARTS = 3


@dataclass
class _Duty:
    """What a worker is busy with."""

    key: int
    batch: Batch  # what is left of it
    tasks: Batch  # as it was sent
    began: float  # when the fit under way began
    under_way: tuple[int, list[int]] | None = None  # the number of a task, and configurations


def _share(arrays: list[Array]) -> SharedBytes:
    try:
        return SharedBytes(arrays)
    except OSError as error:
        size = sum(array.nbytes for array in arrays) / 1e6
        raise SoberError(
            "E602",
            f"{size:.0f} MB of data cannot be shared with worker processes: {error}. Make room, or use n_jobs=1.",
        ) from error


class ProcessWorkers:
    """Processes of our own.

    Parameters
    ----------
    n_workers : int
    environment : mapping of str to str
        Environment variables that the processes get.
    fit_timeout : float, optional
        Seconds after which a fit is ended.
    """

    def __init__(self, n_workers: int, environment: Mapping[str, str], fit_timeout: float | None = None) -> None:
        self.n_workers = n_workers
        self.fit_timeout = fit_timeout
        self._environment = {**os.environ, **environment}
        self._inbox: Inbox = queue.SimpleQueue()
        self._processes: list[Process] = []
        self._experiment: Experiment | None = None
        self._message: tuple[Any, ...] = ()
        self._shared: SharedBytes | None = None
        self._false_starts = 0
        self._busy: dict[Process, _Duty] = {}

    @property
    def under_way(self) -> set[int]:
        """Keys of spare calls that were begun and not waited for."""
        return {duty.key for duty in self._busy.values()}

    def start(self, common: tuple[Experiment, Any]) -> None:
        """Start processes, and give all of them what they need in common."""
        if common[0] is not self._experiment:
            self.close()
            packed = pack(common)
            head, *large = packed.arrays
            place: Any = [array.tobytes() for array in large]
            if sum(array.nbytes for array in large) > SMALL:
                self._shared = _share(large)
                place = (self._shared.place, self._shared.sizes)
            self._message = ("common", packed.token, list(sys.path), os.getcwd(), head.tobytes(), place)
            self._experiment = common[0]
        self._fill()
        while not any(worker.is_ready for worker in self._processes):
            self._hear(*self._inbox.get())

    def _fill(self) -> None:
        while len(self._processes) < self.n_workers:
            try:
                worker = process.take(self._environment, self._inbox)
            except OSError as error:
                raise SoberError("E602", f"A worker process cannot be started: {error}. Use n_jobs=1.") from error
            worker.send(*self._message)
            self._processes.append(worker)

    def run(
        self,
        work: Work,
        calls: Mapping[int, Batch],
        until: float | None = None,
        spare: Mapping[int, Task] | None = None,
    ) -> Iterator[tuple[int, Any]]:
        """Give outcomes as they come back; the dead are told at the end. At the time `until` all fits are ended."""
        busy, suspects, is_over = self._busy, dict[int, str](), False
        waiting = deque((key, batch) for key, batch in calls.items() if key not in self.under_way)
        later = deque((key, (task,)) for key, task in (spare or {}).items())
        at_once = until is not None or self.fit_timeout is not None
        try:
            while waiting or any(duty.key in calls for duty in busy.values()):
                if until is not None and perf_counter() >= until:
                    return
                yield from self._end_late(busy, waiting)
                for worker in self._processes:
                    # Nothing is begun early while messages wait: they may end this run, and the next one knows more.
                    ready = waiting or (later if self._inbox.empty() else None)
                    if ready and worker.is_ready and worker not in busy:
                        key, batch = ready.popleft()
                        worker.send("batch", key, as_bytes(batch), at_once)
                        busy[worker] = _Duty(key, batch, batch, perf_counter())
                try:
                    worker, message = self._inbox.get(timeout=self._patience(busy, until))
                except queue.Empty:
                    continue
                if message is None and worker in busy:
                    suspects[busy.pop(worker).key] = worker.end
                yield from self._result(worker, message, busy)
            is_over = not suspects
        finally:
            if not is_over:
                self._abandon()
        if suspects:
            raise WorkersDied(set(suspects), next(iter(suspects.values())))

    def _result(self, worker: Process, message: Any, busy: dict[Process, _Duty]) -> Iterator[tuple[int, Any]]:
        """Understand a message."""
        kind = None if message is None else message[0]
        if kind not in ("begins", "outcomes", "done", "raised"):
            self._hear(worker, message)
            self._fill()
        elif worker in busy:  # and not ended in the meantime
            duty = busy[worker]
            if kind == "raised":
                raise pickle.loads(message[2])
            if kind == "begins":
                duty.under_way, duty.began = (message[2], message[3]), perf_counter()
                return
            duty.under_way, outcomes = None, message[2]
            duty.batch = without(duty.batch, outcomes)
            if kind == "done":
                del busy[worker]
            if outcomes:
                yield duty.key, outcomes

    def _hear(self, worker: Process, message: Any) -> None:
        """Understand what a worker says before it is ready, or its end."""
        if worker not in self._processes:
            return
        if message is None:
            self._processes.remove(worker)
            if not worker.is_ready:
                self._false_starts += 1
                if self._false_starts >= MAX_FALSE_STARTS:
                    raise SoberError(
                        "E602",
                        f"Worker processes end before they have started ({worker.end}); standard error may say why. "
                        "Use n_jobs=1, or threads with joblib.parallel_config('threading').",
                    )
                self._fill()
        elif message[1] != self._message[1]:  # it speaks of an earlier search
            return
        elif message[0] == "broken":
            raise SoberError(
                "E602",
                f"A worker cannot open the data or the estimator: {message[2]}. Make the modules that define them "
                "importable for other processes, or use n_jobs=1.",
            )
        else:
            worker.is_ready, self._false_starts = True, 0

    def _patience(self, busy: Mapping[Process, _Duty], until: float | None) -> float:
        """Say how long nothing can happen that asks for an act of ours."""
        now, times = perf_counter(), [LOOK_SECONDS]
        if until is not None:
            times.append(until - now)
        if self.fit_timeout is not None:
            times += [duty.began + self.fit_timeout - now for duty in busy.values() if duty.under_way is not None]
        return max(min(times), 0.0)

    def _end_late(self, busy: dict[Process, _Duty], waiting: deque[tuple[int, Batch]]) -> Iterator[tuple[int, Any]]:
        """End the fits that take too long; what is left of their batches waits again."""
        for worker, duty in list(busy.items()):
            if self.fit_timeout is None or duty.under_way is None or perf_counter() - duty.began < self.fit_timeout:
                continue
            self._drop(worker)
            del busy[worker]
            number, late = duty.under_way
            outcomes = self._timed_out(duty.tasks[number], late)
            rest = without(duty.batch, outcomes)
            if rest:
                waiting.appendleft((duty.key, rest))
            yield duty.key, outcomes
        self._fill()

    def _timed_out(self, task: Task, late: list[int]) -> list[Outcome]:
        assert self._experiment is not None
        reason = Unusable("timed out", f"it took longer than fit_timeout={self.fit_timeout:g} seconds and was ended.")
        late_ones = [c for c in task.configurations if c.index in late]
        return [failed(self._experiment, c, task.split, reason, self.fit_timeout or 0.0) for c in late_ones]

    def _abandon(self) -> None:
        """End all fits that are under way."""
        for worker in self._busy:
            self._drop(worker)
        self._busy = {}

    def _drop(self, worker: Process) -> None:
        worker.kill()
        if worker in self._processes:
            self._processes.remove(worker)

    def close(self) -> None:
        """Let processes go: they wait for the next search."""
        self._abandon()
        for worker in self._processes:
            process.give_back(worker)
        self._processes, self._experiment, self._message = [], None, ()
        if self._shared is not None:
            self._shared.close()
            self._shared = None
