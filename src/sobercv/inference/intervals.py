"""Intervals of the score of a selected configuration: percentiles of the draws, or the calibrated construction.

Percentiles are `[b_(a/2 B), b_((1 - a/2) B)]` (paper, section 4.1): for B = 1000 and 95 % the 25th and the 975th draw.

A calibrated bound x is a score that would explain the estimate: `(centre - x)^2 = z^2 (v(x) + doubt)`. As in Wilson's
interval for a share, the variance v is taken at the bound and not at the estimate, and so falls to nothing at the ends
of the range: `v(x) = (high - x)(x - low) / size` for a metric with two ends, `(high - x)^2 / size` with one (then on
the scale of logarithms), `1 / size` with none. Five constants were measured on real data: docs/evidence/intervals.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from ..containers import Array
from ..errors import SoberError

#: A resample holds this share of the samples, 1 - 1/e.
PRESENT = 1.0 - math.exp(-1.0)
#: A mean over the present samples, none of them twice, varies less over resamples than one over draws with replacement
#: does, and that varies as samples do; a mean over the absent ones varies more, by the same factor.
STEADIER = math.sqrt((1.0 - PRESENT) / PRESENT)

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
FEWEST = 3.0  # degrees of freedom: with fewer the quantiles of Student's distribution say nothing
#: Where folds are resampled: degrees of freedom per fold but one, for a score with two ends. The variance comes from
#: all configurations that score about as well, so that it is known better than by the K scores of one. Measured on real
#: data, each set judged by the others (docs/evidence/fold-scores.md).
FOLD_FREEDOM = 2.0
FURTHEST = 50.0  # steps of a logarithm


def check_level(level: float, name: str = "confidence_level") -> float:
    """Refuse a level that is not a share."""
    if not isinstance(level, (int, float, np.floating, np.integer)) or not 0.0 < float(level) < 1.0:
        hint = f" Write {float(level) / 100:g} for {level:g} %." if _is_percent(level) else " Write 0.95 for 95 %."
        raise SoberError("E108", f"`{name}` must lie strictly between 0 and 1; got {level!r}.{hint}")
    return float(level)


def _is_percent(level: object) -> bool:
    return isinstance(level, (int, float)) and 1 < level < 100


# ---- percentiles -----------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Percentile:
    """Order statistics of the draws.

    Attributes
    ----------
    draws : array [B]
        Sorted, NaN last.
    shift : float
        How far the estimate was moved from the mean of the draws; bounds move along, within the range.
    range : (float, float)
        Smallest and largest possible score.
    """

    draws: Array
    shift: float = 0.0
    range: tuple[float, float] = (-math.inf, math.inf)
    name = "percentile"

    def interval(self, level: float) -> tuple[float, float]:
        """Two-sided: leaves the same share of draws out on each side."""
        low, high = percentile_interval(self.draws, level)
        return self._moved(low), self._moved(high)

    def lower(self, level: float) -> float:
        """One-sided: the true score is at least this."""
        return self._moved(quantile(self.draws, 1.0 - check_level(level)))

    def upper(self, level: float) -> float:
        """One-sided: the true score is at most this."""
        return self._moved(quantile(self.draws, check_level(level)))

    def moved(self, shift: float) -> Percentile:
        """Move all bounds."""
        return replace(self, shift=shift)

    def _moved(self, bound: float) -> float:
        return float(np.clip(bound + self.shift, *self.range)) if self.shift else bound


def holding(interval: tuple[float, float], value: float) -> tuple[float, float]:
    """Widen an interval so that it holds the value."""
    return min(interval[0], value), max(interval[1], value)


def quantile(draws: Array, share: float) -> float:
    """Return the smallest draw that at least this share of the defined draws do not exceed."""
    defined = draws[~np.isnan(draws)]
    if (defined[1:] < defined[:-1]).any():
        defined = np.sort(defined)
    # Rounded before the ceiling: (1 - 0.95) / 2 * 1000 is a hair above 25 in binary, and must stay the 25th.
    position = int(np.ceil(np.round(share * len(defined), 9)))
    return float(defined[min(max(position, 1), len(defined)) - 1])


def percentile_interval(draws: Array, level: float) -> tuple[float, float]:
    """Two-sided interval that leaves the same share of draws out on each side."""
    tail = (1.0 - check_level(level)) / 2.0
    return quantile(draws, tail), quantile(draws, 1.0 - tail)


def difference_interval(draws: Array, level: float, *, fixed_models: bool, same: bool) -> tuple[float, float]:
    """Interval of the difference of two selections.

    Parameters
    ----------
    draws : array [B]
        Difference in each resample; NaN where undefined.
    level : float
    fixed_models : bool
        Whether nothing was cross-validated. Then draws vary more than the table's difference does, for they are judged
        by the absent samples alone, and are drawn together; else that room is needed (docs/evidence/tuned.md).
    same : bool
        Whether both select the same on the whole table: then there is no difference, and the interval reaches 0.
    """
    low, high = percentile_interval(draws, level)
    if fixed_models:
        centre = float(np.nanmean(draws))
        low, high = (centre + STEADIER * (end - centre) for end in (low, high))
    return (min(low, 0.0), max(high, 0.0)) if same else (low, high)


# ---- the calibrated interval -----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Calibrated:
    """Bounds at any level.

    Attributes
    ----------
    centre : float
        Halfway between BBC, which is too strict, and BBC.632+, which is too kind.
    size : float
        How many units would give the variance that resampling shows, were they shares or sizes of errors; fewer where
        the score errs more than resampling shows.
    doubt : float
        Variance of the correction for selection.
    range : (float, float)
    freedom : float
        Degrees of freedom of the quantiles; infinite for normal ones.
    still_lost : float
        Share of what is lost (the distance from the best score) that may be left after training on all rows. It moves
        upper ends only.
    """

    centre: float
    size: float
    doubt: float
    range: tuple[float, float]
    freedom: float = math.inf
    still_lost: float = 1.0
    name = "calibrated"

    def moved(self, shift: float) -> Calibrated:
        """Stay: the interval knows BBC and BBC.632+ already."""
        return self

    def interval(self, level: float) -> tuple[float, float]:
        """Two-sided."""
        share = (1.0 + check_level(level)) / 2.0
        return self._bounds(share)[0], self._learned(self._bounds(share)[1])

    def lower(self, level: float) -> float:
        """One-sided: the true score is at least this."""
        return self._bounds(check_level(level))[0]

    def upper(self, level: float) -> float:
        """One-sided: the true score is at most this."""
        return self._learned(self._bounds(check_level(level))[1])

    def _learned(self, bound: float) -> float:
        """Move an upper end towards the best score; unbounded metrics have none."""
        best = self.range[1]
        return best - (best - bound) * self.still_lost if math.isfinite(best) else bound

    def _bounds(self, share: float) -> tuple[float, float]:
        z = self._quantile(max(share, 1.0 - share))
        low, high = self._two_ends(z) if all(map(math.isfinite, self.range)) else self._one_end(z)
        return (low, high) if share >= 0.5 else (high, low)

    def _quantile(self, share: float) -> float:
        return float(special.ndtri(share) if math.isinf(self.freedom) else special.stdtrit(self.freedom, share))

    def _two_ends(self, z: float) -> tuple[float, float]:
        """Both roots of the quadratic equation in x."""
        low, high = self.range
        per = z**2 / self.size
        a = 1.0 + per
        b = 2.0 * self.centre + per * (high + low)
        c = self.centre**2 + per * high * low - z**2 * self.doubt
        root = math.sqrt(max(b**2 - 4.0 * a * c, 0.0))
        below, above = (b - root) / (2.0 * a), (b + root) / (2.0 * a)
        # Rounding must neither leave the range nor lose the centre, which may lie at an end.
        return max(min(below, self.centre), low), min(max(above, self.centre), high)

    def _one_end(self, z: float) -> tuple[float, float]:
        """Distances from the end, on the scale of logarithms; plain distances where there is no end."""
        low, high = self.range
        if math.isfinite(high):
            far = high - self.centre
            step = self._log_step(z, far)
            return high - far * math.exp(step), high - far * math.exp(-step)
        if math.isfinite(low):
            far = self.centre - low
            step = self._log_step(z, far)
            return low + far * math.exp(-step), low + far * math.exp(step)
        half = z * math.sqrt(1.0 / self.size + self.doubt)
        return self.centre - half, self.centre + half

    def _log_step(self, z: float, far: float) -> float:
        # No further than can be written: where a score is nearly perfect, the doubt about it has no scale.
        return min(z * math.sqrt(1.0 / self.size + self.doubt / far**2), FURTHEST) if far > 0 else 0.0


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a bootstrap has seen of a table, by one metric.

    Attributes
    ----------
    scores, variances : array [C]
        Score of every configuration on the whole table, and its variance over resamples; NaN where undefined.
    winner : int
        Position of the selected configuration.
    value : float
        Mean score of the resamples' winners on what was left out: the estimate of BBC.
    own : float
        The same of the selected configuration alone, in all resamples.
    range : (float, float)
        Smallest and largest possible score.
    units : int
        How many units were resampled.
    assumed : float
        The size to assume where no score varies: samples, groups or events; for classes of unequal size as many as
        would do if they were equal.
    kurtosis : float
        Of what each unit adds to the winner's score; 3 where it is not known.
    clustered : bool
        Whether groups or folds were resampled.
    excess : float
        How many times more the score errs, in variance, than resampling shows: `CROSS_VALIDATED`, or 1 where the models
        were trained on other data.
    trained : float
        Share of the rows that each model was trained on: .9 for ten folds, 1 where the models are those to be used.
    doubt : float
        Standard deviation of the correction, in units of the correction.
    folds : bool
        Whether folds were resampled.
    """

    scores: Array
    variances: Array
    winner: int
    value: float
    own: float
    range: tuple[float, float]
    units: int
    assumed: float
    kurtosis: float = 3.0
    clustered: bool = False
    excess: float = CROSS_VALIDATED
    trained: float = 1.0
    doubt: float = DOUBT
    folds: bool = False

    def weigh(self) -> Calibrated | None:
        """Return the bounds; None where nothing tells how the score varies."""
        naive = float(self.scores[self.winner])
        # BBC's estimate without the noise of its draws: what they say of one fixed configuration is known better.
        corrected = min(max(self.value - (self.own - naive), self.range[0]), naive)
        kind = compromise(naive, corrected, self.scores, self.range)
        size = self._size(kind)
        if size is None:
            return None
        return Calibrated(
            centre=(corrected + kind) / 2,
            size=size / self.excess,
            doubt=(self.doubt * (naive - corrected)) ** 2,
            range=self.range,
            freedom=self._freedom(),
            still_lost=self.trained**LEARNING,
        )

    def _size(self, centre: float) -> float | None:
        """How many units would give the variance that resampling shows, were they shares or sizes of errors.

        The smaller of two: that of the winner, which may look steady by luck (a perfect score has no variance at all),
        and that of the configurations that score about the same. None where nothing tells.
        """
        known = ~(np.isnan(self.scores) | np.isnan(self.variances))
        scores, variances = self.scores[known], self.variances[known]
        own = float(np.nan_to_num(self.variances[self.winner]))
        width = math.sqrt(max(own, float(np.mean(variances)) if known.any() else 0.0))
        pairs: list[tuple[float, float]] = []
        if width > rounding(float(self.scores[self.winner]), self.range):
            near = np.exp(-(((scores - centre) / width) ** 2) / 2)
            pairs.append((float(near @ shape(scores, self.range)), float(near @ variances)))
            pairs.append((float(shape(self.scores[[self.winner]], self.range)[0]), own))
        sizes = [above / below for above, below in pairs if 0 < above < math.inf and 0 < below < math.inf]
        if not sizes:
            return self.assumed if self._bounded else None
        # A bootstrap of few groups or folds shows too little: it divides by their number and not by one less.
        return min(sizes) * ((self.units - 1) / self.units if self.clustered else 1.0)

    @property
    def _bounded(self) -> bool:
        return all(map(math.isfinite, self.range))

    def _freedom(self) -> float:
        """How well the variance is known: Satterthwaite's degrees of freedom.

        With two ends it follows from the score itself, which the equation of the bounds takes into account; not so for
        groups and folds, whose members may be more or less alike.
        """
        if self.folds:
            return (self.units - 1.0) * (FOLD_FREEDOM if self._bounded else 1.0)
        most = max(self.units - 1.0, FEWEST)
        if self._bounded:
            return most if self.clustered else math.inf
        return float(np.clip(2.0 * self.units / max(self.kurtosis - 1.0, 1e-9), FEWEST, most))


def shape(scores: Array, range_: tuple[float, float]) -> Array:
    """How the variance of a score depends on the score: it falls to nothing at an end of the range."""
    low, high = range_
    below = scores - low if math.isfinite(low) else None
    above = high - scores if math.isfinite(high) else None
    if below is not None and above is not None:
        return np.asarray(below * above)
    end = above if below is None else below
    with np.errstate(over="ignore"):  # what cannot be squared has no size
        return np.ones_like(scores) if end is None else np.asarray(end**2)


def rounding(score: float, range_: tuple[float, float]) -> float:
    """A difference of scores that is rounding: errors may be measured in millimetres or in light years."""
    low, high = range_
    ends = [end for end in (low, high) if math.isfinite(end)]
    return 1e-12 * (high - low if len(ends) == 2 else abs(score - sum(ends)))


def compromise(naive: float, corrected: float, scores: Array, range_: tuple[float, float]) -> float:
    """BBC.632+: resamples hold fewer rows, so BBC is too strict where there is little to choose between.

    Parameters
    ----------
    naive, corrected : float
        Of the selected configuration.
    scores : array [C]
        Of all configurations, on all samples; NaN where undefined.
    range_ : (float, float)
        Smallest and largest possible score.
    """
    room = naive - float(np.nanmean(scores))
    share = min(max((naive - corrected) / room, 0.0), 1.0) if room > rounding(naive, range_) else 0.0
    weight = 0.632 / (1.0 - 0.368 * share)
    return (1.0 - weight) * naive + weight * corrected
