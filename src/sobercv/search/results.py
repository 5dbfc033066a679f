"""`cv_results_`: scikit-learn's table of a search, and what a race adds to it; one entry per configuration."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..containers import Array
from ..inference import Estimate, Question
from ..inference.selection import margin
from ..metrics import Metric
from ..metrics.contract import GivenScore
from ..training import Configuration, MemoryStore, RaceLog
from .scoring import TRAINING

#: Columns of the lines that `verbose=3` prints.
WIDTH = 80


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
        trained = store.answers.get(TRAINING + metric.name)
        if trained is not None:
            if not isinstance(error_score, str):
                trained[log.status == "failed"] = error_score
            _add_splits(results, trained, f"train_{tail}")
    results["status"] = log.status
    results["dropped_at"] = np.ma.MaskedArray(log.dropped_at, mask=log.dropped_at < 0)
    return results


def add_tuned(results: dict[str, Any], log: RaceLog, question: Question, estimates: Mapping[str, Estimate]) -> None:
    """Add the scores of the finishers with thresholds of their own, and rank by them.

    Parameters
    ----------
    results : dict of arrays
        `cv_results_`.
    log : RaceLog
    question : Question
    estimates : mapping of str to Estimate
        By metric.
    """
    if not question.makes_labels:
        return
    for metric in question.metrics:
        estimate = estimates[metric.name]
        tail = metric.name if question.several else "score"
        tuned = np.full(len(log.status), np.nan)
        tuned[estimate.configurations] = estimate.scores
        results[f"tuned_test_{tail}"] = tuned
        results[f"rank_test_{tail}"] = ranks(tuned, log, metric.unit)


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


def show_fits(results: dict[str, Any], store: MemoryStore, names: list[str]) -> None:
    """Print a line with its scores for each fit, as scikit-learn does with `verbose=3`.

    Parameters
    ----------
    results : dict of arrays
        `cv_results_`.
    store : MemoryStore
        Which fits were made, and how long they took.
    names : list of str
        Of the metrics; empty where there is one.
    """
    for line in _lines(results, store, names):
        sys.stdout.write(line + "\n")


def _lines(results: dict[str, Any], store: MemoryStore, names: list[str]) -> Iterator[str]:
    seconds, n_splits = store.fit_seconds + store.predict_seconds, store.done.shape[1]
    for c, params in enumerate(results["params"]):
        told = ", ".join(f"{name}={params[name]}" for name in sorted(params))
        for split in np.flatnonzero(store.done[c]).tolist():
            each = [f" {name}: ({_score(results, split, name, c)})" for name in names]
            score = "".join(each) if names else f", score={_alone(results, split, c)}"
            end = f"{told}{';' if told else ''}{score} total time={seconds[c, split]:6.1f}s"
            yield f"[CV {split + 1}/{n_splits}] END ".ljust(WIDTH - len(end), ".") + end


def _score(results: dict[str, Any], split: int, name: str, c: int) -> str:
    sides = [side for side in ("train", "test") if f"split{split}_{side}_{name}" in results]
    return ", ".join(f"{side}={results[f'split{split}_{side}_{name}'][c]:.3f}" for side in sides)


def _alone(results: dict[str, Any], split: int, c: int) -> str:
    both = _score(results, split, "score", c)
    return f"({both})" if "train=" in both else both.removeprefix("test=")
