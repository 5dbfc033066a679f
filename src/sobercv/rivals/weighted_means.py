"""Weighted means of all configurations' scores (Bernau, Augustin and Boulesteix, 2013): WMC, and WMCS.

The score of the winner becomes a mean over all configurations, weighted by the chance of each to be the best; these
chances come from normal draws around the scores. It corrects for the choice among few configurations, and needs folds.
WMCS first shrinks the scores towards each other. Axes: K folds, C configurations.
"""

from __future__ import annotations

import numpy as np

from .. import seeds
from ..containers import Array
from ..errors import SoberError
from ..inference.tables import Table

N_DRAWS = 10_000
#: Two configurations that are right and wrong together would share all chances: their correlation is taken for this.
HIGHEST = 0.9


def weighted_means(table: Table) -> list[tuple[float, int]]:
    """WMC and WMCS of a table by its first metric, each with the number of undefined folds."""
    by_fold = table.fold_scores()[0]
    defined = by_fold[~np.isnan(by_fold).any(axis=1)]
    if len(defined) < 2:
        raise SoberError("E109", f"{table.question.first.name} is defined on fewer than the two folds of WMC.")
    draws = seeds.generator(table.question.seed, "wmc").standard_normal((N_DRAWS, by_fold.shape[1]))
    # A root of the nearest covariance: few folds give negative eigenvalues.
    values, vectors = np.linalg.eigh(covariance(defined, 1.0 - table.trained_share))
    noise = draws @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    return [(value, len(by_fold) - len(defined)) for value in averaged(defined.mean(axis=0), noise)]


def averaged(mean: Array, noise: Array) -> tuple[float, float]:
    """WMC and WMCS of scores [C], to which another sample of the same size would add `noise` [B, C]."""
    plain = chances(mean + noise)
    top = int(np.argmax(mean))
    won = mean[top] + noise[np.argmax(mean + noise, axis=1) == top, top]
    # By how much the best looks better than it is, given that it wins; as a share of its distance from the average.
    bias = max(float(won.mean() - mean[top]), 0.0) if len(won) else 0.0
    far = float(mean[top] - mean.mean())
    share = min(bias / far, 1.0) if far > 0 else 1.0
    shrunken = mean - share * (mean - mean.mean())
    return float(plain @ mean), float(chances(shrunken + noise) @ shrunken)


def covariance(by_fold: Array, test_share: float) -> Array:
    """Nadeau and Bengio's covariance [C, C] of means over folds [K, C] of this size, whose training sets overlap."""
    n_folds = len(by_fold)
    deviations = by_fold - by_fold.mean(axis=0)
    variances = (deviations**2).sum(axis=0) / (n_folds - 1)
    length = np.sqrt((deviations**2).sum(axis=0))
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = (deviations / length).T @ (deviations / length)
    correlation = np.where(np.isnan(correlation), 0.0, correlation)  # with what never varies
    correlation[correlation > 1.0 - 1e-12] = HIGHEST
    np.fill_diagonal(correlation, 1.0)
    spread = np.sqrt(variances * (1.0 / n_folds + test_share / (1.0 - test_share)))
    return np.asarray(spread[:, None] * correlation * spread)


def chances(scores: Array) -> Array:
    """How often each is the best: [B, C] -> [C]."""
    return np.bincount(np.argmax(scores, axis=1), minlength=scores.shape[1]) / len(scores)
