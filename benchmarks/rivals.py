"""What a user would write instead: a loop over scikit-learn's metric, and the same algorithm in plain numpy.

Takes a `Problem`, gives scores, winners and draws, to be timed and to be compared with sober's.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.metrics import accuracy_score, log_loss, mean_squared_error, roc_auc_score

from .problems import Problem

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
    scores_of = PLAIN[problem.metric](problem)
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


def _accuracy(problem: Problem) -> Scores:
    return _mean((problem.predictions == problem.y[:, None]).astype(np.float32))


def _squared(problem: Problem) -> Scores:
    return _mean(-((problem.predictions - problem.y[:, None]) ** 2))


def _log(problem: Problem) -> Scores:
    p = problem.predictions
    smallest = np.finfo(p.dtype).eps
    return _mean(np.log(np.clip(np.where(problem.y[:, None] == 1, p, 1.0 - p), smallest, 1.0 - smallest)))


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


PLAIN: dict[str, Callable[[Problem], Scores]] = {
    "accuracy": _accuracy,
    "roc_auc": _auc,
    "concordance_index": _concordance,
    "neg_mean_squared_error": _squared,
    "neg_log_loss": _log,
}
