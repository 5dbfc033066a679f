"""Random calls of `bbc` against a slow loop: rows written out as often as they were drawn, scored by scikit-learn.

Shapes, dtypes, weights, repeats, folds, groups, rules and metrics vary; the draws are the same on both sides. Draws of
which a class is absent are left out: there scikit-learn warns and returns a convention. A usual run makes 60 calls,
`SOBER_SOAK=1` 1,500; the count and the largest difference are printed.
"""

import warnings

import numpy as np
import pytest
from sklearn import metrics as sk

import sobercv

from .trying import SOAK, TRIED

CALLS = 1520 if SOAK else 60
TOLERANCE = 1e-10


def _labels(score, **options):
    return "predict", lambda y, p, w: score(y, p, sample_weight=w, **options)


def _scores(score, sign=1, **options):
    return "scores", lambda y, p, w: sign * score(y, p, sample_weight=w, **options)


BINARY = {
    "accuracy": _labels(sk.accuracy_score),
    "balanced_accuracy": _labels(sk.balanced_accuracy_score),
    "f1": _labels(sk.f1_score, zero_division=0.0),
    "precision": _labels(sk.precision_score, zero_division=0.0),
    "recall": _labels(sk.recall_score, zero_division=0.0),
    "matthews_corrcoef": _labels(sk.matthews_corrcoef),
    "roc_auc": _scores(sk.roc_auc_score),
    "average_precision": _scores(sk.average_precision_score),
    "neg_log_loss": _scores(sk.log_loss, -1, labels=[0, 1]),
    "neg_brier_score": _scores(sk.brier_score_loss, -1),
}
CLASSES = {
    "accuracy": _labels(sk.accuracy_score),
    "balanced_accuracy": _labels(sk.balanced_accuracy_score),
    "f1_macro": _labels(sk.f1_score, average="macro", zero_division=0.0),
    "neg_log_loss": _scores(sk.log_loss, -1, labels=[0, 1, 2]),
    "roc_auc_ovr": _scores(sk.roc_auc_score, multi_class="ovr", labels=[0, 1, 2]),
}
NUMBERS = {
    "r2": _scores(sk.r2_score),
    "neg_mean_squared_error": _scores(sk.mean_squared_error, -1),
    "neg_root_mean_squared_error": _scores(sk.root_mean_squared_error, -1),
    "neg_mean_absolute_error": _scores(sk.mean_absolute_error, -1),
    "neg_median_absolute_error": _scores(sk.median_absolute_error, -1),
    "explained_variance": _scores(sk.explained_variance_score),
}
TASKS = {"binary": BINARY, "classes": CLASSES, "numbers": NUMBERS}


def _case(rng):
    """A table, a metric and options, all at random."""
    n, c, r = int(rng.integers(12, 60)), int(rng.integers(1, 9)), int(rng.choice([1, 1, 1, 2, 3]))
    task = str(rng.choice(list(TASKS)))
    name = str(rng.choice(list(TASKS[task])))
    kind, score = TASKS[task][name]
    k = {"binary": 2, "classes": 3, "numbers": 0}[task]
    y = np.concatenate([np.arange(k), rng.integers(0, max(k, 1), n - k)]) if k else rng.normal(size=n) * 3 + 1
    if task == "numbers":
        p = y[:, None, None] * rng.random((1, c, 1)) + rng.normal(size=(n, c, r))
    elif kind == "predict":
        p = np.where(rng.random((n, c, r)) < 0.6, y[:, None, None], rng.integers(0, k, (n, c, r)))
    elif task == "binary":
        p = np.round(rng.random((n, c, r)) * 0.7 + 0.2 * y[:, None, None] + 0.02, int(rng.choice([1, 2, 6])))
        p = p.clip(0.01, 0.99)
    else:
        p = rng.random((n, c, r, k)) + 0.6 * (y[:, None, None, None] == np.arange(k)) + 0.01
        p /= p.sum(axis=-1, keepdims=True)
    if name != "roc_auc_ovr" and name != "neg_log_loss" and task != "classes":
        dtype = rng.choice(["float64", "float32"]) if kind == "scores" else rng.choice(["int64", "int8", "float64"])
        p = p.astype(dtype)
    weight = None if name == "neg_median_absolute_error" or rng.random() < 0.6 else np.round(rng.random(n) + 0.1, 3)
    groups = None if rng.random() < 0.7 else rng.permutation(np.arange(n) // 2)
    return y, p, name, score, weight, groups


def _counts(rng, n, groups, b=6):
    units = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1]
    m = units.max() + 1
    drawn = np.stack([np.bincount(rng.integers(0, m, m), minlength=m) for _ in range(b)])
    return drawn[:, units]


def _score(score, y, p, weight, rows):
    """Mean over repeats of the metric on these rows, each as often as it is listed; NaN if a class is absent."""
    if len(rows) < 2 or (y.dtype.kind == "i" and len(np.unique(y[rows])) < len(np.unique(y))):
        return np.nan
    w = None if weight is None else weight[rows]
    return float(np.mean([score(y[rows], p[rows, r].astype(np.float64) if p.dtype.kind == "f" else p[rows, r], w)
                          for r in range(p.shape[1])]))  # fmt: skip


def _loop(y, p, score, weight, counts):
    """What algorithm 5 returns for these draws: the score of each resample's winner on the rows left out."""
    c = p.shape[1]
    out = []
    for row in counts:
        present, absent = np.repeat(np.arange(len(y)), row), np.flatnonzero(row == 0)
        inside = np.array([_score(score, y, p[:, j], weight, present) for j in range(c)])
        if np.isnan(inside).any():
            out.append(np.nan)
            continue
        winner = int(np.flatnonzero(inside >= inside.max() - 1e-12 * (1 + abs(inside.max())))[0])
        out.append(_score(score, y, p[:, winner], weight, absent))
    return np.array(out)


@pytest.mark.parametrize("part", range(4))
def test_random_calls_agree_with_a_slow_loop(part, record_property):
    largest, compared = 0.0, 0
    for index in range(part, CALLS, 4):
        rng = np.random.default_rng([20261117, index])
        y, p, name, score, weight, groups = _case(rng)
        counts = _counts(rng, len(y), groups)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = _loop(y, p, score, weight, counts)
            naive = max(_score(score, y, p[:, j], weight, np.arange(len(y))) for j in range(p.shape[1]))
            known = ~np.isnan(expected)
            if not known.any():
                continue
            found = sobercv.bbc(
                y, p, name, sample_weight=weight, groups=groups, counts=counts, n_jobs=int(rng.integers(1, 3))
            )
        off = np.abs(found.draws[known] - expected[known]) / (1 + np.abs(expected[known]))
        largest, compared = max(largest, float(off.max())), compared + 1
        assert off.max() <= TOLERANCE, (index, name, p.shape, p.dtype, weight is not None, found.draws, expected)
        assert abs(found.naive - naive) <= TOLERANCE * (1 + abs(naive)), (index, name)
        if groups is None:
            assert found.value == pytest.approx(np.nanmean(found.draws), abs=1e-12)
        TRIED[name] += 1
    record_property("calls", compared)
    print(f"\n{compared} calls compared, largest difference {largest:.1e}")
    assert compared > CALLS / 8
