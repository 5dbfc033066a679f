"""BBC-CV: bootstrap the out-of-sample predictions, re-select in each resample, score on what was left out.

Takes predictions of any tool, gives an `Estimate`; trains nothing. Paper: section 4, algorithm 5. Predictions that are
read in blocks take the route of `inference/streaming`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import seeds, sources
from ..containers import Array
from ..errors import SoberError, warn
from ..metrics import blocks
from ..metrics.base import as_counts
from .claims import FROM_PROBABILITIES, Drawn, estimates, notes_on_size
from .intervals import check_level
from .resample import Bootstrap, fold_draws, replayed
from .rivals import fold_scores
from .selection import Rule, apply
from .table import Bound, MetricLike, bind, check_scales


def bbc(
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
    by: str = "sample",
    method: str = "bbc",
    within_folds: bool = False,
    n_bootstraps: int = 1000,
    confidence_level: float = 0.95,
    stratify: bool = False,
    counts: Any = None,
    approximate: bool | int = False,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Any:
    """Correct the score of the best of many configurations for having been picked as the best.

    Parameters
    ----------
    y : array-like [N]
        The truth: class labels of any type, numbers, or a survival target (scikit-survival's structured array or two
        columns). Ignored when `predictions` is a `Predictions`. The name of a column when `predictions` is Parquet,
        as may be `groups`, `folds` and `sample_weight`.
    predictions : array-like [N, C], [N, C, R] or [N, C, R, K], dict of those, or Predictions
        Out-of-sample predictions: N samples, C configurations, R repeats, K classes. numpy, pandas or polars. A masked
        array or `seen` marks an incomplete cross-validation. A dict has one array for each of "predict",
        "predict_proba" and "decision_function". Predictions [N, C] need not fit in memory: a memory map, a zarr or
        dask array, or the path of a Parquet file is read in blocks, see `sobercv.stream`.
    metric : str, Metric, callable, or a list of them
        The first selects; all are judged at the same winner, and a list gives a dict of estimates.
    groups : array-like [N], optional
        Samples of one group (patient, site) are resampled together.
    folds : array-like [N] or [N, R], optional
        The fold in which each sample was held out. Needed by `aggregate="fold"`, `by="fold"` and `within_folds`.
    sample_weight : array-like [N], optional
        Counts in every metric.
    seen : bool array-like [N] or [N, R], optional
        Which samples have predictions.
    select : {"best"}, simplest_within(...) or callable, default="best"
        The rule that picked the winner; re-run in every resample. A callable maps scores [B, C] to winners [B].
    aggregate : {"pooled", "fold"}, default="pooled"
        Score all samples together, or take the mean over folds as scikit-learn does.
    by : {"sample", "fold"}, default="sample"
        Resample samples (BBC-CV) or folds (BBC-F).
    method : {"bbc", "632+"}, default="bbc"
        The paper's estimate, or the compromise between it and the naive score described in the documentation.
    within_folds : bool, default=False
        Metrics that rank compare only samples of the same fold and repeat.
    n_bootstraps : int, default=1000
    confidence_level : float, default=0.95
    stratify : bool, default=False
        Draw within classes (or within events and censored), so that none is ever missing.
    counts : int array [B, N], optional
        Draws to use instead of our own ([B, K] with `by="fold"`): replays another tool's resamples.
    approximate : bool or int, default=False
        For roc_auc of more samples than fit in memory: True takes histograms of 512 bins, a number as many bins. The
        estimate's notes say how far off its numbers can be.
    random_state : int, numpy generator or None, default=None
        The same number gives the same bits. None draws afresh; `Estimate.seed` tells what was drawn.
    n_jobs : int, optional
        Threads; None uses all cores. Changes no result.

    Returns
    -------
    Estimate, or dict of str to Estimate when `metric` is a list

    References
    ----------
    Tsamardinos, Greasidou, Borboudakis (2018). Bootstrapping the out-of-sample predictions for efficient and accurate
    cross-validation. Machine Learning 107, 1895-1922.

    Examples
    --------
    >>> import sobercv
    >>> from sobercv.testing import simulate
    >>> data = simulate.beta_accuracy(n=100, c=50, seed=1)
    >>> estimate = sobercv.bbc(data.y, data.predictions, "accuracy", random_state=0)
    >>> bool(estimate.value < estimate.naive)
    True
    """
    check_level(confidence_level)
    if by not in ("sample", "fold"):
        raise SoberError("E108", f'`by` must be "sample" or "fold"; got {by!r}.')
    if method not in ("bbc", "632+"):
        raise SoberError("E108", f'`method` must be "bbc" or "632+"; got {method!r}.')
    if not isinstance(n_bootstraps, (int, np.integer)) or n_bootstraps < 1:
        raise SoberError(
            "E108", f"`n_bootstraps` must be a whole number of 1 or more; got {n_bootstraps!r}. Write 1000."
        )
    if by == "fold" and stratify:
        raise SoberError(
            "E114", '`stratify` draws samples within classes; by="fold" draws folds. Leave one of them out.'
        )
    seed = seeds.root(random_state)
    options: dict[str, Any] = {
        "groups": groups,
        "folds": folds,
        "sample_weight": sample_weight,
        "select": select,
        "aggregate": "fold" if by == "fold" else aggregate,
        "within_folds": within_folds,
        "n_jobs": n_jobs,
    }
    streamed = sources.recognise(predictions if approximate is False else sources.stream(predictions))
    if streamed is not None:
        _refuse_in_blocks(by, seen, counts)
        drawn = _draw_blocks(y, streamed, metric, approximate, n_bootstraps, stratify, seed, options)
    else:
        bound = bind(y, predictions, metric, seen=seen, **options)
        if by == "fold":
            with blocks.one_blas_thread():
                chosen, draws = _draw_folds(bound, n_bootstraps, counts, seed)
        else:
            chosen, draws = _draw_samples(bound, n_bootstraps, counts, stratify, seed, n_jobs)
        drawn = _drawn(bound, chosen, draws, seed)
    label = method if by == "sample" else "bbc-f" if method == "bbc" else "632+"
    found = estimates(drawn, label, confidence_level, seed)
    return found if isinstance(metric, (list, tuple)) else next(iter(found.values()))


def _draw_blocks(
    y: Any,
    streamed: tuple[sources.Source, str],
    metric: Any,
    approximate: bool | int,
    n_bootstraps: int,
    stratify: bool,
    seed: int,
    options: dict[str, Any],
) -> Drawn:
    """Do the same with predictions that are read in blocks."""
    from . import streaming  # most calls do without

    request = streaming.prepare(
        y, *streamed, metric, stratify=stratify, n_bootstraps=int(n_bootstraps), seed=seed, **options
    )
    return streaming.draw(request, approximate)


def _refuse_in_blocks(by: str, seen: Any, counts: Any) -> None:
    refused = {'by="fold"': by == "fold", "seen": seen is not None, "counts": counts is not None}
    for name, given in refused.items():
        if given:
            raise SoberError(
                "E118",
                f"`{name}` is not available for predictions that are read in blocks. Leave it out, or load them: pass "
                "a numpy array.",
            )


def _draw_samples(
    bound: Bound, n_bootstraps: int, counts: Any, stratify: bool, seed: int, n_jobs: int | None
) -> tuple[Array, list[Array]]:
    """Draw counts, score, select, score the selected on the absent: winners [B] and, for each metric, draws [B]."""
    table = bound.table
    given = None if counts is None else as_counts(replayed(counts, bound.n_input)[:, bound.rows])
    n_bootstraps = n_bootstraps if given is None else len(given)
    bootstrap = Bootstrap(table.n_samples, seed, groups=table.groups, strata=_strata(bound) if stratify else None)
    standard_error = bound.standard_errors(seed)

    def block(start: int, stop: int) -> tuple[Array, list[Array]]:
        present = bootstrap.counts(start, stop) if given is None else given[start:stop]
        winners = apply(bound.rule, bound.scorers[0].scores(present), standard_error)
        absent = (present == 0).view(np.uint8)
        return winners, [scorer.picked(absent, winners) for scorer in bound.scorers]

    n_threads = blocks.threads(n_jobs)
    done = blocks.run(block, list(blocks.ranges(n_bootstraps, table.n_samples, n_threads)), n_threads)
    draws = [np.concatenate([d[1][m] for d in done]) for m in range(len(bound.scorers))]
    return np.concatenate([d[0] for d in done]), draws


def _draw_folds(bound: Bound, n_bootstraps: int, counts: Any, seed: int) -> tuple[Array, list[Array]]:
    """BBC-F: score each fold once, resample folds, select by the in-bag mean, average the folds left out."""
    if bound.table.n_repeats > 1:
        raise SoberError(
            "E114",
            f'`by="fold"` resamples the folds of one partition; got {bound.table.n_repeats} repeats, whose folds share '
            'samples. Use by="sample", or pass one repeat.',
        )
    table = bound.table
    if table.groups is not None and len(np.unique(np.stack([table.groups, table.fold_of[:, 0]]), axis=1).T) > len(
        np.unique(table.groups)
    ):
        raise SoberError(
            "E114", '`by="fold"` needs folds that keep groups together; some group is in two. Use by="sample".'
        )
    by_metric = [fold_scores(bound, scorer.metric) for scorer in bound.scorers]  # each [K, C]
    n_folds = len(by_metric[0])
    drawn = fold_draws(n_folds, n_bootstraps, seed) if counts is None else replayed(counts, n_folds)
    winners = apply(bound.rule, _fold_mean(drawn, by_metric[0]), bound.standard_errors(seed))
    absent = drawn == 0
    draws = []
    for scores in by_metric:
        judged = scores.T[winners]  # [B, K]: the winner's score on every fold
        counted = absent & ~np.isnan(judged)
        with np.errstate(invalid="ignore"):
            judged = np.where(counted, judged, 0.0).sum(axis=1) / counted.sum(axis=1)
        draws.append(np.where(winners < 0, np.nan, judged))
    return winners, draws


def _fold_mean(counts: Array, scores: Array) -> Array:
    """Mean over the folds present [B, K], [K, C] -> [B, C]; folds on which the metric is undefined do not count."""
    present = counts.astype(np.float64)
    defined = ~np.isnan(scores)
    if defined.all():
        return (present / present.sum(axis=1, keepdims=True)) @ scores
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((present @ np.where(defined, scores, 0.0)) / (present @ defined.astype(np.float64)))


def _strata(bound: Bound) -> Array:
    y = bound.table.y
    if bound.table.task == "regression":
        raise SoberError("E114", "`stratify=True` is for classes and survival; the target is a number. Leave it out.")
    return y["event"].astype(np.int64) if bound.table.task == "survival" else y


def _drawn(bound: Bound, chosen: Array, draws: list[Array], seed: int) -> Drawn:
    """Add what is known about the whole table, and select on it."""
    table = bound.table
    wholes = [bound.whole(scorer) for scorer in bound.scorers]
    winner = bound.winner(wholes[0], bound.standard_errors(seed))
    n_groups = None if table.groups is None else len(np.unique(table.groups))
    return Drawn(
        metrics=[scorer.metric for scorer in bound.scorers],
        wholes=wholes,
        winner=winner,
        chosen=chosen,
        draws=draws,
        configurations=table.configurations,
        n_samples=table.n_samples,
        n_groups=n_groups,
        n_repeats=table.n_repeats,
        n_left_out=table.n_left_out,
        notes=_notes(bound, winner, n_groups),
    )


def _notes(bound: Bound, winner: int, n_groups: int | None) -> tuple[str, ...]:
    table = bound.table
    notes = notes_on_size(table.n_configurations, table.n_dropped, table.n_samples, n_groups)
    scales = check_scales(bound, winner)
    if scales is not None:
        warn("W203", scales)
        notes.append(scales)
    if table.n_left_out:
        notes.append(f"{table.n_left_out} configurations lacked predictions and were left out.")
    if table.labels_from_probabilities:
        notes.append(FROM_PROBABILITIES)
    if not table.is_complete:
        notes.append("The cross-validation is incomplete: only samples that have predictions were used.")
    return tuple(notes)
