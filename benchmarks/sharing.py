"""Shared work: the paper's 610 configurations on one fold of N = 500, one by one and together.

CPU seconds by kind of model; every prediction has the same bits both ways. For a table of 500 columns, as madelon has
and about as many as the paper's sets have in the middle, and for a narrow one. One by one means each configuration
without the others.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, make_classification

from sobercv import presets
from sobercv.presets import Preset
from sobercv.threads import one_blas_thread
from sobercv.training import Experiment, Plan, Problem
from sobercv.training.fit.steps import fit_predict
from sobercv.training.fit.task import Outcome, Task

from .report import Table, ratio

N, FOLDS = 500, 10
TREES, QUICK_TREES = 1000, 20
WIDE = 500


def _narrow() -> tuple[Any, Any]:
    X, y = load_breast_cancer(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[:N]
    return X[rows], y[rows]


def wide_table() -> tuple[Any, Any]:
    """Make a table like madelon, by scikit-learn's generator: 5 informative columns, 15 mixes of them, noise."""
    return make_classification(N, WIDE, n_informative=5, n_redundant=15, n_clusters_per_class=8, random_state=0)


def _tasks(X: Any, y: Any, trees: int) -> tuple[Preset, Experiment, list[Task]]:
    preset = presets.get("paper", "binary", X, y, n_trees=trees)
    problem = Problem.build(X, y, task="classification")
    plan = Plan.build(problem, FOLDS)
    experiment = Experiment(problem, preset.estimator, (("decision_function", "predict_proba"),))
    return preset, experiment, [Task(plan.splits[0], configuration) for configuration in preset.configurations]


def _measured(
    fit: Callable[[Experiment, Sequence[Task]], Iterator[Outcome]], experiment: Experiment, tasks: Sequence[Task]
) -> tuple[dict[int, float], dict[int, bytes]]:
    """Give CPU seconds and the bits of the predictions, by configuration."""
    seconds: dict[int, float] = {}
    bits: dict[int, bytes] = {}
    with warnings.catch_warnings(), one_blas_thread():
        warnings.simplefilter("ignore")
        start = time.process_time()
        for outcome in fit(experiment, tasks):
            now = time.process_time()
            seconds[outcome.configuration], start = now - start, now
            bits[outcome.configuration] = b"".join(values.tobytes() for values in outcome.responses.values())
    return seconds, bits


def _one_by_one(experiment: Experiment, tasks: Sequence[Task]) -> Iterator[Outcome]:
    for task in tasks:
        yield from fit_predict(experiment, [task])


def _kind(params: dict[str, Any]) -> str:
    model = params["model"]
    return {"linear": "linear SVM", "poly": "polynomial SVM", "rbf": "RBF SVM"}.get(
        getattr(model, "kernel", ""), "forest" if hasattr(model, "roots") else "elastic net"
    )


def _table(X: Any, y: Any, trees: int) -> Table:
    """Fit one fold of a table both ways."""
    preset, experiment, tasks = _tasks(X, y, trees)
    together, shared_bits = _measured(fit_predict, experiment, tasks)
    alone, bits = _measured(_one_by_one, experiment, tasks)
    kinds = [_kind(c.params) for c in preset.configurations]
    rows = []
    for kind in [*dict.fromkeys(kinds), "all"]:
        places = [c.index for c, own in zip(preset.configurations, kinds, strict=True) if kind in (own, "all")]
        one, other = (sum(seconds[i] for i in places) for seconds in (alone, together))
        rows.append([kind, f"{len(places)}", f"{one:.1f}", f"{other:.1f}", ratio(one / other)])
    assert bits == shared_bits  # every prediction is the same both ways
    return [["models", "configurations", "one by one (CPU s)", "together (CPU s)", "times faster"], *rows]


def run(quick: bool = False) -> list[Table]:
    """Fit one fold of each table both ways."""
    trees = QUICK_TREES if quick else TREES
    _, experiment, tasks = _tasks(*_narrow(), 1)
    list(fit_predict(experiment, tasks[-1:] * 2))  # loads what was compiled
    return [_table(*wide_table(), trees), _table(*_narrow(), trees)]
