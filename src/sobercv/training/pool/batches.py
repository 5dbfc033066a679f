"""How fits are cut for several workers: few messages, equal shares of time, common first steps together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, groupby
from operator import attrgetter
from typing import Any

from ..fit.steps import Keys, prefix_keys
from ..fit.task import Experiment, Task

Batch = tuple[Task, ...]

#: Batches for each worker: where cutting is free, where it fits a common prefix again, and at most.
WHERE_FREE, WHERE_COSTLY, AT_MOST = 6, 3, 16


def cut(
    experiment: Experiment, tasks: Iterable[Task], n_workers: int, seconds: Mapping[int, float], longest_first: bool
) -> list[Batch]:
    """Cut tasks, split by split, into batches for several workers.

    Where the seconds that a fit of each configuration has taken so far are all known, batches are cut to equal times,
    and long ones come first, so that workers become idle together at the end; else they keep the order given.
    """
    splits = [tuple(part) for _, part in groupby(tasks, attrgetter("split"))]
    if len(splits) > AT_MOST * n_workers:  # very many small ones: whole ones, several a message
        size = -(-len(splits) // (AT_MOST * n_workers))
        return [tuple(chain(*splits[i : i + size])) for i in range(0, len(splits), size)]
    if n_workers == 1:
        return splits
    configurations = list({task.configuration.index: task.configuration for split in splits for task in split}.values())
    keys = {c.index: key for c, key in zip(configurations, prefix_keys(experiment, configurations), strict=True)}
    is_known = seconds.keys() >= keys.keys()

    def weight(part: Batch) -> float:
        # Every fit takes some time, so that places differ.
        return sum(max(seconds[task.configuration.index], 1e-6) if is_known else 1.0 for task in part)

    batches: list[Batch] = []
    for split in splits:
        share, parts = weight(split) * len(splits) / n_workers, list[Batch]()
        for group in _alike(split, keys):
            is_costly = weight(group) > share / WHERE_COSTLY
            parts += _even([(task,) for task in group], weight, share / WHERE_COSTLY) if is_costly else [group]
        batches += _even(parts, weight, share / WHERE_FREE)
    return sorted(batches, key=weight, reverse=True) if is_known and longest_first else batches


def _even(parts: Sequence[Batch], weight: Callable[[Batch], float], size: float) -> list[Batch]:
    """Join neighbours whose middles lie in the same piece of this size."""
    pieces: dict[int, Batch] = {}
    before = 0.0
    for part in parts:
        place = int((before + weight(part) / 2) / size)
        pieces[place] = pieces.get(place, ()) + part
        before += weight(part)
    return list(pieces.values())


def _alike(split: Batch, keys: Mapping[int, Keys]) -> list[Batch]:
    """Return configurations with equal first steps together, those with some equal ones side by side."""
    rank: dict[Any, int] = {}  # of first steps, as they come up

    def place(task: Task) -> list[int]:
        key = keys[task.configuration.index]
        prefixes = [key[:depth] for depth in range(1, len(key) + 1)] or [(task.configuration.index,)]
        return [rank.setdefault(prefix, len(rank)) for prefix in prefixes]

    return [tuple(group) for _, group in groupby(sorted(split, key=place), place)]
