"""The other protocols on the same predictions: plain CV, Tibshirani and Tibshirani (TT), nested selection.

Takes what `bbc` takes, gives an `Estimate` without draws. Paper: section 2, algorithms 2 (there CVT), 3 and 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack, overload

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..sources import recognise
from .bbc import Arrays
from .estimate import Estimate, with_names
from .question import MetricLike, Question
from .selection import SelectionRule
from .tables import Inputs, MemoryTable, open_memory


class RivalOptions(Arrays, total=False):
    """All that `naive` and `tibshirani` take beside their first three arguments."""

    select: str | SelectionRule
    aggregate: str
    within_folds: bool
    random_state: Any
    n_jobs: int | None


@overload
def naive(y: Any, predictions: Any, metric: MetricLike = ..., **options: Unpack[RivalOptions]) -> Estimate: ...
@overload
def naive(
    y: Any, predictions: Any, metric: Sequence[MetricLike], **options: Unpack[RivalOptions]
) -> dict[str, Estimate]: ...
def naive(
    y: Any,
    predictions: Any,
    metric: MetricLike | Sequence[MetricLike] = "roc_auc",
    *,
    groups: Any = None,
    folds: Any = None,
    sample_weight: Any = None,
    seen: Any = None,
    pos_label: Any = None,
    select: str | SelectionRule = "best",
    aggregate: str = "pooled",
    within_folds: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Estimate | dict[str, Estimate]:
    """Score the winner as plain cross-validation does: optimistic, since it was picked for this score.

    Parameters are those of `bbc`. Returns an `Estimate` without interval, or a dict of them. The paper calls it CVT.

    Examples
    --------
    >>> import sobercv
    >>> y = [0, 0, 1, 1]
    >>> sobercv.naive(y, [[0, 1], [0, 0], [1, 1], [0, 1]], "accuracy").value  # two configurations
    0.75
    """
    question = Question.ask(
        metric,
        select=select,
        aggregate=aggregate,
        within_folds=within_folds,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    table = _open(Inputs(predictions, y, groups, folds, sample_weight, seen, pos_label), question, "naive")
    found: Estimate | dict[str, Estimate] = question.answer(with_names(naive_scores(table), predictions))
    return found


@overload
def tibshirani(y: Any, predictions: Any, metric: MetricLike = ..., **options: Unpack[RivalOptions]) -> Estimate: ...
@overload
def tibshirani(
    y: Any, predictions: Any, metric: Sequence[MetricLike], **options: Unpack[RivalOptions]
) -> dict[str, Estimate]: ...
def tibshirani(
    y: Any,
    predictions: Any,
    metric: MetricLike | Sequence[MetricLike] = "roc_auc",
    *,
    folds: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    seen: Any = None,
    pos_label: Any = None,
    select: str | SelectionRule = "best",
    aggregate: str = "pooled",
    within_folds: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Estimate | dict[str, Estimate]:
    """Correct by Tibshirani and Tibshirani's method (TT): how much each fold's own winner beats the overall winner.

    Needs `folds`; the other parameters are those of `bbc`. Returns an `Estimate` without interval, or a dict of them.

    Examples
    --------
    >>> import sobercv
    >>> from sobercv.testing import simulate
    >>> data = simulate.beta_accuracy(n=100, c=50, seed=1)
    >>> found = sobercv.tibshirani(data.y, data.predictions, "accuracy", folds=data.folds)
    >>> bool(found.value < found.naive)
    True
    """
    question = Question.ask(
        metric,
        select=select,
        aggregate=aggregate,
        within_folds=within_folds,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    table = _open(Inputs(predictions, y, groups, folds, sample_weight, seen, pos_label), question, "tibshirani")
    found: Estimate | dict[str, Estimate] = question.answer(with_names(tibshirani_scores(table), predictions))
    return found


def nested(
    y: Any,
    predictions: Any,
    metric: MetricLike = "roc_auc",
    *,
    folds: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    seen: Any = None,
    pos_label: Any = None,
    select: str | SelectionRule = "best",
    aggregate: str = "pooled",
    within_folds: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Estimate:
    """Nested selection on the same predictions: select on all folds but one, score that one, take the mean.

    This is what nested cross-validation becomes when training sets do not matter, as in the paper's simulation; real
    nested cross-validation trains anew, see `sobercv.compare`. Parameters are those of `bbc`; needs `folds`.
    """
    question = Question.ask(
        metric,
        select=select,
        aggregate=aggregate,
        within_folds=within_folds,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    return nested_score(
        _open(Inputs(predictions, y, groups, folds, sample_weight, seen, pos_label), question, "nested")
    )


# ---- the same for those who have a table -----------------------------------------------------------------------------
def naive_scores(table: MemoryTable) -> dict[str, Estimate]:
    """Judge the winner by the scores that picked it."""
    wholes = table.whole()
    winner = table.winner(wholes[0])
    return {
        metric.name: estimate_of(table, k, "naive", float(whole[winner]), whole, winner)
        for k, (metric, whole) in enumerate(zip(table.question.metrics, wholes, strict=True))
    }


def tibshirani_scores(table: MemoryTable) -> dict[str, Estimate]:
    """Take off what each fold's own winner is better by, on average."""
    need_folds(table, "tibshirani")
    wholes = table.whole()
    winner = table.winner(wholes[0])
    found = {}
    for k, (metric, whole, by_fold) in enumerate(zip(table.question.metrics, wholes, table.fold_scores(), strict=True)):
        defined = ~np.isnan(by_fold).all(axis=1)
        if not defined.any():
            raise SoberError(
                "E109", f"{metric.name} is undefined on every fold, so TT has nothing to go by. Use sobercv.bbc."
            )
        lead = np.nanmax(by_fold[defined], axis=1) - by_fold[defined, winner]
        value = float(whole[winner] - lead.mean())
        found[metric.name] = estimate_of(table, k, "tt", value, whole, winner, int((~defined).sum()))
    return found


def nested_score(table: MemoryTable) -> Estimate:
    """Select without each fold, judge on it."""
    need_folds(table, "nested")
    if table.n_repeats > 1:
        raise SoberError("E114", f"`nested` works on one repeat; got {table.n_repeats}. Pass them one by one.")
    whole = table.whole()[0]
    winner = table.winner(whole)
    fold_of = table.fold_of[:, 0]
    kept = (fold_of != np.unique(fold_of)[:, None]).view(np.uint8)  # [K, N]: everything but one fold
    chosen = table.select(table.scorers[0].scores(kept))
    by_fold = table.fold_scores()[0][np.arange(len(kept)), chosen]
    by_fold = by_fold[(chosen >= 0) & ~np.isnan(by_fold)]
    if len(by_fold) == 0:
        name = table.question.first.name
        raise SoberError("E109", f"{name} is undefined on every fold. Use fewer folds, or sobercv.bbc.")
    return estimate_of(table, 0, "ncv", float(by_fold.mean()), whole, winner, len(kept) - len(by_fold))


def _open(inputs: Inputs, question: Question, who: str) -> MemoryTable:
    if recognise(inputs.predictions) is not None:
        raise SoberError(
            "E118",
            f"`{who}` needs predictions in memory; these are read in blocks. Load them, or use sobercv.bbc, whose "
            "`naive` is the plain score.",
        )
    return open_memory(inputs, question)


def need_folds(table: MemoryTable, who: str) -> None:
    """Refuse a table whose folds are not known."""
    if not table.predictions.folds_known:
        raise SoberError(
            "E113", f"`{who}` compares folds, so it needs to know them. Pass `folds=`, one entry a sample."
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
