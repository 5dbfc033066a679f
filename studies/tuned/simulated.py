"""Simulated scores of two classes whose truth is known, and what one table says of a tuned decision.

Takes a setting and a repetition, gives naive and corrected scores, the interval and the truth of the final decision: a
threshold, a mix, the best of a family of configurations, or how much it is behind the best of all.
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
NEW = 4000  # new samples on which a mix is judged
#: What is tuned, by which metric, in how many resamples.
TUNED: dict[str, tuple[Any, str, int]] = {
    "threshold": (sobercv.best_with_threshold(), "balanced_accuracy", 500),
    "threshold, F1": (sobercv.best_with_threshold(), "f1", 500),
    "greedy ensemble": (sobercv.greedy_ensemble(), "roc_auc", 200),
    "family": ("best", "roc_auc", 500),
    "family, difference": ("best", "roc_auc", 500),
}
FAMILY = 4  # one in so many configurations belongs to the family


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
    return [Setting(tuned, n, c) for tuned in TUNED for n in SAMPLES for c in CONFIGURATIONS]


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


def one_table(setting: Setting, repetition: int, seed: int) -> list[float]:
    """Naive, corrected, lower and upper end, truth of the final decision."""
    y, chances, distance, rng = draw_table(setting, repetition, seed)
    select, metric, resamples = TUNED[setting.tuned]
    options: dict[str, Any] = {"n_bootstraps": resamples, "random_state": repetition}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if setting.tuned.startswith("family"):
            members = range(setting.c // FAMILY)
            gap = sobercv.difference(y, chances, metric, first=members, **options)
            found, truth = _of_family(gap, distance, is_difference=setting.tuned != "family")
        else:
            found = sobercv.bbc(y, chances, metric, select=select, **options)
            truth = truth_of(found.decision, distance, metric, rng)
    return [found.naive, found.value, *found.interval, truth]


def _of_family(gap: sobercv.Difference, distance: np.ndarray, *, is_difference: bool) -> tuple[Any, float]:
    """Give what is claimed of the best of a family, and its truth: the AUC of two normal distributions."""
    first, second = (float(stats.norm.cdf(distance[one.winner] / np.sqrt(2))) for one in (gap.first, gap.second))
    return (gap, first - second) if is_difference else (gap.first, first)


def truth_of(decision: Any, distance: np.ndarray, metric: str, rng: np.random.Generator) -> float:
    """Give the true score of a decision."""
    if hasattr(decision, "value"):  # a threshold: both shares are known exactly
        chance = min(max(decision.value, 1e-300), 1 - 1e-16)
        cut, far = np.log(chance / (1 - chance)), distance[decision.configuration] / 2
        found, alarm = stats.norm.sf(cut - far), stats.norm.sf(cut + far)
        if metric == "balanced_accuracy":
            return float((found + 1 - alarm) / 2)
        return float(2 * SHARE * found / (SHARE + SHARE * found + (1 - SHARE) * alarm))
    y, scores = _scores(rng, NEW, distance[list(decision.configurations)])
    mixed = sobercv.Predictions.build(
        y, {"predict_proba": _chances(scores) @ np.array(decision.weights)[:, None]}, task="classification"
    )
    return float(get(metric).scores(mixed, np.ones((1, NEW), np.uint8))[0, 0])
