"""Nested cross-validation by training anew for every outer fold (paper, algorithm 3), no model twice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..inference import Estimate
from ..inference.estimate import Selected
from ..inference.tables import Table
from ..metrics import Metric
from ..predictions import Predictions
from ..search.bbc_search_cv import BBCSearchCV
from ..search.design import read
from ..search.scoring import Routed
from ..training import Experiment, MemoryStore, Plan, Problem, Split, expand, make_pool
from ..training.race import race


def nested_cv(search: BBCSearchCV, X: Any, y: Any, groups: Any, sample_weight: Any) -> tuple[Estimate, int]:
    """Return the estimate and the number of inner fits; every model that two outer loops share is trained once.

    The inner folds of an outer fold k are the other folds. The model trained without folds {j, k} predicts fold j for
    outer fold k and fold k for outer fold j, so K (K - 1) / 2 * C inner fits suffice; the outer models are those of
    plain cross-validation.
    """
    routed = Routed.plain(search.estimator, groups, sample_weight)
    problem, _ = read(search, X, y, routed)
    question = search.question_.by_the_first()
    metric = question.first
    plan = Plan.build(problem, search.splits_)  # never split anew: a splitter without a seed gives other folds
    check_partition(plan)
    table: Predictions = search.predictions_
    inner, n_fits = _pair_models(search, problem, plan, metric)
    kept = np.intersect1d(table.configurations, inner.configurations)
    scores = []
    for k in range(plan.n_splits):
        within = _inner_table(table, inner, plan, k, kept)
        if not question.needs_standard_errors:  # nothing is resampled, so two groups are enough to select on
            within = replace(within, groups=None)
        fold = Table(within, question)
        winner = int(fold.select(fold.wholes[0][None])[0])
        if winner < 0:
            continue
        outer = table.take_configurations(np.flatnonzero(table.configurations == kept[winner]))
        outer = outer.take_rows(plan.splits[k].test)
        scores.append(metric.scores(outer, np.ones((1, outer.n_samples), np.uint8))[0, 0])
    defined = np.asarray(scores)[~np.isnan(scores)]
    if len(defined) == 0:
        raise SoberError("E109", f"{metric.name} is undefined on every outer fold. Use fewer folds.")
    plain: Estimate = search.estimate_
    selected = Selected(plain.winner, plain.configurations, plain.scores)
    undefined = plan.n_splits - len(defined)
    about = {"selected": selected, "data": plain.data, "positive": plain.positive, "n_undefined": undefined}
    estimate = Estimate(float(defined.mean()), plain.naive, "ncv", plain.metric, **about)
    return estimate, n_fits


def check_partition(plan: Plan) -> None:
    """Refuse splits that are no single partition of all samples."""
    if plan.n_repeats > 1 or not plan.seen(range(plan.n_splits)).all():
        raise SoberError("E114", "Nested cross-validation needs folds that partition the samples once. Pass cv=10.")


def _pair_models(search: BBCSearchCV, problem: Problem, plan: Plan, metric: Metric) -> tuple[Predictions, int]:
    """Train every configuration without each pair of folds; each pair is a repeat that predicts both of its folds."""
    k = plan.n_splits
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    splits = []
    for repeat, (i, j) in enumerate(pairs):
        test = np.sort(np.concatenate([plan.splits[i].test, plan.splits[j].test]))
        train = np.setdiff1d(plan.splits[i].train, plan.splits[j].test)
        splits.append(Split(repeat, 0, train, test))
    by_pair = Plan(problem.n_samples, len(pairs), (tuple(splits),))
    configurations = expand(search.param_grid, None, search.seed_, search.estimator)
    store = MemoryStore(problem, by_pair, len(configurations))
    experiment = Experiment(problem, search.estimator, metric.wanted)
    log = race(experiment, configurations, by_pair, pool=make_pool(search.n_jobs), store=store)
    return store.predictions(log.finishers), log.n_fits


def _inner_table(table: Predictions, inner: Predictions, plan: Plan, k: int, configurations: Array) -> Predictions:
    """Predictions of the inner cross-validation of outer fold k: row i comes from the pair {fold of i, k}."""
    n_folds = plan.n_splits
    number = np.zeros((n_folds, n_folds), np.int64)
    upper = np.triu_indices(n_folds, 1)
    number[upper] = np.arange(len(upper[0]))
    number = number + number.T
    fold = plan.fold_of[:, 0]
    rows = np.flatnonzero(fold != k)
    which = number[fold[rows], k]
    columns = np.searchsorted(inner.configurations, configurations)
    responses = {
        name: values[rows[:, None], columns[None, :], which[:, None]][:, :, None]
        for name, values in inner.responses.items()
    }
    part = table.take_configurations(np.isin(table.configurations, configurations)).take_rows(rows)
    return replace(part, responses=responses)
