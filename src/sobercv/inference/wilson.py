"""Wilson's interval for the score of a selected configuration: it knows the metric's range, and what resampling hides.

Takes what a bootstrap has seen of a table (`Evidence`), gives bounds at any level (`Wilson`); draws nothing and never
sees a prediction. How it was found, and how often it covers: docs/intervals.md.

A bound x is a score that would explain the estimate: `(centre - x)^2 = z^2 (v(x) + doubt)`. As in Wilson's interval for
a share, the variance v is taken at the bound and not at the estimate, and so falls to nothing at the ends of the range:
`v(x) = (high - x)(x - low) / size` for a metric with two ends, `(high - x)^2 / size` with one (then on the scale of
logarithms), `1 / size` with none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from ..containers import Array
from .intervals import check_level

#: A cross-validated score errs more than a bootstrap of its rows can show, because models share training rows and the
#: refitted winner is one of many: so many times more in variance. Measured on real data (docs/intervals.md).
CROSS_VALIDATED = 1.2
#: Standard deviation of the correction for selection, in units of the correction. Measured there, too.
DOUBT = 0.5
#: The same where a threshold or a mix is tuned as well: the correction is larger, and better known. See docs/tuned.md.
DOUBT_TUNED = 0.2
#: What a model loses falls with this power of the rows that it learns from, as learning curves usually do. The winner
#: is refitted on all rows, and so may be better than the models that were judged.
LEARNING = 0.5
FEWEST = 3.0  # degrees of freedom: with fewer the quantiles of Student's distribution say nothing
FURTHEST = 50.0  # steps of a logarithm


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
        What was resampled: samples, groups or folds.
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

    @property
    def naive(self) -> float:
        """The winner's score on the whole table."""
        return float(self.scores[self.winner])

    @property
    def corrected(self) -> float:
        """BBC's estimate without the noise of its draws: what they say of one fixed configuration is known better."""
        return min(max(self.value - (self.own - self.naive), self.range[0]), self.naive)

    @property
    def compromise(self) -> float:
        """BBC.632+: resamples hold fewer rows, so BBC is too strict where there is little to choose between."""
        room = self.naive - float(np.nanmean(self.scores))
        share = min(max((self.naive - self.corrected) / room, 0.0), 1.0) if room > self.tiny else 0.0
        weight = 0.632 / (1.0 - 0.368 * share)
        return (1.0 - weight) * self.naive + weight * self.corrected

    @property
    def tiny(self) -> float:
        """A difference that is rounding: errors may be measured in millimetres or in light years."""
        low, high = self.range
        ends = [end for end in (low, high) if math.isfinite(end)]
        return 1e-12 * (high - low if len(ends) == 2 else abs(self.naive - sum(ends)))

    @property
    def size(self) -> float | None:
        """How many units would give the variance that resampling shows, were they shares or sizes of errors.

        The smaller of two: that of the winner, which may look steady by luck (a perfect score has no variance at all),
        and that of the configurations that score about the same. None where nothing tells.
        """
        known = ~(np.isnan(self.scores) | np.isnan(self.variances))
        scores, variances, spread = self.scores[known], self.variances[known], shape(self.scores[known], self.range)
        own = float(np.nan_to_num(self.variances[self.winner]))
        width = math.sqrt(max(own, float(np.mean(variances)) if known.any() else 0.0))
        found: list[float | None] = []
        if width > self.tiny:
            near = np.exp(-(((scores - self.compromise) / width) ** 2) / 2)
            found.append(_ratio(float(near @ spread), float(near @ variances)))
            found.append(_ratio(float(shape(self.scores[[self.winner]], self.range)[0]), own))
        sizes = [size for size in found if size is not None]
        if not sizes:
            return self.assumed if all(map(math.isfinite, self.range)) else None
        # A bootstrap of few groups or folds shows too little: it divides by their number and not by one less.
        return min(sizes) * ((self.units - 1) / self.units if self.clustered else 1.0)


def _ratio(spread: float, variance: float) -> float | None:
    """Divide, where there is something to divide."""
    return spread / variance if 0 < spread < math.inf and 0 < variance < math.inf else None


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


@dataclass(frozen=True)
class Wilson:
    """Bounds at any level.

    Attributes
    ----------
    centre : float
        Halfway between BBC, which is too strict, and BBC.632+, which is too kind.
    size : float
        See `Evidence.size`; less where the score errs more than resampling shows.
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

    @classmethod
    def of(cls, evidence: Evidence) -> Wilson | None:
        """Weigh the evidence; None where it says nothing of how the score spreads."""
        size = evidence.size
        if size is None:
            return None
        return cls(
            centre=(evidence.corrected + evidence.compromise) / 2,
            size=size / evidence.excess,
            doubt=(evidence.doubt * (evidence.naive - evidence.corrected)) ** 2,
            range=evidence.range,
            freedom=_freedom(evidence),
            still_lost=evidence.trained**LEARNING,
        )

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


def _freedom(evidence: Evidence) -> float:
    """How well the variance is known: Satterthwaite's degrees of freedom.

    With two ends it follows from the score itself, which Wilson's equation takes into account; not so for groups and
    folds, whose members may be more or less alike.
    """
    most = max(evidence.units - 1.0, FEWEST)
    if all(map(math.isfinite, evidence.range)):
        return most if evidence.clustered else math.inf
    return float(np.clip(2.0 * evidence.units / max(evidence.kurtosis - 1.0, 1e-9), FEWEST, most))
