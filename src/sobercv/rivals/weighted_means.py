"""Weighted means of all configurations' scores (Bernau, Augustin and Boulesteix, 2013): WMC, and WMCS in two readings.

The score of the winner becomes a mean over all configurations, weighted by the chance of each to be the best; these
chances come from normal draws around the scores. It corrects for the choice among few configurations, and needs folds.
Axes: K folds, C configurations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import seeds
from ..containers import Array
from ..errors import SoberError
from ..inference import Estimate
from ..inference.tables import Table
from .from_predictions import estimate_of, need_folds

N_DRAWS = 10_000
#: Two configurations that are right and wrong together would share all chances: their correlation is taken for this.
HIGHEST = 0.9


class WeightedMeans(NamedTuple):
    """The three estimates: plain, with shrunken means for the chances only, and with shrunken means for both."""

    wmc: float
    raw: float
    shrunken: float


def weighted_scores(table: Table, method: str) -> Estimate:
    """Judge a table by its first metric and "wmc", "wmcs" or "wmcs-raw".

    WMCS shrinks the means towards each other before the chances are drawn. What is then averaged are the shrunken means
    ("wmcs") or the observed ones ("wmcs-raw"): the two programs of the authors disagree.
    """
    need_folds(table, method)
    by_fold = table.fold_scores()[0]
    defined = by_fold[~np.isnan(by_fold).any(axis=1)]
    if len(defined) < 2:
        raise SoberError(
            "E109", f"{table.question.first.name} is defined on fewer than two folds, so {method} has no spread."
        )
    draws = seeds.generator(table.question.seed, "wmc").standard_normal((N_DRAWS, by_fold.shape[1]))
    noise = draws @ _root(covariance(defined, 1.0 - table.trained_share)).T
    found = weighted_means(defined.mean(axis=0), noise)
    value = {"wmc": found.wmc, "wmcs": found.shrunken, "wmcs-raw": found.raw}[method]
    return estimate_of(table, method, value, n_undefined=len(by_fold) - len(defined))


def weighted_means(mean: Array, noise: Array) -> WeightedMeans:
    """Average scores over folds [C], weighted by the chance of each to be the best.

    `noise` [B, C] is what another sample of the same size would add to them.
    """
    plain = chances(mean + noise)
    top = int(np.argmax(mean))
    won = mean[top] + noise[np.argmax(mean + noise, axis=1) == top, top]
    # By how much the best looks better than it is, given that it wins; as a share of its distance from the average.
    bias = max(float(won.mean() - mean[top]), 0.0) if len(won) else 0.0
    far = float(mean[top] - mean.mean())
    share = min(bias / far, 1.0) if far > 0 else 1.0
    shrunken = mean - share * (mean - mean.mean())
    weights = chances(shrunken + noise)
    return WeightedMeans(float(plain @ mean), float(weights @ mean), float(weights @ shrunken))


def covariance(by_fold: Array, test_share: float) -> Array:
    """Covariance [C, C] of the means over folds [K, C], each of which holds this share of the samples.

    Training sets overlap, so the variance of a mean over folds is that of Nadeau and Bengio.
    """
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


def _root(covariance: Array) -> Array:
    """A matrix whose product with its own transpose is the nearest covariance: few folds give negative eigenvalues."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))
