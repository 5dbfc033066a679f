"""Races by concentration inequalities (Maron and Moore 1994; Mnih, Szepesvari and Audibert 2008).

A configuration is dropped when its interval lies below that of the best. This holds for any bounded loss and any
correlation, and is therefore slow to drop.
"""

from __future__ import annotations

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..inference import DropVerdict, Question
from ..inference.intervals import check_level
from ..predictions import Predictions
from .row_losses import check_row_means, row_losses


class HoeffdingDrop:
    """Drop configurations whose interval by Hoeffding's inequality lies below that of the best.

    Parameters
    ----------
    chance : float, default=0.05
        Upper bound of the probability that any interval of the race misses, where folds are as many as rounds.
    rounds : int, default=10
        Looks that share the chance.

    Examples
    --------
    >>> import sobercv
    >>> sobercv.HoeffdingDrop()
    HoeffdingDrop(chance=0.05, rounds=10)
    """

    def __init__(self, chance: float = 0.05, rounds: int = 10) -> None:
        if rounds < 1:
            raise SoberError("E108", f"`rounds` must be 1 or more; got {rounds!r}. Write the number of folds.")
        self.chance, self.rounds = check_level(chance, "chance"), rounds

    def check(self, predictions: Predictions, question: Question) -> None:
        """Refuse what is no mean over independent samples; `predictions` may be without any."""
        check_row_means(type(self).__name__, predictions, question)

    def __call__(self, predictions: Predictions, question: Question, round_index: int) -> DropVerdict:
        """Compare the intervals of the mean losses."""
        self.check(predictions, question)
        losses = row_losses(predictions.only_seen(), question)
        mean, n = losses.mean(axis=0), len(losses)
        best = int(np.argmin(mean))
        half = self._half_width(losses, n, np.log(2 * losses.shape[1] * self.rounds / self.chance))
        keep = mean - half <= mean[best] + half[best]
        return DropVerdict(keep, np.where(keep, 0.0, 1.0 - self.chance), best)

    def _half_width(self, losses: Array, n: int, log: float) -> Array:
        return np.full(losses.shape[1], np.sqrt(log / (2 * n)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(chance={self.chance}, rounds={self.rounds})"


class BernsteinDrop(HoeffdingDrop):
    """Drop configurations whose interval by the empirical Bernstein inequality lies below that of the best.

    Parameters
    ----------
    chance : float, default=0.05
    rounds : int, default=10

    Examples
    --------
    >>> import sobercv
    >>> sobercv.BernsteinDrop()
    BernsteinDrop(chance=0.05, rounds=10)
    """

    def _half_width(self, losses: Array, n: int, log: float) -> Array:
        log += np.log(1.5)  # the inequality has 3 / chance where Hoeffding's has 2
        return losses.std(axis=0) * np.sqrt(2 * log / n) + 3 * log / n
