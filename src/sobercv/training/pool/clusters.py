"""Workers of a dask or ray cluster that this process is connected to. The only home of dask's client and of ray."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future
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


class DaskPool(FuturePool):
    """Workers of the dask cluster that joblib's context names; `backend` is joblib's."""

    def __init__(self, backend: Any) -> None:
        super().__init__(int(backend.effective_n_jobs(-1)))
        self.client = backend.client
        self._options = {"pure": False, **getattr(backend, "submit_kwargs", {})}
        self._data: list[Any] = []
        self._has_died = False
        self._backend, self._counted = backend, monotonic()
        self._n_idle = 0

    @property
    def n_free(self) -> int:
        """Twice as many batches as workers: each has the next one at hand."""
        return 2 * self.n_workers - len(self._flying)

    def _share(self) -> None:
        """Send the data to all workers, once."""
        packed = pack(self._common)
        try:
            self.client.wait_for_workers(1, timeout=WAIT_FOR_DASK)  # after a death, until one has been started again
            if self._has_died:
                sleep(PAUSE_AFTER_DEATH)
            self._data = self.client.scatter(packed, broadcast=True, hash=False)
        except TimeoutError:
            raise SoberError(
                "E602",
                f"The dask cluster has no worker, and none came in {WAIT_FOR_DASK} seconds; start some, and fit again.",
            ) from None
        except Exception as error:
            raise self._gone(error) from error

    def _gone(self, error: BaseException) -> SoberError:
        return SoberError(
            "E602", f"The dask cluster is gone ({type(error).__name__}: {error}). Start another one, and fit again."
        )

    def _future(self, key: int, batch: Batch, is_speculative: bool) -> Future[list[Outcome]]:
        if not self._data:
            self._share()
        options = {"priority": -1} if is_speculative else {}
        raw = as_bytes(batch)
        try:
            executor = self.client.get_executor(**self._options)
            future: Future[list[Outcome]] = executor.submit(run_packed, self._token, raw, *self._data, **options)
        except Exception as error:  # of many types, in each release of dask others
            raise self._gone(error) from error
        return future

    def wait(self, seconds: float) -> list[Report]:
        """Return what has come back; what dask has lost is reported as what died with its worker."""
        reports = super().wait(seconds)
        if monotonic() - self._counted > COUNT_SECONDS and self.client.status == "running":
            self.n_workers, self._counted = max(int(self._backend.effective_n_jobs(-1)), 1), monotonic()
            is_idle = bool(self._flying) and not reports and not any(self.client.processing().values())
            self._n_idle = self._n_idle + 1 if is_idle else 0
            if self._n_idle >= IDLE_LOOKS:
                self._n_idle = 0
                reports = [Report(key, [], death="dask lost what it worked on") for key in self._flying]
                self.stop()
        if any(report.death for report in reports):
            if self.client.status != "running":
                raise self._gone(ConnectionError("the scheduler does not answer"))
            self._data, self._has_died = [], True  # lost with the worker, perhaps
        return reports

    def death_of(self, error: BaseException) -> str:
        """Say whether dask has given a batch up."""
        return _named(error, ("KilledWorker", "CancelledError", "CommClosedError", "FutureCancelledError"))

    def close(self) -> None:
        """Forget the data."""
        super().close()
        self._data = []


class RayPool(FuturePool):
    """Workers of the ray cluster that this process is connected to; `backend` is joblib's."""

    def __init__(self, n_workers: int, backend: Any) -> None:
        super().__init__(n_workers)
        self._options = {"max_retries": 0, **(getattr(backend, "ray_remote_args", None) or {})}
        self._data: list[Any] = []
        self._remote: Any = None
        self._looked, self._missing_since = monotonic(), 0.0

    def _future(self, key: int, batch: Batch, is_speculative: bool) -> Future[list[Outcome]]:
        import ray

        try:
            if not self._data:
                self._data = [ray.put(part) for part in pack(self._common)]
                self._remote = ray.remote(run_packed).options(**self._options)
            future: Future[list[Outcome]] = self._remote.remote(self._token, as_bytes(batch), *self._data).future()
        except ray.exceptions.RayError as error:
            raise SoberError(
                "E602", f"The ray cluster is gone ({type(error).__name__}). Start another one, and fit again."
            ) from error
        return future

    def wait(self, seconds: float) -> list[Report]:
        """Return what has come back; refuse to wait for a cluster that has lost all its nodes."""
        import ray

        reports = super().wait(seconds)
        if any(report.death for report in reports):
            self._data = []  # lost with its node, perhaps
        if reports or monotonic() - self._looked < COUNT_SECONDS:
            return reports
        self._looked = monotonic()
        alive = [node["Resources"] for node in ray.nodes() if node["Alive"]] if ray.is_initialized() else []
        has_room = any(node.get("CPU", 0) > 0 for node in alive)
        self._missing_since = 0.0 if has_room else self._missing_since or monotonic()
        if self._flying and not has_room and monotonic() - self._missing_since > WAIT_FOR_NODES:
            raise SoberError(
                "E602",
                f"The ray cluster has no node left that could fit, and none came in {WAIT_FOR_NODES} seconds; start "
                "another one, and fit again.",
            )
        return reports

    def death_of(self, error: BaseException) -> str:
        """Say whether ray has lost a worker or a node."""
        names = (
            "WorkerCrashedError", "NodeDiedError", "LocalRayletDiedError", "ObjectLostError", "OutOfMemoryError",
            "RayActorError", "TaskCancelledError", "OwnerDiedError",
        )  # fmt: skip
        return _named(error, names)

    def _cancel(self, future: Any) -> None:
        import ray

        ray.cancel(future.object_ref, force=True)

    def close(self) -> None:
        """Forget the data."""
        super().close()
        self._data, self._remote = [], None


def _named(error: BaseException, names: Iterable[str]) -> str:
    """Return the type of an error where it, or a base of it, has one of these names: packages may not be installed."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    return type(error).__name__ if kinds & set(names) else ""
