"""Simulated out-of-sample predictions whose truth is known (paper, section 6.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from ..containers import Array
from ..seeds import generator


@dataclass(frozen=True, eq=False)
class Simulated:
    """A table of predictions as a search would have made it, with the truth beside it."""

    y: Array  #: [N]
    predictions: Array  #: [N, C]
    folds: Array  #: int [N]: ten folds of equal size (as near as can be)
    truth: Array  #: [C]: the score that each configuration has on new samples
    metric: str  #: the metric that `truth` is about


def _labels(right: Array, truth: Array, rng: np.random.Generator, k: int) -> Simulated:
    """Two balanced classes, predicted rightly or not, in folds of neighbouring samples."""
    n = len(right)
    y = rng.permutation(np.arange(n) % 2).astype(np.int8)
    return Simulated(y, np.where(right, y[:, None], 1 - y[:, None]), np.arange(n) * k // n, truth, "accuracy")


def beta_accuracy(
    n: int = 100, c: int = 50, a: float = 9.0, b: float = 6.0, *, seed: int = 0, shared: bool = False, k: int = 10
) -> Simulated:
    """Simulate the paper's design: configuration j is right on each sample with probability P_j ~ Beta(a, b).

    Parameters
    ----------
    n, c : int
        Samples and configurations.
    a, b : float
        The paper uses (9, 6), (14, 6), (24, 6) and (54, 6).
    seed : int
    shared : bool, default=False
        Let all configurations share one random number per sample, as the paper's formula is written. Only independent
        numbers reproduce the paper's figures (a naive bias of 0.16 at N = 20 instead of 0.01), so they are the default.
    k : int, default=10
        Folds.
    """
    rng = generator(seed, "simulate beta")
    truth = rng.beta(a, b, c)
    drawn = rng.random((n, 1 if shared else c))
    return _labels(drawn < truth, truth, rng, k)


def correlated_accuracy(
    n: int = 100, c: int = 50, a: float = 9.0, b: float = 6.0, *, rho: float = 0.5, seed: int = 0, k: int = 10
) -> Simulated:
    """Simulate configurations that err on the same samples: a Gaussian copula with correlation `rho` between them.

    `rho=0` is `beta_accuracy`, `rho=1` its shared variant.
    """
    rng = generator(seed, "simulate correlated")
    truth = rng.beta(a, b, c)
    latent = np.sqrt(rho) * rng.standard_normal((n, 1)) + np.sqrt(1.0 - rho) * rng.standard_normal((n, c))
    return _labels(stats.norm.cdf(latent) < truth, truth, rng, k)


def binormal_auc(
    n: int = 100,
    c: int = 50,
    *,
    low: float = 0.6,
    high: float = 0.8,
    prevalence: float = 0.5,
    rho: float = 0.0,
    seed: int = 0,
    k: int = 10,
) -> Simulated:
    """Simulate scores that are normal in each class: configuration j has a true AUC drawn evenly from [low, high].

    Parameters
    ----------
    n, c : int
        Samples and configurations.
    low, high : float
        Range of the true areas under the curve.
    prevalence : float
        Share of positive samples; the number of positives is fixed.
    rho : float
        Correlation between the scores of different configurations on one sample.
    seed : int
    k : int
        Folds; stratified.
    """
    rng = generator(seed, "simulate binormal")
    positives = max(1, min(n - 1, round(n * prevalence)))
    y = rng.permutation(np.repeat(np.array([0, 1], np.int8), [n - positives, positives]))
    truth = rng.uniform(low, high, c)
    noise = np.sqrt(rho) * rng.standard_normal((n, 1)) + np.sqrt(1.0 - rho) * rng.standard_normal((n, c))
    shift = np.sqrt(2.0) * stats.norm.ppf(truth)
    folds = np.empty(n, np.int64)
    for label in (0, 1):
        members = np.flatnonzero(y == label)
        folds[members] = np.arange(len(members)) % k
    return Simulated(y, noise + shift * y[:, None], folds, truth, "roc_auc")
