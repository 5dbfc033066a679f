"""The race: rounds of fits, after each of which a rule may drop configurations.

The policies (where fits run, what is kept, which configurations are dropped) are arguments.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from time import perf_counter
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError, also
from ..predictions import Predictions
from .events import Dropped, Failed, Fitted, Listener, RoundEnded, RoundStarted
from .fit.plan import Plan, Split
from .fit.space import Configuration
from .fit.task import Experiment, Failure, Task
from .fit_queue import FitQueue
from .keep.cache import OutcomeCache
from .keep.store import MemoryStore
from .pool.base import Pool
from .stopping import Stop

#: Why configurations are set aside that were not reached in time.
UNREACHED = "it was not fitted before max_seconds was over."
#: Asked after each round with the predictions so far and the number of the round. It answers, in the order of the
#: predictions' configurations, with `keep` (which stay, bool [C]) and `p` (how sure it is that each is worse than the
#: best, float [C]); None keeps all.
DropRule = Callable[[Predictions, int], Any]


@dataclass(eq=False)
class RaceLog:
    """What happened to every configuration."""

    status: Array  #: str [C]: "finished" (in the race until its end), "dropped" or "failed"
    dropped_at: Array  #: int [C]: the round, counted from 0, after which it was dropped; -1 where it was not
    p: Array  #: float [C]: the rule's p at dropping; NaN where not dropped
    failures: dict[int, Failure] = field(default_factory=dict)  #: by configuration
    n_fits: int = 0  #: fits that the race used, failed ones included
    n_fits_saved: int = 0  #: fits that dropping (and failing) made unnecessary
    #: How many were still in the race after each round, int [rounds].
    alive_by_round: Array = field(default_factory=partial(np.zeros, 0, int))
    seconds: float = 0.0  #: of the whole race, wall-clock time
    stopped: str = "finished"  #: what ended the race; or "interrupted", "terminated", "max_seconds"
    n_fits_left: int = 0  #: fits that an early end left undone: neither in `n_fits` nor saved
    signal: int | None = None  #: the number of the signal that interrupted or terminated it
    #: Fits that idle workers made before their round, of configurations that were then dropped; not in `n_fits`.
    n_fits_discarded: int = 0
    n_recalled: int = 0  #: how many of `n_fits` were read from a file instead of trained

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
    on_event: Listener | None = None,
    stop: Stop | None = None,
) -> RaceLog:
    """Fit all configurations, round by round, and let the rule drop those that cannot win.

    Configurations come in the order of their indices, from 0. Pool and cache are opened here, and closed; what the
    store or the cache holds already is not fitted again. Without a rule there are no rounds: everything is dispatched
    at once, split by split. `on_event` hears of each step and raises nothing; only `stop`, or an exception, ends the
    race early.
    """
    start, tell, n = perf_counter(), on_event or (lambda event: None), len(configurations)
    log, doubt = RaceLog(np.full(n, "finished", "<U8"), np.full(n, -1), np.full(n, np.nan)), np.zeros(n)
    stop = Stop(catch_signals=False) if stop is None else stop
    rounds = plan.rounds if rule is not None else (plan.splits,)
    with stop, cache or nullcontext(), pool.opened(experiment, n * plan.n_splits) as workers:
        queue = FitQueue(experiment, configurations, rounds, workers, cache, stop.until)
        for index, splits in enumerate(rounds):
            tell(RoundStarted(index, len(rounds), int(log.finishers.sum())))
            if stop.until is not None:  # the quickest first, once they are measured
                seconds = (store.fit_seconds + store.predict_seconds).sum(axis=1) / store.done.sum(axis=1).clip(1)
                configurations = sorted(configurations, key=lambda c: seconds[c.index])
            tasks = _missing(log, store, splits, configurations)
            for outcomes in chain(stop.watch(queue.run(tasks, index)), queue.rest()) if tasks else ():
                for outcome in queue.take(outcomes):
                    store.record(outcome)
                    tell(Fitted(outcome.configuration, outcome.repeat, outcome.fold, outcome.failure is None))
            for configuration, failure in _set_aside(log, store.failures):
                tell(Failed(configuration, index, failure))
            if stop.reason is not None and _missing(log, store, splits, configurations):
                break  # an abandoned round is not judged; what it has recorded stays recorded
            if rule is not None:
                for configuration, p in _drop(log, rule(store.predictions(log.finishers), index), index, doubt):
                    tell(Dropped(configuration, index, p))
                queue.expect(log.finishers, doubt)
            log.alive_by_round = np.append(log.alive_by_round, log.finishers.sum())
            _count(log, store)
            n_alive, seconds_so_far = int(log.alive_by_round[-1]), perf_counter() - start
            tell(RoundEnded(index, len(rounds), n_alive, log.n_fits, seconds_so_far, log.n_fits_saved))
            if index + 1 < len(rounds) and stop.is_time():
                break
        if stop.reason == "max_seconds":
            for configuration, failure in _set_aside(log, _unreached(log, store)):
                tell(Failed(configuration, len(log.alive_by_round), failure))
    _count(log, store)
    log.stopped = stop.reason if stop.reason is not None and log.n_fits_left else "finished"
    log.seconds, log.signal = perf_counter() - start, stop.signal
    log.n_fits_discarded, log.n_recalled = len(queue.held), queue.n_recalled
    return log


def _missing(
    log: RaceLog, store: MemoryStore, splits: Sequence[Split], configurations: Sequence[Configuration]
) -> list[Task]:
    """List the fits of a round: of the configurations in the race on each split, less what the store has."""
    tasks: list[Task] = []
    for split in splits:
        missing = (log.finishers & ~store.done[:, store.plan.positions[split.repeat, split.fold]]).tolist()
        tasks += [Task(split, configuration) for configuration in configurations if missing[configuration.index]]
    return tasks


def _set_aside(log: RaceLog, failures: Mapping[int, Failure]) -> list[tuple[int, Failure]]:
    """Take the failed out of the race; where none is left, raise what happened first."""
    new = [(c, failure) for c, failure in sorted(failures.items()) if c not in log.failures]
    log.failures.update(new)
    log.status[[c for c, _ in new]] = "failed"
    if not log.finishers.any():
        first, cause = next(iter(log.failures.items()))
        names = {failure.error for failure in log.failures.values()}
        kind = getattr(builtins, names.pop(), None) if len(names) == 1 else None  # that all have in common
        kind = kind if isinstance(kind, type) and issubclass(kind, Exception) else ValueError
        who = "The only configuration" if len(log.status) == 1 else f"All {len(log.status)} configurations"
        raise also(kind)("E315", f"{who} failed; the first failure was in configuration {first}, {cause}")
    return new


def _drop(log: RaceLog, decision: Any, index: int, doubt: Array) -> list[tuple[int, float]]:
    """Take out what the rule does not keep; `doubt` says how sure it was, when it spoke last, of each."""
    if decision is None:
        return []
    live = np.flatnonzero(log.finishers)
    keep, p = np.asarray(getattr(decision, "keep", None)), np.asarray(getattr(decision, "p", None), float)
    if keep.shape != live.shape or keep.dtype != bool or p.shape != live.shape or not keep.any():
        kept = f" with {int(keep.sum())} kept" if keep.dtype == bool else ""
        got = f"keep {keep.dtype}{list(keep.shape)}{kept} and p {list(p.shape)}"
        raise SoberError(
            "E117",
            f"A drop rule must return `keep` (booleans, not all False) and `p` for {len(live)} configurations;"
            f" got {got if hasattr(decision, 'keep') else repr(decision)}.",
        )
    gone = live[~keep]
    log.status[gone], log.dropped_at[gone], log.p[gone] = "dropped", index, p[~keep]
    doubt[live] = p
    return [(int(c), float(log.p[c])) for c in gone]


def _unreached(log: RaceLog, store: MemoryStore) -> dict[int, Failure]:
    """Where time ran out before all were fitted on one split, go on with those that were; return the others."""
    done = store.done & log.finishers[:, None]
    position = int(done.sum(axis=0).argmax())
    split, left = store.plan.splits[position], np.flatnonzero(log.finishers & ~done[:, position])
    reason = Failure("timed out", UNREACHED, "", split.repeat, split.fold)
    return {int(c): reason for c in left} if done[:, position].any() else {}


def _count(log: RaceLog, store: MemoryStore) -> None:
    """Count the fits that are done, saved because their configuration is out of the race, and left."""
    wanted, missing = log.finishers, ~store.done
    wanted[[c for c, failure in log.failures.items() if failure.message == UNREACHED]] = True
    log.n_fits, log.n_fits_left = int(store.done.sum()), int(missing[wanted].sum())
    log.n_fits_saved = int(missing.sum()) - log.n_fits_left
