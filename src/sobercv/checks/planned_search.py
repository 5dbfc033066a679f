"""plan_search: what would be run on a table, and how many fits that is.

Takes a `Dataset` and the names of a preset and of metrics, gives what `BBCSearchCV` needs; never trains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .. import metrics, presets
from ..presets import Preset
from ..tables import Dataset
from ..targets import Target, task_name

DEFAULT_METRICS = {
    "binary": "roc_auc",
    "multiclass": "balanced_accuracy",
    "regression": "r2",
    "survival": "concordance_index",
}


@dataclass(frozen=True, eq=False)
class PlannedSearch:
    """What would be run.

    Attributes
    ----------
    preset : Preset
        The pipeline and its configurations, listed.
    scoring : list of str
        The first selects.
    folds, repeats, seed : int
    """

    preset: Preset
    scoring: list[str]
    folds: int
    repeats: int
    seed: int

    @property
    def n_fits(self) -> int:
        """Fits without dropping, the final model included."""
        return self.preset.n_configurations * self.folds * self.repeats + 1


def plan_search(
    data: Dataset,
    *,
    preset: str = "standard",
    scoring: Sequence[str] = (),
    folds: int = 10,
    repeats: int = 1,
    seed: int = 0,
    configurations: int | None = None,
) -> PlannedSearch:
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
    made = presets.get(preset, data.task, data.X, data.y, seed=seed, probabilities=probabilities)
    if configurations is not None:
        made = made.drawn(configurations, seed)
    return PlannedSearch(made, names, folds, repeats, seed)
