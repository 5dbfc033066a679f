"""What the protocols that judge finished predictions share: their options, their table, an estimate without draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..containers import Array
from ..errors import SoberError
from ..inference import Estimate, Question, SelectionRule
from ..inference.bbc import Arrays
from ..inference.question import MetricLike
from ..inference.tables import Inputs, MemoryTable, open_memory


class RivalOptions(Arrays, total=False):
    """All that `naive`, `tibshirani` and `nested` take besides their first three arguments; `bbc` documents them."""

    select: str | SelectionRule
    aggregate: str
    within_folds: bool
    random_state: Any
    n_jobs: int | None


def opened(
    y: Any, predictions: Any, metric: MetricLike | Sequence[MetricLike], options: Mapping[str, Any]
) -> MemoryTable:
    """Open what a user passed.

    Parameters
    ----------
    y, predictions, metric
        As for `bbc`.
    options : mapping
        `RivalOptions`; TypeError for a name that is none of them.
    """
    unknown = options.keys() - RivalOptions.__annotations__.keys()
    if unknown:
        known = ", ".join(RivalOptions.__annotations__)
        raise TypeError(f"There is no option {sorted(unknown)[0]!r} here; the options are {known}.")
    arrays = {name: value for name, value in options.items() if name in Arrays.__annotations__}
    asked: Any = {name: value for name, value in options.items() if name not in arrays}
    return open_memory(Inputs(predictions, y, **arrays), Question.ask(metric, **asked))


def need_folds(table: MemoryTable, who: str) -> None:
    """Refuse a table whose folds are not known."""
    if not table.predictions.folds_known:
        raise SoberError(
            "E113", f"`{who}` compares folds, so it needs to know them. Pass `folds=`, one entry per sample."
        )


def estimate_of(
    table: MemoryTable, metric: int, method: str, value: float, whole: Array, winner: int, n_undefined: int = 0
) -> Estimate:
    """Make an estimate without draws."""
    return Estimate(
        value=value,
        naive=float(whole[winner]),
        winner=int(table.configurations[winner]),
        configurations=table.configurations,
        scores=whole,
        method=method,
        metric=table.question.metrics[metric].name,
        positive=table.question.metrics[metric].positive_of(table.target),
        n_undefined=n_undefined,
        n_samples=table.n_samples,
        n_repeats=table.n_repeats,
        n_groups=table.n_groups,
        n_left_out=table.n_left_out,
        seed=table.question.seed,
    )
