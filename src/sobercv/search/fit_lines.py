"""A line for each fit with its scores, as scikit-learn prints them with `verbose=3`.

Takes the finished results of a search, gives lines; computes nothing. They come after the race, since scores are
computed from all predictions together.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..training import MemoryStore

WIDTH = 80


def show_fits(results: dict[str, Any], store: MemoryStore, names: list[str]) -> None:
    """Print a line for each fit that was made.

    Parameters
    ----------
    results : dict of arrays
        `cv_results_`.
    store : MemoryStore
        Knows which fits were made, and how long they took.
    names : list of str
        Of the metrics; empty where there is one.
    """
    for line in _lines(results, store, names):
        sys.stdout.write(line + "\n")


def _lines(results: dict[str, Any], store: MemoryStore, names: list[str]) -> Iterator[str]:
    seconds, n_splits = store.fit_seconds + store.predict_seconds, store.done.shape[1]
    for c, params in enumerate(results["params"]):
        told = ", ".join(f"{name}={params[name]}" for name in sorted(params))
        for split in np.flatnonzero(store.done[c]).tolist():
            each = [f" {name}: ({_score(results, split, name, c)})" for name in names]
            score = "".join(each) if names else f", score={_alone(results, split, c)}"
            end = f"{told}{';' if told else ''}{score} total time={seconds[c, split]:6.1f}s"
            yield f"[CV {split + 1}/{n_splits}] END ".ljust(WIDTH - len(end), ".") + end


def _score(results: dict[str, Any], split: int, name: str, c: int) -> str:
    sides = [side for side in ("train", "test") if f"split{split}_{side}_{name}" in results]
    return ", ".join(f"{side}={results[f'split{split}_{side}_{name}'][c]:.3f}" for side in sides)


def _alone(results: dict[str, Any], split: int, c: int) -> str:
    both = _score(results, split, "score", c)
    return f"({both})" if "train=" in both else both.removeprefix("test=")
