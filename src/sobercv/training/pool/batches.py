"""How tasks are cut for several workers: few messages, equal shares of time, common prefixes together, long ones first.

A race against the clock has cheap configurations first, so that it has something to show early: by a guess before their
first fit, by measured seconds afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from numbers import Real
from typing import Any

from ..fit.prefix import Keys, prefix_keys
from ..fit.space import Configuration
from ..fit.task import Experiment, Outcome, Task

Batch = tuple[Task, ...]

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
    if not tasks:
        return []
    known = {} if seconds is None else seconds
    if not all(c.index in known for task in tasks for c in task.configurations):
        known = {}
    if len(tasks) > AT_MOST * n_workers:  # very many small tasks: whole ones, several a message
        size = -(-len(tasks) // (AT_MOST * n_workers))
        return [tuple(tasks[i : i + size]) for i in range(0, len(tasks), size)]
    free, costly = (-(-pieces * n_workers // len(tasks)) for pieces in (WHERE_FREE, WHERE_COSTLY))
    if free == 1:
        return [(task,) for task in tasks]
    keys: dict[int, Keys] = {}
    batches: list[Batch] = []
    for task in tasks:
        missing = [c for c in task.configurations if c.index not in keys]
        keys.update(zip([c.index for c in missing], prefix_keys(experiment, missing), strict=True))
        batches += [(Task(task.split, part),) for part in _pieces(task.configurations, keys, known, free, costly)]
    if known and not cheap_first:
        batches.sort(key=lambda batch: -sum(known[c.index] for task in batch for c in task.configurations))
    return batches


def without(batch: Batch, outcomes: Iterable[Outcome]) -> Batch:
    """Return what is left of a batch when some outcomes are there."""
    there, left = {outcome.place for outcome in outcomes}, []
    for task in batch:
        places = zip(task.configurations, task.places, strict=True)
        rest = tuple(configuration for configuration, place in places if place not in there)
        left += [Task(task.split, rest)] if rest else []
    return tuple(left)


def _pieces(
    configurations: Sequence[Configuration],
    keys: dict[int, Keys],
    known: Mapping[int, float],
    free: int,
    costly: int,
) -> list[tuple[Configuration, ...]]:
    """Cut configurations into about equal pieces, at places where little is shared."""
    ordered = _in_tree_order(configurations, keys)
    own = [keys[c.index] for c in ordered]
    # What the neighbours on both sides of a place have in common: cutting there fits that once more.
    shared = [0, *(_common(a, b) for a, b in pairwise(own))]
    if len(ordered) <= free and not any(shared):  # one fit each: times differ a little, and put no two together
        return [(configuration,) for configuration in ordered]
    # How much is done before a place. Every fit takes some time, so that places differ.
    before = [0.0, *accumulate(max(known[c.index], 1e-6) if known else 1.0 for c in ordered)]
    places = _places(shared, before, free)
    if any(shared[place] for place in places):
        places = _places(shared, before, costly)
    return [tuple(ordered[a:b]) for a, b in zip([0, *places], [*places, len(ordered)], strict=True)]


def _places(shared: list[int], before: list[float], n_pieces: int) -> list[int]:
    """Near each of the ideal places, take the one where least is shared."""
    n, whole = len(shared), before[-1]
    n_pieces = min(n_pieces, n)
    places: set[int] = set()
    for piece in range(1, n_pieces):
        ideal, reach = piece * whole / n_pieces, whole / (2 * n_pieces)
        far = {place: abs(before[place] - ideal) for place in range(1, n)}
        nearest = min(far, key=lambda place: (far[place], place))
        window = [place for place in far if far[place] <= reach] or [nearest]
        places.add(min(window, key=lambda place: (shared[place], far[place], place)))
    return sorted(places)


def _in_tree_order(configurations: Sequence[Configuration], keys: dict[int, Keys]) -> list[Configuration]:
    """Put configurations with common first steps side by side, otherwise in the order given."""
    rank: dict[Any, int] = {}
    for configuration in configurations:
        key = keys[configuration.index]
        for depth in range(1, len(key) + 1):
            rank.setdefault(key[:depth], len(rank))
    return sorted(configurations, key=lambda c: [rank[keys[c.index][:d]] for d in range(1, len(keys[c.index]) + 1)])


def _common(a: Keys, b: Keys) -> int:
    same = 0
    for one, other in zip(a, b, strict=False):
        if one != other:
            break
        same += 1
    return same


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
