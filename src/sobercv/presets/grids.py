"""How models and selections of columns are crossed to the grids of a search.

Takes what a space is made from and models with lists of values, gives grids for `BBCSearchCV`; never makes a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..targets import task_name
from .elastic import penalty_path
from .levels import Level
from .ses import SES

Grid = dict[str, list[Any]]


@dataclass(frozen=True, eq=False)
class SpaceInputs:
    """What a search space is made from; the cleaned table is at hand for values that depend on the data.

    Attributes
    ----------
    level : Level
        How much is tried.
    task : {"binary", "multiclass", "regression", "survival"}
    cleaned : array or sparse matrix [N, P]
    y : array-like [N]
    seed, n_jobs, n_trees : int
        For the models that take them.
    is_sparse : bool
    probabilities : bool
        Whether every model must give probabilities.
    """

    level: Level
    task: str
    cleaned: Any
    y: Any
    seed: int
    n_jobs: int
    n_trees: int
    is_sparse: bool
    probabilities: bool

    def penalties(self, l1_ratio: float) -> list[float]:
        """Give the level's part of glmnet's path for this table."""
        path = penalty_path(self.cleaned, self.y, self.task, l1_ratio)
        return [path[i] for i in self.level.penalties]

    def neighbours(self) -> list[int]:
        """Give numbers of neighbours that leave most of a small table out."""
        most = max(1, self.cleaned.shape[0] // 3)
        return sorted({min(k, most) for k in self.level.neighbours})


def family(model: Any, inside: str = "", **values: Sequence[Any]) -> Grid:
    """Make the grid of one kind of model; empty values leave the family out.

    Parameters
    ----------
    model : estimator
    inside : str
        Where the parameters live, such as "estimator__" for a wrapped model.
    **values : sequences
    """
    return {"model": [model], **{f"model__{inside}{name}": list(value) for name, value in values.items()}}


def cross(baseline: Any, families: list[Grid], inputs: SpaceInputs) -> list[Grid]:
    """Cross families with selections; the baseline needs none.

    Parameters
    ----------
    baseline : estimator
    families : list of grids
    inputs : SpaceInputs
    """
    grids = [{"model": [baseline], "select": ["passthrough"]}] if inputs.level.baseline else []
    for selection in inputs.level.selections:
        step = "passthrough" if selection is None else SES(*selection, task=task_name(inputs.task), equivalences=False)
        # Selection before model: configurations that select alike then share the selected columns.
        grids += [{"select": [step], **grid} for grid in families if all(grid.values())]
    return grids
