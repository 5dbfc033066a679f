"""The other protocols on the same predictions: plain CV (CVT), Tibshirani and Tibshirani (TT), nested selection.

Takes what `bbc` takes, gives an `Estimate` without draws. Paper: section 2, algorithms 2, 3 and 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..metrics import Metric
from .estimate import Estimate
from .selection import Rule, apply
from .table import Bound, MetricLike, bind


def fold_scores(bound: Bound, metric: Metric) -> Array:
    """Score of every configuration on every fold of every repeat [F, C]; NaN where undefined."""
    table = bound.table
    if table.n_repeats == 1 and bound.aggregate == "pooled" and not bound.within_folds:
        for scorer in bound.scorers:
            if scorer.metric is metric:  # bound already: a fold is a row of counts
                folds = np.unique(table.fold_of[:, 0])
                return scorer.scores((table.fold_of[:, 0] == folds[:, None]).view(np.uint8))
    out = []
    for r in range(table.n_repeats):
        one = table if table.n_repeats == 1 else table.take_repeat(r)
        scorer = metric.bind(one)
        folds = np.unique(one.fold_of[one.seen[:, 0], 0])
        out.append(scorer.scores(((one.fold_of[:, 0] == folds[:, None]) & one.seen[:, 0]).view(np.uint8)))
    return np.concatenate(out)


def naive(
    y: Any,
    predictions: Any,
    metric: MetricLike | Sequence[MetricLike] = "roc_auc",
    *,
    groups: Any = None,
    folds: Any = None,
    sample_weight: Any = None,
    seen: Any = None,
    select: str | Rule = "best",
    aggregate: str = "pooled",
    within_folds: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Any:
    """Score the winner as plain cross-validation does (CVT): optimistic, since it was picked for this score.

    Parameters are those of `bbc`. Returns an `Estimate` without interval, or a dict of them.
    """
    bound = bind(
        y,
        predictions,
        metric,
        groups=groups,
        folds=folds,
        sample_weight=sample_weight,
        seen=seen,
        select=select,
        aggregate=aggregate,
        within_folds=within_folds,
        n_jobs=n_jobs,
    )
    wholes, winner = _select(bound)
    found = {
        scorer.metric.name: _estimate(bound, float(whole[winner]), whole, winner, "naive", scorer.metric)
        for scorer, whole in zip(bound.scorers, wholes, strict=True)
    }
    return found if isinstance(metric, (list, tuple)) else next(iter(found.values()))


def tibshirani(
    y: Any,
    predictions: Any,
    metric: MetricLike | Sequence[MetricLike] = "roc_auc",
    *,
    folds: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    seen: Any = None,
    select: str | Rule = "best",
    aggregate: str = "pooled",
    within_folds: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Any:
    """Correct by Tibshirani and Tibshirani's method (TT): how much each fold's own winner beats the overall winner.

    Needs `folds`; the other parameters are those of `bbc`. Returns an `Estimate` without interval, or a dict of them.
    """
    bound = bind(
        y,
        predictions,
        metric,
        groups=groups,
        folds=folds,
        sample_weight=sample_weight,
        seen=seen,
        select=select,
        aggregate=aggregate,
        within_folds=within_folds,
        n_jobs=n_jobs,
    )
    _need_folds(bound, "tibshirani")
    wholes, winner = _select(bound)
    found = {}
    for scorer, whole in zip(bound.scorers, wholes, strict=True):
        by_fold = fold_scores(bound, scorer.metric)
        defined = ~np.isnan(by_fold).all(axis=1)
        if not defined.any():
            raise SoberError(
                "E109",
                f"{scorer.metric.name} is undefined on every fold, so TT has nothing to go by. Use sobercv.bbc.",
            )
        lead = np.nanmax(by_fold[defined], axis=1) - by_fold[defined, winner]
        value = float(whole[winner] - lead.mean())
        found[scorer.metric.name] = _estimate(
            bound, value, whole, winner, "tt", scorer.metric, n_undefined=int((~defined).sum())
        )
    return found if isinstance(metric, (list, tuple)) else next(iter(found.values()))


def nested(
    y: Any,
    predictions: Any,
    metric: MetricLike = "roc_auc",
    *,
    folds: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    seen: Any = None,
    select: str | Rule = "best",
    aggregate: str = "pooled",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Estimate:
    """Nested selection on the same predictions: select on all folds but one, score that one, take the mean.

    This is what nested cross-validation becomes when training sets do not matter, as in the paper's simulation; real
    nested cross-validation trains anew, see `sobercv.compare`. Parameters are those of `bbc`; needs `folds`.
    """
    options: dict[str, Any] = {"groups": groups, "folds": folds, "sample_weight": sample_weight, "seen": seen}
    bound = bind(y, predictions, metric, **options, select=select, aggregate=aggregate, n_jobs=n_jobs)
    _need_folds(bound, "nested")
    if bound.table.n_repeats > 1:
        raise SoberError("E114", f"`nested` works on one repeat; got {bound.table.n_repeats}. Pass them one by one.")
    (whole,), winner = _select(bound)
    fold_of = bound.table.fold_of[:, 0]
    kept = (fold_of != np.unique(fold_of)[:, None]).view(np.uint8)  # [K, N]: everything but one fold
    chosen = apply(bound.rule, bound.scorers[0].scores(kept), bound.standard_errors(0))
    by_fold = fold_scores(bound, bound.metric)[np.arange(len(kept)), chosen]
    by_fold = by_fold[(chosen >= 0) & ~np.isnan(by_fold)]
    if len(by_fold) == 0:
        raise SoberError("E109", f"{bound.metric.name} is undefined on every fold. Use fewer folds, or sobercv.bbc.")
    return _estimate(
        bound, float(by_fold.mean()), whole, winner, "ncv", bound.metric, n_undefined=len(kept) - len(by_fold)
    )


def _need_folds(bound: Bound, who: str) -> None:
    if not bound.table.folds_known:
        raise SoberError(
            "E113", f"`{who}` compares folds, so it needs to know them. Pass `folds=`, one entry a sample."
        )


def _select(bound: Bound) -> tuple[list[Array], int]:
    wholes = [bound.whole(scorer) for scorer in bound.scorers]
    return wholes, bound.winner(wholes[0], bound.standard_errors(0))


def _estimate(
    bound: Bound, value: float, whole: Array, winner: int, method: str, metric: Metric, n_undefined: int = 0
) -> Estimate:
    table = bound.table
    return Estimate(
        value=value,
        naive=float(whole[winner]),
        winner=int(table.configurations[winner]),
        configurations=table.configurations,
        scores=whole,
        method=method,
        metric=metric.name,
        n_undefined=n_undefined,
        n_samples=table.n_samples,
        n_repeats=table.n_repeats,
        n_groups=None if table.groups is None else len(np.unique(table.groups)),
        n_left_out=table.n_left_out,
    )
