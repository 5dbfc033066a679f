"""`cv_results_`: scikit-learn's table of a search, and what a race adds to it; one entry per configuration."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..containers import Array
from ..inference import Estimate, Question
from ..inference.selection import margin
from ..metrics import Metric
from ..training import Configuration, MemoryStore, RaceLog
from .scoring import TRAINING

#: Columns of the lines that `verbose=3` prints.
WIDTH = 80


def cv_results(
    configurations: Sequence[Configuration],
    store: MemoryStore,
    log: RaceLog,
    question: Question,
    estimates: Mapping[str, Estimate],
    error_score: Any,
) -> dict[str, Any]:
    """Make the table of a search.

    Scores of splits that a configuration did not run (dropped) or could not (failed) are NaN. Ranks follow the scores
    that the search selects by; finishers come first, then the dropped from the last to the first dropped, then the
    failed. A numeric `error_score` stands for every score of those that failed. With tuned thresholds the finishers are
    ranked by their scores with thresholds of their own.
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
        decisive = mean if question.aggregate == "fold" else pooled
        if question.makes_labels:
            estimate = estimates[metric.name]
            results[f"tuned_test_{tail}"] = decisive = np.full(len(log.status), np.nan)
            decisive[estimate.configurations] = estimate.scores
        results[f"rank_test_{tail}"] = ranks(decisive, log, metric.unit)
        trained = store.answers.get(TRAINING + metric.name)
        if trained is not None:
            if not isinstance(error_score, str):
                trained[log.status == "failed"] = error_score
            _add_splits(results, trained, f"train_{tail}")
    results["status"] = log.status
    results["dropped_at"] = np.ma.MaskedArray(log.dropped_at, mask=log.dropped_at < 0)
    return results


def _add_splits(results: dict[str, Any], splits: Array, name: str) -> Array:
    """Add the scores of each split [C, splits], their means and standard deviations; return the means."""
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
    if metric.core is None:  # scored with the model; nothing can be pooled
        return np.where(done & usable[:, None], store.answers[metric.name], np.nan), pooled
    # Configurations that ran the same splits are scored together: one group for each round in which any was dropped.
    patterns, group = np.unique(done, axis=0, return_inverse=True)
    for g, pattern in enumerate(patterns):
        members = usable & (group.reshape(-1) == g)
        if not members.any() or not pattern.any():
            continue
        table = store.predictions(members)
        here = np.flatnonzero(members)
        ones = np.ones((1, len(table.rows)), np.uint8)
        pooled[here] = replace(question, aggregate="pooled").bind(table.only_seen(), metric).scores(ones)[0]
        for position in np.flatnonzero(pattern):
            split = store.plan.splits[position]
            part = table.take_repeat(split.repeat).take_rows(split.test)
            ones = np.ones((1, len(split.test)), np.uint8)
            splits[here, position] = metric.bind(part, n_jobs=question.n_jobs).scores(ones)[0]
    return splits, pooled


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
    """Return a masked column for each parameter: numbers of numpy's common type, all else objects, as scikit-learn."""
    columns: dict[str, Any] = {}
    for name in sorted({name for c in configurations for name in c.params}):
        values = {i: c.params[name] for i, c in enumerate(configurations) if name in c.params}
        numbers = all(isinstance(v, (bool, int, float, complex, np.number, np.bool_)) for v in values.values())
        dtype = np.array(list(values.values())).dtype if numbers else object
        columns[f"param_{name}"] = column = np.ma.MaskedArray(np.empty(len(configurations), dtype), mask=True)
        for i, value in values.items():
            column[i] = value
    return columns


def _nanmean(values: Array) -> Array:
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(defined, values, 0.0).sum(axis=1) / defined.sum(axis=1)


def show_fits(results: dict[str, Any], store: MemoryStore, question: Question) -> None:
    """Print a line with its scores for each fit, as scikit-learn does with `verbose=3`."""
    seconds, n_splits = store.fit_seconds + store.predict_seconds, store.done.shape[1]
    for c, split in np.argwhere(store.done).tolist():

        def scores(name: str, c: int = c, split: int = split) -> str:
            sides = {side: results.get(f"split{split}_{side}_{name}") for side in ("train", "test")}
            return ", ".join(f"{side}={values[c]:.3f}" for side, values in sides.items() if values is not None)

        params = results["params"][c]
        told = ", ".join(f"{name}={params[name]}" for name in sorted(params))
        if question.several:
            score = "".join(f" {metric.name}: ({scores(metric.name)})" for metric in question.metrics)
        else:
            both = scores("score")
            score = f", score=({both})" if "train=" in both else f", score={both.removeprefix('test=')}"
        end = f"{told}{';' if told else ''}{score} total time={seconds[c, split]:6.1f}s"
        sys.stdout.write(f"[CV {split + 1}/{n_splits}] END ".ljust(WIDTH - len(end), ".") + end + "\n")
