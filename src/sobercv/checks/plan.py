"""plan: what would be run on a table, how many fits that is, and how long it takes, measured on a few of them.

Takes a `Dataset` and the names of a preset and of metrics, gives what `BBCSearchCV` needs. The guess of the time trains
one model of each family on a part of the rows; nothing else is trained.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from .. import metrics, presets, seeds
from ..errors import SoberError
from ..tables import Dataset
from ..targets import Target, task_name
from ..training import Configuration, expand

DEFAULT_METRICS = {
    "binary": "roc_auc",
    "multiclass": "balanced_accuracy",
    "regression": "r2",
    "survival": "concordance_index",
}
#: Rows that a trial fit sees, and seconds after which no more are made.
TRIAL_ROWS, TRIAL_SECONDS = 400, 6.0
#: How a fit's time grows with rows, between linear models (1) and kernels (2).
GROWTH = 1.3


@dataclass(frozen=True, eq=False)
class Planned:
    """What would be run.

    Attributes
    ----------
    estimator, param_grid
        For `BBCSearchCV`.
    scoring : list of str
        The first selects.
    preset : str
    description : str
    folds, repeats, seed : int
    configurations : list of Configuration
    n_iter : int or None
        How many configurations are drawn; None tries all.
    """

    estimator: Any
    param_grid: Any
    scoring: list[str]
    preset: str
    description: str
    folds: int
    repeats: int
    seed: int
    configurations: list[Configuration]
    n_iter: int | None

    @property
    def n_configurations(self) -> int:
        """Number of configurations."""
        return len(self.configurations)

    @property
    def n_fits(self) -> int:
        """Fits without dropping, the final model included."""
        return self.n_configurations * self.folds * self.repeats + 1


def plan(
    data: Dataset,
    *,
    preset: str = "standard",
    scoring: Sequence[str] = (),
    folds: int = 10,
    repeats: int = 1,
    seed: int = 0,
    configurations: int | None = None,
) -> Planned:
    """Plan a search.

    Parameters
    ----------
    data : Dataset
    preset : str, default="standard"
    scoring : sequence of str
        Metrics; unless given ROC AUC for two classes, balanced accuracy for more, R2 for numbers, concordance for
        survival.
    folds, repeats, seed : int
    configurations : int, optional
        Draw so many at random instead of trying all.
    """
    names = list(scoring) or [DEFAULT_METRICS[data.task]]
    found = [metrics.get(name) for name in names]
    target = Target.read(data.y, task_name(data.task))
    for metric in found:
        metric.check_target(target)
    probabilities = any(metric.responses == ("predict_proba",) for metric in found)
    space = presets.get(preset, data.task, data.X, data.y, seed=seed, probabilities=probabilities)
    n_iter = None if configurations is None or configurations >= space.n_configurations else configurations
    every = expand(space.param_grid, n_iter, seeds.root(seed), space.estimator)
    drawn = f"{preset}: {n_iter} of {space.n_configurations} configurations, drawn at random."
    description = space.description if n_iter is None else drawn
    return Planned(
        space.estimator, space.param_grid, names, preset, description, folds, repeats, seed, every, n_iter
    )  # fmt: skip


def measure(planned: Planned, data: Dataset, jobs: int | None = None) -> float:
    """Guess the seconds that a search takes without dropping, from one fit of each family.

    Steps that configurations share are counted once a fold, as the search fits them once.

    Parameters
    ----------
    planned : Planned
    data : Dataset
    jobs : int, optional
        Workers; negative numbers count from all cores.
    """
    n = min(data.n_rows, TRIAL_ROWS)
    rows = np.sort(seeds.generator(seeds.root(planned.seed), "trial").permutation(data.n_rows)[:n])
    X, y = data.X.iloc[rows], data.y[rows]
    start = perf_counter()
    cleaned = clone(planned.estimator[0]).fit_transform(X, y)
    seconds = perf_counter() - start
    families = Counter[tuple[str, str]]()
    first: dict[tuple[str, str], Any] = {}
    for configuration in planned.configurations:
        model = clone(planned.estimator).set_params(**clone(dict(configuration.params), safe=False))
        key = repr(model[1]), type(model[-1]).__name__
        families[key] += 1
        first.setdefault(key, model)
    seconds += _selections(first, cleaned, y)
    models: dict[str, float] = {}
    for (_, name), model in first.items():
        if name not in models and perf_counter() - start < TRIAL_SECONDS:
            models[name] = _timed(model[-1], cleaned, y)
    usual = float(np.mean(list(models.values())))
    seconds += sum(count * models.get(name, usual) for (_, name), count in families.items())
    growth = max(1.0, data.n_rows * (planned.folds - 1) / planned.folds / n) ** GROWTH
    return seconds * growth * planned.folds * planned.repeats / workers(jobs)


def _selections(first: dict[tuple[str, str], Any], X: Any, y: Any) -> float:
    """Seconds of all different selections, one after the other."""
    steps = {key[0]: model[1] for key, model in first.items() if model[1] != "passthrough"}
    return sum(_timed(step, X, y) for step in steps.values())


def _timed(step: Any, X: Any, y: Any) -> float:
    start = perf_counter()
    try:
        clone(step).fit(X, y)
    except Exception:  # a part of the rows may lack what the whole has; the search itself will tell
        return 0.1
    return perf_counter() - start


def workers(jobs: int | None) -> int:
    """Give the number of workers that `jobs` stands for."""
    cores = os.cpu_count() or 1
    if jobs == 0:
        raise SoberError("E108", "`jobs` must not be 0; -1 means all cores.")
    return 1 if jobs is None else jobs if jobs > 0 else max(1, cores + 1 + jobs)
