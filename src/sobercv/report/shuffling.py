"""How much the score of a fitted model falls when columns are shuffled, on all rows and on resamples of them.

Takes a finished search, rows and groups of columns; gives falls. As many shuffles are made as there is time for; every
group is shuffled once before any is shuffled twice. Never fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .. import seeds
from ..containers import Array
from ..inference.resample import Bootstrap
from ..predictions import Predictions
from ..search.prediction_scorer import PredictionScorer
from ..training import Problem
from ..training.fit.response import responses_of

N_RESAMPLES = 200


@dataclass(frozen=True, eq=False)
class Falls:
    """Falls of the score.

    Attributes
    ----------
    falls : float array [groups, shuffles]
    draws : float array [groups, resamples] or None
        Means over shuffles on resamples of the rows; None where the scorer needs the model and not predictions.
    """

    falls: Array
    draws: Array | None


@dataclass(frozen=True, eq=False)
class Rows:
    """What is scored: rows, their truth, their weights and whom they belong to; None where there are none."""

    X: Any
    y: Any
    sample_weight: Any
    groups: Array | None


def falls_of(search: Any, rows: Rows, units: Sequence[Array], n_shuffles: int, end: float) -> Falls:
    """Shuffle each group of columns, and see how the score of the final model falls.

    Parameters
    ----------
    search : BBCSearchCV
        Fitted, with a final model.
    rows : Rows
    units : sequence of int arrays
        Columns that are shuffled together.
    n_shuffles : int
    end : float
        The moment after which no more are made.
    """
    scorer = next(iter(search.scorer_.values())) if isinstance(search.scorer_, dict) else search.scorer_
    ask = _Predicted(search, scorer, rows) if isinstance(scorer, PredictionScorer) else _Scored(search, rows)
    # As scikit-learn shuffles: one order after the other, the same for every column.
    first = check_random_state(seeds.integer(search.seed_, "permutation"))
    generator = check_random_state(first.randint(np.iinfo(np.int32).max + 1))
    step = np.arange(rows.X.shape[0])
    order = step.copy()
    passes: list[Array] = []  # [units, 1 + resamples]
    for _ in range(n_shuffles):
        generator.shuffle(step)
        order = order[step]
        scores: list[Array] = []
        for unit in units:
            if monotonic() > end:
                passes = passes or ([ask.whole - np.stack(scores)] if scores else [])
                return _falls(passes, isinstance(ask, _Predicted))
            scores.append(ask(shuffled(rows.X, unit, order)))
        passes.append(ask.whole - np.stack(scores))
    return _falls(passes, isinstance(ask, _Predicted))


def _falls(passes: list[Array], has_draws: bool) -> Falls:
    if not passes:
        return Falls(np.empty((0, 0)), None)
    every = np.stack(passes)  # [shuffles, units, 1 + resamples]
    return Falls(every[:, :, 0].T, every[:, :, 1:].mean(axis=0) if has_draws else None)


def shuffled(X: Any, columns: Array, order: Array) -> Any:
    """Copy a table with some columns in another order, the same for all of them."""
    copy = X.copy()
    if hasattr(copy, "iloc"):
        for column in columns:
            copy.isetitem(column, X.iloc[order, column].array)
    else:
        copy[:, columns] = X[order][:, columns]
    return copy


class _Scored:
    """Scores by the search's own `score`, on all rows."""

    def __init__(self, search: Any, rows: Rows) -> None:
        self._search, self._rows = search, rows
        self.whole = self(rows.X)

    def __call__(self, X: Any) -> Array:
        weights = () if self._rows.sample_weight is None else (self._rows.sample_weight,)
        return np.array([self._search.score(X, self._rows.y, *weights)])


class _Predicted:
    """Scores of predictions, on all rows and on resamples of them."""

    def __init__(self, search: Any, scorer: PredictionScorer, rows: Rows) -> None:
        self._model, self._metric = search.best_estimator_, scorer.metric
        target = scorer.target.read_new(rows.y)
        problem = Problem.build(rows.X, rows.y, task=target.task, sample_weight=rows.sample_weight)
        self._problem = replace(problem, target=target)
        n = len(target)
        draws = Bootstrap(n, search.seed_, "permutation", groups=rows.groups).counts(0, N_RESAMPLES)
        self._counts = np.vstack([np.ones((1, n), draws.dtype), draws])
        self.whole = self(rows.X)

    def __call__(self, X: Any) -> Array:
        n = len(self._problem.target)
        answers = responses_of(self._problem, self._model, X, n, self._metric.wanted)
        table = Predictions(
            target=self._problem.target,
            responses={name: values[:, None, None] for name, values in answers.items()},
            seen=np.ones((n, 1), bool),
            fold_of=np.zeros((n, 1), np.int64),
            sample_weight=self._problem.sample_weight,
        )
        return np.asarray(self._metric.scores(table, self._counts, n_jobs=1)[:, 0])
