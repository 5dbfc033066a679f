"""FoldScores: what a finished search left behind, whichever tool ran it.

Every tool that tunes by cross-validation keeps the score of each configuration on each fold. That is all BBC-F needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import Note, SoberError


@dataclass(frozen=True, eq=False)
class FoldScores:
    """Scores by fold of every configuration.

    Attributes
    ----------
    scores : mapping of str to array [F, C]
        By metric, the one that selects first. More is better. The F = K x R folds of R repeats are listed repeat by
        repeat. A configuration with a NaN is left out, see `complete`.
    params : sequence of dict or None
        Parameters of each configuration.
    names : sequence of str or None
        Names of the configurations, where they have names rather than parameters.
    n_repeats : int
        Number of times the samples were partitioned into folds.
    test_share : float or None
        For splits whose test sets overlap (ShuffleSplit): size of a test set over that of a training set.
    winner : int or None
        Position of the configuration that the tool selected; None for the one with the highest mean.
    rule : callable or None
        Scores of the folds present in a resample, by metric [F, C], -> position of the winner; None for the highest
        mean.
    notes : tuple of Note
    """

    scores: Mapping[str, Array]
    params: Sequence[dict[str, Any]] | None = None
    names: Sequence[str] | None = None
    n_repeats: int = 1
    test_share: float | None = None
    winner: int | None = None
    rule: Callable[[Mapping[str, Array]], int] | None = None
    notes: tuple[Note, ...] = ()

    @property
    def first(self) -> Array:
        """Scores by the metric that selects [F, C]."""
        return next(iter(self.scores.values()))

    @property
    def n_folds(self) -> int:
        """Number of folds of one repeat."""
        return len(self.first) // self.n_repeats

    def repeats(self) -> list[slice]:
        """Rows of each repeat."""
        k = self.n_folds
        return [slice(r * k, (r + 1) * k) for r in range(self.n_repeats)]

    def complete(self) -> Array:
        """Positions of the configurations that have a score on every fold, by every metric."""
        defined = np.all([~np.isnan(scores).any(axis=0) for scores in self.scores.values()], axis=0)
        return np.flatnonzero(defined)


def check(found: FoldScores) -> FoldScores:
    """Refuse what cannot be resampled.

    Raises
    ------
    SoberError
        If there is one split only, if the folds do not divide into the repeats, or if no configuration is complete.
    """
    n_splits = len(found.first)
    if n_splits % found.n_repeats:
        raise SoberError(
            "E108",
            f"{n_splits} splits cannot be {found.n_repeats} repeats of the same number of folds. Pass the number of "
            "repeats as `n_repeats`.",
        )
    if found.n_folds < 2:
        raise SoberError(
            "E307",
            "Every configuration was judged on one split only, so there are no folds to resample. Search again with "
            "cv=5 or more, or pass the hold-out predictions of all configurations to "
            "sobercv.bbc(y, predictions, fixed_models=True).",
        )
    if not len(found.complete()):
        raise SoberError("E111", "No configuration has a score on every fold. Look at the errors of the search.")
    return found
