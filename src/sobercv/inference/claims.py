"""What the draws of a bootstrap come to: estimates, with what their reader should know.

Takes winners and draws, however they were made (in memory, in blocks), gives an `Estimate` for each metric.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..containers import Array
from ..errors import SoberError, warn
from ..metrics import Metric
from .estimate import Estimate
from .intervals import percentile_interval
from .table import FEW

MANY_UNDEFINED = 0.05


@dataclass(frozen=True, eq=False)
class Drawn:
    """What was drawn, and from what.

    Attributes
    ----------
    metrics : list of Metric
        The first selects, all judge.
    wholes : list of array [C]
        For each metric the plain score of every configuration.
    winner : int
        Position of the selected configuration.
    chosen : int array [B]
        Position of the winner of each resample; -1 for none.
    draws : list of array [B]
        For each metric the score of each resample's winner on the samples left out.
    configurations : int array [C]
        Each configuration's index for life.
    n_samples, n_repeats, n_left_out : int
    n_groups : int or None
    notes : tuple of str
    """

    metrics: list[Metric]
    wholes: list[Array]
    winner: int
    chosen: Array
    draws: list[Array]
    configurations: Array
    n_samples: int
    n_groups: int | None = None
    n_repeats: int = 1
    n_left_out: int = 0
    notes: tuple[str, ...] = ()


def estimates(drawn: Drawn, method: str, level: float, seed: int) -> dict[str, Estimate]:
    """Put draws into words: one estimate for each metric, all at the same winner."""
    wins = np.bincount(drawn.chosen[drawn.chosen >= 0], minlength=len(drawn.configurations))
    found: dict[str, Estimate] = {}
    for metric, whole, values in zip(drawn.metrics, drawn.wholes, drawn.draws, strict=True):
        undefined = int(np.isnan(values).sum())
        more = _judge_undefined(metric.name, undefined, values)
        estimate = Estimate(
            value=float(np.nanmean(values)),
            naive=float(whole[drawn.winner]),
            winner=int(drawn.configurations[drawn.winner]),
            configurations=drawn.configurations,
            scores=whole,
            method="bbc" if method == "632+" else method,
            metric=metric.name,
            interval=percentile_interval(values, level),
            draws=values,
            win_counts=wins,
            n_undefined=undefined,
            confidence_level=level,
            n_samples=drawn.n_samples,
            n_repeats=drawn.n_repeats,
            n_groups=drawn.n_groups,
            n_left_out=drawn.n_left_out,
            seed=seed,
            notes=(*drawn.notes, *more),
            _range=metric.range,
        )
        found[metric.name] = estimate.as_632plus() if method == "632+" else estimate
    return found


def notes_on_size(n_configurations: int, n_dropped: int, n_samples: int, n_groups: int | None) -> list[str]:
    """Say, and warn, that there is nothing to select from, or little to resample."""
    notes = []
    if n_configurations == 1 and n_dropped:
        notes.append(
            f"All others ({n_dropped}) left the race early, so the bootstrap had nothing to choose from; the "
            "score may be slightly too good."
        )
    elif n_configurations == 1:
        text = "There is only one configuration, so there is no selection to correct for; the interval is still valid."
        warn("W202", text)
        notes.append(text)
    units = n_samples if n_groups is None else n_groups
    if units < FEW:
        what = "samples" if n_groups is None else "groups"
        text = f"Only {units} {what}: expect a wide interval and a conservative score."
        warn("W205", text)
        notes.append(text)
    return notes


FROM_PROBABILITIES = "Labels were read off probabilities: the likeliest class."


def _judge_undefined(name: str, undefined: int, values: Array) -> tuple[str, ...]:
    if undefined == len(values):
        raise SoberError(
            "E109",
            f"{name} is undefined on every one of the {len(values)} draws: the samples left out never hold what it "
            "compares. Use stratify=True, collect more data, or choose another metric.",
        )
    if undefined > MANY_UNDEFINED * len(values):
        text = (
            f"{name} was undefined on {undefined} of {len(values)} draws, which were left out of the mean. "
            "stratify=True keeps every class in every resample."
        )
        warn("W201", text)
        return (text,)
    return ()
