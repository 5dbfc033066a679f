"""The design of the simulation: settings, seeds, and what is measured on one simulated table.

Takes a setting and a repetition, gives one row of numbers; never aggregates and never writes.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

import sobercv
from sobercv.inference import Question
from sobercv.testing import simulate

from ..race import replay

SAMPLES = (20, 40, 60, 80, 100, 500, 1000)
CONFIGURATIONS = (50, 100, 200, 300, 500, 1000, 2000)
BETAS = ((9, 6), (14, 6), (24, 6), (54, 6))
LEVELS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99)
FOLDS = 10
BOOTSTRAPS = 1000
PROTOCOLS = ("naive", "tt", "ncv", "bbc", "bced", "bbc-f", "632+")
WITH_INTERVAL = ("bbc", "bced", "bbc-f", "632+")
#: The paper simulates dropping after every fold, without the guard of 50 predictions.
UNGUARDED = sobercv.BootstrapDrop(threshold=0.99, min_predictions=0, n_bootstraps=BOOTSTRAPS)


@dataclass(frozen=True)
class Setting:
    """One of the 196 settings; `index` is its place in the full design, so that quick runs draw the same tables."""

    index: int
    n: int
    c: int
    a: int
    b: int

    @property
    def mean(self) -> float:
        """Mean true accuracy of the configurations."""
        return self.a / (self.a + self.b)


def settings() -> list[Setting]:
    """All settings of the paper, in a fixed order."""
    every = [(n, c, a, b) for a, b in BETAS for n in SAMPLES for c in CONFIGURATIONS]
    return [Setting(i, *values) for i, values in enumerate(every)]


#: What is measured on one table, in the order of the columns.
COLUMNS = (
    *(f"estimate {p}" for p in PROTOCOLS),
    "truth",  # of the configuration that all protocols but BCED return
    "truth bced",
    "models bced",  # trained by BCED, as a share of those of CVT
    *(f"width {p}" for p in WITH_INTERVAL),  # of the 95 % interval
    *(f"covered {p} {level}" for p in WITH_INTERVAL for level in LEVELS),
)


def one_table(setting: Setting, repetition: int, seed: int, shared: bool = False) -> np.ndarray:
    """Simulate one table and run every protocol on it; numbers in the order of `COLUMNS`."""
    place = (seed * 1_000_003 + setting.index) * 100_003 + repetition
    data = simulate.beta_accuracy(setting.n, setting.c, setting.a, setting.b, seed=place, shared=shared, k=FOLDS)
    table = sobercv.Predictions.build(data.y, data.predictions, task="classification", folds=data.folds)
    options: dict[str, Any] = {"n_bootstraps": BOOTSTRAPS, "random_state": place, "n_jobs": 1, "interval": "percentile"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few samples are the point here
        bbc = sobercv.bbc(None, table, "accuracy", **options)
        by_fold = sobercv.bbc(None, table, "accuracy", by="fold", **options)
        plus = bbc.as_632plus()
        raced = replay(table, UNGUARDED, Question.ask("accuracy", **options))
        bced = sobercv.bbc(None, raced.survivors, "accuracy", **options)
        tt = sobercv.tibshirani(None, table, "accuracy", n_jobs=1)
        ncv = sobercv.nested(None, table, "accuracy", n_jobs=1)
    truth, truth_bced = data.truth[bbc.winner], data.truth[bced.winner]
    intervals = ((bbc, truth), (bced, truth_bced), (by_fold, truth), (plus, truth))
    values = [
        bbc.naive,
        tt.value,
        ncv.value,
        bbc.value,
        bced.value,
        by_fold.value,
        plus.value,
        truth,
        truth_bced,
        raced.models,
    ]
    values += [e.interval[1] - e.interval[0] for e, _ in intervals]
    for estimate, t in intervals:
        for level in LEVELS:
            low, high = estimate.interval_at(level)
            values.append(float(low <= t <= high))
    return np.array(values)
