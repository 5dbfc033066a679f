"""The winner's out-of-sample predictions and their resamples: what every chart of a report is drawn from.

A band is an array [3, G]: a statistic on all samples, and the two bounds that hold the wanted share of its resamples.
Axes: N samples, R repeats, K classes, G places of a curve.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..inference.intervals import Percentile
from ..inference.units import Units
from ..metrics.blocks import UNIT
from ..predictions import Predictions
from ..targets import obvious_positive
from ..training.fit.response import method_of
from ..training.fit.task import build
from .records import Line

N_BANDS = 400


@dataclass(frozen=True, eq=False)
class Evidence:
    """One configuration's out-of-sample predictions; of two classes, the positive one is second where it is known."""

    y: Array  # [N]
    responses: Mapping[str, Array]  # [N, R] or [N, R, K]
    seen: Array  # [N, R]
    weight: Array  # [N]
    groups: Array | None  # [N]
    classes: Any  # [K]; None where the target is no class
    task: str
    level: float  # share of the resamples that a band holds
    seed: int
    time: str = "time"  # what survival times are called

    @classmethod
    def of(cls, search: Any, time: str = "time") -> Evidence:
        """Take the winner's column out of a finished search."""
        table: Predictions = search.winner_predictions_.only_seen()
        if not table.responses:
            raise SoberError(
                "E116", "The search scored models and kept no predictions; add a metric, such as r2, to scoring."
            )
        # What a metric asks for is kept under the first of its alternatives: a ranking metric asks for decisions and
        # takes probabilities from a model that has none. Only the winner can tell which of the two these are.
        unfitted = build(search.estimator, search.best_params_)
        winner = getattr(search, "best_estimator_", unfitted)
        asked = {metric.responses[0]: metric.responses for metric in search.question_.metrics if metric.responses}
        responses = {
            method_of(winner, asked.get(name, (name,))) or name: tensor[:, 0]
            for name, tensor in table.responses.items()
        }
        y, classes, positive = table.y, table.classes, positive_of(table)
        if classes is not None and positive is not None and positive == classes[0]:
            y, classes = 1 - y, classes[::-1]  # what is said of the second class is said of the first
            responses = {n: -v if n == "decision_function" else 1 - v for n, v in responses.items()}
        weight = np.ones(table.n_samples) if table.sample_weight is None else table.sample_weight
        level, seed = search.confidence_level, search.seed_
        return cls(y, responses, table.seen, weight, table.groups, classes, table.task, level, seed, time)

    @property
    def chances(self) -> Array | None:
        """Probabilities [N, R] of the second of two classes."""
        is_binary = self.classes is not None and len(self.classes) == 2
        return self.responses.get("predict_proba") if is_binary else None

    @property
    def scores(self) -> Array | None:
        """What ranks samples: [N, R] for two classes, [N, R, K] for more; None where only labels are known."""
        return self.responses.get("decision_function", self.responses.get("predict_proba"))

    @property
    def labels(self) -> Array | None:
        """Predicted class indices [N, R], as given or the likeliest class."""
        values = self.responses.get("predict_proba", self.scores)
        if "predict" in self.responses or values is None:
            return self.responses.get("predict")
        middle = 0.5 if "predict_proba" in self.responses else 0.0
        return values.argmax(axis=2) if values.ndim == 3 else (values > middle).astype(int)

    def average_prediction(self) -> Array:
        """Mean prediction [N] over the repeats that have seen a sample, where the target is no class."""
        return np.asarray((self.responses["predict"] * self.seen).sum(axis=1) / self.seen.sum(axis=1))

    def banded(self, statistic: Callable[[int, Array], Array], repeats: int | None = None) -> Array:
        """Put a band [3, G] around a statistic of a repeat and the weights [N] of its samples, NaN where undefined.

        `repeats`: how many repeats it tells apart; 1 for statistics of averaged predictions.
        """
        seen = self.seen if repeats is None else np.ones((len(self.y), repeats), bool)

        def value(counts: Array) -> Array:
            each = np.stack([statistic(r, counts * self.weight * seen[:, r]) for r in range(seen.shape[1])])  # [R, G]
            defined, share = ~np.isnan(each), counts.astype(np.float64) @ seen
            total = share @ defined
            with np.errstate(invalid="ignore", divide="ignore"):
                return np.asarray(np.where(total > 0, (share @ np.where(defined, each, 0.0)) / total, np.nan))

        units = Units(len(self.y), self.seed, "report", groups=self.groups)
        blocks = (units.counts(b, min(b + UNIT, N_BANDS)) for b in range(0, N_BANDS, UNIT))
        draws = np.array([value(counts) for block in blocks for counts in block])  # [B, G]
        never, share = np.isnan(draws).all(axis=0), (1.0 + self.level) / 2.0
        ends = [(np.nan, np.nan) if n else Percentile(d).bounds(share) for n, d in zip(never, draws.T, strict=True)]
        return np.stack([value(np.ones(len(self.y))), *np.array(ends).T])

    def share_band(self, share: Callable[[int, Array], Array], wholes: list[Array]) -> Array:
        """Put a band around shares [G] of wholes, each of rows [N, R]; Wilson's bound where a share is 0 or 1."""
        centre, low, high = self.banded(share)
        square = NormalDist().inv_cdf(0.5 + self.level / 2.0) ** 2
        # How many samples, or groups of them, are in each whole: the mean over repeats.
        unit = np.arange(len(self.y)) if self.groups is None else self.groups
        n = np.array([np.mean([len(np.unique(unit[held])) for held in (rows & self.seen).T]) for rows in wholes])
        n = np.maximum(n, 1.0)
        low = np.where(centre == 1.0, np.minimum(low, n / (n + square)), low)
        high = np.where(centre == 0.0, np.maximum(high, square / (n + square)), high)
        return np.stack([centre, low, high])


def positive_of(table: Predictions) -> Any:
    """Return the positive one of two classes, by choice or by name, else the second; None where there are not two."""
    labels, label = table.target.labels, table.target.positive_label
    if len(labels) != 2:
        return None
    label = obvious_positive(labels) if label is None else label
    return labels[1] if label is None else label


def binned(values: Array, seen: Array, most: int = 10) -> tuple[int, Array]:
    """Cut into bins of equal size, of some 30 of the values that are seen or more: their number, and each one's bin."""
    n_bins = int(np.clip(seen.sum() // 30, 3, most))
    edges = np.unique(np.quantile(values[seen], np.linspace(0, 1, n_bins + 1)))
    return max(len(edges) - 1, 1), np.searchsorted(edges[1:-1], values, side="right")


def bin_means(bins: Array, k: int, weight: Array, values: Array) -> Array:
    """Weighted mean of the values in each bin [k]; NaN in an empty one."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.bincount(bins, weight * values, minlength=k) / np.bincount(bins, weight, minlength=k)


def padded(values: Any, share: float = 0.05) -> tuple[float, float]:
    """Return the ends of an axis: those of the values that are defined, and some room."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    room = share * (high - low) or share
    return low - room, high + room


def line_of(label: str, x: Array, band: Array, text: str = "", *, stepped: bool = False, marked: bool = False) -> Line:
    """Write a band as a line of a chart: six digits, and None where undefined."""
    centre, low, high = (tuple(None if v != v else float(f"{v:.6g}") for v in row.tolist()) for row in band)
    return Line(label, tuple(float(f"{v:.6g}") for v in x.tolist()), centre, low, high, text, stepped, marked)
