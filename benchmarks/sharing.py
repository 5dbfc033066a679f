"""Shared work: the paper's 610 configurations on one fold of N = 500, one by one and together.

Takes nothing, gives CPU seconds by kind of model, and whether every prediction has the same bits: for a table of 500
columns, as madelon has and about as many as the paper's sets have in the middle, and for a narrow one. One by one means
the pipeline of each configuration, fitted by scikit-learn.
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
from sobercv.training.fit.prefix import fit_predict_shared
from sobercv.training.fit.task import Outcome, Task, fit_predict

from . import report

N, FOLDS = 500, 10
TREES, QUICK_TREES = 1000, 20
WIDE = 500


def _narrow() -> tuple[Any, Any]:
    X, y = load_breast_cancer(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[:N]
    return X[rows], y[rows]


def wide_table() -> tuple[Any, Any]:
    """Make a table like madelon, whose generator scikit-learn's is: 5 columns that count, 15 mixes of them, noise."""
    return make_classification(N, WIDE, n_informative=5, n_redundant=15, n_clusters_per_class=8, random_state=0)


def _task(X: Any, y: Any, trees: int) -> tuple[Preset, Experiment, Task]:
    preset = presets.get("paper", "binary", X, y, n_trees=trees)
    problem = Problem.build(X, y, estimator=preset.estimator)
    plan = Plan.build(problem, FOLDS)
    experiment = Experiment(problem, preset.estimator, (("decision_function", "predict_proba"),))
    return preset, experiment, Task(plan.splits[0], tuple(preset.configurations))


def _measured(
    fit: Callable[[Experiment, Task], Iterator[Outcome]], experiment: Experiment, task: Task
) -> tuple[dict[int, float], dict[int, bytes]]:
    """Give CPU seconds and the bits of the predictions, by configuration."""
    seconds: dict[int, float] = {}
    bits: dict[int, bytes] = {}
    with warnings.catch_warnings(), one_blas_thread():
        warnings.simplefilter("ignore")
        start = time.process_time()
        for outcome in fit(experiment, task):
            now = time.process_time()
            seconds[outcome.configuration], start = now - start, now
            bits[outcome.configuration] = b"".join(values.tobytes() for values in outcome.responses.values())
    return seconds, bits


def _kind(params: dict[str, Any]) -> str:
    model = params["model"]
    return {"linear": "linear SVM", "poly": "polynomial SVM", "rbf": "RBF SVM"}.get(
        getattr(model, "kernel", ""), "forest" if hasattr(model, "roots") else "elastic net"
    )


def _section(title: str, X: Any, y: Any, trees: int) -> report.Section:
    """Fit one fold of a table both ways."""
    preset, experiment, task = _task(X, y, trees)
    together, shared_bits = _measured(fit_predict_shared, experiment, task)
    alone, bits = _measured(fit_predict, experiment, task)
    kinds = [_kind(c.params) for c in preset.configurations]
    rows = []
    for kind in [*dict.fromkeys(kinds), "all"]:
        places = [c.index for c, own in zip(preset.configurations, kinds, strict=True) if kind in (own, "all")]
        one, other = (sum(seconds[i] for i in places) for seconds in (alone, together))
        rows.append([kind, f"{len(places)}", f"{one:.1f}", f"{other:.1f}", report.ratio(one / other)])
    if trees < TREES:
        # The time of a forest is that of its trees.
        forests = [c.index for c, own in zip(preset.configurations, kinds, strict=True) if own == "forest"]
        more = [sum(s.values()) + (TREES / trees - 1) * sum(s[i] for i in forests) for s in (alone, together)]
        told = [f"{seconds:.1f}" for seconds in more]
        rows.append([f"all, if forests had {TREES:,}", f"{len(kinds)}", *told, report.ratio(more[0] / more[1])])
    same = sum(bits[i] == shared_bits[i] for i in bits)
    heads = ["models", "configurations", "one by one (CPU s)", "together (CPU s)", "times faster"]
    notes = [
        "Cleaning and selection count for the first configuration that needs them.",
        f"{same} of {len(bits)} configurations have the same bits both ways.",
    ]
    return report.Section(f"Shared work: the paper's preset, {title}", heads, rows, notes)


def run(quick: bool = False) -> Sequence[report.Section]:
    """Fit one fold of each table both ways."""
    trees = QUICK_TREES if quick else TREES
    _, experiment, task = _task(*_narrow(), 1)
    list(fit_predict_shared(experiment, Task(task.split, task.configurations[-1:] * 2)))  # loads what was compiled
    told = f"forests of {trees:,} trees"
    return [
        _section(f"one fold of {N} x {WIDE}, {told}", *wide_table(), trees),
        _section(f"one fold of {N} x 30 (breast cancer), {told}", *_narrow(), trees),
    ]
