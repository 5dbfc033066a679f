"""Metrics as scikit-learn's scorers: callables of (estimator, X, y).

Takes a fitted model and rows, asks it for what the metric needs, gives the score; never fits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..metrics import Metric
from ..predictions import Predictions
from ..targets import Target
from ..training import Problem
from ..training.fit.response import responses_of


@dataclass(frozen=True, eq=False)
class PredictionScorer:
    """A metric of predictions, called as scikit-learn's scorers are.

    Attributes
    ----------
    metric : Metric
    target : Target
        That of the search: which classes there are, and which is the positive one.
    """

    metric: Metric
    target: Target

    def __call__(self, fitted: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score a fitted model on rows; more is better."""
        problem = Problem.build(X, y, task=self.target.task, sample_weight=sample_weight)
        target = self.target.read_new(y)
        n = len(target)
        answers = responses_of(replace(problem, target=target), fitted, X, n, self.metric.wanted)
        table = Predictions(
            target=target,
            responses={name: values[:, None, None] for name, values in answers.items()},
            seen=np.ones((n, 1), bool),
            fold_of=np.zeros((n, 1), np.int64),
            sample_weight=problem.sample_weight,
        )
        return float(self.metric.scores(table, np.ones((1, n), np.uint8), n_jobs=1)[0, 0])

    def __repr__(self) -> str:
        return f"<scorer {self.metric.name}>"


def as_scorers(found: Any, target: Target) -> Any:
    """Make metrics callable, alone or in a dict; what is no metric stays as it is."""
    if isinstance(found, dict):
        return {name: as_scorers(one, target) for name, one in found.items()}
    return PredictionScorer(found, target.take(slice(0))) if isinstance(found, Metric) else found
