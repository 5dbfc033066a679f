"""`cv_results_`: what scikit-learn's users expect to find after a search, and what a race adds to it.

Takes the store, the log and the question of a finished search, gives a dict of arrays with one entry a configuration,
and the table that the finishers are judged by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..containers import Array
from ..inference import Question
from ..inference.selection import margin
from ..inference.tables import GivenTable, Table, open_predictions
from ..metrics import Metric
from ..metrics.given import GivenScore
from ..predictions import Predictions
from ..training import Configuration, MemoryStore, RaceLog
from .model_scores import training_scores


def cv_results(
    configurations: Sequence[Configuration], store: MemoryStore, log: RaceLog, question: Question, error_score: Any
) -> dict[str, Any]:
    """Make the table of a search.

    Scores of splits that a configuration did not run (dropped) or could not (failed) are NaN. Ranks follow the scores
    that the search selects by; finishers come first, then the dropped from the last to the first dropped, then the
    failed. A numeric `error_score` stands for every score of those that failed.
    """
    results: dict[str, Any] = _times(store)
    results.update(_parameters(configurations))
    results["params"] = [dict(c.params) for c in configurations]
    for metric in question.metrics:
        tail = metric.name if question.several else "score"
        splits, pooled = split_scores(store, log, metric, question)
        if not isinstance(error_score, str):
            splits[log.status == "failed"] = pooled[log.status == "failed"] = error_score
        mean = _add_splits(results, splits, f"test_{tail}")
        results[f"pooled_test_{tail}"] = pooled
        results[f"rank_test_{tail}"] = ranks(mean if question.aggregate == "fold" else pooled, log, metric.unit)
        trained = training_scores(store, metric.name)
        if trained is not None:
            if not isinstance(error_score, str):
                trained[log.status == "failed"] = error_score
            _add_splits(results, trained, f"train_{tail}")
    results["status"] = log.status
    results["dropped_at"] = np.ma.MaskedArray(log.dropped_at, mask=log.dropped_at < 0)
    return results


def add_tuned(results: dict[str, Any], log: RaceLog, question: Question, found: Any) -> None:
    """Add what the finishers score with thresholds of their own, and rank by it.

    Parameters
    ----------
    results : dict of arrays
    log : RaceLog
    question : Question
    found : Estimate, or dict of them
    """
    if not question.makes_labels:
        return
    for metric in question.metrics:
        estimate = found[metric.name] if question.several else found
        tail = metric.name if question.several else "score"
        tuned = np.full(len(log.status), np.nan)
        tuned[estimate.configurations] = estimate.scores
        results[f"tuned_test_{tail}"] = tuned
        results[f"rank_test_{tail}"] = ranks(tuned, log, metric.unit)


def _add_splits(results: dict[str, Any], splits: Array, name: str) -> Array:
    """Add the scores of each split [C, splits], their means and standard deviations; give the means."""
    for i, column in enumerate(splits.T):
        results[f"split{i}_{name}"] = column
    with np.errstate(invalid="ignore"):
        mean = _nanmean(splits)
        results[f"mean_{name}"] = mean
        results[f"std_{name}"] = np.sqrt(_nanmean((splits - mean[:, None]) ** 2))
    return mean


def split_scores(store: MemoryStore, log: RaceLog, metric: Metric, question: Question) -> tuple[Array, Array]:
    """Score of every configuration on each split [C, splits] and on all that it predicted [C]; NaN where none."""
    c, s = store.done.shape
    splits, pooled = np.full((c, s), np.nan), np.full(c, np.nan)
    usable = log.status != "failed"
    done = store.done.copy()
    # After an early end, those in the race are compared on the splits that all of them have, as the estimate is.
    done[log.finishers] &= done[log.finishers].all(axis=0)
    if isinstance(metric, GivenScore):  # scored with the model; nothing can be pooled
        return np.where(done & usable[:, None], store.answers[metric.name], np.nan), pooled
    # Configurations that ran the same splits are scored together: one group for each round in which any was dropped.
    patterns, group = np.unique(done, axis=0, return_inverse=True)
    for g, pattern in enumerate(patterns):
        members = usable & (group.reshape(-1) == g)
        if not members.any() or not pattern.any():
            continue
        table = store.predictions(members)
        here = np.flatnonzero(members)
        everybody = np.ones((1, len(table.rows)), np.uint8)
        pooled[here] = replace(question, aggregate="pooled").bind(table.only_seen(), metric).scores(everybody)[0]
        for position in np.flatnonzero(pattern):
            split = store.plan.splits[position]
            part = table.take_repeat(split.repeat).take_rows(split.test)
            ones = np.ones((1, len(split.test)), np.uint8)
            splits[here, position] = metric.bind(part, n_jobs=question.n_jobs).scores(ones)[0]
    return splits, pooled


def table_of(predictions: Predictions, store: MemoryStore, log: RaceLog, question: Question) -> Table:
    """Open what the finishers are judged by: their predictions, or their scores on the splits that all of them have."""
    if question.by == "sample":
        return open_predictions(predictions, question)
    complete = store.done[log.finishers].all(axis=0)
    each = (split_scores(store, log, metric, question)[0] for metric in question.metrics)
    return GivenTable(predictions, [scores[log.finishers][:, complete].T for scores in each], question)


def leavers(store: MemoryStore, dropped: Array) -> tuple[Predictions, ...]:
    """Predictions of those who were dropped, bool [C]; together those who left after the same splits."""
    patterns = np.unique(store.done[dropped], axis=0)
    return tuple(store.predictions(dropped & (store.done == pattern).all(axis=1)) for pattern in patterns)


def raced_predictions(store: MemoryStore, log: RaceLog, count_dropped: bool) -> Predictions:
    """Predictions of the finishers; with `count_dropped`, what the others had predicted when they left stays there."""
    left = leavers(store, log.status == "dropped") if count_dropped else ()
    return replace(store.predictions(log.finishers), leavers=left)


def ranks(scores: Array, log: RaceLog, unit: float) -> Array:
    """Rank from 1 (best): finishers by score, then the dropped (latest first), then the failed.

    Equal ones share the best rank, as in scikit-learn; what counts as equal is what the selection takes for equal by a
    metric of this `unit`.
    """
    score = np.where(np.isnan(scores), -np.inf, scores)
    place = np.select([log.status == "finished", log.status == "dropped"], [2, 1], 0)
    round_ = np.where(log.status == "dropped", log.dropped_at, 0)
    order = np.lexsort((-score, -round_, -place))
    rank, top = np.empty(len(scores), np.int32), order[0]
    for at, index in enumerate(order):
        same = (place[index], round_[index]) == (place[top], round_[top])
        equal = score[index] == score[top] or score[index] >= score[top] - margin(score[top], unit)
        if at == 0 or not (same and equal):
            top, rank[index] = index, at + 1
        else:
            rank[index] = rank[top]
    return rank


def _times(store: MemoryStore) -> dict[str, Any]:
    done = np.maximum(store.done.sum(axis=1), 1)
    times: dict[str, Any] = {}
    for name, seconds in (("fit", store.fit_seconds), ("score", store.predict_seconds)):
        mean = seconds.sum(axis=1) / done
        times[f"mean_{name}_time"] = mean
        spread = (np.where(store.done, seconds - mean[:, None], 0.0) ** 2).sum(axis=1) / done
        times[f"std_{name}_time"] = np.sqrt(spread)
    return times


def _parameters(configurations: Sequence[Configuration]) -> dict[str, Any]:
    names = sorted({name for c in configurations for name in c.params})
    columns: dict[str, Any] = {}
    for name in names:
        values = np.empty(len(configurations), object)
        for i, c in enumerate(configurations):
            values[i] = c.params.get(name)
        absent = np.array([name not in c.params for c in configurations])
        present = [v for v, gone in zip(values, absent, strict=True) if not gone]
        dtype = _common_type(present)
        column = np.ma.MaskedArray(np.empty(len(values), dtype), mask=absent)
        for at in np.flatnonzero(~absent):
            column[at] = values[at]
        columns[f"param_{name}"] = column
    return columns


def _common_type(values: list[Any]) -> Any:
    """Numbers get numpy's common type, as in scikit-learn; everything else stays an object."""
    if all(isinstance(v, (bool, int, float, complex, np.number, np.bool_)) for v in values):
        return np.array(values).dtype
    return object


def _nanmean(values: Array) -> Array:
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(defined, values, 0.0).sum(axis=1) / defined.sum(axis=1)
