"""How tasks are cut for several workers: few messages, equal shares of time, common prefixes together, long ones first.

A race against the clock has cheap configurations first, so that it has something to show early: by a guess before their
first fit, by measured seconds afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from numbers import Real
from typing import Any, TypeVar

from ..fit.prefix import Keys, prefix_keys
from ..fit.space import Configuration
from ..fit.task import Experiment, Outcome, Task

Batch = tuple[Task, ...]
T = TypeVar("T")

#: Batches for each worker: where cutting is free, where it fits a common prefix again, and at most.
WHERE_FREE, WHERE_COSTLY, AT_MOST = 6, 3, 16
#: Words in the names of models, and how long they take: from one pass over the data to many, and to the square of them.
_RANKS = (
    (("Dummy",), 0),
    (("Stacking", "Voting", "Bagging"), 4),
    (("ElasticNet", "Lasso"), 1),
    (("GaussianProcess", "MLP", "Kernel", "Neural", "Net"), 5),
    (("Forest", "ExtraTrees", "Boost", "XGB", "LGBM"), 3),
    (("LinearSV", "Logistic", "SGD", "Cox", "Tree", "Neighbors"), 1),
    (("NB", "Ridge", "LinearRegression", "Discriminant", "Centroid"), 0),
    (("SVC", "SVR", "SurvivalSVM"), 5),
)
_UNKNOWN = 2


def cut(
    experiment: Experiment,
    tasks: Sequence[Task],
    n_workers: int,
    seconds: Mapping[int, float] | None = None,
    cheap_first: bool = False,
) -> list[Batch]:
    """Cut tasks into batches for several workers.

    Where the seconds that a fit of each configuration has taken so far are all known, batches are cut to equal times,
    and long ones come first, so that workers become idle together at the end. `cheap_first` keeps the order given,
    which is that of a race against the clock.
    """
    if len(tasks) > AT_MOST * n_workers:  # very many small tasks: whole ones, several a message
        size = -(-len(tasks) // (AT_MOST * n_workers))
        return [tuple(tasks[i : i + size]) for i in range(0, len(tasks), size)]
    configurations = list({c.index: c for task in tasks for c in task.configurations}.values())
    is_known = seconds is not None and all(c.index in seconds for c in configurations)
    # Every fit takes some time, so that places differ.
    weights = {c.index: max(seconds[c.index], 1e-6) if is_known and seconds else 1.0 for c in configurations}
    indices = [c.index for c in configurations]
    keys = dict(zip(indices, prefix_keys(experiment, configurations), strict=True))

    def weight(part: Sequence[Configuration]) -> float:
        return sum(weights[c.index] for c in part)

    batches: list[Batch] = []
    for task in tasks:
        whole, parts = weight(task.configurations), list[Sequence[Configuration]]()
        for group in _alike(task.configurations, keys):
            costly = whole * len(tasks) / (WHERE_COSTLY * n_workers)
            parts += _even(group, lambda c: weights[c.index], costly) if weight(group) > costly else [group]
        for pieces in _even(parts, weight, whole * len(tasks) / (WHERE_FREE * n_workers)):
            batches.append((Task(task.split, tuple(c for part in pieces for c in part)),))
    if is_known and not cheap_first:
        batches.sort(key=lambda batch: -sum(weight(task.configurations) for task in batch))
    return batches


def _even(items: Sequence[T], weight: Callable[[T], float], size: float) -> list[list[T]]:
    """Put neighbours together whose middles lie in the same piece of this size."""
    pieces: dict[int, list[T]] = {}
    before = 0.0
    for item in items:
        pieces.setdefault(int((before + weight(item) / 2) / size), []).append(item)
        before += weight(item)
    return list(pieces.values())


def _alike(configurations: Sequence[Configuration], keys: Mapping[int, Keys]) -> list[list[Configuration]]:
    """Return configurations with equal first steps together, those with some equal ones side by side."""
    rank: dict[Any, int] = {}  # of first steps, as they come up

    def place(configuration: Configuration) -> list[int]:
        key = keys[configuration.index]
        prefixes = [key[:depth] for depth in range(1, len(key) + 1)] or [(configuration.index,)]
        return [rank.setdefault(prefix, len(rank)) for prefix in prefixes]

    return [list(group) for _, group in groupby(sorted(configurations, key=place), place)]


def without(batch: Batch, outcomes: Iterable[Outcome]) -> Batch:
    """Return what is left of a batch when some outcomes are there."""
    there, left = {outcome.place for outcome in outcomes}, []
    for task in batch:
        places = zip(task.configurations, task.places, strict=True)
        rest = tuple(configuration for configuration, place in places if place not in there)
        left += [Task(task.split, rest)] if rest else []
    return tuple(left)


def cheap_first(
    experiment: Experiment, configurations: Sequence[Configuration], seconds: Mapping[int, float]
) -> list[Configuration]:
    """Put cheap configurations first, equals in the order given; by what their fits have taken, where all are known."""
    if all(c.index in seconds for c in configurations):
        return sorted(configurations, key=lambda c: seconds[c.index])
    return sorted(configurations, key=lambda c: _guess(experiment.estimator, c.params))


def _guess(estimator: Any, params: Mapping[str, Any]) -> tuple[int, float]:
    """Guess by the name of the model, and by the number of models in it."""
    prefix = ""
    steps = getattr(estimator, "steps", None)
    if isinstance(steps, list) and steps:
        name, last = steps[-1]
        estimator, prefix = params.get(name, last), f"{name}__"
    kind = type(estimator).__name__
    rank = next((rank for words, rank in _RANKS if any(word in kind for word in words)), _UNKNOWN)
    size = params.get(f"{prefix}n_estimators", getattr(estimator, "n_estimators", 1))
    return rank, float(size) if isinstance(size, Real) else 1.0
