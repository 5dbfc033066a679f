"""One whole `sobercv.bbc` against a loop over the metric, against plain numpy, and against the bare arithmetic."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numba as nb
import numpy as np
from scipy.special import expit
from sklearn.metrics import accuracy_score, log_loss, mean_squared_error, roc_auc_score

import sobercv
from sobercv.testing import simulate

from .report import Table, number, race, ratio

N, C, B = 500, 610, 1000
FEW_B, FEW_C = 3, 12  # resamples and configurations of the loop that are really run
LIMIT = {"roc_auc": "saxpy", "concordance_index": "saxpy"}  # the others: gemm
METRICS = ("accuracy", "roc_auc", "concordance_index", "neg_mean_squared_error", "neg_log_loss")


@dataclass(frozen=True, eq=False)
class Problem:
    metric: str
    y: Any  # [N], or (event, time) records
    predictions: np.ndarray  # [N, C]

    def bbc(self, n_bootstraps: int, counts: np.ndarray | None = None) -> Any:
        """The whole call, on all cores."""
        return sobercv.bbc(self.y, self.predictions, self.metric, n_bootstraps=n_bootstraps, counts=counts, n_jobs=-1)


def problem(metric: str, n: int, c: int) -> Problem:
    rng = np.random.default_rng(1)
    if metric == "accuracy":
        data = simulate.beta_accuracy(n, c, seed=1)
        return Problem(metric, data.y, data.predictions)
    if metric in ("roc_auc", "neg_log_loss"):
        data = simulate.binormal_auc(n, c, seed=1)
        return Problem(metric, data.y, data.predictions if metric == "roc_auc" else expit(data.predictions))
    noise = np.linspace(0.5, 1.5, c) * rng.standard_normal((n, c))
    if metric == "neg_mean_squared_error":
        y = rng.standard_normal(n)
        return Problem(metric, y, y[:, None] + noise)
    risk = rng.standard_normal(n)
    time, censored = rng.exponential(np.exp(-risk)), rng.exponential(2.0, n)
    y = np.empty(n, [("event", bool), ("time", float)])
    y["event"], y["time"] = time <= censored, np.minimum(time, censored)  # about a third is censored
    return Problem(metric, y, risk[:, None] + noise)


def run(quick: bool = False) -> list[Table]:
    rounds, budget = (4, 0.5) if quick else (25, 6.0)
    few = np.linspace(0, C - 1, FEW_C).astype(int)
    some = draw(N, FEW_B)
    # One race for all, so that a busy minute of the machine hits every row and both limits alike.
    racers = {"gemm": gemm(N, C, B), "saxpy": saxpy(N, C, B)}
    for metric in METRICS:
        data = problem(metric, N, C)
        _agree(data, some, few)
        racers[f"{metric} sober"] = partial(data.bbc, B)
        racers[f"{metric} loop"] = partial(loop, data, some, few)
        racers[f"{metric} plain"] = partial(plain, data, None, B)
    taken = race(racers, rounds, budget)
    rows = []
    for metric in METRICS:
        sober, by_numpy = taken[f"{metric} sober"], taken[f"{metric} plain"]
        scaled = taken[f"{metric} loop"] * (B * C + B) / (FEW_B * FEW_C)  # B * C in bag, and B winners out of bag
        limit = LIMIT.get(metric, "gemm")
        rows.append([
            metric, number(1e3 * sober), number(scaled), ratio(scaled / sober), number(1e3 * by_numpy),
            ratio(by_numpy / sober), f"{limit} {number(1e3 * taken[limit])}", ratio(sober / taken[limit]),
        ])  # fmt: skip
    return [
        [["metric", "sober ms", "loop s", "loop/sober", "numpy ms", "numpy/sober", "limit ms", "sober/limit"], *rows]
    ]


def _agree(data: Problem, some: np.ndarray, few: np.ndarray) -> None:
    """Refuse to time programs that compute different things. Also warms everything up."""
    data.bbc(B)
    counts = draw(N, 64, seed=1)
    scores, winners, draws = plain(data, counts, len(counts))
    estimate = data.bbc(len(counts), counts)
    np.testing.assert_allclose(draws, estimate.draws, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(np.bincount(winners, minlength=C), estimate.win_counts)
    scores, _, _ = plain(data, some, len(some))
    np.testing.assert_allclose(loop(data, some, few), scores[:, few], rtol=1e-10, atol=1e-12)


# ---- the bare arithmetic: what the machine needs for as many operations, on all cores ----
def gemm(n: int, c: int, b: int) -> Callable[[], Any]:
    """A float64 product [B, N] x [N, C] with all BLAS threads, into a matrix that is there already."""
    rng = np.random.default_rng(0)
    return partial(np.matmul, rng.random((b, n)), rng.random((n, c)), out=np.empty((b, c)))


@nb.njit(nogil=True, boundscheck=False)
def _sweep(x, y, turns):
    for turn in range(turns):
        row = x[turn & 1]
        a = 1e-9 * (turn & 7)
        for b in range(y.shape[0]):
            y[b] += a * row[b]


def _aligned(*shape: int) -> np.ndarray:
    """Zeros that start on a cache line: without that the sweep takes nearly twice as long."""
    room = np.zeros(8 * math.prod(shape) + 64, np.uint8)
    start = -room.ctypes.data % 64
    return room[start : start + 8 * math.prod(shape)].view(np.float64).reshape(shape)


def saxpy(n: int, c: int, b: int) -> Callable[[], None]:
    """y += a * x in float64, N * C times on vectors of length B (two x and one y a core: with B = 1000 in L1)."""
    cores = len(os.sched_getaffinity(0))
    x, y = [_aligned(2, b) for _ in range(cores)], [_aligned(b) for _ in range(cores)]
    pool = ThreadPoolExecutor(cores)
    turns = [n * c // cores + (k < n * c % cores) for k in range(cores)]
    _sweep(x[0], y[0], 1)  # compiles

    def sweep() -> None:
        list(pool.map(_sweep, x, y, turns))

    return sweep


# ---- what a user would write instead ----
Array = np.ndarray


def draw(n: int, b: int, seed: int = 0) -> Array:
    """Bootstrap counts [B, N]."""
    drawn = np.random.default_rng(seed).integers(0, n, (b, n))
    return np.bincount((drawn + n * np.arange(b)[:, None]).ravel(), minlength=b * n).reshape(b, n)


# ---- a loop over scikit-learn's metric ------------------------------------------------------------------------------
def concordance(y: Array, risk: Array) -> float:
    """Harrell's index of one configuration, all pairs at once; scikit-learn has none."""
    event, time = y["event"], y["time"]
    later = (time > time[event][:, None]) | ((time == time[event][:, None]) & ~event)
    ahead = risk[event][:, None] - risk
    return float(((ahead > 0) * later).sum() + 0.5 * ((ahead == 0) * later).sum()) / float(later.sum())


LOOPED: dict[str, Callable[[Array, Array], float]] = {
    "accuracy": accuracy_score,
    "roc_auc": roc_auc_score,
    "concordance_index": concordance,
    "neg_mean_squared_error": lambda y, p: -mean_squared_error(y, p),
    "neg_log_loss": lambda y, p: -log_loss(y, p, labels=[0, 1]),
}


def loop(problem: Problem, counts: Array, configurations: Array) -> Array:
    """In-bag scores [B, C] of a few configurations in a few resamples, one call of the metric for each."""
    score = LOOPED[problem.metric]
    out = np.empty((len(counts), len(configurations)))
    for b, row in enumerate(counts):
        present = np.repeat(np.arange(len(row)), row)
        y, values = problem.y[present], problem.predictions[present]
        for j, c in enumerate(configurations):
            out[b, j] = score(y, values[:, c])
    return out


# ---- the same algorithm in plain numpy ------------------------------------------------------------------------------
Scores = Callable[[Array, Array], Array]  # counts [B, N], configurations [C'] -> [B, C']


def plain(problem: Problem, counts: Array | None, b: int) -> tuple[Array, Array, Array]:
    """BBC: draw, score all in bag, select, score the selected out of bag. Gives scores [B, C], winners, draws [B]."""
    if counts is None:
        counts = draw(len(problem.y), b)
    ranked = problem.metric in RANKED
    losses = None if ranked else LOSSES[problem.metric](problem.y[:, None], problem.predictions)
    scores_of = RANKED[problem.metric](problem) if ranked else _mean(losses)
    scores = scores_of(counts, np.arange(problem.predictions.shape[1]))
    top = scores.max(axis=1, keepdims=True)
    winners = (scores >= top - 1e-12 * (1.0 + np.abs(top))).argmax(axis=1)  # the first of equals, as sober does
    absent = (counts == 0).astype(counts.dtype)
    draws = np.empty(len(counts))
    for winner in np.unique(winners):
        here = winners == winner
        draws[here] = scores_of(absent[here], np.array([winner]))[:, 0]
    return scores, winners, draws


def _mean(losses: Array) -> Scores:
    """Mean-type: counts @ losses [N, C]; sums of zeros and ones are exact in float32 at this size."""

    def scores(counts: Array, which: Array) -> Array:
        picked = losses if len(which) == losses.shape[1] else losses[:, which]
        return (counts.astype(losses.dtype) @ picked) / counts.sum(axis=1, keepdims=True)

    return scores


SMALLEST = np.finfo(np.float64).eps
LOSSES: dict[str, Callable[[Array, Array], Array]] = {
    "accuracy": lambda y, p: (p == y).astype(np.float32),
    "neg_mean_squared_error": lambda y, p: -((p - y) ** 2),
    "neg_log_loss": lambda y, p: np.log(np.clip(np.where(y == 1, p, 1.0 - p), SMALLEST, 1.0 - SMALLEST)),
}


def _auc(problem: Problem) -> Scores:
    """Sort the negatives of each configuration once; a positive wins against those in front of it.

    Vectors over all resamples at once in int32: measured faster than float32 and float64, than blocks of 250
    resamples, and than a matrix product over all pairs.
    """
    positive, negative = np.flatnonzero(problem.y == 1), np.flatnonzero(problem.y == 0)

    def scores(counts: Array, which: Array) -> Array:
        present = np.ascontiguousarray(counts.T, np.int32)  # [N, B]
        up, down = present[positive], present[negative]
        in_front = np.zeros((len(negative) + 1, len(counts)), np.int32)
        out = np.empty((len(counts), len(which)))
        for j, c in enumerate(which):
            high, low = problem.predictions[positive, c], problem.predictions[negative, c]
            order = np.argsort(low)
            np.cumsum(down[order], axis=0, out=in_front[1:])
            below = np.searchsorted(low[order], high, "left")
            up_to = np.searchsorted(low[order], high, "right")
            out[:, j] = np.einsum("nb,nb->b", up, in_front[below])
            if (below != up_to).any():  # a tie is half a win
                out[:, j] = 0.5 * (out[:, j] + np.einsum("nb,nb->b", up, in_front[up_to]))
        return out / (up.sum(axis=0) * down.sum(axis=0))[:, None]

    return scores


def _concordance(problem: Problem) -> Scores:
    """A matrix of comparable pairs for each configuration, and a product with the counts (exact in float32)."""
    event, time = problem.y["event"], problem.y["time"]
    first = np.flatnonzero(event)
    later = ((time > time[first][:, None]) | ((time == time[first][:, None]) & ~event)).astype(np.float32)

    def scores(counts: Array, which: Array) -> Array:
        present = counts.astype(np.float32)
        out = np.empty((len(counts), len(which)))
        for j, c in enumerate(which):
            risk = problem.predictions[:, c]
            ahead = risk[first][:, None] - risk
            won = later * (0.5 * np.sign(ahead).astype(np.float32) + np.float32(0.5))
            out[:, j] = np.einsum("be,be->b", present @ won.T, present[:, first])
        pairs = np.einsum("be,be->b", present @ later.T, present[:, first]).astype(np.float64)
        return out / pairs[:, None]

    return scores


RANKED: dict[str, Callable[[Problem], Scores]] = {"roc_auc": _auc, "concordance_index": _concordance}
