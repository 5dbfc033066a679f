"""Where fits run: in this process, in others of this machine, in threads, on a cluster."""

from __future__ import annotations

from joblib import cpu_count, effective_n_jobs
from joblib.parallel import get_active_backend

from ...errors import SoberError
from ...threads import thread_shares
from .base import Pool, SerialPool, ThreadPool
from .clusters import DaskPool, RayPool
from .processes import ProcessPool, call_in_process

__all__ = ["call_in_process", "make_pool"]


def make_pool(n_jobs: int | None = None, fit_timeout: float | None = None, is_limited: bool = False) -> Pool:
    """Return a pool: serial for one job, which is what None means outside of `joblib.parallel_config`.

    With a time limit, for each fit or for all, one job runs in a process of its own: a fit in this one could not be
    ended. Raises E114 where fits of this backend cannot be ended.
    """
    backend, n_workers = get_active_backend()[0], int(effective_n_jobs(n_jobs))
    kind = type(backend).__name__
    if n_workers > 1 or kind == "DaskDistributedBackend":  # dask sends work away even when it has one worker only
        if fit_timeout is not None and kind in ("ThreadingBackend", "DaskDistributedBackend", "RayBackend"):
            raise SoberError(
                "E114",
                f"`fit_timeout` needs processes of this machine, which can be ended; joblib's context asks for {kind}. "
                "Leave the context out, or fit_timeout.",
            )
        if kind == "ThreadingBackend":
            return ThreadPool(n_workers)
        if kind == "DaskDistributedBackend":
            return DaskPool(backend)
        if kind == "RayBackend":
            return RayPool(n_workers, backend)
    elif not is_limited and fit_timeout is None:
        return SerialPool()
    given, limits = getattr(backend, "inner_max_num_threads", None), thread_shares(n_workers, cpu_count())  # as joblib
    return ProcessPool(n_workers, limits if given is None else dict.fromkeys(limits, str(given)), fit_timeout)
