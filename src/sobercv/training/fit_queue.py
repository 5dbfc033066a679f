"""The queue of a race: every fit is looked up in the cache or submitted; deadlines, retries and deaths are all here.

A fit is known by its place: repeat, fold and configuration. Workers that would be idle make speculative fits of later
rounds, those first whose configurations are the surest to survive; what comes back early is held until its round. So a
race takes the same steps for any number of workers, and after a resume.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from time import monotonic, perf_counter

import numpy as np

from ..containers import Array
from ..errors import warn
from .fit.plan import Split
from .fit.response import Unusable
from .fit.space import Configuration
from .fit.task import Experiment, Outcome, Place, Task, failed
from .keep.cache import OutcomeCache
from .pool.base import Pool, Report
from .pool.batches import Batch, cut

#: The longest that the queue waits before it looks at clocks and workers, in seconds.
LOOK_SECONDS = 1.0
_DIED = Unusable(
    "worker died",
    "its worker process died, and died again when it was tried alone (killed, crashed, or out of memory).",
)


class FitQueue:
    """The fits of a race: an open pool, an entered cache, and when to end, of `perf_counter`."""

    def __init__(
        self,
        experiment: Experiment,
        configurations: Sequence[Configuration],
        rounds: Sequence[Sequence[Split]],
        pool: Pool,
        cache: OutcomeCache | None = None,
        until: float | None = None,
    ) -> None:
        self.experiment, self.pool, self.cache, self.until = experiment, pool, cache, until
        self._configurations, self._rounds = configurations, rounds
        self._order = list(configurations)  # whose speculative fits come first
        self._keys = count()  # of batches; none is used twice
        self._flying: dict[int, dict[Place, Task]] = {}  # what has been submitted and not come back, by batch
        self._waiting: deque[Batch] = deque()
        self._suspects: deque[Batch] = deque()  # one of them may have killed a worker
        self._alone: int | None = None  # the key of the suspect that is being tried
        self._given_up: set[int] = set()  # configurations that kill their worker
        self._due: set[Place] = set()
        self._error: BaseException | None = None  # of a fit, where errors are to be raised
        self._seconds: dict[int, float] = {}  # of the latest fit of each configuration
        # Speculative fits whose round has not come; at the end, of configurations that were dropped in the meantime.
        self.held: dict[Place, Outcome] = {}
        self.n_recalled = 0  # outcomes that came from the cache

    def expect(self, alive: Array, p: Array) -> None:
        """Take which are alive, and how sure the drop rule is that each of them is worse than the best."""
        self._order = [self._configurations[c] for c in np.argsort(p, kind="stable") if alive[c]]

    def run(self, tasks: Sequence[Task], index: int) -> Iterator[list[Outcome]]:
        """Iterate over outcomes of round `index` as they come; pass each list to `take`. Ends early at the deadline."""
        self._due = {task.place for task in tasks}
        flying, missing = set[Place]().union(*self._flying.values()), list[Task]()
        for task in tasks:
            known = self.held.pop(task.place, None)
            if known is None and self.cache is not None:
                known = self.cache.recall(task)
                if known is not None and known.failure is not None and self.experiment.raise_errors:
                    known = None  # an error that is to be raised must be met again, not read
                self.n_recalled += known is not None
            if known is None and task.configuration.index in self._given_up:
                known = failed(self.experiment, task, _DIED)
            if known is not None:
                yield [known]
            elif task.place not in flying:
                missing.append(task)
        in_time = self.until is None  # against the clock, the order of the tasks counts
        n_pieces = max(self.pool.n_workers, self.pool.per_worker)  # a cluster of one worker reports whole batches
        self._waiting = deque(cut(self.experiment, missing, n_pieces, self._seconds, in_time))
        later = self._later(index)
        while self._due and (self.until is None or perf_counter() < self.until):
            self._hand_out(later)
            left = LOOK_SECONDS if self.until is None else self.until - perf_counter()
            outcomes = self._understand(self.pool.wait(min(max(left, 0.0), LOOK_SECONDS)))
            if self.pool.fit_timeout is not None:
                outcomes += self._end_late(self.pool.fit_timeout)
            if outcomes:
                yield outcomes
            if self._error is not None:
                yield from self.rest()
                raise self._error

    def rest(self) -> Iterator[list[Outcome]]:
        """Where a round was broken off, end what is under way; iterate over what had come back until then."""
        if self._due:
            yield [outcome for report in self.pool.stop() for outcome in report.outcomes]

    def take(self, outcomes: Sequence[Outcome]) -> Iterator[Outcome]:
        """Store outcomes that are new; iterate over those of this round, and hold the others."""
        for outcome in outcomes:
            if self.cache is not None and not outcome.is_recalled:
                self.cache.keep(outcome)
            if outcome.place in self._due:
                self._due.remove(outcome.place)
                yield outcome
            else:
                self.held[outcome.place] = outcome

    def _later(self, index: int) -> Iterator[Task]:
        """Iterate over speculative fits: of the rounds after this one, round by round."""
        # An error that is to be raised must be one that the race meets; against the clock, only this round counts.
        if self.experiment.raise_errors or self.until is not None or self.pool.n_workers == 1:
            return
        known = set(self.held).union(*self._flying.values())
        for split in (split for splits in self._rounds[index + 1 :] for split in splits):
            for task in (Task(split, c) for c in self._order if c.index not in self._given_up):
                if task.place not in known and (self.cache is None or self.cache.recall(task) is None):
                    yield task

    def _hand_out(self, later: Iterator[Task]) -> None:
        """Submit what the pool has room for."""
        room = self.pool.n_workers * self.pool.per_worker
        while len(self._flying) < room and self._alone is None and not (self._suspects and self._flying):
            key, is_speculative = next(self._keys), False
            if self._suspects:  # they are tried alone
                batch, self._alone = self._suspects.popleft(), key
            elif self._waiting:
                batch = self._waiting.popleft()
            elif len(self._flying) < self.pool.n_workers and (task := next(later, None)) is not None:
                batch, is_speculative = (task,), True
            else:
                break
            self._flying[key] = {task.place: task for task in batch}
            self.pool.submit(key, batch, is_speculative)

    def _understand(self, reports: Sequence[Report]) -> list[Outcome]:
        """Return the outcomes of reports; batches whose worker died are tried again, alone."""
        outcomes: list[Outcome] = []
        deaths = [report.death for report in reports if report.death and report.key != self._alone]
        if deaths:
            warn(
                "W602",
                f"A worker process died ({deaths[0]}): killed from outside, crashed, or out of memory. The fits that "
                "it may have been busy with are tried again.",
            )
        for report in reports:
            batch = self._flying[report.key]
            for outcome in report.outcomes:
                batch.pop(outcome.place, None)
                self._seconds[outcome.configuration] = outcome.fit_seconds + outcome.predict_seconds
            outcomes += report.outcomes
            if not report.is_done:
                continue
            del self._flying[report.key]
            was_alone = report.key == self._alone
            if was_alone:
                self._alone = None
            self._error = self._error or report.error
            if report.error is None and (left := self._still_due(batch)):
                outcomes += self._try_again(left, was_alone)
        return outcomes

    def _still_due(self, batch: dict[Place, Task]) -> Batch:
        """Return what this round needs: a speculative fit that was lost is made when its round comes."""
        return tuple(task for place, task in batch.items() if place in self._due)

    def _try_again(self, batch: Batch, was_alone: bool) -> list[Outcome]:
        """Handle what a dead worker has left: a suspect; one that dies alone is split, and a single fit has failed."""
        if not was_alone:
            self._suspects.append(batch)
            return []
        if len(batch) > 1:
            self._suspects.extendleft((task,) for task in reversed(batch))
            return []
        lost, killer = list(batch), batch[0].configuration.index  # all its fits of this round have failed
        self._given_up.add(killer)
        for batches in (self._waiting, self._suspects):
            lost += [task for other in batches for task in other if task.configuration.index == killer]
            left = [tuple(task for task in other if task.configuration.index != killer) for other in batches]
            batches.clear()
            batches.extend(filter(None, left))
        return [failed(self.experiment, task, _DIED) for task in lost]

    def _end_late(self, limit: float) -> list[Outcome]:
        """End the fits that take too long; what was under way beside them is submitted again."""
        begun, now = [self.pool.begun(key) for key in self._flying], monotonic()
        late = {place for since, places in begun if now - since >= limit for place in places}
        if not late:
            return []
        ended = [batch.pop(place) for batch in self._flying.values() for place in late & batch.keys()]
        outcomes = self._understand([replace(report, is_done=False) for report in self.pool.stop()])
        self._waiting.extendleft(filter(None, map(self._still_due, self._flying.values())))
        self._flying, self._alone = {}, None
        came = {outcome.place for outcome in outcomes}  # at the last moment
        reason = Unusable("timed out", f"it took longer than fit_timeout={limit:g} seconds and was ended.")
        return outcomes + [failed(self.experiment, task, reason, limit) for task in ended if task.place not in came]
