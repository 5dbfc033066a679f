"""Simulated tables whose truth is known: the settings of the study, and one table of a setting.

A table holds predictions [N, C(, R)], the target and the true score of every configuration. Rows are exchangeable and
no model is trained, so nothing here errs more than a bootstrap of rows can show.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import stats

from sobercv.testing import simulate

from .harness import Array, Rng


@dataclass(frozen=True)
class Setting:
    """What to simulate: generator, rows, configurations, about the mean true score (for errors: their size),
    correlation between configurations; `extra` is prevalence, group size, repeats, classes or degrees of freedom.
    """

    family: str
    n: int
    c: int
    level: float
    rho: float = 0.0
    extra: float = 0.0

    @property
    def metric(self) -> str:
        """The metric that is selected by and judged."""
        return FAMILIES[self.family][0]

    @property
    def name(self) -> str:
        """Short, and no two settings have the same."""
        return f"{self.family} n={self.n} c={self.c} level={self.level:g} rho={self.rho:g} extra={self.extra:g}"


#: Metric, task and kind of predictions; not named: labels of classes, judged by accuracy.
FAMILIES = defaultdict(lambda: ("accuracy", "classification", "predict"), {
    "balanced": ("balanced_accuracy", "classification", "predict"),
    "area": ("roc_auc", "classification", "decision_function"),
    "log_loss": ("neg_log_loss", "classification", "predict_proba"),
    "squared": ("neg_mean_squared_error", "regression", "predict"), "r2": ("r2", "regression", "predict"),
    "concordance": ("concordance_index", "survival", "predict"),
})  # fmt: skip


def settings() -> list[Setting]:
    """All settings."""
    found = []
    for n in (20, 40, 100, 500):
        for a in (0.6, 0.9):
            found += [Setting("accuracy", n, c, a, rho) for c, rho in ((1, 0), (10, 0.5), (50, 0), (50, 0.9), (500, 0))]
    found += [Setting("accuracy", 20, 100, a, 0.5) for a in (0.8, 0.97)]
    found += [Setting("equal", n, c, a) for n in (20, 100) for c in (10, 100) for a in (0.6, 0.9)]
    for n in (40, 100, 500):
        for a in (0.7, 0.92):
            found += [Setting("area", n, c, a, rho, 0.5) for c, rho in ((1, 0), (50, 0), (50, 0.9), (500, 0.5))]
    found += [Setting("area", n, 50, 0.8, 0.5, 0.15) for n in (40, 100, 500)]
    for n in (40, 100, 300):
        found += [Setting("balanced", n, c, 0.8, rho, 2) for c, rho in ((1, 0), (50, 0.5))]
        found += [Setting("balanced", n, 50, 0.8, 0.5, k) for k in (6, 10)]
    for n in (20, 40, 100, 500):
        found += [Setting("squared", n, c, 1.0, rho, 0) for c, rho in ((1, 0), (50, 0.5), (50, 0.9))]
        found += [Setting("r2", n, c, a, 0.5, 0) for c, a in ((1, 0.3), (50, 0.3), (50, 0.9))]
    found += [Setting("squared", n, 50, 1.0, 0.5, df) for n in (40, 100, 500) for df in (5, 3)]
    found += [Setting("r2", n, 50, 0.5, 0.5, 5) for n in (40, 100, 500)]
    for n in (40, 100, 300):
        found += [Setting("concordance", n, c, 0.7, rho, 0.4) for c, rho in ((1, 0), (50, 0), (50, 0.8))]
    found += [Setting("log_loss", n, c, 1.0, 0.5) for n in (40, 100, 500) for c in (1, 50)]
    found += [Setting("grouped", n, c, 0.75, 0.5, 5) for n in (100, 300) for c in (1, 50)]
    found += [Setting("repeated", n, 50, a, 0.5, 5) for n in (40, 100) for a in (0.6, 0.9)]
    return found


class Table(NamedTuple):
    """One simulated table."""

    y: Array
    predictions: Array
    truth: Array
    groups: Array | None = None


def table(s: Setting, seed: int) -> Table:
    """Simulate one table."""
    if s.family == "accuracy":
        a = 30 * s.level * (2 if s.level > 0.85 else 0.5)
        made = simulate.correlated_accuracy(s.n, s.c, a, a / s.level - a, rho=s.rho, seed=seed)
    elif s.family == "area":
        low, high = s.level - 0.05, s.level + 0.05
        made = simulate.binormal_auc(s.n, s.c, low=low, high=high, prevalence=s.extra, rho=s.rho, seed=seed)
    else:
        return globals()[f"_{s.family}"](s, np.random.default_rng([seed, s.n, s.c]))  # type: ignore[no-any-return]
    return Table(made.y, made.predictions, made.truth)


def _latent(s: Setting, rng: Rng, shape: tuple[int, ...]) -> Array:
    """Normal numbers [N, C, ...] with correlation rho between configurations."""
    shared = rng.standard_normal((shape[0], 1, *shape[2:]))
    return np.asarray(np.sqrt(s.rho) * shared + np.sqrt(1 - s.rho) * rng.standard_normal(shape))


def _right_or_wrong(right: Array, y: Array) -> Array:
    y = y.reshape(-1, *[1] * (right.ndim - 1))
    return np.where(right, y, 1 - y)


def _equal(s: Setting, rng: Rng) -> Table:
    """All configurations are equally good: everything that wins is luck."""
    y = np.arange(s.n) % 2
    return Table(y, _right_or_wrong(rng.random((s.n, s.c)) < s.level, y), np.full(s.c, s.level))


def _grouped(s: Setting, rng: Rng) -> Table:
    """Rows of a group are right or wrong together (correlation .5 of what lies behind)."""
    groups = np.arange(s.n) // int(s.extra)
    truth = rng.beta(15 * s.level, 15 * (1 - s.level), s.c)
    shared = _latent(s, rng, (groups.max() + 1, s.c))[groups]
    z = np.sqrt(0.5) * shared + np.sqrt(0.5) * _latent(s, rng, (s.n, s.c))
    y = rng.permutation(np.arange(s.n) % 2)
    return Table(y, _right_or_wrong(stats.norm.cdf(z) < truth, y), truth, groups)


def _repeated(s: Setting, rng: Rng) -> Table:
    """Repeats agree on most rows (correlation .8 of what lies behind)."""
    truth = rng.beta(30 * s.level, 30 * (1 - s.level), s.c)
    shared, own = _latent(s, rng, (s.n, s.c))[:, :, None], _latent(s, rng, (s.n, s.c, int(s.extra)))
    z = np.sqrt(0.8) * shared + np.sqrt(0.2) * own
    y = rng.permutation(np.arange(s.n) % 2)
    return Table(y, _right_or_wrong(stats.norm.cdf(z) < truth[:, None], y), truth)


def _balanced(s: Setting, rng: Rng) -> Table:
    """Classes of unequal size; each configuration has a share of hits in each class."""
    k = int(s.extra)
    share = np.linspace(1, 3, k) if k > 2 else np.array([0.25, 0.75])
    y = rng.choice(k, s.n, p=share / share.sum())
    y[: 2 * k] = np.repeat(np.arange(k), 2)  # no class is missing
    hits = np.clip(rng.beta(20 * s.level, 20 * (1 - s.level), (1, s.c)) + rng.normal(0, 0.05, (k, s.c)), 0.02, 0.98)
    right = stats.norm.cdf(_latent(s, rng, (s.n, s.c))) < hits[y]
    wrong = (y[:, None] + rng.integers(1, k, (s.n, s.c))) % k
    return Table(y, np.where(right, y[:, None], wrong), hits.mean(axis=0))


def _squared(s: Setting, rng: Rng) -> Table:
    """Errors of different size; `extra` degrees of freedom, 0 for normal errors."""
    size = s.level * np.exp(rng.normal(0, 0.15, s.c))
    z = _latent(s, rng, (s.n, s.c))
    if s.extra:
        z = z / np.sqrt(rng.chisquare(s.extra, (s.n, 1)) / s.extra) / np.sqrt(s.extra / (s.extra - 2))
    return Table(np.zeros(s.n), size * z, -(size**2))


def _r2(s: Setting, rng: Rng) -> Table:
    """What is predicted, and what is not; `extra` degrees of freedom of the latter."""
    truth = np.clip(s.level + rng.normal(0, 0.1 * (1 - s.level), s.c), -1, 0.99)
    noise = (
        rng.standard_normal((s.n, 1)) if not s.extra else rng.standard_t(s.extra, (s.n, 1)) * np.sqrt(1 - 2 / s.extra)
    )
    signal = rng.standard_normal((s.n, 1))
    # y = a signal + b noise; a prediction is signal and an error of its own: 1 - R2 = b^2 + e^2 of unit variance.
    b2 = 0.8 * (1 - min(0.99, s.level + 0.15 * (1 - s.level)))
    y = np.sqrt(1 - b2) * signal + np.sqrt(b2) * noise
    e2 = np.maximum(1 - truth - b2, 0)
    own = rng.standard_normal((s.n, s.c))
    return Table(y[:, 0], np.sqrt(1 - b2) * signal + np.sqrt(e2) * own, 1 - b2 - e2)


def _concordance(s: Setting, rng: Rng) -> Table:
    """Exponential times with hazard exp(x), a share censored; configurations see x with noise."""
    noise = np.exp(rng.normal(0, 0.4, s.c))
    x = rng.standard_normal(s.n)
    y = _times(x, s.extra, rng)
    risk = x[:, None] + noise * _latent(s, rng, (s.n, s.c))
    at, value = _concordance_curve(s.extra)
    return Table(y, risk, np.interp(noise, at, value))


def _times(x: Array, censored: float, rng: Rng) -> Array:
    y = np.zeros(len(x), dtype=[("event", bool), ("time", float)])
    time = rng.exponential(np.exp(-x))
    stop = rng.exponential((1 - censored) / censored, len(x))
    y["event"], y["time"] = time <= stop, np.minimum(time, stop)
    return y


@lru_cache
def _concordance_curve(censored: float) -> tuple[Array, Array]:
    """True concordance by the size of the noise, from many pairs."""
    rng = np.random.default_rng(1)
    at = np.exp(np.linspace(np.log(0.15), np.log(6), 30))
    a, b = rng.standard_normal((2, 2_000_000))
    ya, yb = _times(a, censored, rng), _times(b, censored, rng)
    first = ya["time"] < yb["time"]
    usable = np.where(first, ya["event"], yb["event"])
    sign, gap = np.where(first, 1.0, -1.0)[usable], (a - b)[usable]
    z = rng.standard_normal(len(gap)) * np.sqrt(2)
    return at, np.array([np.mean(sign * (gap + s * z) > 0) for s in at])


def _log_loss(s: Setting, rng: Rng) -> Table:
    """Log odds seen with noise."""
    noise = 0.8 * s.level * np.exp(rng.normal(0, 0.4, s.c))
    odds = 1.5 * rng.standard_normal(s.n)
    y = (rng.random(s.n) < 1 / (1 + np.exp(-odds))).astype(int)
    y[:2] = (0, 1)
    seen = odds[:, None] + noise * _latent(s, rng, (s.n, s.c))
    at, value = _log_loss_curve()
    return Table(y, 1 / (1 + np.exp(-seen)), np.interp(noise, at, value))


@lru_cache
def _log_loss_curve() -> tuple[Array, Array]:
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    at = np.linspace(0.05, 8, 200)
    odds = 1.5 * nodes[:, None]
    p = 1 / (1 + np.exp(-odds))
    value = [
        -(weights[:, None] * weights * (np.logaddexp(0, odds + a * nodes) - p * (odds + a * nodes))).sum() for a in at
    ]
    return at, np.array(value)
