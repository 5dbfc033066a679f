"""Complete cross-validations of real sub-samples, with the truth of every configuration: what races are replayed on.

Takes a folder of data, writes one file for each sub-sample; resumable, the same files whatever the order. Never
drops: a file holds the predictions of all configurations on all folds.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectPercentile
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import sobercv

from ..harness import Say, make_missing
from ..intervals import data

FOLDS = 10
MOST_JUDGES = 1500  # rows that tell the truth
MOST_COLUMNS = 300  # of the wider sets the columns of largest variance: a race is about rows

PIPELINE = Pipeline([("scale", StandardScaler()), ("choose", SelectPercentile()), ("model", GaussianNB())])
_CHOOSE = {"choose__percentile": [2, 10, 30, 100]}
GRID: list[dict[str, list[Any]]] = [
    {**_CHOOSE, "model": [LogisticRegression(max_iter=200)], "model__C": [0.001, 0.01, 0.1, 1.0, 10.0]},
    {**_CHOOSE, "model": [SVC()], "model__C": [0.1, 1.0, 10.0], "model__gamma": ["scale", 0.01, 0.1]},
    {**_CHOOSE, "model": [RandomForestClassifier(25, random_state=0)], "model__min_samples_leaf": [1, 5]},
    {**_CHOOSE, "model": [DecisionTreeClassifier(random_state=0)], "model__min_samples_leaf": [1, 5, 10, 25]},
    {**_CHOOSE, "model": [KNeighborsClassifier()], "model__n_neighbors": [1, 5, 15]},
    {**_CHOOSE, "model": [GaussianNB()], "model__var_smoothing": [1e-9, 0.01, 0.1, 1.0]},
]

#: Data set -> how many sub-samples of which size.
PLACES: dict[str, dict[int, int]] = {
    "sylvine": {50: 4, 100: 20, 500: 8, 2000: 1},
    "jasmine": {50: 4, 100: 20, 500: 8},
    "madeline": {50: 4, 100: 20, 500: 8},
    "madelon": {50: 4, 100: 20, 500: 8},
    "gina": {50: 4, 100: 20, 500: 8},
    "ada_agnostic_train": {50: 4, 100: 20, 500: 8, 2000: 1},
    "cells": {50: 4, 100: 20, 500: 8},
}


@dataclass(frozen=True)
class Place:
    """One sub-sample: of which set, how large, which one."""

    name: str
    n: int
    sample: int

    @property
    def file(self) -> str:
        """Name of its file."""
        return f"{self.name}-{self.n:04d}-{self.sample:03d}.npz"


def places(most: int | None = None) -> list[Place]:
    """All sub-samples: the first ones of all sets and sizes first, so that an early look sees a bit of everything."""
    found = [
        Place(name, n, sample)
        for name, sizes in PLACES.items()
        for n, how_many in sizes.items()
        for sample in range(how_many if most is None else min(how_many, most))
    ]
    return sorted(found, key=lambda p: (p.sample // 2 * (1 if p.n == 100 else 4), p.n, p.name, p.sample))


def run(folders: Sequence[Path], work: Path, todo: Sequence[Place], say: Say = print) -> list[Place]:
    """Make the tables that are missing; return the places whose data are at hand."""
    files = {place: data.find(folders, place.name) for place in todo}
    found = {place: file for place, file in files.items() if file is not None}
    make_missing({work / place.file: partial(table, file, place) for place, file in found.items()}, "tables", say=say)
    return list(found)


def table(path: Path, place: Place) -> dict[str, Any]:
    """Train everything on one sub-sample.

    Returns
    -------
    dict of arrays
        y [N], fold [N], scores and labels [N, C] (out of fold), y_judges [M], judged_scores and judged_labels [M, C]
        (of the models trained on all N rows), seconds
    """
    with np.load(path, allow_pickle=False) as file:
        X, y = file["X"].astype(np.float64), file["y"].astype(int)
    if X.shape[1] > MOST_COLUMNS:
        X = X[:, np.sort(np.argsort(-X.std(axis=0), kind="stable")[:MOST_COLUMNS])]
    X, X_rest, y, y_rest = train_test_split(X, y, train_size=place.n, stratify=y, random_state=place.sample)
    X_rest, y_rest = X_rest[:MOST_JUDGES], y_rest[:MOST_JUDGES]
    start = time.process_time()
    splits = list(StratifiedKFold(FOLDS, shuffle=True, random_state=place.sample).split(X, y))
    fold = np.empty(len(y), np.int8)
    for k, (_, test) in enumerate(splits):
        fold[test] = k
    scores, labels = _responses(X, y, splits)
    both = np.concatenate([X, X_rest]), np.concatenate([y, y_rest])
    judged = _responses(*both, [(np.arange(len(y)), np.arange(len(y), len(both[1])))])
    return {
        "y": y, "fold": fold, "scores": scores, "labels": labels,
        "y_judges": y_rest, "judged_scores": judged[0][len(y) :], "judged_labels": judged[1][len(y) :],
        "seconds": np.array(time.process_time() - start),
    }  # fmt: skip


def _responses(X: Any, y: Any, splits: list[Any]) -> tuple[Any, Any]:
    """Scores and labels [N, C] of all configurations; zero for rows that no split tests."""
    search = sobercv.BBCSearchCV(
        PIPELINE, GRID, scoring=["roc_auc", "accuracy"], refit=False, cv=splits, drop=None, n_bootstraps=1
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constant columns, one resample
        search.fit(X, y)
    table = search.predictions_
    scores = (
        table.responses["decision_function"]
        if "decision_function" in table.responses
        else table.responses["predict_proba"]
    )
    return scores[:, :, 0].astype(np.float32), table.responses["predict"][:, :, 0].astype(np.int8)
