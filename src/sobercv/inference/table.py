"""The user's arguments, checked and bound: what every protocol of this room starts from.

Takes arrays or `Predictions` and the names of metrics and rules, gives a `Bound`: table, scorers, rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from ..containers import Array
from ..errors import SoberError, warn
from ..metrics import Metric, Scorer
from ..metrics import get as get_metric
from ..metrics.base import Aggregate
from ..metrics.registry import settle
from ..predictions import Predictions
from .resample import Bootstrap
from .selection import Rule, apply, rule_for, rule_of

MetricLike = str | Metric | Callable[..., Any]
MIN_UNITS = 3  # samples or groups: with fewer, a resample hardly ever leaves one out
FEW = 20


@dataclass(frozen=True, eq=False)
class Bound:
    """Predictions with metrics bound to them, and the rule that selects.

    Attributes
    ----------
    table : Predictions
        Only the samples that have predictions.
    rows : int array
        Which samples of the input those are.
    n_input : int
        Number of samples of the input.
    scorers : list of Scorer
        The first selects, all judge.
    rule : callable
    """

    table: Predictions
    rows: Array
    n_input: int
    scorers: list[Scorer]
    rule: Rule
    aggregate: Aggregate
    within_folds: bool

    @property
    def metric(self) -> Metric:
        """The metric that selects."""
        return self.scorers[0].metric

    def whole(self, scorer: Scorer) -> Array:
        """Score of every configuration on the whole table [C]."""
        return scorer.scores(np.ones((1, self.table.n_samples), np.uint8))[0]

    def standard_errors(self, seed: int) -> Array | None:
        """Bootstrap standard error of every configuration [C], for rules that ask for it."""
        if not getattr(self.rule, "needs_standard_errors", False):
            return None
        draws = Bootstrap(self.table.n_samples, seed, "standard error", groups=self.table.groups).counts(0, 128)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.nanstd(self.scorers[0].scores(draws), axis=0, ddof=1))

    def winner(self, scores: Array, standard_error: Array | None) -> int:
        """Select on the whole table."""
        winner = int(apply(self.rule, scores[None], standard_error)[0])
        if winner < 0:
            raise SoberError(
                "E109", f"{self.metric.name} is undefined on these samples, so nothing can be selected. Check `y`."
            )
        return winner


def bind(
    y: Any,
    predictions: Any,
    metric: MetricLike | Sequence[MetricLike],
    *,
    groups: Any = None,
    folds: Any = None,
    sample_weight: Any = None,
    seen: Any = None,
    select: str | Rule = "best",
    aggregate: str = "pooled",
    within_folds: bool = False,
    n_jobs: int | None = None,
) -> Bound:
    """Check everything that does not depend on draws, and bind it."""
    if aggregate not in ("pooled", "fold"):
        raise SoberError("E108", f'`aggregate` must be "pooled" or "fold"; got {aggregate!r}.')
    rule = rule_of(select)
    many: list[Any] = list(metric) if isinstance(metric, (list, tuple)) else [metric]
    if not many:
        raise SoberError("E105", "`metric` is an empty list. Name at least one metric.")
    if isinstance(predictions, Predictions):
        table = predictions
        metrics = [settle(get_metric(m), table.target) for m in many]
        extra = {"groups": groups, "folds": folds, "sample_weight": sample_weight, "seen": seen}
        given = [name for name, value in extra.items() if value is not None]
        if given:
            raise SoberError("E114", f"`{given[0]}` is part of a Predictions table already; leave it out here.")
    else:
        metrics = [settle(get_metric(m), y) for m in many]
        responses = _wanted(metrics)
        table = Predictions.build(
            y,
            predictions,
            task=metrics[0].task,
            responses=responses,
            folds=folds,
            groups=groups,
            seen=seen,
            sample_weight=sample_weight,
        )
        if table.n_left_out:
            warn(
                "W204",
                f"{table.n_left_out} of {table.n_left_out + table.n_configurations} configurations lack predictions "
                "that others have, and were left out.",
            )
    if (aggregate == "fold" or within_folds) and not table.folds_known:
        wish = '`aggregate="fold"`' if aggregate == "fold" else "`within_folds=True`"
        raise SoberError("E113", f"{wish} needs to know the folds. Pass `folds=`, one entry a sample.")
    if within_folds and not any(m.pools_scores for m in metrics):
        raise SoberError(
            "E114",
            f"{metrics[0].name} does not rank samples, so it cannot compare `within_folds`; metrics such as "
            "roc_auc do. Leave it out.",
        )
    rows, n_input = table.rows, table.n_samples
    table = table.only_seen()
    _check_size(table)
    scorers = [m.bind(table, aggregate=aggregate, within_folds=_pairs(m, within_folds), n_jobs=n_jobs) for m in metrics]  # type: ignore[arg-type]
    return Bound(table, rows, n_input, scorers, rule_for(rule, table.configurations), aggregate, within_folds)  # type: ignore[arg-type]


def _pairs(metric: Metric, within_folds: bool) -> bool:
    # Among several metrics only those that rank can compare within folds.
    return within_folds and metric.pools_scores


def _wanted(metrics: list[Metric]) -> tuple[str, ...]:
    """Decide how a bare array is read when several metrics share it: probabilities serve all, labels only some."""
    for metric in metrics:
        if metric.responses[0] != "predict":
            return metric.responses
    return metrics[0].responses


def _check_size(table: Predictions) -> None:
    n = table.n_samples
    units = n if table.groups is None else len(np.unique(table.groups))
    what = "samples" if table.groups is None else "groups"
    if units < MIN_UNITS:
        raise SoberError(
            "E106", f"A bootstrap needs at least {MIN_UNITS} {what} with predictions; got {units}. Collect more data."
        )


def check_scales(bound: Bound, winner: int) -> str | None:
    """Say so when a ranking metric pools folds whose scores live on different scales (paper, section 4).

    The ranks of the winner's scores are compared between folds (Kruskal and Wallis): a strong and significant
    difference in level means that pairs from different folds are not comparable.
    """
    table = bound.table
    if not bound.metric.pools_scores or bound.within_folds or bound.aggregate == "fold" or not table.folds_known:
        return None
    values = bound.metric.response_of(table)[:, winner, 0]
    here = table.seen[:, 0]
    fold = table.fold_of[here, 0]
    k, n = len(np.unique(fold)), int(here.sum())
    if values.ndim > 1 or k < 2 or n - k < 10:
        return None
    ranks = stats.rankdata(values[here])
    centred = ranks - ranks.mean()
    total = float(np.sum(centred**2))
    if total == 0:
        return None
    sums, sizes = np.bincount(fold, centred), np.bincount(fold)
    between = float(np.sum(sums[sizes > 0] ** 2 / sizes[sizes > 0])) / total
    expected = (k - 1) / (n - 1)
    strength = (between - expected) / (1 - expected)
    if strength > 0.2 and stats.chi2.sf((n - 1) * between, k - 1) < 1e-6:
        return (
            f"The winner's scores differ in level between folds ({100 * strength:.0f} % of their rank variance), so "
            "samples of different folds may not be comparable. Use within_folds=True or aggregate='fold', or calibrate."
        )
    return None
