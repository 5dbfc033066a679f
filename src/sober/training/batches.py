"""How tasks are cut for several workers: few messages, equal shares, common prefixes together.

Takes tasks, gives lists of tasks that hold every fit exactly once; never runs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from .prefix import Keys, prefix_keys
from .problem import Problem
from .space import Configuration
from .task import Task

Batch = tuple[Task, ...]

#: Pieces for each worker: where cutting is free, where it fits a common prefix again, and at most.
FREE, COSTLY, MOST = 6, 3, 16


def cut(problem: Problem, estimator: Any, tasks: Sequence[Task], n_workers: int) -> list[Batch]:
    """Cut tasks into batches for several workers.

    Parameters
    ----------
    problem : Problem
    estimator : estimator
    tasks : sequence of Task
    n_workers : int

    Returns
    -------
    list of tuples of Task
    """
    if not tasks:
        return []
    if len(tasks) > MOST * n_workers:  # very many small tasks: whole ones, several a message
        size = -(-len(tasks) // (MOST * n_workers))
        return [tuple(tasks[i : i + size]) for i in range(0, len(tasks), size)]
    free, costly = (-(-pieces * n_workers // len(tasks)) for pieces in (FREE, COSTLY))
    if free == 1:
        return [(task,) for task in tasks]
    keys: dict[int, Keys] = {}
    batches: list[Batch] = []
    for task in tasks:
        missing = [c for c in task.configurations if c.index not in keys]
        keys.update(zip([c.index for c in missing], prefix_keys(problem, estimator, missing), strict=True))
        batches += [(Task(task.split, part),) for part in _pieces(task.configurations, keys, free, costly)]
    return batches


def _pieces(
    configurations: Sequence[Configuration], keys: dict[int, Keys], free: int, costly: int
) -> list[tuple[Configuration, ...]]:
    """Cut configurations into about equal pieces, at places where little is shared."""
    ordered = _in_tree_order(configurations, keys)
    own = [keys[c.index] for c in ordered]
    # What the neighbours on both sides of a place have in common: cutting there fits that once more.
    shared = [0, *(_common(a, b) for a, b in pairwise(own))]
    places = _places(shared, free)
    if any(shared[place] for place in places):
        places = _places(shared, costly)
    return [tuple(ordered[a:b]) for a, b in zip([0, *places], [*places, len(ordered)], strict=True)]


def _places(shared: list[int], n_pieces: int) -> list[int]:
    """Near each of the ideal places, take the one where least is shared."""
    n = len(shared)
    n_pieces = min(n_pieces, n)
    places: set[int] = set()
    for piece in range(1, n_pieces):
        ideal = round(piece * n / n_pieces)
        reach = n // (2 * n_pieces)
        window = range(max(1, ideal - reach), min(n - 1, ideal + reach) + 1)
        places.add(min(window, key=lambda place: (shared[place], abs(place - ideal), place)))
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
