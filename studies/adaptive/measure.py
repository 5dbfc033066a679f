"""What is measured on simulated problems: claims and truth for three ways to propose.

Takes a setting and repetitions, gives a row of numbers for each; never aggregates and never writes.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

import sobercv
from sobercv.inference import Question
from sobercv.inference.bootstrap import corrected
from sobercv.inference.tables import Table

from .proposers import Proposer, by_chance, tpe
from .surface import DIMENSIONS, SHAPES, Shape, Surface

SAMPLES = (50, 100, 300, 1000)
TRIALS = (50, 200, 1000)
BOOTSTRAPS = 300
#: Whose scores lead the proposer: nobody's, those of all samples, those of every other sample.
WAYS = ("chance", "all", "half")
#: What is claimed: of each way the plain and the corrected score, and of `half` the score judged by the other half.
COLUMNS = (
    *(f"{what} {way}" for way in WAYS for what in ("truth", "naive", "bbc", "covered bbc", "width bbc")),
    *("apart half", "covered apart half", "width apart half"),
)


@dataclass(frozen=True)
class Setting:
    """One cell of the study."""

    shape: Shape
    n: int
    trials: int

    @property
    def name(self) -> str:
        """Tell it from the others, in a file name."""
        return f"{self.shape.name}-{self.n}-{self.trials}"


def settings() -> list[Setting]:
    """All cells, cheap ones first."""
    return [Setting(shape, n, trials) for trials in TRIALS for n in SAMPLES for shape in SHAPES]


class Problem(Protocol):
    """What is searched: simulated, or a sample of real data."""

    def right(self, point: np.ndarray) -> np.ndarray:
        """Tell which samples this point predicts rightly, bool [N]."""

    def truth(self, point: np.ndarray) -> float:
        """Give the accuracy that this point has on new samples."""


def some_problems(setting: Setting, first: int, last: int, seed: int) -> np.ndarray:
    """Search simulated problems in every way; a row each, numbers in the order of `COLUMNS`."""
    place = [seed, SHAPES.index(setting.shape), setting.n, setting.trials]
    surfaces = [Surface(setting.shape, setting.n, np.random.default_rng([*place, r, 0])) for r in range(first, last)]
    return some_searches(surfaces, setting.trials, setting.n, [*place, first])


def some_searches(problems: Sequence[Problem], trials: int, n: int, place: Sequence[int]) -> np.ndarray:
    """Search problems of n samples in every way; a row each, numbers in the order of `COLUMNS`."""
    half = np.arange(n) % 2 == 0
    parts = []
    for k, way in enumerate(WAYS):
        rng = np.random.default_rng([*place, 1 + k])
        looked_at = half if way == "half" else np.ones(n, bool)
        points, right = search(problems, by_chance if way == "chance" else tpe, trials, looked_at, rng)
        parts.append(
            [_claims(*each, half if way == "half" else None) for each in zip(problems, points, right, strict=True)]
        )
    return np.concatenate(parts, axis=1)


def _claims(problem: Problem, points: np.ndarray, right: np.ndarray, half: np.ndarray | None) -> list[float]:
    table, question = table_of(right), Question.ask("accuracy", n_bootstraps=BOOTSTRAPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sobercv.SoberWarning)
        bbc = sobercv.bbc(None, table, "accuracy", n_bootstraps=BOOTSTRAPS)
        truth = problem.truth(points[bbc.winner])
        row = [truth, bbc.naive, bbc.value, *_covers(bbc, truth)]
        if half is not None:
            apart = corrected(Table(table, question, judges=~half))["accuracy"]
            row += [apart.value, *_covers(apart, truth)]
    return row


def search(
    problems: Sequence[Problem], propose: Proposer, trials: int, looked_at: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Run trials, each proposed by earlier scores on some samples: points [S, T, d], right or not [S, N, T]."""
    points, values = np.empty((len(problems), trials, DIMENSIONS)), np.empty((len(problems), trials))
    right = np.empty((len(problems), len(looked_at), trials), bool)
    for t in range(trials):
        points[:, t] = propose(points[:, :t], values[:, :t], rng)
        for s, problem in enumerate(problems):
            right[s, :, t] = problem.right(points[s, t])
        values[:, t] = right[:, looked_at, t].mean(axis=1)
    return points, right


def table_of(right: np.ndarray) -> sobercv.Predictions:
    """Make a table of two balanced classes, predicted rightly or not."""
    y = np.arange(len(right)) // 2 % 2  # both classes among those looked at, and among the others
    return sobercv.Predictions.build(y, np.where(right, y[:, None], 1 - y[:, None]), task="classification")


def _covers(estimate: sobercv.Estimate, truth: float) -> tuple[float, float]:
    assert estimate.interval is not None
    low, high = estimate.interval
    return float(low <= truth <= high), high - low
