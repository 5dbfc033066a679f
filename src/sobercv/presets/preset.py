"""presets.get: from a name, a task and a table to a pipeline and its search space, listed once; nothing is trained."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from .. import seeds
from ..errors import SoberError
from ..targets import TABLE_TASKS, Target, task_name
from ..training import Configuration, expand
from .cleaning import check_table, make_cleaner
from .levels import LEVELS, check_name, unknown
from .spaces import Grid, SpaceInputs, space_of_classes, space_of_numbers, space_of_times

NAMES, TASKS = tuple(LEVELS), TABLE_TASKS


@dataclass(frozen=True, eq=False)
class Preset:
    """A pipeline and the space in which to tune it.

    Attributes
    ----------
    name : str
    estimator : Pipeline
        Steps "clean", "select" and "model".
    param_grid : list of dicts
        For `BBCSearchCV`, or any search of scikit-learn.
    configurations : list of Configuration
        The same space, listed; `BBCSearchCV` takes it in place of `param_grid` and does not list it again.
    description : str
        One sentence for people.
    """

    name: str
    estimator: Pipeline
    param_grid: list[Grid]
    configurations: list[Configuration]
    description: str

    @property
    def n_configurations(self) -> int:
        """Number of configurations."""
        return len(self.configurations)

    def drawn(self, n: int, seed: int) -> Preset:
        """Draw so many configurations at random; where there are no more than that, keep all."""
        if n >= self.n_configurations:
            return self
        chosen = expand(self.param_grid, n, seeds.root(seed))
        grids = [{name: [value] for name, value in c.params.items()} for c in chosen]
        text = f"{self.name}: {n} of {self.n_configurations} configurations, drawn at random."
        return replace(self, param_grid=grids, configurations=chosen, description=text)


def get(
    name: str,
    task: str,
    X: Any,
    y: Any,
    *,
    seed: int = 0,
    n_trees: int | None = None,
    probabilities: bool = False,
    weighted: bool = False,
) -> Preset:
    """Make the pipeline and the search space of a preset for a table.

    Parameters
    ----------
    name : {"quick", "standard", "thorough", "paper"}
    task : {"binary", "multiclass", "regression", "survival"}
    X : numpy array, pandas or polars frame [N, P]
        Any types of columns, with or without gaps.
    y : array-like [N]
    seed : int, default=0
        For everything random in models and encoders.
    n_trees : int, optional
        Trees in a forest, instead of the preset's number (the paper's is 1000).
    probabilities : bool, default=False
        Whether every model must give probabilities, as log loss, the Brier score and the AUC of several classes want:
        then SVMs are calibrated, which takes four fits instead of one. Of survival, Brier scores want them: then SVMs
        are left out, and forests keep whole survival curves.
    weighted : bool, default=False
        Whether every model must take `sample_weight`: then nearest neighbours and survival SVMs, which do not, are left
        out.

    Returns
    -------
    Preset

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sobercv import presets
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> presets.get("paper", "binary", X, y).n_configurations
    610
    """
    check_name(name)
    if task not in TASKS:
        raise unknown(task, TASKS, "task", "E122")
    if n_trees is not None and (not isinstance(n_trees, (int, np.integer)) or n_trees < 1):
        raise SoberError("E108", f"`n_trees` must be a whole number of 1 or more; got {n_trees!r}.")
    check_table(X)
    _check_target(task, y, X)
    level = LEVELS[name]
    model_seed = seeds.integer(seeds.root(seed), "presets")
    cleaner = make_cleaner(X, model_seed)
    inputs = SpaceInputs(
        level,
        task,
        cleaned=_cleaned(cleaner, X),
        y=y,
        seed=model_seed,
        n_trees=level.trees if n_trees is None else int(n_trees),
        probabilities=probabilities,
    )
    space = {"regression": space_of_numbers, "survival": space_of_times}.get(task, space_of_classes)
    default, grids = space(inputs)
    grids = [grid for grid in grids if not weighted or takes_weights(grid["model"][0])]
    estimator = Pipeline([("clean", cleaner), ("select", "passthrough"), ("model", clone(default))])
    listed = expand(grids)
    text = f"{name}: {len(listed)} configurations for {task} targets, {level.summary}."
    return Preset(name, estimator, grids, listed, text)


def takes_weights(model: Any) -> bool:
    """Whether `fit` of a model takes `sample_weight`; around a regressor, what it is around says so."""
    return has_fit_parameter(getattr(model, "regressor", model), "sample_weight")


def _check_target(task: str, y: Any, X: Any) -> None:
    """Refuse a target that does not belong to the task, before anything is made for it."""
    if y is None:
        raise SoberError("E112", "A preset needs y: pass the true values.")
    target = Target.read(y, task_name(task))
    n, k = len(target), target.n_classes
    if (task == "binary" and k != 2) or (task == "multiclass" and k < 2):
        raise SoberError("E112", f"The task {task!r} does not fit a target with {k} classes; choose another task.")
    rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if rows != n:
        raise SoberError("E101", f"X has {rows} samples but y has {n}; both need one row per sample.")


def _cleaned(cleaner: Pipeline, X: Any) -> Any:
    """Clean the whole table, only to learn the scale of penalties from it."""
    try:
        return clone(cleaner).fit_transform(X)
    except ValueError as error:
        if "variance threshold" in str(error):
            raise SoberError("E818", "Every column of X is constant or empty, so nothing can be learned.") from None
        raise
