"""Real data: what is claimed of the winner of an adaptive search on a small sample, and the truth on the other rows.

Takes a folder of data, gives what `measure` gives of simulated problems. The search is over three parameters of a
kernel classifier (width, penalty, how many features are kept), which is solved for all folds at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from ..harness import Say, read_pieces
from ..intervals import data
from .measure import some_searches
from .surface import DIMENSIONS

SETS = ("sylvine", "jasmine", "madeline", "gina", "ada_agnostic_train", "cells")
SAMPLES, TRIALS = (50, 100), 200
FOLDS = 10
JUDGES = 1500  # rows that tell the truth


class Sample:
    """A sub-sample of a real set: right or wrong out of fold at any point, and how good the point is on other rows.

    Parameters
    ----------
    ready : Ready
    n : int
        Samples, a multiple of the folds.
    rng : Generator
    """

    def __init__(self, ready: data.Ready, n: int, rng: np.random.Generator) -> None:
        order = rng.permutation(len(ready.y))
        rows, self._judges = order[:n], order[n : n + JUDGES]
        self._ready, self._rows = ready, rows
        self._sign = 2.0 * ready.y - 1.0
        fold = rng.permutation(np.arange(n) % FOLDS)
        self._splits = [(rows[fold != k], rows[fold == k]) for k in range(FOLDS)]
        self._place = np.concatenate([np.flatnonzero(fold == k) for k in range(FOLDS)])
        self._ranked = [self._by_relevance(train) for train, _ in self._splits]

    def _by_relevance(self, train: np.ndarray) -> np.ndarray:
        """Order the features by how well each alone goes with the truth in these rows."""
        X, y = self._ready.features[train], self._sign[train]
        return np.argsort(-np.abs((X - X.mean(axis=0)).T @ (y - y.mean())), kind="stable")

    def right(self, point: np.ndarray) -> np.ndarray:
        """Tell which samples this point predicts rightly when they are held out, bool [N]."""
        found = np.empty(len(self._rows), bool)
        parts = [
            self._predict(point, train, test, ranked)
            for (train, test), ranked in zip(self._splits, self._ranked, strict=True)
        ]
        found[self._place] = np.concatenate(parts)
        return found

    def truth(self, point: np.ndarray) -> float:
        """Give the accuracy of this point, trained on all samples, on other rows."""
        return float(self._predict(point, self._rows, self._judges, self._by_relevance(self._rows)).mean())

    def _predict(self, point: np.ndarray, train: np.ndarray, test: np.ndarray, ranked: np.ndarray) -> np.ndarray:
        assert point.shape == (DIMENSIONS,)
        kept = ranked[: max(1, round(len(ranked) ** point[2]))]
        A, B = self._ready.features[train][:, kept], self._ready.features[test][:, kept]
        width, penalty = 10.0 ** (3.0 * point[0] - 2.0) / len(kept), 10.0 ** (5.0 * point[1] - 4.0)
        inside, across = _kernel(A, A, width), _kernel(B, A, width)
        inside.flat[:: len(inside) + 1] += penalty * len(train) / 10.0
        centre = self._sign[train].mean()
        said = across @ np.linalg.solve(inside, self._sign[train] - centre) + centre
        return np.asarray((said > 0) == (self._sign[test] > 0))


def _kernel(A: np.ndarray, B: np.ndarray, width: float) -> np.ndarray:
    squared = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2.0 * A @ B.T
    return np.asarray(np.exp(-width * np.maximum(squared, 0.0)))


def run(
    folders: Sequence[Path], work: Path, repetitions: int, seed: int = 0, say: Say = print
) -> list[tuple[int, np.ndarray]]:
    """Search sub-samples of every set at hand; for each size rows in the order of `COLUMNS`."""
    names = [name for name in SETS if data.find(folders, name) is not None]
    places = [(name, n, r) for r in range(repetitions) for name in names for n in SAMPLES]
    pieces = {
        work / f"adaptive-real-{seed}-{name}-{n}-{r:03d}.npz": partial(_piece, folders, name, n, r, seed)
        for name, n, r in places
    }
    found = read_pieces(pieces, "searches", say=say)
    by_size = {n: [piece["rows"] for place, piece in zip(places, found, strict=True) if place[1] == n] for n in SAMPLES}
    return [(n, np.concatenate(rows)) for n, rows in by_size.items()]


def _piece(folders: Sequence[Path], name: str, n: int, r: int, seed: int) -> dict[str, np.ndarray]:
    place = [seed, SETS.index(name), n, r]
    sample = Sample(data.read(folders, name), n, np.random.default_rng([*place, 0]))
    return {"rows": some_searches([sample], TRIALS, n, place)}
