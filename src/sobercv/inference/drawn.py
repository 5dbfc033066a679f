"""What a bootstrap drew, and the estimates that it comes to.

Takes the winners and scores of all resamples, gives an `Estimate` for each metric, with what its reader should know.
Knows nothing of how predictions are held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np

from ..containers import Array
from ..errors import SoberError
from . import notes
from .estimate import Estimate
from .gathering import Spread, evidence
from .tables import Table
from .wilson import Wilson


@dataclass(frozen=True, eq=False)
class Judged:
    """Some resamples, selected and judged.

    Attributes
    ----------
    winners : int array [B]
        Position of the configuration selected on each resample; -1 for none.
    draws : list of array [B]
        For each metric the score of that configuration on the samples left out.
    spread : Spread or None
        What an interval needs beside the draws; None where it needs nothing else.
    together : list of float or None, optional
        For each metric the score of all samples left out of any resample, together; None where the mean of the draws
        is the estimate.
    back : float
        How far the estimate goes back towards the naive score, as a share of the way; see `deciding.BACK`.
    """

    winners: Array
    draws: list[Array]
    spread: Spread | None = None
    together: list[float | None] | None = None
    back: float = 0.0

    @classmethod
    def joined(cls, parts: Sequence[Judged]) -> Judged:
        """Put blocks of resamples together."""
        draws = [np.concatenate(of_metric) for of_metric in zip(*(part.draws for part in parts), strict=True)]
        spreads = [part.spread for part in parts if part.spread is not None]
        spread = Spread.joined(spreads) if spreads else None
        return cls(np.concatenate([part.winners for part in parts]), draws, spread)


def estimates(table: Table, wholes: list[Array], winner: int, judged: Judged) -> dict[str, Estimate]:
    """Give one estimate for each metric, all at the same winner."""
    question = table.question
    noted = table.notes(winner, judged.winners)
    if question.adaptive:
        noted.append(notes.adaptive(table.n_units, len(table.configurations)))
    wins = np.bincount(judged.winners[judged.winners >= 0], minlength=len(table.configurations))
    middles = [_middle(table, k, draws) for k, draws in enumerate(judged.draws)]
    together = judged.together or [None] * len(middles)
    values = [middle if value is None else value for middle, value in zip(middles, together, strict=True)]
    bounds = _bounds(table, wholes, winner, values, judged)
    found: dict[str, Estimate] = {}
    for metric, whole, draws, value, wilson in zip(question.metrics, wholes, judged.draws, values, bounds, strict=True):
        why = notes.percentile_instead(metric) if question.interval == "wilson" and wilson is None else None
        special = (notes.undefined(metric.name, draws), why)
        naive = float(whole[winner])
        estimate = Estimate(
            value=value + judged.back * (naive - value) if isfinite(naive) else value,
            naive=naive,
            winner=int(table.configurations[winner]),
            configurations=table.configurations,
            scores=whole,
            method="bbc-f" if question.by == "fold" else "bbc",
            metric=metric.name,
            positive=metric.positive_of(table.target),
            interval_method="percentile" if wilson is None else "wilson",
            draws=draws,
            win_counts=wins,
            n_undefined=int(np.isnan(draws).sum()),
            confidence_level=question.level,
            n_samples=table.n_samples,
            n_repeats=table.n_repeats,
            n_groups=table.n_groups,
            n_left_out=table.n_left_out,
            seed=question.seed,
            notes=(*noted, *(note for note in special if note is not None)),
            wilson=wilson,
            _range=metric.range,
            _fixed_models=question.fixed_models,
        )
        estimate = replace(estimate, interval=estimate.interval_at(question.level))
        worse = notes.worse_than_guessing(estimate)
        estimate = estimate if worse is None else replace(estimate, notes=(*estimate.notes, worse))
        found[metric.name] = estimate.as_632plus() if question.method == "632+" else estimate
    return found


def _middle(table: Table, metric: int, draws: Array) -> float:
    """Give the mean of the draws that are defined; refuse where there are none, and what is too large for one.

    What is best in the middle (a slope of calibration) is without bounds and far off on some resamples, so that few of
    them would make the mean: there it is the median.
    """
    if np.isnan(draws).all():
        raise SoberError(
            "E109",
            f"{table.question.metrics[metric].name} is undefined on every one of the {len(draws)} draws: the samples "
            "left out never hold what it compares. Use stratify=True, collect more data, or choose another metric."
            f"{table.complaint(metric)}",
        )
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float((np.nanmean if table.question.metrics[metric].selects else np.nanmedian)(draws))
    if not np.isfinite(mean):
        name = table.question.metrics[metric].name
        raise SoberError("E117", f"{name} gives numbers whose mean is beyond 1e308. Scale `y` and predictions down.")
    return mean


def _bounds(table: Table, wholes: list[Array], winner: int, values: list[float], judged: Judged) -> list[Wilson | None]:
    """For each metric Wilson's interval; None where it was not asked for, nothing varies, or medians are taken."""
    if judged.spread is None:
        return [None] * len(values)
    found = [Wilson.of(seen) for seen in evidence(table, wholes, winner, values, judged.spread)]
    return [wilson if metric.selects else None for metric, wilson in zip(table.question.metrics, found, strict=True)]
