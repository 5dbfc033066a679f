"""plan_search: what would be run on a table, and how many fits that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.model_selection import LeaveOneGroupOut

from .. import metrics, presets
from ..errors import SoberError
from ..presets import Preset
from ..tables import Dataset
from ..targets import Target, obvious_positive, task_name

DEFAULT_METRICS = {
    "binary": "roc_auc",
    "multiclass": "balanced_accuracy",
    "regression": "r2",
    "survival": "concordance_index",
}


@dataclass(frozen=True, eq=False)
class PlannedSearch:
    """What would be run."""

    preset: Preset  # the pipeline and its configurations, listed
    scoring: list[str]  # the first selects
    cv: int  # number of folds
    repeats: int
    seed: int
    positive: Any = None  # the positive class, where it was named or a metric depends on it
    by_group: bool = False  # whether every fold is one group

    @property
    def splitter(self) -> Any:
        """What divides the rows into folds: their number, or scikit-learn's splitter for one fold per group."""
        return LeaveOneGroupOut() if self.by_group else self.cv

    @property
    def n_fits(self) -> int:
        """Fits without dropping, the final model included."""
        return self.preset.n_configurations * self.cv * self.repeats + 1


def plan_search(  # noqa: PLR0913 - the options of a command, by their names
    data: Dataset,
    *,
    preset: str = "standard",
    scoring: Sequence[str] = (),
    cv: int = 10,
    repeats: int = 1,
    seed: int = 0,
    configurations: int | None = None,
    positive: str | None = None,
    probabilities: bool = False,
) -> PlannedSearch:
    """Plan a search by the options of their names.

    `scoring`: by default ROC AUC for two classes, balanced accuracy for more, R2 for numbers, concordance for survival.
    `positive`: where a metric depends on it and the names of the classes leave no doubt, it is found. `probabilities`:
    every configuration must give some, also where no metric asks for them.
    """
    names = list(scoring) or [DEFAULT_METRICS[data.task]]
    found = [metrics.get(name) for name in names]
    label = positive_label(data.classes or (), found, positive)
    target = Target.read(data.y, task_name(data.task), pos_label=label)
    for metric in found:
        metric.check_target(target)
    probabilities = probabilities or any(metric.responses == ("predict_proba",) or metric.times for metric in found)
    made = presets.get(
        preset, data.task, data.X, data.y, seed=seed, probabilities=probabilities, weighted=data.weight is not None
    )
    if configurations is not None:
        made = made.drawn(configurations, seed)
    by_group = data.groups is not None and cv == data.n_groups
    if by_group and repeats > 1:
        raise SoberError(
            "E114",
            f"Each of the {cv} groups is held out in turn, and every repeat would be the same. Leave --repeats out, or "
            "name a smaller number of folds with --cv.",
        )
    return PlannedSearch(made, names, cv, repeats, seed, label, by_group)


def positive_label(classes: Sequence[Any], found: Sequence[metrics.Metric], given: str | None) -> Any:
    """Find the positive class: the one that was named, or the obvious one where a metric depends on it; else None."""
    classes = list(classes)
    if given is not None:
        named = [label for label in classes if str(label) == given]
        if len(classes) != 2 or not named:
            shown = ", ".join(repr(str(label)) for label in classes[:5]) or "numbers"
            raise SoberError("E110", f"--positive names one of two classes; got {given!r}; the target has {shown}.")
        return named[0]
    asking = [metric.name for metric in found if metric.depends_on_positive and metric.pos_label is None]
    if not asking or len(classes) != 2 or 1 in classes:
        return None
    label = obvious_positive(classes)
    if label is None:
        one, other = classes
        raise SoberError(
            "E120",
            f"{asking[0]} depends on which class is the positive one, and {str(one)!r} and {str(other)!r} do not tell. "
            f"Write --positive {one} or --positive {other}.",
        )
    return label
