"""The design of section 6.2: how much is run, and what is measured on one sub-data set.

Takes a sub-data set, gives one row of numbers; never aggregates and never writes.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

import sobercv
from sobercv import presets
from sobercv.inference import Question

from ..race import replay
from .data import SubSample

SAMPLES = (20, 40, 60, 80, 100, 500)
LEVELS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.99)
NEVER = 2.0  # stands for "not even the widest interval holds the truth"
FOLDS = 10
REPEATS = 10
BOOTSTRAPS = 1000
GUARD = 50
METRIC = "roc_auc"
WIDE = 5000

Measured = dict[str, float]


@dataclass(frozen=True)
class Scale:
    """How much of the design is run.

    Attributes
    ----------
    sub_samples, costly : int
        Sub-data sets of each size, and as many of those that take long: N = 500, and tables with 5,000 columns or more.
    trees : int
    everything : bool
        All 610 configurations, or the subset named in `SUBSET`.
    sizes : tuple of int
    repeats : int
    """

    sub_samples: int
    costly: int
    trees: int
    everything: bool
    sizes: tuple[int, ...] = SAMPLES
    repeats: int = REPEATS

    def how_many(self, n: int, columns: int) -> int:
        """Sub-data sets of this size from a table with so many columns."""
        return self.costly if n >= 500 or columns >= WIDE else self.sub_samples


SCALES = {
    "full": Scale(20, 20, 1000, True),
    "small": Scale(3, 1, 25, False),
    "quick": Scale(2, 1, 10, False, (40, 100), 2),
}

#: The named subset of the 610: which selections, and which positions in the list of values of each parameter.
SUBSET_SELECTIONS = (None, (0.05, 2))
SUBSET: dict[str, dict[str, tuple[int, ...]]] = {
    "linear": {"model__C": (0, 2, 4)},  # cost .01, 1, 100
    "poly": {"model__C": (2,), "model__gamma": (0, 2)},  # degree 2 and 3, cost 1, gamma .01 and 1
    "rbf": {"model__C": (2, 4), "model__gamma": (0, 1, 3)},  # cost 1 and 100, gamma .01, .1, 10
    "elastic net": {"model__alpha": (2, 5)},  # mixtures .001 and 1; the third and the sixth of the ten penalties
    "forest": {"model__min_samples_leaf": (0,), "model__roots": (1,)},  # leaves of 1, one root of the columns
}


def _family(model: Any) -> str:
    if hasattr(model, "kernel"):
        return str(model.kernel)
    return "forest" if hasattr(model, "n_estimators") else "elastic net"


def subset(grids: list[dict[str, list[Any]]]) -> list[dict[str, list[Any]]]:
    """Keep 36 of the 610 configurations: 2 selections times 13 SVMs, 4 elastic nets and a forest."""
    kept = []
    for grid in grids:
        step, model = grid["select"][0], grid["model"][0]
        selection = None if step == "passthrough" else (step.alpha, step.k)
        if selection not in SUBSET_SELECTIONS or getattr(model, "l1_ratio", None) == 0.5:
            continue
        places = SUBSET[_family(model)]
        kept.append({name: [values[i] for i in places.get(name, range(len(values)))] for name, values in grid.items()})
    return kept


def space(scale: Scale, X: Any, y: np.ndarray) -> tuple[Any, list[dict[str, list[Any]]]]:
    """Make the pipeline and its grid for one sub-data set."""
    preset = presets.get("paper", "binary", X, y, n_trees=scale.trees)
    return preset.estimator, preset.param_grid if scale.everything else subset(preset.param_grid)


def one_sub_sample(part: SubSample, scale: Scale, seed: int) -> Measured:
    """Run every protocol on one sub-data set.

    The ten repeats are trained once: their first partition is that of all other protocols, and dropping is replayed
    on it. Nested cross-validation trains its inner models on the same folds.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few samples are the point here
        pipeline, grid = space(scale, part.X, part.y)
        options: dict[str, Any] = {"scoring": METRIC, "n_jobs": 1, "random_state": seed, "n_bootstraps": BOOTSTRAPS}
        options["interval"] = "percentile"  # the paper's
        search = sobercv.BBCSearchCV(
            pipeline, grid, cv=FOLDS, n_repeats=scale.repeats, drop=None, refit=False, **options
        ).fit(part.X, part.y)
        nested = sobercv.compare(
            pipeline, grid, part.X, part.y, protocols=("ncv",), cv=search.splits_[:FOLDS], **options
        )["ncv"]
        return {"ncv": nested.score, **_measure(search, part, scale, seed)}


def _measure(search: sobercv.BBCSearchCV, part: SubSample, scale: Scale, seed: int) -> Measured:
    every = search.predictions_
    table = every.take_repeat(0)
    options: dict[str, Any] = {"n_bootstraps": BOOTSTRAPS, "random_state": seed, "n_jobs": 1, "interval": "percentile"}
    bbc = sobercv.bbc(None, table, METRIC, **options)
    found = {
        "bbc": bbc,
        "632+": bbc.as_632plus(),
        "bbc-f": sobercv.bbc(None, table, METRIC, by="fold", **options),
        "bbc10": search.estimate_,
    }
    row: Measured = {"naive": bbc.naive, "tt": sobercv.tibshirani(None, table, METRIC, n_jobs=1).value}
    for name, guard in (("bced", 0), ("bced50", GUARD)):
        rule = sobercv.BootstrapDrop(threshold=0.99, min_predictions=guard, n_bootstraps=BOOTSTRAPS)
        raced = replay(table, rule, Question.ask(METRIC, **options))
        found[name] = sobercv.bbc(None, raced.survivors, METRIC, **options)
        row[f"models {name}"] = raced.models
        row[f"alive {name}"] = raced.alive[1]
    judged = truths(search, part, {e.winner for e in found.values()})
    row["configurations"] = table.n_configurations
    for name, estimate in found.items():
        truth = judged[estimate.winner]
        low, high = estimate.interval_at(0.95)
        row |= {name: estimate.value, f"truth {name}": truth, f"width {name}": high - low}
        row[f"reached {name}"] = _reached(estimate, truth)
    for r in range(1, scale.repeats):
        low, high = _first_repeats(every, r, options).interval_at(0.95)
        row[f"width {r}"] = high - low
    return row


def _reached(estimate: sobercv.Estimate, truth: float) -> float:
    """Give the smallest level whose interval holds the truth: intervals of higher levels then hold it, too."""
    for level in LEVELS:
        low, high = estimate.interval_at(level)
        if low <= truth <= high:
            return level
    return NEVER


def _first_repeats(table: sobercv.Predictions, r: int, options: dict[str, Any]) -> sobercv.Estimate:
    cut = {name: values[:, :, :r] for name, values in table.responses.items()}
    estimate: sobercv.Estimate = sobercv.bbc(table.y, cut, METRIC, folds=table.fold_of[:, :r], **options)
    return estimate


def truths(search: sobercv.BBCSearchCV, part: SubSample, winners: set[int]) -> dict[int, float]:
    """Train each winner on the whole sub-data set and judge it on the hold-out set."""
    found = {}
    for winner in winners:
        model = clone(search.estimator).set_params(**clone(search.cv_results_["params"][winner], safe=False))
        model.fit(part.X, part.y)
        decide = getattr(model, "decision_function", None)
        scores = decide(part.X_rest) if decide is not None else model.predict_proba(part.X_rest)[:, 1]
        found[winner] = float(roc_auc_score(part.y_rest, scores))
    return found
