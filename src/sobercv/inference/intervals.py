"""Intervals of the score of a selected configuration: percentiles of the draws, or the calibrated construction.

Percentiles are `[b_(a/2 B), b_((1 - a/2) B)]` (paper, section 4.1): for B = 1000 and 95 % the 25th and the 975th draw.

A calibrated bound x is a score that would explain the estimate: `(centre - x)^2 = z^2 (v(x) + doubt)`. As in Wilson's
interval for a share, the variance v is taken at the bound and not at the estimate, and so falls to nothing at the ends
of the range: `v(x) = (high - x)(x - low) / size` for a metric with two ends, `(high - x)^2 / size` with one (then on
the scale of logarithms), `1 / size` with none. Five constants were measured on real data: docs/evidence/intervals.md.

A new kind of interval is a subclass of `Interval` and a line of `INTERVALS`, at the end: `interval=` takes its name.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy import special

from ..containers import Array

#: A cross-validated score errs more than a bootstrap of its rows can show, because models share training rows and the
#: refitted winner is one of many: so many times more in variance. Measured on real data (docs/evidence/intervals.md).
CROSS_VALIDATED = 1.2
#: Standard deviation of the correction for selection, in units of the correction. Measured there, too.
DOUBT = 0.5
#: The same for a tuned threshold or ensemble: the correction is larger, and better known (docs/evidence/tuned.md).
DOUBT_TUNED = 0.2
#: What a model loses falls with this power of the rows that it learns from, as learning curves usually do. The winner
#: is refitted on all rows, and so may be better than the models that were judged.
LEARNING = 0.5
#: Where folds are resampled: degrees of freedom per fold but one, for a score with two ends. The variance comes from
#: all configurations that score about as well, so that it is known better than by the K scores of one. Measured on real
#: data, each set judged by the others (docs/evidence/fold-scores.md).
FOLD_FREEDOM = 2.0
FEWEST = 3.0  # degrees of freedom: with fewer the quantiles of Student's distribution say nothing
FURTHEST = 50.0  # steps of a logarithm
#: A resample holds this share of the samples, 1 - 1/e.
PRESENT = 1.0 - math.exp(-1.0)
#: A mean over the present samples, none of them twice, varies less over resamples than one over draws with replacement
#: does, and that varies as samples do; a mean over the absent ones varies more, by the same factor.
STEADIER = math.sqrt((1.0 - PRESENT) / PRESENT)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a bootstrap has seen of a table, by one metric."""

    scores: Array  # of every configuration on the whole table [C]; NaN where undefined
    variances: Array  # of these scores over resamples [C]; NaN where not known
    winner: int  # position of the selected configuration
    value: float  # mean score of the resamples' winners on what was left out: the estimate of BBC
    own: float  # the same of the selected configuration alone, in all resamples
    range: tuple[float, float]  # smallest and largest possible score
    units: int  # how many units were resampled
    assumed: float  # the size to assume where no score varies: samples, groups, or events and the rarer class
    kurtosis: float = 3.0  # of what each unit adds to the winner's score; 3 where it is not known
    clustered: bool = False  # whether groups or folds were resampled
    folds: bool = False  # whether folds were
    excess: float = CROSS_VALIDATED  # how many times more the score errs, in variance, than resampling shows
    trained: float = 1.0  # share of the rows that each model was trained on: .9 for ten folds
    doubt: float = DOUBT  # standard deviation of the correction, in units of the correction
    draws: Array = field(default_factory=lambda: np.empty(0))  # of which `value` is the mean [B]; NaN where undefined


class Interval(ABC):
    """Bounds at any level."""

    name: ClassVar[str]
    needs_spread: ClassVar[bool] = True  # whether `of` looks at more than the draws, their mean and the scores
    range: tuple[float, float]  # smallest and largest possible score

    @classmethod
    @abstractmethod
    def of(cls, seen: Evidence) -> Interval | None:
        """Make it of what a bootstrap has seen; None where nothing tells its width."""

    @abstractmethod
    def bounds(self, share: float) -> tuple[float, float]:
        """Lower and upper bound, each with this confidence."""


@dataclass(frozen=True, eq=False)
class Percentile(Interval):
    """Order statistics of the draws."""

    draws: Array  # [B]
    shift: float = 0.0  # how far the estimate was moved from the mean of the draws; bounds move along, within the range
    range: tuple[float, float] = (-math.inf, math.inf)
    name = "percentile"
    needs_spread = False

    @classmethod
    def of(cls, seen: Evidence) -> Percentile:
        """Take the draws."""
        return cls(seen.draws, range=seen.range)

    def bounds(self, share: float) -> tuple[float, float]:
        """Lower and upper bound, each with this confidence."""
        defined = np.sort(self.draws[~np.isnan(self.draws)])
        # Rounded before the ceiling: (1 - 0.95) / 2 * 1000 is a hair above 25 in binary, and must stay the 25th.
        places = np.ceil(np.round(np.array([1.0 - share, share]) * len(defined), 9)).astype(int)
        low, high = defined[places.clip(1, len(defined)) - 1]
        if self.shift:
            low, high = np.clip((low + self.shift, high + self.shift), *self.range)
        return float(low), float(high)


@dataclass(frozen=True)
class Calibrated(Interval):
    """The construction above, with all its numbers."""

    centre: float  # halfway between BBC, which is too strict, and BBC.632+, which is too kind
    #: How many units would give the variance that resampling shows, were they shares or sizes of errors; fewer where
    #: the score errs more than that.
    size: float
    doubt: float  # variance of the correction for selection
    range: tuple[float, float]
    freedom: float = math.inf  # degrees of freedom of the quantiles; infinite for normal ones
    #: Share of what is lost (the distance from the best score) that may be left after training on all rows. It moves
    #: upper ends only.
    still_lost: float = 1.0
    excess: float = CROSS_VALIDATED  # how many times more the score errs than resampling shows; it is in `size`
    name = "calibrated"

    @classmethod
    def of(cls, seen: Evidence) -> Calibrated | None:
        """Make the interval; None where no score varies and the metric has no two ends."""
        naive, bounded = float(seen.scores[seen.winner]), all(map(math.isfinite, seen.range))
        # BBC's estimate without the noise of its draws: what they say of one fixed configuration is known better.
        corrected = min(max(seen.value - (seen.own - naive), seen.range[0]), naive)
        kind = compromise(naive, corrected, seen.scores, seen.range)
        # How many units would give the variance that resampling shows, were they shares or sizes of errors. The smaller
        # of two: that of the winner, which may look steady by luck (a perfect score has no variance at all), and that
        # of the configurations that score about the same.
        size, units = None, seen.units
        known = ~(np.isnan(seen.scores) | np.isnan(seen.variances))
        own = float(np.nan_to_num(seen.variances[seen.winner]))
        width = math.sqrt(max(own, float(np.mean(seen.variances[known])) if known.any() else 0.0))
        if width > rounding(naive, seen.range):
            near = np.exp(-(((seen.scores[known] - kind) / width) ** 2) / 2)
            shapes = shape(seen.scores, seen.range)
            alike = float(near @ shapes[known]), float(near @ seen.variances[known])
            pairs = alike, (float(shapes[seen.winner]), own)
            size = min((a / b for a, b in pairs if 0 < a < math.inf and 0 < b < math.inf), default=None)
        if size is not None and seen.clustered:
            # A bootstrap of few groups or folds shows too little: it divides by their number and not by one less.
            size *= (units - 1) / units
        elif size is None and bounded:
            size = seen.assumed
        if size is None:
            return None
        # How well the variance is known. With two ends it follows from the score itself, which the equation of the
        # bounds takes into account; not so for groups and folds, whose members may be more or less alike.
        most = max(units - 1.0, FEWEST)
        if seen.folds:
            freedom = (units - 1.0) * (FOLD_FREEDOM if bounded else 1.0)
        elif bounded:
            freedom = most if seen.clustered else math.inf
        else:  # Satterthwaite's
            freedom = float(np.clip(2.0 * units / max(seen.kurtosis - 1.0, 1e-9), FEWEST, most))
        return cls(
            centre=(corrected + kind) / 2,
            size=size / seen.excess,
            doubt=(seen.doubt * (naive - corrected)) ** 2,
            range=seen.range,
            freedom=freedom,
            still_lost=seen.trained**LEARNING,
            excess=seen.excess,
        )

    def bounds(self, share: float) -> tuple[float, float]:
        """Lower and upper bound, each with this confidence."""
        quantile = max(share, 1.0 - share)
        z = float(special.ndtri(quantile) if math.isinf(self.freedom) else special.stdtrit(self.freedom, quantile))
        centre, (worst, best) = self.centre, self.range
        ends = [end for end in (best, worst) if math.isfinite(end)]
        if len(ends) == 2:  # both roots of the quadratic equation in x
            per = z**2 / self.size
            a = 1.0 + per
            b = 2.0 * centre + per * (best + worst)
            c = centre**2 + per * best * worst - z**2 * self.doubt
            root = math.sqrt(max(b**2 - 4.0 * a * c, 0.0))
            # Rounding must neither leave the range nor lose the centre, which may lie at an end.
            low, high = max(min((b - root) / (2.0 * a), centre), worst), min(max((b + root) / (2.0 * a), centre), best)
        elif ends:  # distances from the end, on the scale of logarithms
            sign = 1.0 if ends[0] == worst else -1.0
            far = sign * (centre - ends[0])
            # No further than can be written: where a score is nearly perfect, the doubt about it has no scale.
            step = min(z * math.sqrt(1.0 / self.size + self.doubt / far**2), FURTHEST) if far > 0 else 0.0
            low, high = (ends[0] + sign * far * math.exp(way * sign * step) for way in (-1.0, 1.0))
        else:
            half = z * math.sqrt(1.0 / self.size + self.doubt)
            low, high = centre - half, centre + half
        low, high = (low, high) if share >= 0.5 else (high, low)
        return low, best - (best - high) * self.still_lost if math.isfinite(best) else high


def shape(scores: Array, range_: tuple[float, float]) -> Array:
    """How the variance of a score depends on the score: it falls to nothing at an end of the range."""
    low, high = range_
    if math.isfinite(low) and math.isfinite(high):
        return np.asarray((scores - low) * (high - scores))
    with np.errstate(over="ignore"):  # what cannot be squared has no size
        if math.isfinite(low):
            return np.asarray((scores - low) ** 2)
        return np.asarray((high - scores) ** 2) if math.isfinite(high) else np.ones_like(scores)


def rounding(score: float, range_: tuple[float, float]) -> float:
    """A difference of scores that is rounding: errors may be measured in millimetres or in light years."""
    low, high = range_
    ends = [end for end in (low, high) if math.isfinite(end)]
    return 1e-12 * (high - low if len(ends) == 2 else abs(score - sum(ends)))


def compromise(naive: float, corrected: float, scores: Array, range_: tuple[float, float]) -> float:
    """BBC.632+ of the selection by the scores of all [C]: BBC is too strict where there is little to choose between."""
    room = naive - float(np.nanmean(scores))
    share = min(max((naive - corrected) / room, 0.0), 1.0) if room > rounding(naive, range_) else 0.0
    weight = 0.632 / (1.0 - 0.368 * share)
    return (1.0 - weight) * naive + weight * corrected


#: What `interval=` takes.
INTERVALS: dict[str, type[Interval]] = {"percentile": Percentile, "calibrated": Calibrated, "fixed_models": Calibrated}
