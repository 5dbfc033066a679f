"""The metrics that came later, on plain rows: y, one prediction a row, weights or None; see `rows`.

Nothing here is clever: pairs are looped over, constants are tried one after the other, tables are counted row by row.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from .rows import NAN, average_precision, mean_of, ones_like, tally


def weights(y, w):
    return np.asarray(ones_like(y, w))


def mean(values, w):
    return float(np.average(values, weights=w))


# ---- row losses -----------------------------------------------------------------------------------------------------
def top(k):
    def hits(y, p):
        """As scikit-learn sorts: upwards, keeping the order of equals, then turned round."""
        return [
            true in sorted(range(len(row)), key=lambda j: (row[j], j))[::-1][:k] for row, true in zip(p, y, strict=True)
        ]

    return mean_of(hits, +1)


def squares(y, p):
    table = p if p.ndim == 2 else np.column_stack([1 - p, p])
    return [sum((v - (j == k)) ** 2 for j, v in enumerate(row)) for row, k in zip(table, y, strict=True)]


def max_error(y, p, w=None):
    present = weights(y, w) > 0
    return -max(np.abs(y - p)[present]) if present.any() else NAN


# ---- how much of a loss is explained --------------------------------------------------------------------------------
def varies(y, w):
    return len({v for v, weight in zip(y, weights(y, w), strict=True) if weight > 0}) > 1


def d2_absolute(y, p, w=None):
    if not varies(y, w):
        return NAN
    best = min(mean(np.abs(y - guess), w) for guess in y)  # no constant beats the best of the values
    return 1 - mean(np.abs(y - p), w) / best


def d2_classes(loss):
    def oracle(y, p, w=None):
        if not varies(y, w):
            return NAN
        table = p if p.ndim == 2 else np.column_stack([1 - p, p])
        shares = [mean([t == k for t in y], w) for k in range(table.shape[1])]
        return 1 - mean(loss(y, table), w) / mean(loss(y, np.array([shares] * len(y))), w)

    return oracle


def surprise(y, p):
    eps = np.finfo(float).eps
    return [-math.log(min(max(row[k], eps), 1 - eps)) for row, k in zip(p, y, strict=True)]


# ---- the confusion matrix -------------------------------------------------------------------------------------------
def table_of(y, p, w=None):
    """Weight of every pair of a true and a predicted label."""
    cells: dict = {}
    for true, said, weight in zip(y, p, ones_like(y, w), strict=True):
        cells[true, said] = cells.get((true, said), 0.0) + weight
    return {pair: v for pair, v in cells.items() if v > 0}


def kappa(y, p, w=None):
    if not varies(y, w):
        return NAN
    cells = table_of(y, p, w)
    labels = sorted({label for pair in cells for label in pair})
    total = sum(cells.values())
    seen = expected = 0.0
    for a, b in itertools.permutations(labels, 2):
        true = sum(v for (t, _), v in cells.items() if t == a)
        said = sum(v for (_, s), v in cells.items() if s == b)
        seen += cells.get((a, b), 0.0)
        expected += true * said / total
    return 1 - seen / expected


def likelihood_ratio(y, p, w=None, positive=True):
    cells = table_of(y, p, w)
    pos, neg = (sum(v for (t, _), v in cells.items() if t == label) for label in (1, 0))
    if not (pos > 0 and neg > 0):
        return NAN
    label = 1 if positive else 0
    share_of_ill, share_of_well = cells.get((1, label), 0.0) / pos, cells.get((0, label), 0.0) / neg
    ratio = share_of_ill / share_of_well if share_of_well > 0 else 1.0
    return ratio if positive else -ratio


def shares(score, average, pos_label=1):
    """`score(hits, predicted, true)` gives (numerator, denominator)."""

    def oracle(y, p, w=None):
        rows = tally(y, p, w)
        if average == "binary":
            rows = {pos_label: rows.get(pos_label, [0.0, 0.0, 0.0])}
        if average == "macro":
            rows = {k: row for k, row in rows.items() if row[1] > 0 or row[2] > 0}  # rows without weight are absent
        if not sum(true for _, _, true in rows.values()) > 0:
            return NAN

        def one(row):
            above, below = score(*row)
            return above / below if below > 0 else 0.0

        if average == "micro":
            return one([sum(column) for column in zip(*rows.values(), strict=True)])
        size = [row[2] if average == "weighted" else 1.0 for row in rows.values()]
        return np.average([one(row) for row in rows.values()], weights=size)

    return oracle


def jaccard(hits, predicted, true):
    return hits, predicted + true - hits


def precision(hits, predicted, true):
    return hits, predicted


def recall(hits, predicted, true):
    return hits, true


def fbeta(beta):
    return lambda hits, predicted, true: ((1 + beta**2) * hits, beta**2 * true + predicted)


# ---- ranks ----------------------------------------------------------------------------------------------------------
def by_class(score, average):
    def oracle(y, p, w=None):
        k, w = p.shape[1], weights(y, w)
        present = {v for v, weight in zip(y, w, strict=True) if weight > 0}
        if len(present) < k:
            return NAN
        found = [score((y == c).astype(int), p[:, c], w) for c in range(k)]
        return np.average(found, weights=[w[y == c].sum() for c in range(k)] if average == "weighted" else None)

    return oracle


MACRO = by_class(average_precision, "macro")
ORACLES = {
    "cohen_kappa": kappa,
    "positive_likelihood_ratio": likelihood_ratio,
    "neg_negative_likelihood_ratio": lambda y, p, w=None: likelihood_ratio(y, p, w, positive=False),
    "top_k_accuracy": top(2),
    "top_k_accuracy(k=1)": top(1),
    "neg_max_error": max_error,
    "d2_absolute_error_score": d2_absolute,
    "d2_log_loss_score": d2_classes(surprise),
    "d2_brier_score": d2_classes(squares),
    "jaccard": shares(jaccard, "binary"),
    "fbeta(beta=2)": shares(fbeta(2), "binary"),
    "fbeta(beta=0.5, average='macro')": shares(fbeta(0.5), "macro"),
    "recall(pos_label=0)": shares(recall, "binary", pos_label=0),
    "average_precision(average='weighted')": by_class(average_precision, "weighted"),
    "average_precision": lambda y, p, w=None: (average_precision if p.ndim == 1 else MACRO)(y, p, w),
    "average_precision(pos_label=0)": lambda y, p, w=None: average_precision(1 - y, -p, w),
}
for _average in ("macro", "micro", "weighted"):
    ORACLES[f"jaccard_{_average}"] = shares(jaccard, _average)
