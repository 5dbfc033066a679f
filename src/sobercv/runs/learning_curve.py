"""The learning curve of the winner, which tells whether more samples would help.

Takes a fitted search and its data, trains the winner on a third and on two thirds of each training part of the first
repeat, gives a chart and a note; where that would take too long, nothing. The score at full size is the run's own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .. import seeds
from ..containers import Array
from ..errors import Note
from ..inference.resample import Bootstrap
from ..predictions import Predictions
from ..report.chart_lines import line_of
from ..report.evidence import Band
from ..report.records import Chart
from ..report.search_records import estimates_of
from ..report.words import digits_for, metric_label, number
from ..tables import Dataset
from ..training import Configuration, Experiment, Problem
from ..training.fit.plan import Split
from ..training.fit.task import build, fit_one

SHARES = (1 / 3, 2 / 3)
N_RESAMPLES = 400
#: Seconds that it may take where nobody set a limit.
MOST_SECONDS = 20.0
#: The share of resamples in which more training rows score better, from which on the curve is said to rise.
SURE = 0.95


def learning_curve(search: Any, data: Dataset, seconds: float) -> tuple[Chart | None, tuple[Note, ...]]:
    """Train the winner on parts of the training rows, and score what it predicts.

    Parameters
    ----------
    search : BBCSearchCV
        Fitted.
    data : Dataset
        That it was fitted on.
    seconds : float
        What it may take; where the race says that it would take longer, there is no curve.
    """
    metric, table = search.question_.first, search.winner_predictions_.take_repeat(0)
    n_folds = search.n_splits_ // search.predictions_.n_repeats
    expected = float(search.cv_results_["mean_fit_time"][search.best_index_]) * n_folds * sum(SHARES)
    names = {name for each in metric.wanted for name in each[:1]}
    if search.question_.procedure is not None:  # models on fewer rows would need thresholds of their own
        return None, ()
    too_long = expected > min(seconds, MOST_SECONDS) or search.stopped_ != "finished"  # who ends a run is in a hurry
    if too_long or not table.is_complete or not names or names - set(table.responses):
        return None, ()
    sizes, tables = [], []
    for share in SHARES:
        found = _trained_on(search, data, share, n_folds, table)
        if found is None:
            return None, ()
        sizes.append(found[0])
        tables.append(found[1])
    sizes.append(float(np.mean([len(train) for train, _ in search.splits_[:n_folds]])))
    scores = _scores(search, [*tables, table])  # [1 + resamples, sizes]
    if np.isnan(scores).any():
        return None, ()
    return _chart(search, np.array(sizes), scores), _notes(scores, data.n_rows)


def _trained_on(
    search: Any, data: Dataset, share: float, n_folds: int, like: Predictions
) -> tuple[float, Predictions] | None:
    """Mean number of training rows, and predictions of models that were trained on so many; None where one fails."""
    metric = search.question_.first
    problem = Problem.build(data.X, data.y, task=like.task, groups=data.groups).with_positive(search.pos_label)
    experiment = Experiment(problem, search.estimator, metric.wanted)
    configuration = Configuration(search.best_index_, search.best_params_)
    responses = {name: np.zeros_like(values) for name, values in like.responses.items()}
    sizes = []
    for fold, (train, test) in enumerate(search.splits_[:n_folds]):
        part = _part(train, like, share, seeds.generator(search.seed_, "learning", fold))
        split = Split(0, fold, part, test)
        outcome = fit_one(experiment, build(search.estimator, configuration), configuration, split)
        if outcome.failure is not None:
            return None
        sizes.append(len(part))
        for name, values in outcome.responses.items():
            responses[name][test, 0, 0] = values
    asked = {each[0] for each in metric.wanted}
    return float(np.mean(sizes)), replace(like, responses={n: v for n, v in responses.items() if n in asked})


def _part(train: Array, like: Predictions, share: float, generator: np.random.Generator) -> Array:
    """Draw some of the training rows, whole groups where there are groups; the smaller part lies in the larger."""
    if like.groups is not None:
        units = np.unique(like.groups[train])
        chosen = generator.permutation(units)[: max(2, round(share * len(units)))]
        return np.asarray(train[np.isin(like.groups[train], chosen)])
    return np.sort(generator.permutation(train)[: max(2, round(share * len(train)))])


def _scores(search: Any, tables: list[Predictions]) -> Array:
    n, first = tables[0].n_samples, tables[0]
    groups = None if first.groups is None else np.unique(first.groups, return_inverse=True)[1].reshape(-1)
    counts = Bootstrap(n, search.seed_, "learning", groups=groups).counts(0, N_RESAMPLES)
    counts = np.vstack([np.ones((1, n), counts.dtype), counts])
    return np.stack([search.question_.first.scores(table, counts, n_jobs=1)[:, 0] for table in tables], axis=1)


def _chart(search: Any, sizes: Array, scores: Array) -> Chart:
    label = metric_label(estimates_of(search)[0].metric, estimates_of(search)[0].positive)
    tail = (1.0 - search.confidence_level) / 2.0
    low, high = np.quantile(scores[1:], (tail, 1.0 - tail), axis=0)
    room = 0.08 * float(high.max() - low.min()) or 0.1
    return Chart(
        name="learning",
        title="Learning curve",
        x_label="training rows",
        y_label=label,
        x_range=(0.9 * float(sizes[0]), 1.04 * float(sizes[-1])),
        y_range=(float(low.min()) - room, float(high.max()) + room),
        lines=(line_of("winner", sizes, Band(scores[0], low, high), marked=True),),
        sentence="The winner trained on a third, on two thirds and on all of each training part, scored on the same "
        "samples. Where the line still rises at its right end, more samples would likely help.",
    )


def _notes(scores: Array, n: int) -> tuple[Note, ...]:
    gain = scores[1:, 2] - scores[1:, 1]
    if float((gain > 0).mean()) < SURE:
        return ()
    digits = digits_for(scores[0].tolist())
    return (
        Note(
            "W713",
            f"The learning curve still rises: with two thirds of the training rows the winner scores "
            f"{number(float(scores[0, 1]), digits)}, with all of them {number(float(scores[0, 2]), digits)}. More than "
            f"{n:,} samples would likely give a better model.",
        ),
    )
