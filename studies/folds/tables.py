"""Real searches as a fitted GridSearchCV keeps them: fold scores of every configuration, and the truth of each.

Writes one file per sub-sample and number of folds; resumable. Beside the fold scores a file holds what `sobercv.bbc`
says of the same predictions, for comparison.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

import sobercv
from sobercv.errors import SoberWarning

from ..intervals import data
from ..intervals.measure import build
from ..intervals.tables import draw, fit, spread_folds

FOLDS = (3, 5, 10)
SIZES = (50, 100, 200, 500)
FEWEST_JUDGES = 250  # rows that are left to tell the truth
#: Sub-samples of every set and size; fewer of the sets that take long.
SAMPLES = 5
SETS = {
    "sylvine": "binary", "jasmine": "binary", "madeline": "binary", "madelon": "binary", "gina": "binary",
    "ada_agnostic_train": "binary", "cells": "binary", "basehock": "binary", "pcmac": "binary", "dexter": "binary",
    "breast_cancer_wdbc": "binary", "gisette_valid": "binary", "cells_entropy": "regression",
    "cells_neighbor": "regression", "diabetes": "regression", "gbsg2": "survival",
}  # fmt: skip
METRICS = {"binary": ("accuracy", "roc_auc"), "regression": ("r2",), "survival": ("concordance_index",)}
#: Beside the sample size, because a fold of few rows has few pairs of classes or events.
ROWS = {"diabetes": 442, "breast_cancer_wdbc": 569, "dexter": 600, "gbsg2": 686, "gisette_valid": 1000}


@dataclass(frozen=True)
class Place:
    """One search: of which set, how many rows, which sub-sample, how many folds."""

    name: str
    n: int
    sample: int
    k: int

    @property
    def file(self) -> str:
        """Name of its file."""
        return f"{self.name}-{self.n:03d}-{self.sample:03d}-k{self.k}.npz"


def places(samples: int = SAMPLES) -> list[Place]:
    """All searches, the first sub-sample of everything first."""
    return [
        Place(name, n, sample, k)
        for sample in range(samples)
        for name in SETS
        for n in SIZES
        if ROWS.get(name, 10_000) - n >= FEWEST_JUDGES
        for k in FOLDS
    ]


def table(ready: data.Ready, place: Place) -> dict[str, np.ndarray]:
    """Cross-validate every configuration on one sub-sample.

    Returns
    -------
    dict of arrays
        For each metric M: ``M scores`` [K, C], ``M truth`` [C] and ``M bbc``: value, naive, low, high, truth of its
        winner.
    """
    rng = np.random.default_rng([place.n, place.sample, *place.name.encode()])
    rows, judges = draw(ready, place.n, rng)
    y = ready.y[rows]
    folds = spread_folds(ready.task, y, rng, place.k)
    judged = fit(ready, rows, judges, place.sample)
    oof = np.empty((len(rows), judged.shape[1]))
    for fold in range(place.k):
        test = folds == fold
        oof[test] = fit(ready, rows[~test], rows[test], place.sample)
    task = ready.task
    table, truth = build(y, oof[:, :, None], task, folds[:, None]), build(ready.y[judges], judged[:, :, None], task)
    out: dict[str, np.ndarray] = {}
    for metric in METRICS[SETS[place.name]]:
        ones = np.ones((1, truth.n_samples), np.uint8)
        true = sobercv.metrics.get(metric).bind(truth).scores(ones)[0]
        by_fold = (folds == np.arange(place.k)[:, None]).astype(np.uint8)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SoberWarning)
            found = sobercv.bbc(None, table, metric)
        assert found.interval is not None
        out[f"{metric} scores"] = sobercv.metrics.get(metric).bind(table).scores(by_fold)
        out[f"{metric} truth"] = true
        out[f"{metric} bbc"] = np.array([found.value, found.naive, *found.interval, true[found.winner]])
    return out
