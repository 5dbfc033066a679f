"""The winner's out-of-sample predictions and their resamples: what every chart of a report is drawn from.

A band is an array [3, G]: a statistic on all samples, and the two bounds that hold the wanted share of its resamples.
Axes: N samples, R repeats, K classes, G places of a curve.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..inference.intervals import Percentile
from ..inference.units import Units
from ..predictions import Predictions
from ..targets import obvious_positive
from ..threads import one_blas_thread
from ..training.fit.response import method_of
from ..training.fit.task import build
from .records import Line

#: Resamples of a band: so many up to 5,000 samples, fewer of more, LEAST_BANDS from 20,000 on.
N_BANDS, LEAST_BANDS = 400, 100
#: Of a repeat and the weights [N] of its samples: some numbers [G], NaN where undefined.
Statistic = Callable[[int, Array], Array]


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
    def n_bands(self) -> int:
        """Number of resamples behind a band."""
        return min(N_BANDS, max(LEAST_BANDS, 5_000 * N_BANDS // len(self.y)))

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

    def averaged(self) -> Evidence:
        """Return the same with one prediction per sample, its mean over the repeats that have seen it."""
        total = (self.responses["predict"] * self.seen).sum(axis=1, keepdims=True)
        mean = total / self.seen.sum(axis=1, keepdims=True)
        return replace(self, responses={"predict": mean}, seen=np.ones(mean.shape, bool))

    @one_blas_thread()
    def banded(self, statistic: Statistic) -> Array:
        """Put a band [3, G] around a statistic: its mean over the repeats, and the bounds of its resamples."""
        units, each, share = Units(len(self.y), self.seed, "report", groups=self.groups), [], []
        for b in range(-1, self.n_bands):  # all samples, then the resamples
            counts = np.ones(len(self.y)) if b < 0 else units.counts(b, b + 1)[0]
            each.append([statistic(r, counts * self.weight * seen) for r, seen in enumerate(self.seen.T)])  # [R, G]
            share.append((counts[:, None] * self.seen).sum(axis=0, dtype=np.float64))  # [R]
        weights = np.broadcast_to(np.array(share)[:, :, None], np.shape(each))
        centre, *draws = np.ma.filled(np.ma.average(np.ma.masked_invalid(each), axis=1, weights=weights), np.nan)
        level, undefined = (1.0 + self.level) / 2.0, (np.nan, np.nan)
        ends = [undefined if np.isnan(d).all() else Percentile(d).bounds(level) for d in np.transpose(draws)]
        return np.stack([centre, *np.array(ends).T])

    def share_band(self, share: Statistic, wholes: list[Array]) -> Array:
        """Put a band around shares [G] of wholes, each of rows [N, R] or [N, 1]; Wilson's bound where one is 0 or 1."""
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


def padded(values: Any, share: float = 0.05) -> tuple[float, float]:
    """Return the ends of an axis: those of the values that are defined, and some room."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    room = share * (high - low) or share
    return low - room, high + room


def line_of(label: str, x: Array, band: Array, text: str = "", *, stepped: bool = False, marked: bool = False) -> Line:
    """Write a band as a line of a chart: six digits, and None where undefined."""
    centre, low, high = (tuple(None if v != v else float(f"{v:.6g}") for v in row.tolist()) for row in band)
    return Line(label, tuple(float(f"{v:.6g}") for v in x.tolist()), centre, low, high, text, stepped, marked)
