"""Drop rules: which configurations may stop before the cross-validation ends (paper, section 5).

Takes the predictions so far of the configurations still in the race, gives a mask of who stays. Drops nobody on few
predictions, and never the best.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..metrics import Metric, blocks
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
        How often each configuration was worse than the best; 0 where no test was made.
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
    >>> import sober
    >>> sober.BootstrapDrop(threshold=0.95)
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
        scorer = metric.bind(table, aggregate=aggregate, within_folds=within_folds, n_jobs=n_jobs)
        whole = scorer.scores(np.ones((1, table.n_samples), np.uint8))
        top = int(self._best(rule_for(select, table.configurations), whole)[0])
        if top < 0:
            return Verdict.everybody(c)
        draws = Bootstrap(table.n_samples, seed, "drop", (round_index,), groups=table.groups)

        def block(start: int, stop: int) -> tuple[Any, int]:
            scores = scorer.scores(draws.counts(start, stop))
            lead = scores[:, top]
            defined = ~np.isnan(lead)
            with np.errstate(invalid="ignore"):
                worse = scores < (lead - margin(lead))[:, None]
            return worse[defined].sum(axis=0), int(defined.sum())

        n_threads = blocks.threads(n_jobs)
        done = blocks.run(block, list(blocks.ranges(self.n_bootstraps, table.n_samples, n_threads)), n_threads)
        n_defined = sum(n for _, n in done)
        if n_defined == 0:
            return Verdict.everybody(c)
        p = sum(worse for worse, _ in done) / n_defined
        keep = p <= self.threshold
        keep[top] = True
        return Verdict(keep, p, top)

    @staticmethod
    def _best(select: Rule, whole: Array) -> Array:
        # A rule in standard errors has none to go by in the middle of a race: the best so far is the yardstick.
        return best(whole) if getattr(select, "needs_standard_errors", False) else apply(select, whole)

    def __repr__(self) -> str:
        return (
            f"BootstrapDrop(threshold={self.threshold}, min_predictions={self.min_predictions}, "
            f"n_bootstraps={self.n_bootstraps})"
        )
