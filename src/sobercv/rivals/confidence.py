"""Cross-validation with confidence (Lei 2020): drop configurations that are significantly worse than any other.

For each configuration it tests that no other has a smaller expected loss: the largest studentised difference to
another is compared with its distribution under Gaussian multipliers, which keeps the correlations of configurations.
"""

from __future__ import annotations

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..inference import DropVerdict, Question
from ..inference.intervals import check_level
from ..predictions import Predictions
from ..seeds import generator
from .row_losses import check_row_means, row_losses


class ConfidenceDrop:
    """Drop configurations for which it is refuted that no other is better.

    For metrics that are means over samples of a bounded loss.

    Parameters
    ----------
    level : float, default=0.01
        Of the test, for each configuration.
    min_predictions : int, default=50
    n_bootstraps : int, default=200

    Examples
    --------
    >>> import sobercv
    >>> sobercv.ConfidenceDrop()
    ConfidenceDrop(level=0.01, min_predictions=50)
    """

    def __init__(self, level: float = 0.01, min_predictions: int = 50, n_bootstraps: int = 200) -> None:
        if min_predictions < 0 or n_bootstraps < 1:
            raise SoberError(
                "E108",
                f"`min_predictions` must be 0 or more and `n_bootstraps` 1 or more; got {min_predictions!r} and "
                f"{n_bootstraps!r}.",
            )
        self.level = check_level(level, "level")
        self.min_predictions, self.n_bootstraps = min_predictions, n_bootstraps

    def check(self, predictions: Predictions, question: Question) -> None:
        """Refuse what is no mean over independent samples; `predictions` may be without any."""
        check_row_means("ConfidenceDrop", predictions, question)

    def __call__(self, predictions: Predictions, question: Question, round_index: int) -> DropVerdict:
        """Test every configuration against all others."""
        self.check(predictions, question)
        table = predictions.only_seen()
        c = table.n_configurations
        if table.n_samples < self.min_predictions or c < 2:
            return DropVerdict.keep_all(c)
        losses = row_losses(table, question)
        draws = generator(question.seed, "multipliers", round_index).standard_normal((self.n_bootstraps, len(losses)))
        p = np.array([_refuted(losses, j, draws) for j in range(c)])
        mean = losses.mean(axis=0)
        best = int(np.argmin(mean))
        keep = (p >= self.level) | (mean <= mean[best])
        return DropVerdict(keep, 1.0 - p, best)

    def __repr__(self) -> str:
        return f"ConfidenceDrop(level={self.level}, min_predictions={self.min_predictions})"


def _refuted(losses: Array, j: int, draws: Array) -> float:
    """p-value of "no other has a smaller expected loss than j"; losses [n, C], multipliers [B, n]."""
    n = len(losses)
    difference = losses[:, [j]] - np.delete(losses, j, axis=1)
    mean, spread = difference.mean(axis=0), difference.std(axis=0)
    differs = spread > 0
    if not differs.any():
        return 0.0 if (mean > 0).any() else 1.0
    standard = (difference[:, differs] - mean[differs]) / spread[differs]
    observed = float(np.max(np.sqrt(n) * mean[differs] / spread[differs]))
    return float(np.mean((draws @ standard / np.sqrt(n)).max(axis=1) >= observed))
