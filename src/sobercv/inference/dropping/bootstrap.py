"""The paper's drop rule (section 5): drop whoever is worse than the best in nearly all resamples.

Takes the predictions so far of the configurations still in the race, gives a mask of who stays. Drops nobody on few
predictions, and never the best.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ...containers import Array
from ...errors import SoberError
from ...metrics import Scorer, blocks
from ...predictions import Predictions
from ..question import Question
from ..resample import Bootstrap
from ..selection import margin
from .contract import DropVerdict, best_so_far


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

    def __call__(self, predictions: Predictions, question: Question, round_index: int) -> DropVerdict:
        """Test every configuration of the table against the best of them.

        Parameters
        ----------
        predictions : Predictions
            What the configurations still in the race have predicted so far.
        question : Question
            That of the search, so that "best" means the same. The draws come from (its seed, "drop", round_index), so
            that a resumed run drops the same ones.
        round_index : int
        """
        table = predictions.only_seen()
        c = table.n_configurations
        if table.n_samples < self.min_predictions or c < 2:
            return DropVerdict.everybody(c)
        question = question.for_target(table.target)
        scorer = question.bind(table)
        top = best_so_far(question, table, scorer.scores(np.ones((1, table.n_samples), np.uint8)))
        if top < 0:
            return DropVerdict.everybody(c)
        draws = Bootstrap(table.n_samples, question.seed, "drop", (round_index,), groups=table.groups)
        if question.first.calls_a_function:
            worse, defined = self._until_certain(table, question, draws, top)
        else:
            cut = blocks.ranges(self.n_bootstraps, table.n_samples, question.n_threads)
            done = blocks.run(partial(_compare, scorer, draws, top), cut, question.n_threads)
            worse, defined = np.sum(done, axis=0)
        if not defined.any():
            return DropVerdict.everybody(c)
        p = worse / defined
        keep = p <= self.threshold
        keep[top] = True
        return DropVerdict(keep, p, top)

    def _until_certain(self, table: Predictions, question: Question, draws: Bootstrap, top: int) -> tuple[Array, Array]:
        """Compare with as few scores as decide the same.

        Whoever would stay even if it were worse in all resamples to come is not looked at again. Most are certain after
        a hundred of a thousand; only those that are dropped need nearly all, and each of them just once in a race.
        """
        worse, defined = np.zeros((2, table.n_configurations), np.int64)
        open_ = np.ones(table.n_configurations, bool)
        for start, stop in blocks.cut(self.n_bootstraps, blocks.UNIT):
            at = np.union1d(np.flatnonzero(open_), top)
            scorer = question.bind(table.take_configurations(at))
            more = _compare(scorer, draws, int(np.searchsorted(at, top)), start, stop)
            worse[at] += more[0]
            defined[at] += more[1]
            left = self.n_bootstraps - stop
            open_ &= worse + left > self.threshold * (defined + left)
            if not open_.any():
                break
        return worse, defined

    @property
    def reason(self) -> str:
        """Why somebody was dropped, for the methods section of a paper."""
        share = f"{100 * self.threshold:g} %"
        return f"scored below the best in more than {share} of bootstrap samples of the predictions made so far"

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
        worse = scores < (lead - margin(lead, scorer.metric.unit))[:, None]
    return worse[defined].sum(axis=0), np.full(scores.shape[1], defined.sum())
