"""Simulated scores of two classes whose truth is known, and what one table says of a tuned decision.

Takes a setting and a repetition, gives naive and corrected scores, the interval and the truth of the final decision: a
threshold, a mix and how much better it is than a configuration alone, the best of a family of configurations and how
much it is behind the best of all. The columns are scores of fixed models: nothing was cross-validated.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

import sobercv
from sobercv.metrics import get

SAMPLES, CONFIGURATIONS = (60, 150, 400), (20, 200)
SHARE = 0.35  # of positives
SHARED = 0.5  # of the noise is common to all configurations, as models of the same rows err alike
NEW = 20_000  # new samples on which a mix is judged
#: What is tuned, by which metric, in how many resamples.
TUNED: dict[str, tuple[Any, str, int]] = {
    "threshold": (sobercv.best_with_threshold(), "balanced_accuracy", 500),
    "threshold, F1": (sobercv.best_with_threshold(), "f1", 500),
    "greedy ensemble": (sobercv.greedy_ensemble(), "roc_auc", 200),
    "family": ("best", "roc_auc", 500),
    "family, difference": ("best", "roc_auc", 500),
}
FAMILY = 4  # one in so many configurations belongs to the family
#: What is claimed of one table in which something was tuned.
CLAIMS = {
    "threshold": ("threshold",),
    "threshold, F1": ("threshold, F1",),
    "greedy ensemble": ("greedy ensemble", "greedy ensemble, gain"),
    "family": ("family", "family, difference"),
}


@dataclass(frozen=True)
class Setting:
    """What is tuned on tables of which size."""

    tuned: str
    n: int
    c: int

    @property
    def name(self) -> str:
        return f"{self.tuned.replace(', ', '-').replace(' ', '-')}-{self.n}-{self.c}"


def settings() -> list[Setting]:
    return [Setting(tuned, n, c) for tuned in CLAIMS for n in SAMPLES for c in CONFIGURATIONS]


def _scores(rng: np.random.Generator, n: int, distance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The truth, and binormal scores of configurations that differ in how far they part the classes."""
    y = np.zeros(n, np.int8)
    while not 2 <= y.sum() <= n - 2:
        y = (rng.random(n) < SHARE).astype(np.int8)
    common, own = rng.standard_normal((n, 1)), rng.standard_normal((n, len(distance)))
    return y, (y[:, None] - 0.5) * distance + np.sqrt(SHARED) * common + np.sqrt(1 - SHARED) * own


def _chances(scores: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-scores))


def draw_table(
    setting: Setting, repetition: int, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.random.Generator]:
    """Truth, probabilities, how far each configuration parts the classes, and the generator for what comes after."""
    rng = np.random.default_rng([seed, repetition, setting.n, setting.c, len(setting.tuned)])
    distance = np.clip(rng.normal(0.8, 0.3, setting.c), 0.0, None)
    y, scores = _scores(rng, setting.n, distance)
    return y, _chances(scores), distance, rng


def one_table(setting: Setting, repetition: int, seed: int) -> list[list[float]]:
    """For each claim: naive, corrected, lower and upper end, truth of the final decision."""
    y, chances, distance, rng = draw_table(setting, repetition, seed)
    select, metric, resamples = TUNED[setting.tuned]
    options: dict[str, Any] = {"n_bootstraps": resamples, "random_state": repetition, "fixed_models": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if setting.tuned == "family":
            return _of_family(
                sobercv.difference(y, chances, metric, first=range(setting.c // FAMILY), **options), distance
            )
        found = sobercv.bbc(y, chances, metric, select=select, **options)
    claim = [found.naive, found.value, *found.interval]
    if found.single is None:
        return [[*claim, truth_of(found.decision, distance, metric, rng)]]
    mix, alone = _mixed(found.decision, distance, metric, rng, found.single.winner)
    return [[*claim, mix], [found.naive - found.single.naive, found.gain, *found.gain_interval, mix - alone]]


def _of_family(gap: sobercv.Difference, distance: np.ndarray) -> list[list[float]]:
    """Give what is claimed of the best of a family, and its truth: the AUC of two normal distributions."""
    first, second = (float(stats.norm.cdf(distance[one.winner] / np.sqrt(2))) for one in (gap.first, gap.second))
    claims = (gap.first, first), (gap, first - second)
    return [[found.naive, found.value, *found.interval, truth] for found, truth in claims]


def truth_of(decision: Any, distance: np.ndarray, metric: str, rng: np.random.Generator) -> float:
    """Give the true score of a decision."""
    if hasattr(decision, "value"):  # a threshold: both shares are known exactly
        chance = min(max(decision.value, 1e-300), 1 - 1e-16)
        cut, far = np.log(chance / (1 - chance)), distance[decision.configuration] / 2
        found, alarm = stats.norm.sf(cut - far), stats.norm.sf(cut + far)
        if metric == "balanced_accuracy":
            return float((found + 1 - alarm) / 2)
        return float(2 * SHARE * found / (SHARE + SHARE * found + (1 - SHARE) * alarm))
    return _mixed(decision, distance, metric, rng, decision.configurations[0])[0]


def _mixed(
    decision: Any, distance: np.ndarray, metric: str, rng: np.random.Generator, single: int
) -> tuple[float, float]:
    """Give the score of a mix and of one configuration on the same new samples."""
    members = list(decision.configurations)
    y, scores = _scores(rng, NEW, distance[[*members, single]])
    if single in members:
        scores[:, -1] = scores[:, members.index(single)]
    chances = _chances(scores)
    both = np.stack([chances[:, :-1] @ np.array(decision.weights), chances[:, -1]], axis=1)
    judged = sobercv.Predictions.build(y, {"predict_proba": both}, task="classification")
    mix, alone = get(metric).scores(judged, np.ones((1, NEW), np.uint8))[0]
    return float(mix), float(alone)
