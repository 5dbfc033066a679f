"""The learning curve of the winner, which tells whether more samples would help.

Takes a fitted search and its data, trains the winner on parts of the training rows of the first repeat, gives a chart
and notes: on two parts, or nothing where that would take too long; on four, and with a reason where there is none, if
it was asked for. The score at full size is the run's own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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

#: Of the training rows, unless the curve was asked for, and if it was.
SHARES, ASKED_SHARES = (1 / 3, 2 / 3), (0.2, 0.4, 0.6, 0.8)
N_RESAMPLES = 400
#: Seconds that it may take where nobody asked for it.
MOST_SECONDS = 20.0
#: The share of resamples in which more training rows score better, from which on the curve is said to rise.
SURE = 0.95


def learning_curve(
    search: Any, data: Dataset, seconds: float, asked: bool = False
) -> tuple[Chart | None, tuple[Note, ...]]:
    """Train the winner on parts of the training rows, and score what it predicts.

    Parameters
    ----------
    search : BBCSearchCV
        Fitted.
    data : Dataset
        That it was fitted on.
    seconds : float
        What it may take; where the race says that it would take longer, there is no curve.
    asked : bool
        Whether somebody wants it: more points, more time, and a note where there is no curve.
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
    sizes.append(float(np.mean([len(train) for train, _ in search.splits_[:n_folds]])))
    scores = _scores(search, [*tables, table])  # [1 + resamples, sizes]
    if np.isnan(scores).any():
        return None, _left_out(asked, "the score is not defined in every resample")
    curve = Curve(np.array(sizes), scores, int(np.abs(np.array(shares) - 2 / 3).argmin()))
    return _chart(search, curve), _notes(curve, data.n_rows, asked)


@dataclass(frozen=True)
class Curve:
    """Scores by the number of training rows; the first row of scores is of all samples, the others of resamples."""

    sizes: Array  # [sizes], rising
    scores: Array  # [1 + resamples, sizes]
    before: int  # about two thirds of the rows, which the last size is compared with

    @property
    def rises(self) -> bool:
        """Whether more training rows score better in nearly all resamples."""
        return float((self.scores[1:, -1] > self.scores[1:, self.before]).mean()) >= SURE


def _obstacle(search: Any, table: Predictions, too_long: bool) -> str | None:
    """Say why there can be no curve, or None."""
    names = {name for each in search.question_.first.wanted for name in each[:1]}
    if search.question_.procedure is not None:
        return "models on fewer rows would need thresholds of their own"
    if search.stopped_ != "finished" or not table.is_complete:  # who ends a run is in a hurry
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


def _chart(search: Any, curve: Curve) -> Chart:
    sizes, scores = curve.sizes, curve.scores
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
        sentence="The winner trained on parts of the training rows of each fold and on all of them, scored on the same "
        "samples. "
        + (
            "The line still rises at its right end: more samples would likely give a better model."
            if curve.rises
            else "The line does not clearly rise at its right end: more samples like these might help little."
        ),
    )


def _notes(curve: Curve, n: int, asked: bool) -> tuple[Note, ...]:
    if not curve.rises and not asked:
        return ()
    digits = digits_for(curve.scores[0].tolist())
    first, last = (number(float(curve.scores[0, k]), digits) for k in (curve.before, -1))
    sizes = f"{curve.sizes[curve.before]:,.0f} rows the winner scores {first}, on {curve.sizes[-1]:,.0f} rows {last}"
    if not curve.rises:
        text = f"The learning curve does not clearly rise at its end: trained on {sizes}."
        return (Note("W714", f"{text} More samples like these might help little."),)
    text = f"The learning curve still rises: trained on {sizes}."
    return (Note("W713", f"{text} More than {n:,} samples would likely give a better model."),)
