"""The metrics that came later, on plain rows: y, one prediction a row, weights or None; see `rows`.

Nothing here is clever: pairs are looped over, constants are tried one after the other, tables are counted row by row.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from .rows import NAN, average_precision, mean_of, ones_like, roc_auc, tally


def weights(y, w):
    return np.asarray(ones_like(y, w))


def mean(values, w):
    return float(np.average(values, weights=w))


# ---- row losses -----------------------------------------------------------------------------------------------------
def hinge(y, p):
    if p.ndim == 1:
        return [max(0.0, 1 - v if k == 1 else 1 + v) for v, k in zip(p, y, strict=True)]
    return [max(0.0, 1 - row[k] + max(v for j, v in enumerate(row) if j != k)) for row, k in zip(p, y, strict=True)]


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


def pinball(alpha):
    def loss(y, p):
        return [
            alpha * (t - v) if t >= v else (1 - alpha) * (v - t)
            for t, v in zip(y, np.broadcast_to(p, len(y)), strict=True)
        ]

    return loss


def tweedie(power):
    """The integral of (y - mu) / mu^power from the guess to the truth, doubled, worked out by hand for each power."""

    def one(y, mu):
        if power == 0:
            return (y - mu) ** 2
        if power == 1:
            return 2 * ((y * math.log(y / mu) if y > 0 else 0.0) - y + mu)
        if power == 2:
            return 2 * (math.log(mu / y) + y / mu - 1)
        first = max(y, 0.0) ** (2 - power) / ((1 - power) * (2 - power))
        return 2 * (first - y * mu ** (1 - power) / (1 - power) + mu ** (2 - power) / (2 - power))

    return lambda y, p: [one(t, v) for t, v in zip(y, np.broadcast_to(p, len(y)), strict=True)]


def max_error(y, p, w=None):
    present = weights(y, w) > 0
    return -max(np.abs(y - p)[present]) if present.any() else NAN


# ---- how much of a loss is explained --------------------------------------------------------------------------------
def varies(y, w):
    return len({v for v, weight in zip(y, weights(y, w), strict=True) if weight > 0}) > 1


def d2_pinball(alpha):
    def oracle(y, p, w=None):
        if not varies(y, w):
            return NAN
        best = min(mean(pinball(alpha)(y, guess), w) for guess in y)  # no constant beats the best of the values
        return 1 - mean(pinball(alpha)(y, p), w) / best

    return oracle


def d2_tweedie(power):
    def oracle(y, p, w=None):
        return 1 - mean(tweedie(power)(y, p), w) / mean(tweedie(power)(y, mean(y, w)), w) if varies(y, w) else NAN

    return oracle


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


def balanced_adjusted(y, p, w=None):
    found = [hits / true for hits, _, true in tally(y, p, w).values() if true]
    chance = 1 / len(found) if found else NAN
    return (np.mean(found) - chance) / (1 - chance) if len(found) > 1 else NAN


def kappa(power):
    def oracle(y, p, w=None):
        if not varies(y, w):
            return NAN
        cells = table_of(y, p, w)
        labels = sorted({label for pair in cells for label in pair})
        total = sum(cells.values())
        seen = expected = 0.0
        for (i, a), (j, b) in itertools.product(enumerate(labels), repeat=2):
            cost = float(i != j) if power is None else abs(i - j) ** power
            true = sum(v for (t, _), v in cells.items() if t == a)
            said = sum(v for (_, s), v in cells.items() if s == b)
            seen += cost * cells.get((a, b), 0.0)
            expected += cost * true * said / total
        return 1 - seen / expected

    return oracle


def likelihood_ratio(y, p, w=None, positive=True):
    cells = table_of(y, p, w)
    pos, neg = (sum(v for (t, _), v in cells.items() if t == label) for label in (1, 0))
    if not (pos > 0 and neg > 0):
        return NAN
    label = 1 if positive else 0
    share_of_ill, share_of_well = cells.get((1, label), 0.0) / pos, cells.get((0, label), 0.0) / neg
    ratio = share_of_ill / share_of_well if share_of_well > 0 else 1.0
    return ratio if positive else -ratio


def shares(score, average, labels=None, pos_label=1, zero=0.0):
    """`score(hits, predicted, true)` gives (numerator, denominator)."""

    def oracle(y, p, w=None):
        rows = tally(y, p, w)
        listed = [pos_label] if average == "binary" else list(rows) if labels is None else labels
        rows = {k: rows.get(k, [0.0, 0.0, 0.0]) for k in listed}
        if labels is None and average == "macro":
            rows = {k: row for k, row in rows.items() if row[1] > 0 or row[2] > 0}  # rows without weight are absent
        if not sum(true for _, _, true in rows.values()) > 0:
            return NAN

        def one(row):
            above, below = score(*row)
            return above / below if below > 0 else zero

        if average == "micro":
            return one([sum(column) for column in zip(*rows.values(), strict=True)])
        size = [row[2] if average == "weighted" else 1.0 for row in rows.values()]
        kept = [(one(row), s) for row, s in zip(rows.values(), size, strict=True) if not math.isnan(one(row))]
        return np.average([v for v, _ in kept], weights=[s for _, s in kept]) if kept else NAN

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
def partial_auc(max_fpr):
    """The curve up to a rate of false alarms, point by point, then McClish's scale."""

    def oracle(y, p, w=None):
        w = weights(y, w)
        pos, neg = w[y == 1].sum(), w[y == 0].sum()
        if not (pos > 0 and neg > 0):
            return NAN
        curve = [(0.0, 0.0)]
        for threshold in sorted(set(p), reverse=True):
            caught = p >= threshold
            curve.append((w[caught & (y == 0)].sum() / neg, w[caught & (y == 1)].sum() / pos))
        area = 0.0
        for (x0, y0), (x1, y1) in itertools.pairwise(curve):
            if x1 > x0 and x0 < max_fpr:
                end = min(x1, max_fpr)
                at_end = y0 + (y1 - y0) * (end - x0) / (x1 - x0)
                area += (end - x0) * (y0 + at_end) / 2
        return 0.5 * (1 + (area - max_fpr**2 / 2) / (max_fpr - max_fpr**2 / 2))

    return oracle


def by_class(score, average):
    def oracle(y, p, w=None):
        k, w = p.shape[1], weights(y, w)
        present = {v for v, weight in zip(y, w, strict=True) if weight > 0}
        if average == "micro":
            flat = np.array([[label == c for c in range(k)] for label in y]).astype(int)
            return score(flat.ravel(), p.ravel(), np.repeat(w, k)) if present else NAN
        if len(present) < k:
            return NAN
        found = [score((y == c).astype(int), p[:, c], w) for c in range(k)]
        return np.average(found, weights=[w[y == c].sum() for c in range(k)] if average == "weighted" else None)

    return oracle


MACRO = by_class(average_precision, "macro")
ORACLES = {
    "neg_zero_one_loss": mean_of(lambda y, p: y != p),
    "neg_hamming_loss": mean_of(lambda y, p: y != p),
    "balanced_accuracy(adjusted=True)": balanced_adjusted,
    "cohen_kappa": kappa(None),
    "cohen_kappa(weights='linear')": kappa(1),
    "cohen_kappa(weights='quadratic')": kappa(2),
    "positive_likelihood_ratio": likelihood_ratio,
    "neg_negative_likelihood_ratio": lambda y, p, w=None: likelihood_ratio(y, p, w, positive=False),
    "top_k_accuracy": top(2),
    "top_k_accuracy(k=1)": top(1),
    "neg_hinge_loss": mean_of(hinge),
    "neg_brier_score(scale_by_half=True)": mean_of(lambda y, p: np.divide(squares(y, p), 2)),
    "neg_brier_score(scale_by_half=False)": mean_of(squares),
    "neg_mean_pinball_loss": mean_of(pinball(0.5)),
    "neg_mean_pinball_loss(alpha=0.1)": mean_of(pinball(0.1)),
    "neg_mean_tweedie_deviance": mean_of(tweedie(0)),
    "neg_mean_tweedie_deviance(power=-1)": mean_of(tweedie(-1)),
    "neg_mean_tweedie_deviance(power=1.5)": mean_of(tweedie(1.5)),
    "neg_mean_tweedie_deviance(power=3)": mean_of(tweedie(3)),
    "neg_max_error": max_error,
    "d2_absolute_error_score": d2_pinball(0.5),
    "d2_pinball_score": d2_pinball(0.5),
    "d2_pinball_score(alpha=0.8)": d2_pinball(0.8),
    "d2_tweedie_score": d2_tweedie(0),
    "d2_tweedie_score(power=1)": d2_tweedie(1),
    "d2_tweedie_score(power=1.5)": d2_tweedie(1.5),
    "d2_tweedie_score(power=2)": d2_tweedie(2),
    "d2_log_loss_score": d2_classes(surprise),
    "d2_brier_score": d2_classes(squares),
    "jaccard": shares(jaccard, "binary"),
    "fbeta(beta=2)": shares(fbeta(2), "binary"),
    "fbeta(beta=0.5, average='macro')": shares(fbeta(0.5), "macro"),
    "fbeta(beta=2, average='weighted', labels=[0, 2])": shares(fbeta(2), "weighted", [0, 2]),
    "precision(average='macro', labels=[2, 1], zero_division=1)": shares(precision, "macro", [2, 1], zero=1.0),
    "precision(average='macro', zero_division=nan)": shares(precision, "macro", zero=NAN),
    "recall(pos_label=0)": shares(recall, "binary", pos_label=0),
    "jaccard(average='micro', labels=[1])": shares(jaccard, "micro", [1]),
    "roc_auc(max_fpr=0.2)": partial_auc(0.2),
    "roc_auc(average='micro', multi_class='ovr')": by_class(roc_auc, "micro"),
    "average_precision(average='weighted')": by_class(average_precision, "weighted"),
    "average_precision(average='micro')": by_class(average_precision, "micro"),
    "average_precision": lambda y, p, w=None: (average_precision if p.ndim == 1 else MACRO)(y, p, w),
    "average_precision(pos_label=0)": lambda y, p, w=None: average_precision(1 - y, -p, w),
}
for _average in ("macro", "micro", "weighted"):
    ORACLES[f"jaccard_{_average}"] = shares(jaccard, _average)
