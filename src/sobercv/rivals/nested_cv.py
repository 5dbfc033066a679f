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
from ..search.pairs import tournament
from ..search.scoring import Routed
from ..training import Experiment, MemoryStore, Plan, Problem, expand, make_pool
from ..training.race import race


def nested_cv(search: BBCSearchCV, X: Any, y: Any, groups: Any, sample_weight: Any) -> tuple[Estimate, int]:
    """Return the estimate and the number of inner fits; every model that two outer loops share is trained once.

    The inner folds of an outer fold k are the other folds. The model trained without folds {j, k} predicts fold j for
    outer fold k and fold k for outer fold j, so K (K - 1) / 2 * C inner fits suffice; the outer models are those of
    plain cross-validation.
    """
    routed = Routed.plain(search.estimator, groups, sample_weight)
    problem, _ = read(search, X, y, routed)
    question = replace(search.question_, metrics=search.question_.metrics[:1], several=False)
    metric = question.first
    plan = Plan.build(problem, search.splits_)  # never split anew: a splitter without a seed gives other folds
    check_partition(plan)
    table: Predictions = search.predictions_
    inner, partner, n_fits = _pair_models(search, problem, plan, metric)
    kept = np.intersect1d(table.configurations, inner.configurations)
    scores = []
    for k in range(plan.n_splits):
        within = _inner_table(table, inner, partner, k, kept)
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


def _pair_models(search: BBCSearchCV, problem: Problem, plan: Plan, metric: Metric) -> tuple[Predictions, Array, int]:
    """Train every configuration without each pair of folds; return predictions, the partners [K, R], number of fits."""
    by_round, partner = tournament(plan)
    configurations = expand(search.param_grid, None, search.seed_, search.estimator)
    store = MemoryStore(problem, by_round, len(configurations))
    experiment = Experiment(problem, search.estimator, metric.wanted)
    log = race(experiment, configurations, by_round, pool=make_pool(search.n_jobs), store=store)
    return store.predictions(log.finishers), partner, log.n_fits


def _inner_table(table: Predictions, inner: Predictions, partner: Array, k: int, kept: Array) -> Predictions:
    """Predictions of the inner cross-validation of outer fold k: row i is that of the models without its fold and k."""
    fold = table.fold_of[:, 0]
    rows = np.flatnonzero(fold != k)
    round_ = (partner == k).argmax(axis=1)[fold[rows]]  # in which the fold of each row was paired with k
    columns = np.searchsorted(inner.configurations, kept)
    responses = {
        name: values[rows[:, None], columns[None, :], round_[:, None]][:, :, None]
        for name, values in inner.responses.items()
    }
    part = table.take_configurations(np.isin(table.configurations, kept)).take_rows(rows)
    return replace(part, responses=responses)
