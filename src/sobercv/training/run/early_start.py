"""Worker processes that are started before there is work: they import while the table is read.

Takes the number of jobs that a search will have, has as many processes as it will ask for, and lets them wait. Never
imports what takes long itself.
"""

from __future__ import annotations

import os
import queue

from ... import threads
from .process import give_back, take


def start_early(n_jobs: int | None, is_limited: bool = False) -> None:
    """Start worker processes that the next search will take.

    Parameters
    ----------
    n_jobs : int or None
        As in the search.
    is_limited : bool
        Whether the search has a time limit: then a single job has a process of its own, too.
    """
    n_workers = threads.count(n_jobs)
    if n_workers == 1 and not is_limited:
        return
    environment = {**os.environ, **threads.thread_shares(n_workers, threads.count(-1))}
    for process in [take(environment, queue.SimpleQueue()) for _ in range(n_workers)]:
        give_back(process)
