"""Drop whoever has hardly any chance left to win this cross-validation.

Takes the predictions so far of the configurations still in the race, gives a mask of who stays. Who wins a
cross-validation is a fact about its samples, of which a part has been predicted: the fewer are left, the less can
still happen. Any metric, through its counts; drops nobody on few predictions, and never the best.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import special

from ...containers import Array
from ...errors import SoberError
from ...metrics import Scorer, blocks
from ...predictions import Predictions
from ..question import Question
from ..resample import Bootstrap
from ..tables.base import spread
from .contract import DropVerdict, best_so_far

SMALL = 80  # samples: below that
MANY = 50  # predictions are needed before anybody is dropped
FEW, FEW_WITH_ZONE = 20, 30  # else


class PredictiveDrop:
    """Drop configurations that are unlikely to overtake the best with the samples that are left.

    The lead of the best over another, on all samples, is predicted from the lead so far: its standard error is that of
    the bootstrap, times sqrt(1 - n / N) where n of N samples have been predicted.

    Parameters
    ----------
    chance : float, default=0.01
        Drop a configuration when the chance that it overtakes the best is below this.
    zone : float, default=0
        Indifference: drop a configuration when it is unlikely to overtake the best by more than this many standard
        errors of the best score. More is dropped, and the winner may be one that is as good as the best. Advised for
        AUC and accuracy; by R2 and C-index a zone of 0.2 cost more than that on real data (docs/racing.md).
    min_predictions : int, optional
        Drop nobody before this many samples have predictions. Unless given, 20 (30 with a zone), or 50 where there are
        fewer than 80 samples: on so few the correction for the dropped fails.
    n_bootstraps : int, default=200
        Resamples for the standard errors.

    Examples
    --------
    >>> import sobercv
    >>> sobercv.PredictiveDrop(0.015, zone=0.2)
    PredictiveDrop(chance=0.015, zone=0.2)
    """

    def __init__(
        self, chance: float = 0.01, zone: float = 0.0, min_predictions: int | None = None, n_bootstraps: int = 200
    ) -> None:
        if not 0.0 < chance < 0.5:
            raise SoberError("E108", f"`chance` must lie between 0 and 0.5; got {chance!r}. Write 0.01 for 1 %.")
        if not zone >= 0.0:
            raise SoberError("E108", f"`zone` must be 0 or more standard errors; got {zone!r}. Write 0.1.")
        if (min_predictions is not None and min_predictions < 0) or n_bootstraps < 2:
            raise SoberError(
                "E108",
                f"`min_predictions` must be 0 or more and `n_bootstraps` 2 or more; got {min_predictions} and "
                f"{n_bootstraps}.",
            )
        self.chance, self.zone = chance, zone
        self.min_predictions, self.n_bootstraps = min_predictions, n_bootstraps

    def __call__(self, predictions: Predictions, question: Question, round_index: int) -> DropVerdict:
        """Test every configuration of the table against the best of them.

        Parameters
        ----------
        predictions : Predictions
            What the configurations still in the race have predicted so far; samples to come are there, not yet seen.
        question : Question
        round_index : int
        """
        table, left = predictions.only_seen(), 1.0 - float(predictions.seen.mean())
        c = table.n_configurations
        if table.n_samples < self._enough(predictions.n_samples) or c < 2 or left <= 0:
            return DropVerdict.everybody(c)
        question = question.for_target(table.target)
        scorer = question.bind(table)
        whole = scorer.scores(np.ones((1, table.n_samples), np.uint8))
        top = best_so_far(question, table, whole)
        if top < 0:
            return DropVerdict.everybody(c)
        draws = Bootstrap(table.n_samples, question.seed, "drop", (round_index,), groups=table.groups)
        n = question.first.affordable(self.n_bootstraps, c)
        cut = blocks.ranges(n, table.n_samples, question.n_threads)
        scores = np.concatenate(blocks.run(partial(_scores, scorer, draws), cut, question.n_threads))
        lead = whole[0, top] - whole[0]
        with np.errstate(invalid="ignore", divide="ignore"):
            error = spread(scores[:, [top]] - scores) * np.sqrt(left)
            # On all samples the score of the best varies less than on those seen so far.
            indifferent = self.zone * spread(scores[:, [top]])[0] * np.sqrt(1.0 - left)
            z = (lead + indifferent) / error
        p = special.ndtr(np.where(np.isnan(z), 0.0, z))
        keep = (1.0 - p >= self.chance) | (lead <= 0)  # equals of the best stay, whatever the zone
        keep[top] = True
        return DropVerdict(keep, p, top)

    def _enough(self, n_samples: int) -> int:
        """How many predictions it takes before anybody is dropped; the default is that of docs/racing.md."""
        if self.min_predictions is not None:
            return self.min_predictions
        return MANY if n_samples < SMALL else FEW_WITH_ZONE if self.zone else FEW

    @property
    def reason(self) -> str:
        """Why somebody was dropped, for the methods section of a paper."""
        by = f" by more than {self.zone:g} standard errors" if self.zone else ""
        return f"had a chance of less than {100 * self.chance:g} % to overtake the best{by} with the samples left"

    def __repr__(self) -> str:
        guard = "" if self.min_predictions is None else f", min_predictions={self.min_predictions}"
        return f"PredictiveDrop(chance={self.chance:g}, zone={self.zone:g}{guard})"


def _scores(scorer: Scorer, draws: Bootstrap, start: int, stop: int) -> Array:
    return scorer.scores(draws.counts(start, stop))
