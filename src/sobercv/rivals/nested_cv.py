"""Nested cross-validation by training anew for every outer fold (paper, algorithm 3), no model twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..inference import Estimate, Question
from ..inference.tables import Table
from ..search.bbc_search_cv import BBCSearchCV
from ..search.design import Design
from ..search.pairs import tournament
from ..training import Experiment, MemoryStore, expand, make_pool
from ..training.race import race
from .from_predictions import judged, mean_of_folds


def nested_cv(search: BBCSearchCV, made: Design) -> tuple[Estimate, int]:
    """Return the estimate and the number of inner fits; every model that two outer loops share is trained once.

    The splits of the design, those of the search, partition the samples once.
    The inner folds of an outer fold k are the other folds. The model trained without folds {j, k} predicts fold j for
    outer fold k and fold k for outer fold j, so K (K - 1) / 2 * C inner fits suffice; the outer models are those of
    plain cross-validation.
    """
    question: Question = search.question_
    metric, problem, plan = question.first, made.problem, made.plan
    by_round, partner = tournament(plan)  # partner [K, R]: what each fold is paired with in each round
    configurations = expand(search.param_grid, None, search.seed_, search.estimator)
    store = MemoryStore(problem, by_round, len(configurations))
    experiment = Experiment(problem, search.estimator, metric.wanted)
    log = race(experiment, configurations, by_round, pool=make_pool(search.n_jobs), store=store)
    whole, pairs = search.predictions_, store.predictions(log.finishers)
    table = whole.take_configurations(np.isin(whole.configurations, pairs.configurations))
    pairs = pairs.take_configurations(np.isin(pairs.configurations, table.configurations))
    scores, fold = np.full(plan.n_splits, np.nan), table.fold_of[:, 0]
    for k, split in enumerate(plan.splits):
        # The inner cross-validation of outer fold k: row i is that of the models without its fold and k.
        rows = np.flatnonzero(fold != k)
        round_ = (partner == k).argmax(axis=1)[fold[rows]]  # in which the fold of each row was paired with k
        responses = {name: values[rows, :, round_][:, :, None] for name, values in pairs.responses.items()}
        within = replace(table.take_rows(rows), responses=responses)
        if not question.needs_standard_errors:  # nothing is resampled, so two groups are enough to select on
            within = replace(within, groups=None)
        inner = Table(within, question)
        winner = int(inner.select(inner.wholes[0][None])[0])
        if winner >= 0:
            outer = table.take_configurations(np.array([winner])).take_rows(split.test)
            scores[k] = metric.scores(outer, np.ones((1, outer.n_samples), np.uint8))[0, 0]
    value, n_undefined = mean_of_folds(scores, metric.name)
    estimate = judged(Table(whole, question), "naive")[metric.name]
    return replace(estimate, value=value, method="ncv", n_undefined=n_undefined), log.n_fits
