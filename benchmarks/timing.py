"""Timing on a machine that is not ours alone: competitors take turns, the fastest turn counts.

Takes functions without arguments, gives seconds. A rest before each turn lets the BLAS threads of the one before go
to sleep: for some 30 ms after a product they spin, and would take a core from the next in line.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from typing import Any

REST = 0.05  # seconds


def seconds(function: Callable[[], Any]) -> float:
    """Time one call."""
    return seconds_and_work(function)[0]


def seconds_and_work(function: Callable[[], Any]) -> tuple[float, float]:
    """Time one call: by the clock, and the CPU seconds of all threads, which other programs disturb far less."""
    gc.collect()
    time.sleep(REST)
    start, busy = time.perf_counter(), time.process_time()
    function()
    return time.perf_counter() - start, time.process_time() - busy


def race(functions: Mapping[str, Callable[[], Any]], rounds: int, budget: float) -> dict[str, float]:
    """Let all functions take turns; give the shortest time of each.

    Every round starts with another function. One that has used up its `budget` of seconds sits out the rest, so that
    slow ones get fewer turns than fast ones (at the least one).
    """
    names = list(functions)
    times: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            if sum(times[name]) < budget:
                times[name].append(seconds(functions[name]))
    return {name: min(taken) for name, taken in times.items()}
