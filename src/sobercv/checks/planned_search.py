"""plan_search: what would be run on a table and how many fits that is; seconds_needed: how long it would take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import LeaveOneGroupOut

from .. import metrics, presets, seeds, threads
from ..errors import SoberError
from ..forests import faster_seconds
from ..inference import best_with_threshold
from ..presets import Preset
from ..tables import Dataset, Settings
from ..tables.naming import quoted
from ..targets import Target, obvious_positive, task_name

DEFAULT_METRICS = {
    "binary": "roc_auc", "multiclass": "balanced_accuracy", "regression": "r2", "survival": "concordance_index",
}  # fmt: skip
#: Rows that a trial fit sees, and seconds after which no more are made.
TRIAL_ROWS, TRIAL_SECONDS = 400, 6.0
#: How a fit's time grows with rows, between linear models (1) and kernels (2).
GROWTH = 1.3


@dataclass(frozen=True, eq=False)
class PlannedSearch:
    """What would be run."""

    preset: Preset  # the pipeline and its configurations, listed
    scoring: list[str]  # the first selects
    cv: int  # number of folds
    splitter: Any  # what divides the rows: the number of folds, or scikit-learn's splitter for one fold per group
    n_fits: int  # without dropping, the final model included
    positive: Any  # the positive class, where it was named or a metric depends on it


def plan_search(data: Dataset, settings: Settings) -> PlannedSearch:
    """Plan a search, by the usual metric of the task where none is named."""
    names = list(settings.metric) or [DEFAULT_METRICS[data.task]]
    found = [metrics.get(name) for name in names]
    label = positive_label(data.classes, found, settings.positive)
    target = Target.read(data.y, task_name(data.task), pos_label=label)
    for metric in found:
        metric.check_target(target)
    if settings.tune_threshold:
        best_with_threshold().check_table(target)
    asks_for_some = any(metric.responses == ("predict_proba",) or metric.times for metric in found)
    made = presets.get(
        settings.preset, data.task, data.X, data.y, seed=settings.seed, weighted=data.weight is not None,
        probabilities=settings.tune_threshold or asks_for_some,
    )  # fmt: skip
    if settings.configurations is not None:
        made = made.drawn(settings.configurations, settings.seed)
    cv = data.n_folds(settings.cv)
    by_group = cv == data.n_groups
    if by_group and settings.repeats > 1:
        text = f"Each of the {cv} groups is held out in turn, so every repeat would be the same. Leave --repeats out, "
        raise SoberError("E114", f"{text}or set a smaller number of folds with --cv.")
    n_fits = made.n_configurations * cv * settings.repeats + 1
    return PlannedSearch(made, names, cv, LeaveOneGroupOut() if by_group else cv, n_fits, label)


def positive_label(classes: Sequence[Any], found: Sequence[metrics.Metric], given: str | None) -> Any:
    """Find the positive class: the one that was named, or the obvious one where a metric depends on it; else None."""
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
        text = f"{asking[0]} depends on the positive class, and the labels {str(one)!r} and {str(other)!r} do not say "
        text += f"which is positive. Write --positive {quoted(one)} or --positive {quoted(other)}."
        raise SoberError("E120", text)
    return label


def seconds_needed(planned: PlannedSearch, data: Dataset, settings: Settings) -> float:
    """Estimate the seconds that a search takes without dropping, from one fit of each family on a part of the rows.

    Steps that configurations share count once per fold. Families for which no time is left count as the mean.
    """
    n = min(data.n_rows, TRIAL_ROWS)
    rows = np.sort(seeds.generator(seeds.root(settings.seed), "trial").permutation(data.n_rows)[:n])
    X, y = data.X.iloc[rows], data.y[rows]
    steps, families = dict[str, Any](), dict[str, list[Any]]()  # selections of columns, and models, by what they are
    for configuration in planned.preset.configurations:
        model = clone(planned.preset.estimator).set_params(**clone(dict(configuration.params), safe=False))
        families.setdefault(type(model[-1]).__name__, []).append(model[-1])
        if model[1] != "passthrough":
            steps[repr(model[1])] = model[1]
    start, cleaner = perf_counter(), planned.preset.estimator[0]
    cleaned = clone(cleaner).fit_transform(X, y)
    seconds = _timed(cleaner, X, y) + sum(_timed(step, cleaned, y) for step in steps.values())
    tried: dict[str, float] = {}
    for name, models in families.items():
        if not tried or perf_counter() - start < TRIAL_SECONDS:
            tried[name] = _timed(models[0], cleaned, y)
    usual = float(np.mean(list(tried.values())))
    taken = {name: len(models) * tried.get(name, usual) for name, models in families.items()}
    forests = sum(taken[name] for name, models in families.items() if hasattr(models[0], "plain_forest"))
    growth = max(1.0, data.n_rows * (planned.cv - 1) / planned.cv / n) ** GROWTH
    times = growth * planned.cv * settings.repeats / threads.count(settings.jobs)
    return (seconds + sum(taken.values()) - forests) * times + faster_seconds(forests * times)


def _timed(step: Any, X: Any, y: Any) -> float:
    start = perf_counter()
    try:
        clone(step).fit(X, y)
    except Exception:  # a part of the rows may lack what the whole has; the search itself will tell
        return 0.1
    return perf_counter() - start
