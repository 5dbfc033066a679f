"""What a bootstrap drew, and the estimates that it comes to.

Takes the winners and scores of all resamples, gives an `Estimate` for each metric, with what its reader should know.
Knows nothing of how predictions are held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..containers import Array
from ..errors import SoberError
from . import notes
from .estimate import Estimate
from .intervals import percentile_interval
from .tables import Table


@dataclass(frozen=True, eq=False)
class Judged:
    """Some resamples, selected and judged.

    Attributes
    ----------
    winners : int array [B]
        Position of the configuration selected on each resample; -1 for none.
    draws : list of array [B]
        For each metric the score of that configuration on the samples left out.
    """

    winners: Array
    draws: list[Array]

    @classmethod
    def joined(cls, parts: Sequence[Judged]) -> Judged:
        """Put blocks of resamples together."""
        draws = [np.concatenate(of_metric) for of_metric in zip(*(part.draws for part in parts), strict=True)]
        return cls(np.concatenate([part.winners for part in parts]), draws)


def estimates(table: Table, wholes: list[Array], winner: int, judged: Judged) -> dict[str, Estimate]:
    """Give one estimate for each metric, all at the same winner."""
    question = table.question
    noted = table.notes(winner, judged.winners)
    wins = np.bincount(judged.winners[judged.winners >= 0], minlength=len(table.configurations))
    found: dict[str, Estimate] = {}
    for k, (metric, whole, draws) in enumerate(zip(question.metrics, wholes, judged.draws, strict=True)):
        n_undefined = int(np.isnan(draws).sum())
        if n_undefined == len(draws):
            raise SoberError(
                "E109",
                f"{metric.name} is undefined on every one of the {len(draws)} draws: the samples left out never hold "
                "what it compares. Use stratify=True, collect more data, or choose another metric."
                f"{table.complaint(k)}",
            )
        many = notes.undefined(metric.name, draws)
        estimate = Estimate(
            value=float(np.nanmean(draws)),
            naive=float(whole[winner]),
            winner=int(table.configurations[winner]),
            configurations=table.configurations,
            scores=whole,
            method="bbc-f" if question.by == "fold" else "bbc",
            metric=metric.name,
            positive=metric.positive_of(table.target),
            interval=percentile_interval(draws, question.level),
            draws=draws,
            win_counts=wins,
            n_undefined=n_undefined,
            confidence_level=question.level,
            n_samples=table.n_samples,
            n_repeats=table.n_repeats,
            n_groups=table.n_groups,
            n_left_out=table.n_left_out,
            seed=question.seed,
            notes=(*noted, *(() if many is None else (many,))),
            _range=metric.range,
        )
        found[metric.name] = estimate.as_632plus() if question.method == "632+" else estimate
    return found
