"""Drop rules: which configurations may stop before the cross-validation ends (paper, section 5).

Takes the predictions so far of the configurations still in the race, gives a mask of who stays. Drops nobody on few
predictions, and never the best.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..metrics import Metric, Scorer, blocks
from ..metrics.base import Aggregate
from ..predictions import Predictions
from .resample import Bootstrap
from .selection import Rule, apply, best, margin, rule_for


@dataclass(frozen=True, eq=False)
class Verdict:
    """What a drop rule decided.

    Attributes
    ----------
    keep : bool array [C]
    p : float array [C]
        How often each configuration was worse than the best; 0 where no test was made. With a metric that calls a
        function, those that stay were looked at only until that was certain.
    best : int
        Position of the best configuration so far; -1 where no test was made.
    """

    keep: Array
    p: Array
    best: int

    @classmethod
    def everybody(cls, n_configurations: int) -> Verdict:
        """Keep all, without a test."""
        return cls(np.ones(n_configurations, bool), np.zeros(n_configurations), -1)


class BootstrapDrop:
    """Drop configurations that are worse than the current best in nearly all bootstrap resamples (BCED-CV, BBCD-CV).

    Parameters
    ----------
    threshold : float, default=0.99
        Drop a configuration when the share of resamples in which it scores strictly worse than the best exceeds this.
    min_predictions : int, default=50
        Drop nobody before this many samples have predictions: the paper lost up to 9 % of AUC without that guard.
    n_bootstraps : int, default=1000

    Examples
    --------
    >>> import sobercv
    >>> sobercv.BootstrapDrop(threshold=0.95)
    BootstrapDrop(threshold=0.95, min_predictions=50, n_bootstraps=1000)
    """

    def __init__(self, threshold: float = 0.99, min_predictions: int = 50, n_bootstraps: int = 1000) -> None:
        if not 0.0 < threshold < 1.0:
            hint = (
                f" Write {threshold / 100:g} for {threshold:g} %." if 1 < threshold < 100 else " Write 0.99 for 99 %."
            )
            raise SoberError("E108", f"`threshold` must lie strictly between 0 and 1; got {threshold!r}.{hint}")
        if min_predictions < 0 or n_bootstraps < 1:
            raise SoberError(
                "E108",
                f"`min_predictions` must be 0 or more and `n_bootstraps` 1 or more; got {min_predictions} and "
                f"{n_bootstraps}.",
            )
        self.threshold = threshold
        self.min_predictions = min_predictions
        self.n_bootstraps = n_bootstraps

    def __call__(
        self,
        predictions: Predictions,
        metric: Metric,
        seed: int,
        round_index: int,
        *,
        select: Rule = best,
        aggregate: Aggregate = "pooled",
        within_folds: bool = False,
        n_jobs: int | None = None,
    ) -> Verdict:
        """Test every configuration of the table against the best of them.

        Parameters
        ----------
        predictions : Predictions
            What the configurations still in the race have predicted so far.
        metric : Metric
        seed, round_index : int
            The draws come from (seed, "drop", round_index), so that a resumed run drops the same ones.
        select, aggregate, within_folds
            As in the search, so that "best" means the same.
        n_jobs : int, optional
            Threads; changes no result.
        """
        table = predictions.only_seen()
        c = table.n_configurations
        if table.n_samples < self.min_predictions or c < 2:
            return Verdict.everybody(c)
        bind = partial(metric.bind, aggregate=aggregate, within_folds=within_folds, n_jobs=n_jobs)
        scorer = bind(table)
        whole = scorer.scores(np.ones((1, table.n_samples), np.uint8))
        top = int(self._best(rule_for(select, table.configurations), whole)[0])
        if top < 0:
            return Verdict.everybody(c)
        draws = Bootstrap(table.n_samples, seed, "drop", (round_index,), groups=table.groups)
        n_threads = blocks.threads(n_jobs)
        if metric.calls_a_function:
            worse, defined = self._sparingly(table, bind, draws, top)
        else:
            cut = blocks.ranges(self.n_bootstraps, table.n_samples, n_threads)
            done = blocks.run(partial(_compare, scorer, draws, top), cut, n_threads)
            worse, defined = np.sum(done, axis=0)
        if not defined.any():
            return Verdict.everybody(c)
        p = worse / defined
        keep = p <= self.threshold
        keep[top] = True
        return Verdict(keep, p, top)

    def _sparingly(
        self, table: Predictions, bind: Callable[[Predictions], Scorer], draws: Bootstrap, top: int
    ) -> tuple[Array, Array]:
        """Compare with as few scores as decide the same.

        Whoever would stay even if it were worse in all resamples to come is not looked at again. Most are certain after
        a hundred of a thousand; only those that are dropped need nearly all, and each of them just once in a race.
        """
        worse, defined = np.zeros((2, table.n_configurations), np.int64)
        open_ = np.ones(table.n_configurations, bool)
        for start, stop in blocks.cut(self.n_bootstraps, blocks.UNIT):
            at = np.union1d(np.flatnonzero(open_), top)
            more = _compare(bind(table.take_configurations(at)), draws, int(np.searchsorted(at, top)), start, stop)
            worse[at] += more[0]
            defined[at] += more[1]
            left = self.n_bootstraps - stop
            open_ &= worse + left > self.threshold * (defined + left)
            if not open_.any():
                break
        return worse, defined

    @staticmethod
    def _best(select: Rule, whole: Array) -> Array:
        # A rule in standard errors has none to go by in the middle of a race: the best so far is the yardstick.
        return best(whole) if getattr(select, "needs_standard_errors", False) else apply(select, whole)

    def __repr__(self) -> str:
        return (
            f"BootstrapDrop(threshold={self.threshold}, min_predictions={self.min_predictions}, "
            f"n_bootstraps={self.n_bootstraps})"
        )


def _compare(scorer: Scorer, draws: Bootstrap, top: int, start: int, stop: int) -> tuple[Array, Array]:
    """In how many resamples each configuration is worse than the one at `top`, and in how many that is defined [C]."""
    scores = scorer.scores(draws.counts(start, stop))
    lead = scores[:, top]
    defined = ~np.isnan(lead)
    with np.errstate(invalid="ignore"):
        worse = scores < (lead - margin(lead))[:, None]
    return worse[defined].sum(axis=0), np.full(scores.shape[1], defined.sum())
