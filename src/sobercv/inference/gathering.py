"""What Wilson's interval asks of a bootstrap, gathered block by block while the resamples are scored.

Takes in-bag scores and the verbs of `Resamples`, gives `Spread`, and of a table with its `Spread` the `Evidence` for
each metric; never selects and never draws. Axes: U units of 64 resamples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..containers import Array
from ..metrics import Metric, blocks
from .tables import Resamples, Table
from .wilson import CROSS_VALIDATED, DOUBT, Evidence


@dataclass(frozen=True, eq=False)
class Spread:
    """How scores spread over some resamples.

    Attributes
    ----------
    own : list of array [B]
        For each metric the score of the selected configuration on what is absent.
    inside : list of array [B]
        For each metric but the first the score of the selected configuration on what is present.
    sums : array [U, 3, C]
        For the metric that selects, in bag: how many scores are defined, and the sum and the sum of squares of how much
        they differ from those of the whole table. Unit by unit, so that threads and blocks cannot change a bit.
    """

    own: list[Array]
    inside: list[Array]
    sums: Array

    @classmethod
    def joined(cls, parts: Sequence[Spread]) -> Spread:
        """Put blocks of resamples together."""
        own = [np.concatenate(of_metric) for of_metric in zip(*(part.own for part in parts), strict=True)]
        inside = [np.concatenate(of_metric) for of_metric in zip(*(part.inside for part in parts), strict=True)]
        return cls(own, inside, np.concatenate([part.sums for part in parts]))

    @cached_property
    def variances(self) -> Array:
        """Variance of every configuration's in-bag score, by the metric that selects [C]; NaN where undefined."""
        n, total, squares = self.sums.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            return np.where(n > 1, np.maximum(squares - total**2 / n, 0.0) / (n - 1), np.nan)


def gather(resamples: Resamples, in_bag: Array, judged: tuple[Array, list[Array]], whole: Array, winner: int) -> Spread:
    """Gather from one block.

    Parameters
    ----------
    resamples : Resamples
    in_bag : array [B, C]
        By the metric that selects.
    judged : (array [B], list of array [B])
        Who was selected in each resample, and for each metric its score on what is absent.
    whole : array [C]
        Scores on the whole table, by the metric that selects.
    winner : int
        Position of the configuration that is selected there.
    """
    chosen, draws = judged
    known = chosen == winner  # judged already
    rest = resamples.out_of_bag(np.where(known, -1, winner))
    own = [np.where(known, draw, other) for draw, other in zip(draws, rest, strict=True)]
    inside = resamples.in_bag_of(winner) if len(draws) > 1 else []
    return Spread(own, inside, sums_by_unit(in_bag - whole))


def sums_by_unit(off: Array) -> Array:
    """Count, sum and sum of squares of how much scores are off [B, C], unit by unit [U, 3, C]."""
    last = len(off) // blocks.UNIT * blocks.UNIT
    units = (off[:last].reshape(-1, blocks.UNIT, off.shape[1]), off[None, last:])  # whole ones, and what is left
    return np.concatenate([_sums(some) for some in units if some.size])


def _sums(off: Array) -> Array:
    """Count, sum and sum of squares of each unit: [U, B, C] -> [U, 3, C]."""
    total, squares = off.sum(axis=1), np.einsum("ubc,ubc->uc", off, off)
    n = np.full(total.shape, float(off.shape[1]))
    if np.isnan(total).any():
        defined = ~np.isnan(off)
        off, n = np.where(defined, off, 0.0), defined.sum(axis=1).astype(np.float64)
        total, squares = off.sum(axis=1), np.einsum("ubc,ubc->uc", off, off)
    return np.stack([n, total, squares], axis=1)


def evidence(table: Table, wholes: list[Array], winner: int, values: list[float], spread: Spread) -> list[Evidence]:
    """Say for each metric what was seen.

    Parameters
    ----------
    table : Table
    wholes : list of array [C]
    winner : int
    values : list of float
        BBC's estimates.
    spread : Spread
        Of all resamples.
    """
    metrics = table.question.metrics
    needed = [not all(map(np.isfinite, metric.range)) for metric in metrics]
    kurtoses = table.kurtoses(winner) if any(needed) else [3.0] * len(metrics)
    return [
        Evidence(
            scores=whole,
            variances=spread.variances if k == 0 else _only(spread.inside[k - 1], winner, len(whole)),
            winner=winner,
            value=value,
            own=_mean(spread.own[k], float(whole[winner])),
            range=metric.range,
            units=table.n_units,
            assumed=_assumed(table, metric),
            kurtosis=kurtoses[k],
            clustered=table.n_groups is not None or table.question.by == "fold",
            excess=1.0 if table.question.fixed_models else CROSS_VALIDATED,
            trained=1.0 if table.question.fixed_models else table.trained_share,
            doubt=DOUBT if table.question.procedure is None else table.question.procedure.doubt,
        )
        for k, (metric, whole, value) in enumerate(zip(metrics, wholes, values, strict=True))
    ]


def _only(scores: Array, winner: int, c: int) -> Array:
    """Variances [C] of which only the winner's is known: other metrics are computed of nobody else in bag."""
    defined = scores[~np.isnan(scores)]
    found = np.full(c, np.nan)
    if len(defined) > 1:
        found[winner] = defined.var(ddof=1)
    return found


def _mean(scores: Array, instead: float) -> float:
    defined = scores[~np.isnan(scores)]
    return float(defined.mean()) if len(defined) else instead


def _assumed(table: Table, metric: Metric) -> float:
    """The size to assume where no score varies: classes and events count by the rarer kind, unless rows do."""
    units = float(table.n_samples if table.n_groups is None else table.n_groups)
    values = table.target.values
    if table.target.task == "survival":
        return min(units, float(max(values["event"].sum(), 1)))
    if table.target.classes is None or metric.linear:
        return units
    counts = np.bincount(values)
    counts = counts[counts > 0]
    return min(units, len(counts) ** 2 / float((1.0 / counts).sum()))
