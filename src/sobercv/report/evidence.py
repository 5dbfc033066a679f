"""The winner's out-of-sample predictions and their resamples: what every chart of a report is drawn from.

Arrays of one configuration, bands around any statistic of them, and lines of charts. Axes: N samples, R repeats, K
classes, G places of a curve.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..inference.units import Units
from ..metrics.blocks import UNIT
from ..predictions import Predictions
from ..targets import obvious_positive
from ..training import Configuration
from ..training.fit.response import method_of
from ..training.fit.task import build
from .records import Line

N_BANDS = 400
#: (repeat, weight [N]) -> [G]: a statistic of the samples of one repeat, each present `weight` times.
Statistic = Callable[[int, Array], Array]


@dataclass(frozen=True, eq=False)
class Band:
    """A statistic [G] on all samples, and the bounds [G] that hold the wanted share of its resamples."""

    centre: Array
    low: Array
    high: Array

    def at(self, places: Array | slice) -> Band:
        """Take these places, in this order."""
        return Band(*(values[places] for values in (self.centre, self.low, self.high)))

    def where(self, keep: Array) -> Band:
        """Leave places undefined."""
        return Band(*(np.where(keep, values, np.nan) for values in (self.centre, self.low, self.high)))


@dataclass(frozen=True, eq=False)
class Evidence:
    """One configuration's out-of-sample predictions; of two classes, the positive one is second where it is known."""

    y: Array  # [N]
    responses: Mapping[str, Array]  # [N, R] or [N, R, K]
    seen: Array  # [N, R]
    weight: Array  # [N]
    groups: Array | None  # [N]
    classes: Array | None  # [K]
    task: str
    level: float  # share of the resamples that a band holds
    seed: int

    @classmethod
    def of(cls, search: Any) -> Evidence:
        """Take the winner's column out of a finished search."""
        table: Predictions = search.winner_predictions_.only_seen()
        if not table.responses:
            raise SoberError(
                "E116",
                "The search scored models and kept no predictions; add a metric, such as r2, to scoring.",
            )
        # What a metric asks for is kept under the first of its alternatives: a ranking metric asks for decisions and
        # takes probabilities from a model that has none. Only the winner can tell which of the two these are.
        unfitted = build(search.estimator, Configuration(0, search.best_params_))
        winner = getattr(search, "best_estimator_", unfitted)
        asked = {metric.responses[0]: metric.responses for metric in search.question_.metrics if metric.responses}
        responses = {
            method_of(winner, asked.get(name, (name,))) or name: tensor[:, 0]
            for name, tensor in table.responses.items()
        }
        y, classes = table.y, table.classes
        if classes is not None and _is_first_positive(table):
            y, responses, classes = 1 - y, {name: _turned(name, v) for name, v in responses.items()}, classes[::-1]
        return cls(
            y=y,
            responses=responses,
            seen=table.seen,
            weight=np.ones(table.n_samples) if table.sample_weight is None else table.sample_weight,
            groups=None if table.groups is None else np.unique(table.groups, return_inverse=True)[1].reshape(-1),
            classes=classes,
            task=table.task,
            level=search.confidence_level,
            seed=search.seed_,
        )

    @property
    def n_repeats(self) -> int:
        """Number of repeats."""
        return int(self.seen.shape[1])

    def scores(self) -> Array | None:
        """Give what ranks the samples: [N, R] for two classes, [N, R, K] for more; None where only labels are known."""
        return next((self.responses[n] for n in ("decision_function", "predict_proba") if n in self.responses), None)

    def labels(self) -> Array | None:
        """Predicted class indices [N, R], as given or the likeliest class."""
        if "predict" in self.responses:
            return self.responses["predict"]
        probabilities = self.responses.get("predict_proba")
        if probabilities is None:
            scores = self.scores()
            return None if scores is None else scores.argmax(axis=2) if scores.ndim == 3 else (scores > 0).astype(int)
        return probabilities.argmax(axis=2) if probabilities.ndim == 3 else (probabilities > 0.5).astype(int)

    def units(self, rows: Array) -> float:
        """How many samples, or groups of them, are among rows [N, R]: the mean over repeats."""
        held = rows & self.seen
        if self.groups is None:
            return float(held.sum(axis=0).mean())
        return float(np.mean([len(np.unique(self.groups[held[:, r]])) for r in range(self.n_repeats)]))

    def average_prediction(self) -> Array:
        """Mean prediction [N] over the repeats that have seen a sample, where the target is no class."""
        return np.asarray((self.responses["predict"] * self.seen).sum(axis=1) / self.seen.sum(axis=1))

    def banded(self, statistic: Statistic, repeats: int | None = None) -> Band:
        """Put a band around a statistic (NaN where undefined): the mean over repeats, on all samples and resamples.

        `repeats`: how many repeats the statistic tells apart; 1 for those of averaged predictions.
        """
        n_repeats = self.n_repeats if repeats is None else repeats
        seen = self.seen if repeats is None else np.ones((len(self.y), repeats), bool)

        def value(counts: Array) -> Array:
            each = [statistic(r, counts * self.weight * seen[:, r]) for r in range(n_repeats)]
            share = [float(counts @ seen[:, r]) for r in range(n_repeats)]
            return _mean(np.stack(each), np.array(share))

        ones = np.ones(len(self.y))
        draws = Units(len(self.y), self.seed, "report", groups=self.groups)
        values = [value(c) for b in range(0, N_BANDS, UNIT) for c in draws.counts(b, min(b + UNIT, N_BANDS))]
        tail = (1.0 - self.level) / 2.0
        low, high = _quantiles(np.stack(values), (tail, 1.0 - tail))
        return Band(value(ones), low, high)


def _is_first_positive(table: Predictions) -> bool:
    """Whether the first of two classes is the positive one: it was named, or its name leaves no doubt."""
    if table.classes is None or len(table.classes) != 2:
        return False
    if table.target.positive is not None:
        return table.target.positive == 0
    labels = table.classes.tolist()
    return bool(obvious_positive(labels) == labels[0])


def _turned(name: str, values: Array) -> Array:
    """What is said of the second class, said of the first."""
    return -values if name == "decision_function" else 1 - values


def _mean(values: Array, weight: Array) -> Array:
    """Mean over repeats, [R, G] -> [G], of those that are defined."""
    defined = ~np.isnan(values)
    total = weight @ defined
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(total > 0, (weight @ np.where(defined, values, 0.0)) / total, np.nan))


def _quantiles(values: Array, shares: tuple[float, float]) -> tuple[Array, Array]:
    """Order statistics of the defined draws [B, G]; NaN where there are none."""
    ordered = np.sort(values, axis=0)  # NaN goes last
    n = (~np.isnan(values)).sum(axis=0)
    found = []
    for share in shares:
        at = np.clip(np.ceil(np.round(share * n, 9)).astype(int), 1, np.maximum(n, 1)) - 1
        found.append(np.take_along_axis(ordered, at[None], axis=0)[0])
    return found[0], found[1]


def bin_edges(values: Array, most: int = 10) -> Array:
    """Cut values into bins of equal size, at least some 30 values each."""
    n_bins = int(np.clip(len(values) // 30, 3, most))
    edges = np.unique(np.quantile(values, np.linspace(0, 1, n_bins + 1)))
    return edges if len(edges) > 1 else np.array([edges[0], edges[0] + 1.0])


def bin_means(bins: Array, k: int, weight: Array, values: Array) -> Array:
    """Weighted mean of the values in each bin [k]; NaN in an empty one."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.bincount(bins, weight * values, minlength=k) / np.bincount(bins, weight, minlength=k)


def line_of(label: str, x: Array, band: Band, text: str = "", *, stepped: bool = False, marked: bool = False) -> Line:
    """Write a band as a line of a chart."""
    return Line(
        label, tuple(_six(v) for v in x.tolist()), known(band.centre), known(band.low), known(band.high),
        text, stepped, marked,
    )  # fmt: skip


def known(values: Array) -> tuple[float | None, ...]:
    """Write numbers with six digits; None where undefined."""
    return tuple(None if v != v else _six(v) for v in values.tolist())


def _six(value: float) -> float:
    return float(f"{value:.6g}")


def widened(band: Band, sizes: Array, level: float) -> Band:
    """Put Wilson's bound where a share [G] of so many samples or groups [G] is 0 or 1."""
    square = NormalDist().inv_cdf(0.5 + level / 2.0) ** 2
    n = np.maximum(sizes, 1)
    low = np.where(band.centre == 1.0, np.minimum(band.low, n / (n + square)), band.low)
    high = np.where(band.centre == 0.0, np.maximum(band.high, square / (n + square)), band.high)
    return Band(band.centre, low, high)
