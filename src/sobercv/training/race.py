"""The race: rounds of fits, after each of which a rule may drop configurations.

The policies (where fits run, what is kept, which configurations are dropped) are arguments.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from time import perf_counter
from typing import Protocol

import numpy as np

from ..containers import Array
from ..errors import SoberError, also
from ..predictions import Predictions
from .events import Dropped, Failed, Fitted, Listener, RoundEnded, RoundStarted, teller
from .fit.plan import Plan, Split
from .fit.space import Configuration
from .fit.task import Experiment, Failure, Task
from .fit_queue import FitQueue
from .keep.cache import OutcomeCache
from .keep.store import MemoryStore
from .pool.base import Pool
from .pool.batches import cheap_first
from .stopping import Stop

#: Why configurations are set aside that were not reached in time.
UNREACHED = "it was not fitted before max_seconds was over."


class Decision(Protocol):
    """What a drop rule answers, in the order of the predictions' configurations."""

    @property
    def keep(self) -> Array:
        """Which stay, bool [C]."""

    @property
    def p(self) -> Array:
        """How sure the rule is that each is worse than the best, float [C]."""


#: Asked after each round with the predictions so far and the number of the round; None keeps all.
DropRule = Callable[[Predictions, int], Decision | None]


@dataclass(frozen=True, eq=False)
class RaceLog:
    """What happened to every configuration.

    Attributes
    ----------
    status : str array [C]
        "finished" (in the race until its end), "dropped" or "failed".
    dropped_at : int array [C]
        The round, counted from 0, after which a configuration was dropped; -1 where it was not.
    p : float array [C]
        The rule's p at dropping; NaN where not dropped.
    failures : mapping of int to Failure
        By configuration.
    n_fits : int
        Fits that the race used, failed ones included.
    n_fits_saved : int
        Fits that dropping (and failing) made unnecessary.
    alive_by_round : int array [rounds]
        How many were still in the race after each round.
    seconds : float
        Of the whole race, wall-clock time.
    stopped : {"finished", "interrupted", "terminated", "max_seconds"}
        What ended the race.
    n_fits_left : int
        Fits that an early end left undone; what is not `n_fits` or saved.
    n_fits_discarded : int
        Fits that idle workers made before their round, of configurations that were then dropped; not in `n_fits`.
    signal : int or None
        The number of the signal that interrupted or terminated it.
    n_recalled : int
        How many of `n_fits` were read from a file instead of trained.
    """

    status: Array
    dropped_at: Array
    p: Array
    failures: Mapping[int, Failure]
    n_fits: int
    n_fits_saved: int
    alive_by_round: Array
    seconds: float
    stopped: str = "finished"
    n_fits_left: int = 0
    signal: int | None = None
    n_fits_discarded: int = 0
    n_recalled: int = 0

    @property
    def finishers(self) -> Array:
        """Which were in the race until its end, bool [C]."""
        return np.asarray(self.status == "finished")

    def __repr__(self) -> str:
        counts = ", ".join(f"{int((self.status == s).sum())} {s}" for s in ("finished", "dropped", "failed"))
        left = f", stopped by {self.stopped} with {self.n_fits_left} left" if self.n_fits_left else ""
        return f"RaceLog({counts}, {self.n_fits} fits, {self.n_fits_saved} saved{left})"


def race(
    experiment: Experiment,
    configurations: Sequence[Configuration],
    plan: Plan,
    *,
    pool: Pool,
    store: MemoryStore,
    cache: OutcomeCache | None = None,
    rule: DropRule | None = None,
    on_event: Listener | Sequence[Listener] | None = None,
    stop: Stop | None = None,
) -> RaceLog:
    """Fit all configurations, round by round, and let the rule drop those that cannot win.

    Configurations come in the order of their indices, from 0. Pool and cache are opened here, and closed; what the
    store or the cache holds already is not fitted again. Without a rule there are no rounds: everything is dispatched
    at once, split by split. What listeners do or raise changes nothing; only `stop`, or an exception, ends the race
    early.
    """
    start, tell, state = perf_counter(), teller(on_event), _State(len(configurations))
    stop = Stop(catch_signals=False) if stop is None else stop
    rounds = plan.rounds if rule is not None else (plan.splits,)
    n_fits = len(configurations) * plan.n_splits
    with stop, cache or nullcontext(), pool.opened(experiment, n_fits) as workers:
        queue = FitQueue(experiment, configurations, rounds, workers, cache, stop.until)
        for index, splits in enumerate(rounds):
            tell(RoundStarted(index, len(rounds), state.n_alive))
            ordered = configurations if stop.until is None else cheap_first(experiment, configurations, _seconds(store))
            tasks = _tasks(plan, splits, ordered, state.alive, store)
            for outcomes in stop.watch(queue.run(tasks, index)) if tasks else ():
                for outcome in queue.take(outcomes):
                    store.record(outcome)
                    tell(Fitted(outcome.configuration, outcome.repeat, outcome.fold, outcome.failure is None))
            for configuration, failure in state.set_aside(store.failures):
                tell(Failed(configuration, index, failure))
            if stop.reason is not None and _tasks(plan, splits, configurations, state.alive, store):
                break  # an abandoned round is not judged; what it has recorded stays recorded
            if rule is not None:
                for configuration, p in state.drop(rule(store.predictions(state.alive), index), index):
                    tell(Dropped(configuration, index, p))
                queue.expect(state.alive, state.doubt)
            state.alive_by_round.append(state.n_alive)
            done, saved, _ = state.count(store)
            tell(RoundEnded(index, len(rounds), state.n_alive, done, perf_counter() - start, saved))
            if index + 1 < len(rounds) and stop.is_time():
                break
        if stop.reason == "max_seconds":
            for configuration, failure in state.leave_out_unreached(plan, store):
                tell(Failed(configuration, len(state.alive_by_round), failure))
    return state.close(store, perf_counter() - start, stop, queue)


class _State:
    """Which configurations are alive, and when and why the others are not."""

    def __init__(self, n: int) -> None:
        self.alive = np.ones(n, bool)
        self.dropped_at = np.full(n, -1)
        self.p = np.full(n, np.nan)
        self.doubt = np.zeros(n)  # how sure the rule was, when it spoke last, that each is worse than the best
        self.failures: dict[int, Failure] = {}
        self.alive_by_round: list[int] = []
        self.unreached = np.zeros(n, bool)

    @property
    def n_alive(self) -> int:
        return int(self.alive.sum())

    def set_aside(self, failures: Mapping[int, Failure]) -> list[tuple[int, Failure]]:
        """Take the failed out of the race; where none is left, raise what happened first."""
        new = [(c, failure) for c, failure in failures.items() if c not in self.failures]
        self.failures.update(new)
        self.alive[list(self.failures)] = False
        if not self.alive.any():
            first, cause = next(iter(self.failures.items()))
            who = "The only configuration" if len(self.alive) == 1 else f"All {len(self.alive)} configurations"
            raise also(_common_type(self.failures))(
                "E315", f"{who} failed; the first cause is, for configuration {first} in {cause}"
            )
        return new

    def drop(self, decision: Decision | None, index: int) -> list[tuple[int, float]]:
        """Take out what the rule does not keep."""
        if decision is None:
            return []
        live = np.flatnonzero(self.alive)
        keep, p = np.asarray(getattr(decision, "keep", None)), np.asarray(getattr(decision, "p", None), float)
        if keep.shape != live.shape or keep.dtype != bool or p.shape != live.shape or not keep.any():
            kept = f" with {int(keep.sum())} kept" if keep.dtype == bool else ""
            got = f"keep {keep.dtype}{list(keep.shape)}{kept} and p {list(p.shape)}"
            raise SoberError(
                "E117",
                f"A drop rule must answer with `keep` (booleans, not all False) and `p` for {len(live)} configurations;"
                f" got {got if hasattr(decision, 'keep') else repr(decision)}.",
            )
        gone = live[~keep]
        self.alive[gone] = False
        self.dropped_at[gone] = index
        self.p[gone] = p[~keep]
        self.doubt[live] = p
        return [(int(c), float(self.p[c])) for c in gone]

    def leave_out_unreached(self, plan: Plan, store: MemoryStore) -> list[tuple[int, Failure]]:
        """Where time ran out before all were fitted on one split, go on with those that were."""
        done = store.done & self.alive[:, None]
        counts = done.sum(axis=0)
        position = int(counts.argmax())
        if not 0 < counts[position] < self.n_alive:
            return []
        split = plan.splits[position]
        reason = Failure("timed out", UNREACHED, "", split.repeat, split.fold)
        self.unreached = self.alive & ~done[:, position]
        self.alive &= ~self.unreached
        new = {int(c): reason for c in np.flatnonzero(self.unreached)}
        self.failures.update(new)
        return list(new.items())

    def count(self, store: MemoryStore) -> tuple[int, int, int]:
        """How many fits are done, saved because their configuration is out of the race, and left."""
        missing, wanted = ~store.done, self.alive | self.unreached
        return int(store.done.sum()), int(missing[~wanted].sum()), int(missing[wanted].sum())

    def close(self, store: MemoryStore, seconds: float, stop: Stop, queue: FitQueue) -> RaceLog:
        status = np.where(self.alive, "finished", "dropped").astype("<U8")
        status[list(self.failures)] = "failed"
        done, saved, left = self.count(store)
        return RaceLog(
            status, self.dropped_at, self.p, dict(self.failures), done, saved, np.asarray(self.alive_by_round), seconds,
            stop.reason if stop.reason is not None and left else "finished", left, stop.signal, len(queue.held),
            queue.n_recalled,
        )  # fmt: skip


def _seconds(store: MemoryStore) -> dict[int, float]:
    """Return the mean time of a fit of each configuration that has been fitted."""
    done, seconds = store.done, store.fit_seconds + store.predict_seconds
    return {int(c): float(seconds[c][done[c]].mean()) for c in np.flatnonzero(done.any(axis=1))}


def _common_type(failures: Mapping[int, Failure]) -> type[Exception]:
    """Return the exception type of Python that all failures have in common; ValueError where there is none."""
    names = {failure.error for failure in failures.values()}
    kind = getattr(builtins, names.pop(), None) if len(names) == 1 else None
    return kind if isinstance(kind, type) and issubclass(kind, Exception) else ValueError


def _tasks(
    plan: Plan, splits: Sequence[Split], configurations: Sequence[Configuration], alive: Array, store: MemoryStore
) -> list[Task]:
    """Make the tasks of a round: the live configurations on each split, less what the store has."""
    tasks = []
    for split in splits:
        missing = alive & ~store.done[:, plan.positions[split.repeat, split.fold]]
        if missing.any():
            tasks.append(Task(split, tuple(c for c in configurations if missing[c.index])))
    return tasks
