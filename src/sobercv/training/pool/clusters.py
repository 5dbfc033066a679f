"""Workers of a dask or ray cluster that this process is connected to. The only home of dask's client and of ray."""

from __future__ import annotations

from concurrent.futures import Future
from contextlib import suppress
from time import monotonic, sleep
from typing import Any

from ...errors import SoberError
from ..fit.task import Outcome
from .base import FuturePool, Report
from .batches import Batch
from .work import as_bytes, pack, run_packed

#: Seconds to wait for a dask cluster that has lost all its workers, and for a ray cluster that has lost its nodes.
WAIT_FOR_DASK = WAIT_FOR_NODES = 60
#: Seconds between the return of a dask worker and its next trial: dask restarts only those that have been up a moment.
PAUSE_AFTER_DEATH = 1.0
#: How often workers and nodes are counted, in seconds: others may have joined.
COUNT_SECONDS = 5.0
#: How often in a row all dask workers are seen without work, although batches are out, before these count as lost: a
#: worker that dies can take the data with it, and then dask waits for them forever.
IDLE_LOOKS = 2
#: Errors that mean a lost worker, by name: packages may not be installed.
DEATHS = {
    "KilledWorker", "CancelledError", "CommClosedError", "FutureCancelledError", "WorkerCrashedError", "NodeDiedError",
    "LocalRayletDiedError", "ObjectLostError", "OutOfMemoryError", "RayActorError", "TaskCancelledError",
    "OwnerDiedError",
}  # fmt: skip


class ClusterPool(FuturePool):
    """A pool whose workers hold the data."""

    def __init__(self, n_workers: int) -> None:
        super().__init__(n_workers)
        self._data: list[Any] = []
        self._has_died = False
        self._looked = monotonic()

    def wait(self, seconds: float) -> list[Report]:
        reports: list[Report] = []
        if monotonic() - self._looked > COUNT_SECONDS:
            self._looked = monotonic()
            reports = self._look()
        reports += super().wait(0.0 if reports else seconds)
        if any(report.death for report in reports):
            self._data, self._has_died = [], True  # lost with the worker, perhaps
        return reports

    def _look(self) -> list[Report]:
        """Refuse to wait for a cluster that cannot answer; report what it has lost."""
        return []

    def death_of(self, error: BaseException) -> str:
        return type(error).__name__ if DEATHS.intersection(kind.__name__ for kind in type(error).__mro__) else ""

    def close(self) -> None:
        super().close()
        self._data = []


def _gone(name: str, reason: str) -> SoberError:
    return SoberError("E602", f"The {name} cluster {reason}. Start another one, and fit again.")


class DaskPool(ClusterPool):
    """Workers of the dask cluster that joblib's context names; `backend` is joblib's."""

    per_worker = 2

    def __init__(self, backend: Any) -> None:
        super().__init__(int(backend.effective_n_jobs(-1)))
        self.client, self._backend = backend.client, backend
        self._options = {"pure": False, **getattr(backend, "submit_kwargs", {})}
        self._n_idle = 0

    def _future(self, key: int, batch: Batch, is_speculative: bool) -> Future[list[Outcome]]:
        if self.client.status != "running":
            raise _gone("dask", "is gone (the scheduler does not answer)")
        raw, packed = as_bytes(batch), [] if self._data else pack(self._experiment)
        try:
            if packed:  # all workers receive the data, once
                self.client.wait_for_workers(1, timeout=WAIT_FOR_DASK)  # after a death, until one has started again
                sleep(PAUSE_AFTER_DEATH if self._has_died else 0)
                self._data = self.client.scatter(packed, broadcast=True, hash=False)
            options = {"priority": -1} if is_speculative else {}
            executor = self.client.get_executor(**self._options)
            return executor.submit(run_packed, self._token, raw, *self._data, **options)
        except TimeoutError:
            raise _gone("dask", f"has no worker, and none came in {WAIT_FOR_DASK} seconds") from None
        except Exception as error:  # of many types, in each release of dask others
            raise _gone("dask", f"is gone ({type(error).__name__}: {error})") from error

    def _look(self) -> list[Report]:
        if self.client.status != "running":
            return []
        try:
            self.n_workers = max(int(self._backend.effective_n_jobs(-1)), 1)
            is_busy = any(self.client.processing().values())
        except Exception:  # of many types: the scheduler has just gone, and soon the client knows
            return []
        out = bool(self._flying) and not any(future.done() for future in self._flying.values())
        self._n_idle = self._n_idle + 1 if out and not is_busy else 0
        if self._n_idle < IDLE_LOOKS:
            return []
        self._n_idle = 0
        lost = [Report(key, [], death="dask lost what it worked on") for key in self._flying]
        self.stop()
        return lost


class RayPool(ClusterPool):
    """Workers of the ray cluster that this process is connected to; `backend` is joblib's."""

    def __init__(self, n_workers: int, backend: Any) -> None:
        import ray

        super().__init__(n_workers)
        self.ray, self._options = ray, {"max_retries": 0, **(getattr(backend, "ray_remote_args", None) or {})}
        self._missing_since = 0.0

    def _future(self, key: int, batch: Batch, is_speculative: bool) -> Future[list[Outcome]]:
        try:
            if not self._data:
                self._data = [self.ray.put(part) for part in pack(self._experiment)]
            remote = self.ray.remote(run_packed).options(**self._options)
            return remote.remote(self._token, as_bytes(batch), *self._data).future()
        except self.ray.exceptions.RayError as error:
            raise _gone("ray", f"is gone ({type(error).__name__})") from error

    def _look(self) -> list[Report]:
        nodes: list[Any] = []
        with suppress(Exception):  # of several types, where the head does not answer
            nodes = self.ray.nodes() if self.ray.is_initialized() else []
        alive = [node["Resources"] for node in nodes if node["Alive"]]
        has_room = any(node.get("CPU", 0) > 0 for node in alive)
        self._missing_since = 0.0 if has_room else self._missing_since or monotonic()
        if self._flying and not has_room and monotonic() - self._missing_since > WAIT_FOR_NODES:
            raise _gone("ray", f"has no node left that could fit, and none came in {WAIT_FOR_NODES} seconds")
        return []

    def stop(self) -> list[Report]:
        for future in self._flying.values():
            self.ray.cancel(future.object_ref, force=True)
        return super().stop()
