"""The learning curve of the winner: how its score grows with the number of training rows.

Trains the winner on parts of the training rows of the first repeat and scores it within each test fold. The full size
is left out on purpose: the winner was selected by its score there, so that point alone would carry the winner's curse
and make the curve rise on noise. Scores are means over folds, because pooling mixes models of different intercepts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .. import seeds
from ..containers import Array
from ..errors import Note
from ..inference.units import Units
from ..predictions import Predictions
from ..report.evidence import line_of
from ..report.records import Chart
from ..report.summary import estimates_of
from ..report.words import metric_label
from ..tables import Dataset
from ..training import Configuration, Experiment, Problem
from ..training.fit.plan import Split
from ..training.fit.task import fit_one

#: Shares of the training rows, by default and with --learning-curve.
SHARES, ASKED_SHARES = (1 / 3, 2 / 3), (0.2, 0.4, 0.6, 0.8)
N_RESAMPLES = 400
#: Seconds that the curve may take by default.
MOST_SECONDS = 20.0


def learning_curve(
    search: Any, data: Dataset, seconds: float, asked: bool = False
) -> tuple[Chart | None, tuple[Note, ...]]:
    """Train the winner of a fitted search on parts of the training rows, and score what it predicts.

    There is no curve where the fit times of the race say that it would take longer than `seconds`. `asked` says that
    --learning-curve was given: more points, more time, and a note (W704) where the curve is left out.
    """
    shares, table = ASKED_SHARES if asked else SHARES, search.winner_predictions_.take_repeat(0)
    n_folds = search.n_splits_ // search.predictions_.n_repeats
    fits = float(search.cv_results_["mean_fit_time"][search.best_index_]) * n_folds * sum(shares)
    obstacle = _obstacle(search, table, fits > min(seconds, np.inf if asked else MOST_SECONDS))
    if obstacle is not None:
        return None, _left_out(asked, obstacle)
    sizes, tables = [], []
    for share in shares:
        found = _trained_on(search, data, share, n_folds, table)
        if found is None:
            return None, _left_out(asked, f"the winner could not be trained on {share:.0%} of the training rows")
        sizes.append(found[0])
        tables.append(found[1])
    if len(set(sizes)) < 2:
        return None, _left_out(asked, "so few groups have only one smaller part")
    scores = _scores(search, tables, [test for _, test in search.splits_[:n_folds]])  # [1 + resamples, sizes]
    if np.isnan(scores).any():
        return None, _left_out(asked, "the score is not defined within every fold")
    return _chart(search, np.array(sizes), scores), ()


def _obstacle(search: Any, table: Predictions, too_long: bool) -> str | None:
    """Say why there can be no curve, or None."""
    names = {name for each in search.question_.first.wanted for name in each[:1]}
    if search.question_.procedure is not None:
        return "models on fewer rows would need thresholds of their own"
    if search.stopped_ != "finished" or not table.is_complete:  # an ended run should end soon
        return "the run was ended before its last fold"
    if not names or names - set(table.responses):
        return "its predictions were not kept"
    return "the time would not be enough" if too_long else None


def _left_out(asked: bool, why: str) -> tuple[Note, ...]:
    return (Note("W704", f"The learning curve was left out: {why}."),) if asked else ()


def _trained_on(
    search: Any, data: Dataset, share: float, n_folds: int, like: Predictions
) -> tuple[float, Predictions] | None:
    """Mean number of training rows, and predictions of models that were trained on so many; None where one fails."""
    metric = search.question_.first
    problem = Problem.build(data.X, data.y, task=like.task, groups=data.groups, fit_params=data.fit_arguments)
    experiment = Experiment(problem.with_positive(search.pos_label), search.estimator, metric.wanted)
    configuration = Configuration(search.best_index_, search.best_params_)
    responses = {name: np.zeros_like(values) for name, values in like.responses.items()}
    sizes = []
    for fold, (train, test) in enumerate(search.splits_[:n_folds]):
        part = _part(train, like, share, seeds.generator(search.seed_, "learning", fold))
        split = Split(0, fold, part, test)
        outcome = fit_one(experiment, configuration, split)
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


def _scores(search: Any, tables: list[Predictions], tests: list[Array]) -> Array:
    """Mean over folds of the score within each fold; the first row is of all samples, the others of resamples.

    A fold that a resample left without a defined score is left out of that resample's mean.
    """
    n, first, metric = tables[0].n_samples, tables[0], search.question_.first
    groups = None if first.groups is None else np.unique(first.groups, return_inverse=True)[1].reshape(-1)
    counts = Units(n, search.seed_, "learning", groups=groups).counts(0, N_RESAMPLES)
    counts = np.vstack([np.ones((1, n), counts.dtype), counts])
    total, n_defined = np.zeros((len(counts), len(tables))), np.zeros((len(counts), len(tables)))
    for test in tests:
        inside = np.zeros_like(counts)
        inside[:, test] = counts[:, test]
        found = np.stack([metric.scores(table, inside, n_jobs=1)[:, 0] for table in tables], axis=1)
        if np.isnan(found[0]).any():
            return found
        total += np.nan_to_num(found)
        n_defined += ~np.isnan(found)
    with np.errstate(invalid="ignore"):
        return np.asarray(total / n_defined)


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
        lines=(line_of("winner", sizes, np.stack([scores[0], low, high]), marked=True),),
        sentence="The winner trained on parts of the training rows of each fold: the mean over folds of its score on "
        "the test rows. All training rows are not among the parts: the winner was selected by its score there, which "
        "is too good for that reason. Read the slope, not the level, and mind how wide the band is.",
    )
