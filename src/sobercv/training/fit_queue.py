"""The queue of a race: every fit is looked up in the cache or submitted; deadlines, retries and deaths are all here.

A fit is known by its place: repeat, fold and configuration. Workers that would be idle make speculative fits of later
rounds, those first whose configurations are the surest to survive; what comes back early is held until its round. So a
race takes the same steps for any number of workers, and after a resume.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
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
from .pool.base import LOOK_SECONDS, Pool, Report
from .pool.batches import Batch, cut, without

_DIED = Unusable(
    "worker died",
    "its worker process died, and died again when it was tried alone (killed, crashed, or out of memory).",
)


class FitQueue:
    """The fits of a race: an open pool, an entered cache, and when to end, of `perf_counter`.

    Attributes
    ----------
    held : dict of place to Outcome
        Speculative fits whose round has not come; at the end, of configurations that were dropped in the meantime.
    n_recalled : int
        Outcomes that came from the cache.
    """

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
        self._order = [c.index for c in configurations]  # whose speculative fits come first
        self._keys = count()  # of batches; none is used twice
        self._flying: dict[int, Batch] = {}  # what has been submitted and not come back
        self._speculative: set[int] = set()  # keys
        self._waiting: deque[Batch] = deque()
        self._suspects: deque[Batch] = deque()  # one of them may have killed a worker
        self._alone: int | None = None  # the key of the suspect that is being tried
        self._given_up: set[int] = set()  # configurations that kill their worker
        self._due: set[Place] = set()
        self._seconds: dict[int, float] = {}  # of the latest fit of each configuration
        self.held: dict[Place, Outcome] = {}
        self.n_recalled = 0

    def expect(self, alive: Array, p: Array) -> None:
        """Take which are alive, and how sure the drop rule is that each of them is worse than the best."""
        self._order = [int(c) for c in np.argsort(p, kind="stable") if alive[c]]

    def run(self, tasks: Sequence[Task], index: int) -> Iterator[list[Outcome]]:
        """Iterate over outcomes of round `index` as they come; pass each list to `take`. Ends early at the deadline."""
        self._due = {place for task in tasks for place in task.places}
        flying, missing = self._under_way(), []
        for task in tasks:
            known = [self._known(task.split, c, p) for c, p in zip(task.configurations, task.places, strict=True)]
            if any(known):
                yield [outcome for outcome in known if outcome is not None]
            found = zip(task.configurations, known, task.places, strict=True)
            rest = tuple(c for c, outcome, place in found if outcome is None and place not in flying)
            missing += [Task(task.split, rest)] if rest else []
        if self.pool.cuts:
            n, is_limited = self.pool.n_workers, self.until is not None
            self._waiting = deque(cut(self.experiment, missing, n, self._seconds, cheap_first=is_limited))
        else:
            self._waiting = deque((task,) for task in missing)
        later, is_over = self._later(index), False
        try:
            while self._due:
                left = LOOK_SECONDS if self.until is None else self.until - perf_counter()
                if left <= 0:
                    outcomes = [outcome for report in self._stop() for outcome in report.outcomes]
                    if outcomes:
                        yield outcomes
                    break
                self._hand_out(later)
                outcomes = self._understand(self.pool.wait(min(left, LOOK_SECONDS)))
                outcomes += self._end_late()
                if outcomes:
                    yield outcomes
            is_over = True
        finally:
            if not is_over:
                self._stop()

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

    # ---- before a round ------------------------------------------------------------------------------------------
    def _known(self, split: Split, configuration: Configuration, place: Place) -> Outcome | None:
        """Return an outcome that needs no fit: a speculative one, a stored one, or the failure of a killer."""
        if place in self.held:
            return self.held.pop(place)
        found = None if self.cache is None else self.cache.recall(configuration.index, split)
        # An error that is to be raised must be met again, not read.
        if found is not None and not (found.failure is not None and self.experiment.raise_errors):
            self.n_recalled += 1
            return found
        return failed(self.experiment, configuration, split, _DIED) if configuration.index in self._given_up else None

    def _under_way(self) -> set[Place]:
        return {place for batch in self._flying.values() for task in batch for place in task.places}

    def _later(self, index: int) -> Iterator[Batch]:
        """Iterate over speculative fits: of the rounds after this one, round by round."""
        # An error that is to be raised must be one that the race meets; against the clock, only this round counts.
        if self.experiment.raise_errors or self.until is not None or self.pool.n_workers == 1:
            return
        flying = self._under_way()
        for split in (split for splits in self._rounds[index + 1 :] for split in splits):
            for configuration in (self._configurations[c] for c in self._order if c not in self._given_up):
                task = Task(split, (configuration,))
                is_known = task.places[0] in self.held or task.places[0] in flying
                if not is_known and (self.cache is None or self.cache.recall(configuration.index, split) is None):
                    yield (task,)

    # ---- during a round ------------------------------------------------------------------------------------------
    def _hand_out(self, later: Iterator[Batch]) -> None:
        """Submit what the pool has room for."""
        while self.pool.n_free > 0 and self._alone is None:
            key = next(self._keys)
            if self._suspects:
                if self._flying:
                    break  # suspects are tried alone
                batch, self._alone = self._suspects.popleft(), key
            elif self._waiting:
                batch = self._waiting.popleft()
            elif len(self._flying) < self.pool.n_workers and (speculative := next(later, None)) is not None:
                batch = speculative
                self._speculative.add(key)
            else:
                break
            self._flying[key] = batch
            self.pool.submit(key, batch, key in self._speculative)

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
            if report.key not in self._flying:
                continue
            self._flying[report.key] = rest = without(self._flying[report.key], report.outcomes)
            self._seconds.update((o.configuration, o.fit_seconds + o.predict_seconds) for o in report.outcomes)
            outcomes += report.outcomes
            if report.is_done:
                del self._flying[report.key]
                if rest:
                    outcomes += self._try_again(report.key, rest)
                self._speculative.discard(report.key)
                self._alone = None if self._alone == report.key else self._alone
        return outcomes

    def _try_again(self, key: int, batch: Batch) -> list[Outcome]:
        """Handle a batch whose worker died: a suspect; one that dies alone is split, and a single fit has failed."""
        if key in self._speculative:
            batch = tuple(task for task in batch if self._due.intersection(task.places))
        if key != self._alone:
            self._suspects.extend([batch] if batch else [])
            return []
        singles = [(Task(task.split, (c,)),) for task in batch for c in task.configurations]
        if len(singles) > 1:
            self._suspects.extendleft(reversed(singles))
            return []
        return self._give_up(singles[0][0])

    def _give_up(self, task: Task) -> list[Outcome]:
        """Return failures of a configuration that kills its worker, for all its fits of this round."""
        (killer,) = task.configurations
        self._given_up.add(killer.index)
        rest = (other for batch in (*self._waiting, *self._suspects) for other in batch)
        splits = [task.split, *(other.split for other in rest if killer in other.configurations)]
        lost = [failed(self.experiment, killer, split, _DIED) for split in splits]
        for batches in (self._waiting, self._suspects):
            left = [without(batch, lost) for batch in batches]
            batches.clear()
            batches.extend(batch for batch in left if batch)
        return lost

    def _end_late(self) -> list[Outcome]:
        """End the fits that take too long; what was under way beside them is submitted again."""
        limit, now = self.pool.fit_timeout, monotonic()
        if limit is None:
            return []
        begun = {key: self.pool.begun(key) for key in self._flying}
        late = {key: at[1] for key, at in begun.items() if at is not None and now - at[0] >= limit}
        if not late:
            return []
        before, self._alone = dict(self._flying), None
        outcomes = []
        for report in self._stop():
            rest = without(before.pop(report.key), report.outcomes)
            outcomes += report.outcomes
            reason = Unusable("timed out", f"it took longer than fit_timeout={limit:g} seconds and was ended.")
            for task in rest[:1]:
                ended = [c for c in task.configurations if c.index in late.get(report.key, ())]
                outcomes += [failed(self.experiment, c, task.split, reason, limit) for c in ended]
            rest = tuple(task for task in without(rest, outcomes) if self._due.intersection(task.places))
            self._waiting.extendleft([rest] if rest else [])
        return outcomes

    def _stop(self) -> list[Report]:
        """End everything that is under way."""
        self._flying, self._alone = {}, None
        self._speculative.clear()
        return self.pool.stop()
