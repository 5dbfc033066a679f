"""From the log and the store of a race to what users read: honest estimates, `cv_results_`, and the final model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import FitFailedWarning

from ..containers import Array
from ..errors import Note, SoberError, SoberWarning, warn
from ..inference import Estimate, Question
from ..inference.estimate import shown
from ..inference.notes import warned
from ..inference.procedures import Mix, Threshold
from ..inference.selection import margin
from ..inference.tables import MIN_UNITS, Table, open_table
from ..metrics import Metric
from ..predictions import Predictions
from ..signals import Terminated
from ..training import Configuration, MemoryStore, RaceLog
from ..training.race import UNREACHED
from .scoring import TRAINING


class FailedConfigurations(SoberWarning, FitFailedWarning):  # type: ignore[misc]
    """Some configurations failed: a warning of sober, and scikit-learn's `FitFailedWarning`."""


def unreached(n: int, total: int) -> str:
    """Say that configurations were set aside only because there was no time for them."""
    return (
        f"{n:,} of {total:,} configurations were not reached before the time limit and were set aside because of their "
        "position, not their score."
    )


def report_failures(log: RaceLog, configurations: Sequence[Configuration]) -> None:
    """Warn once that configurations failed, with the first cause."""
    (first, cause), n, total = next(iter(log.failures.items())), len(log.failures), len(log.status)
    if all(cause.message == UNREACHED for cause in log.failures.values()):
        text = unreached(n, total)
    else:
        params = configurations[first].params
        which = f"configuration {first} ({shown(params)})" if params else f"configuration {first}"
        told = f"{which}, {str(cause).rstrip('.')}. See race_.failures."
        text = f"{n} of {total} configurations failed and were set aside; the first is {told}"
    warn("W204", text, FailedConfigurations)


def incomplete(log: RaceLog, store: MemoryStore) -> Note:
    """Say how incomplete a cross-validation that was stopped is; refuse to go on when no split is complete."""
    causes = {"interrupted": "interrupted (Ctrl-C)", "terminated": "terminated by a signal"}
    cause, n_splits = causes.get(log.stopped, "stopped by max_seconds"), store.done.shape[1]
    positions = np.flatnonzero(store.done[log.finishers].all(axis=0))
    seen, groups = store.plan.seen(positions).any(axis=1), store.problem.group_codes
    units = seen.sum() if groups is None else len(np.unique(groups[seen]))
    if units < MIN_UNITS:
        early = f"{MIN_UNITS} groups were predicted" if units else "one split was complete"
        advice = "Give it more time" if log.stopped == "max_seconds" else "Fit again"
        raise SoberError(
            "E604" if log.stopped == "max_seconds" else "E601",
            f"The search was {cause} before {early} ({log.n_fits} of {store.done.size} fits completed), "
            f"so there is nothing to judge. {advice}; with store= it continues where it stopped.",
        ) from (None if log.signal is None else Terminated(log.signal))
    return warned(
        "W601",
        f"The cross-validation is incomplete: {cause} after {len(positions)} of {n_splits} splits. The estimate uses "
        f"the {seen.sum()} of {store.plan.n_samples} samples that every configuration in the race has predicted.",
    )


def predictions_of(store: MemoryStore, finished: Array, dropped: Array) -> Predictions:
    """Predictions of the finished, and beside them of the dropped (bool [C]): one table for each set of splits run."""
    patterns = np.unique(store.done[dropped], axis=0)
    tables = (store.predictions(dropped & (store.done == pattern).all(axis=1)) for pattern in patterns)
    return replace(store.predictions(finished), dropped=tuple(tables))


def table_of(predictions: Predictions, question: Question, splits: Sequence[Any], scores: Mapping[str, Array]) -> Table:
    """Return what finishers are judged by: their predictions, or their scores on the splits that all of them have.

    `splits` are pairs of training and test rows; `scores`, [finishers, splits] by metric, count where folds do.
    """
    if question.by == "sample":
        return open_table(predictions, question)
    complete = np.array([predictions.seen[test, 0].all() for _, test in splits])
    return Table(predictions, question, scores=[scores[metric.name][:, complete].T for metric in question.metrics])


def winner_predictions(store: MemoryStore, predictions: Predictions, winner: int, decision: Any) -> Predictions:
    """Predictions of one configuration with all that was kept of it, on rows that judge; labels by its threshold."""
    if winner in store.failures:  # a callable `refit` may train what failed in a fold
        return replace(predictions, responses={})
    own = store.predictions(np.arange(len(store.done)) == winner)
    own = replace(own, seen=predictions.seen & own.seen)
    if not isinstance(decision, Threshold) or own.classes is None or decision.response not in own.responses:
        return own
    k, values = own.classes.tolist().index(decision.positive), own.responses[decision.response]
    if k == 0:  # scores are those of the second class
        values = 1.0 - values if decision.response == "predict_proba" else -values
    labels = np.where(values >= decision.value, k, 1 - k).astype(np.int8)
    return replace(own, responses={**own.responses, "predict": labels})


def estimate_of(search: Any) -> Estimate:
    """Return the estimate of a fitted search by the metric that selects."""
    return search.estimate_[search.question_.first.name] if search.multimetric_ else search.estimate_


def cv_results(
    configurations: Sequence[Configuration],
    store: MemoryStore,
    log: RaceLog,
    question: Question,
    scored: Mapping[Metric, tuple[Array, Array]],
    estimates: Mapping[str, Estimate],
    error_score: Any,
) -> dict[str, Any]:
    """Make `cv_results_`: scikit-learn's table of a search, and what a race adds to it.

    `scored` has what `split_scores` returned for each metric. Scores of splits that were not run are NaN; of what
    failed, `error_score` where that is a number. Ranks follow the scores that the search selects by: with tuned
    thresholds those of each finisher with its own.
    """
    results: dict[str, Any] = {}
    for name, seconds in (("fit", store.fit_seconds), ("score", store.predict_seconds)):
        ran = store.done | ~store.done.any(axis=1, keepdims=True)
        _add_mean(results, np.where(ran, seconds, np.nan), f"{name}_time", splits=False)
    listed = [dict(c.params) for c in configurations]
    for name in sorted({name for params in listed for name in params}):
        values = {i: params[name] for i, params in enumerate(listed) if name in params}
        numbers = all(isinstance(v, (bool, int, float, complex, np.number, np.bool_)) for v in values.values())
        dtype = np.array(list(values.values())).dtype if numbers else object
        results[f"param_{name}"] = column = np.ma.MaskedArray(np.empty(len(configurations), dtype), mask=True)
        for i, value in values.items():
            column[i] = value
    results["params"] = listed
    failed = (log.status == "failed") & (not isinstance(error_score, str))
    stand_in = np.nan if isinstance(error_score, str) else error_score
    for metric, (splits, pooled) in scored.items():
        tail = metric.name if question.several else "score"
        splits[failed] = pooled[failed] = stand_in
        mean = _add_mean(results, splits, f"test_{tail}")
        results[f"pooled_test_{tail}"] = pooled
        decisive = mean if question.aggregate == "fold" or metric.core is None else pooled
        if question.makes_labels:
            estimate = estimates[metric.name]
            results[f"tuned_test_{tail}"] = decisive = np.full(len(log.status), np.nan)
            decisive[estimate.configurations] = estimate.scores
        results[f"rank_test_{tail}"] = ranks(decisive, log, metric.unit)
        trained = store.answers.get(TRAINING + metric.name)
        if trained is not None:
            trained[failed] = stand_in
            _add_mean(results, trained, f"train_{tail}")
    results["status"] = log.status
    results["dropped_at"] = np.ma.MaskedArray(log.dropped_at, mask=log.dropped_at < 0)
    return results


def _add_mean(results: dict[str, Any], values: Array, name: str, splits: bool = True) -> Array:
    """Add the scores of each split [C, splits], means and standard deviations of what is defined; return the means."""
    if splits:
        results.update({f"split{i}_{name}": column for i, column in enumerate(values.T)})
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(defined, values, 0.0).sum(axis=1) / defined.sum(axis=1)
        squares = np.where(defined, (values - mean[:, None]) ** 2, 0.0).sum(axis=1) / defined.sum(axis=1)
    results |= {f"mean_{name}": mean, f"std_{name}": np.sqrt(squares)}
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
        pooled[here] = question.bind(table.only_seen(), metric, pooled=True).scores(ones)[0]
        for position in np.flatnonzero(pattern):
            split = store.plan.splits[position]
            part = table.take_repeat(split.repeat).take_rows(split.test)
            ones = np.ones((1, len(split.test)), np.uint8)
            splits[here, position] = metric.bind(part, n_jobs=question.n_jobs).scores(ones)[0]
    return splits, pooled


def ranks(scores: Array, log: RaceLog, unit: float) -> Array:
    """Rank from 1 (best): finishers by score, then the dropped (latest first), then the failed.

    Equal ones share the best rank; equal is what the selection takes for equal by a metric of this `unit`.
    """
    score = np.where(np.isnan(scores), -np.inf, scores)
    place = np.select([log.status == "finished", log.status == "dropped"], [np.inf, log.dropped_at], -1)
    order = np.lexsort((-score, -place))
    rank, top = np.empty(len(scores), np.int32), order[0]
    for at, index in enumerate(order, 1):
        equal = score[index] == score[top] or score[index] >= score[top] - margin(score[top], unit)
        if index == order[0] or not (equal and place[index] == place[top]):
            top, rank[index] = index, at
        rank[index] = rank[top]
    return rank


def trained(model: Any, X: Any, y: Any, **arguments: Any) -> Any:
    """Fit a model in place and return it; some return nothing from their own `fit`, and some have no target."""
    model.fit(X, *(() if y is None else (y,)), **arguments)
    return model


def as_decided(decision: Threshold | Mix, models: Sequence[Any], X: Any, y: Any) -> Any:
    """Return the model that predicts as was decided: the winner with its threshold, or a vote of all members."""
    from sklearn.ensemble import VotingClassifier, VotingRegressor
    from sklearn.frozen import FrozenEstimator
    from sklearn.model_selection import FixedThresholdClassifier

    frozen = [FrozenEstimator(model) for model in models]
    if isinstance(decision, Threshold):
        told = {"threshold": decision.value, "pos_label": decision.positive, "response_method": decision.response}
        return FixedThresholdClassifier(frozen[0], **told).fit(X, y)
    named = [(f"configuration_{i}", model) for i, model in zip(decision.configurations, frozen, strict=True)]
    if hasattr(models[0], "predict_proba"):
        return VotingClassifier(named, voting="soft", weights=list(decision.weights)).fit(X, y)
    return VotingRegressor(named, weights=list(decision.weights)).fit(X, y)
