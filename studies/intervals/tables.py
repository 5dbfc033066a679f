"""Real out-of-fold tables with their truth: sub-samples, ten folds, every configuration judged on the rest.

Takes folders of data, writes one file for each sub-sample; resumable, and the same files whatever the order. Never
scores: a file holds predictions, so that any metric and any rule of selection finds its truth.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..harness import Say
from . import data, learners

FOLDS = 10
REPEATS = 5
MOST_JUDGES = 3000  # rows that tell the truth
FEWEST_OF_A_CLASS = 4


@dataclass(frozen=True)
class Place:
    """One sub-sample: of which set, how large, which one, with how many repeats of the cross-validation."""

    name: str
    n: int
    sample: int
    repeats: int

    @property
    def file(self) -> str:
        """Name of its file."""
        return f"{self.name}-{self.n:03d}-{self.sample:03d}-r{self.repeats}.npz"


#: Data set -> sizes. The rest of the rows judges, so small sets have small sizes.
BINARY = {
    "sylvine": (40, 100, 200, 500),
    "jasmine": (40, 100, 300),
    "madeline": (40, 100, 300),
    "madelon": (100, 300),
    "gina": (40, 100, 300),
    "ada_agnostic_train": (40, 100, 300),
    "cells": (40, 100, 200),
    "basehock": (40, 100, 200),
    "pcmac": (100, 200),
    "farm_ads": (40, 100, 400),
    "sylva_agnostic_train": (200, 500),
    "hiva_agnostic_train": (300,),
    "gisette_valid": (40, 100),
    "dexter": (60,),
    "breast_cancer_wdbc": (40, 80),
}
GENES = {"breast_gravier": (60,), "prostate_singh": (40,), "alzheimers": (80,)}
CLASSES = {
    "digits": (60, 150, 300),
    "satellite": (60, 150, 400),
    "letterrecognition": (300, 500),
    "vowel": (200,),
    "dna": (60, 200),
    "diamonds_cut": (100, 300),
}
REGRESSION = {
    "diamonds_price": (40, 100, 300),
    "fair_affairs": (100, 300),
    "randhie_visits": (100, 300),
    "cells_entropy": (40, 100, 300),
    "cells_neighbor": (100, 300),
    "diabetes": (60,),
}
SURVIVAL = {
    "gbsg2": (60, 100),
    "flchain": (100, 300),
    "actg175": (150, 300),
    "rott2": (60, 150, 300),
    "support2": (40, 100, 300),
    "regimes": (60, 200),
    "dlbcl_rosenwald": (80,),
}
SETS = {**BINARY, **GENES, **CLASSES, **REGRESSION, **SURVIVAL}
#: Sets with a single size get more sub-samples, so that no set is judged by a handful.
SAMPLES = {1: 42, 2: 30, 3: 21, 4: 18}


def places(names: Sequence[str] | None = None, samples: float = 1.0) -> list[Place]:
    """All sub-samples: the first of every set first, so that an early look sees a bit of everything."""
    found = []
    for name, sizes in SETS.items():
        for n in sizes if names is None or name in names else ():
            for sample in range(max(1, round(samples * SAMPLES[len(sizes)]))):
                found.append(Place(name, n, sample, REPEATS if sample % 3 == 0 else 1))
    return sorted(found, key=lambda p: (p.sample // 6, p.name, p.n, p.sample))


def run(folders: Sequence[Path], work: Path, todo: Sequence[Place], say: Say = print) -> list[Place]:
    """Make the tables that are missing; return the places whose data are at hand."""
    return data.make_tables(folders, work, todo, table, say)


def table(ready: data.Ready, place: Place) -> dict[str, np.ndarray]:
    """Train everything on one sub-sample.

    Returns
    -------
    dict of arrays
        rows [N], judges [M] (row numbers), y [N], y_judges [M], folds [N, R], predictions [N, C, R(, K)],
        judged [M, C(, K)] (of the models refitted on all N rows), seconds
    """
    start = time.process_time()
    rng = np.random.default_rng([place.n, place.sample, *place.name.encode()])
    rows, judges = draw(ready, place.n, rng)
    y = ready.y[rows]
    folds = np.stack([spread_folds(ready.task, y, rng) for _ in range(place.repeats)], axis=1)
    judged = fit(ready, rows, judges, place.sample)
    out = np.empty((len(rows), judged.shape[1], place.repeats, *judged.shape[2:]), np.float32)
    for r in range(place.repeats):
        for fold in range(FOLDS):
            test = folds[:, r] == fold
            out[test, :, r] = fit(ready, rows[~test], rows[test], place.sample)
    return {
        "rows": rows,
        "judges": judges,
        "y": y,
        "y_judges": ready.y[judges],
        "folds": folds.astype(np.int8),
        "predictions": out,
        "judged": judged.astype(np.float16 if judged.ndim == 3 else np.float32),
        "seconds": np.array(time.process_time() - start),
    }


def draw(ready: data.Ready, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    while True:
        order = rng.permutation(len(ready.y))
        rows, judges = order[:n], order[n : n + MOST_JUDGES]
        if _enough(ready, ready.y[rows]):
            return rows, judges


def _enough(ready: data.Ready, y: np.ndarray) -> bool:
    """Whether every class (of two) is there; of many classes some may be rare, as in life, but at least two."""
    if ready.task == "survival":
        return int(y["event"].sum()) >= 2 * FEWEST_OF_A_CLASS
    if ready.task == "regression":
        return True
    count = np.bincount(y, minlength=ready.n_classes)
    return bool(count.min() >= (FEWEST_OF_A_CLASS if ready.n_classes == 2 else 2))


def spread_folds(task: str, y: np.ndarray, rng: np.random.Generator, k: int = FOLDS) -> np.ndarray:
    """Folds of equal size; classes (or events) are spread evenly over them."""
    kind = y if task == "classification" else y["event"].astype(int) if task == "survival" else np.zeros(len(y), int)
    order = rng.permutation(len(y))
    order = order[np.argsort(kind[order], kind="stable")]
    out = np.empty(len(y), np.int64)
    out[order] = np.arange(len(y)) % k
    return out


def fit(ready: data.Ready, train: np.ndarray, test: np.ndarray, seed: int) -> np.ndarray:
    """Predictions [m, C], or [m, C, K] for more than two classes, of models trained on these rows."""
    cut = learners.split(ready.features, ready.similarity, train, test)
    if ready.task == "regression":
        return learners.regress(cut, ready.y[train], seed)
    if ready.task == "survival":
        return learners.survive(cut, ready.y[train], seed)
    found = learners.classify(cut, ready.y[train], ready.n_classes, seed)
    return found[:, :, 1] if ready.n_classes == 2 else found
