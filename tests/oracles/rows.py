"""Every metric on plain rows: y, one prediction a row, weights or None. Slow and obvious; NaN where undefined.

The loss l(y, y_hat) of section 2 of the paper, in scikit-learn's names and signs (up is good). Rows are really repeated
before they come here, so that nothing in this file knows what a count is.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from scipy.special import xlogy

NAN = float("nan")


def ones_like(y, w):
    return [1.0] * len(y) if w is None else [float(v) for v in w]


# ---- metrics of pairs: literal double loops -------------------------------------------------------------------------
def auc_pairs(y, p, w=None):
    """(wins, pairs) over all pairs of a positive and a negative row; a tie is half a win."""
    w = ones_like(y, w)
    wins = pairs = 0.0
    for i, j in itertools.product(range(len(y)), repeat=2):
        if y[i] == 1 and y[j] == 0:
            pairs += w[i] * w[j]
            wins += w[i] * w[j] * (1.0 if p[i] > p[j] else 0.5 if p[i] == p[j] else 0.0)
    return wins, pairs


def concordance_pairs(y, p, w=None):
    """(wins, pairs) over Harrell's comparable pairs: row i is seen to fail before row j (or row j is censored then)."""
    w = ones_like(y, w)
    wins = pairs = 0.0
    for i, j in itertools.product(range(len(y)), repeat=2):
        first, second = y[i], y[j]
        earlier = first["time"] < second["time"]
        event_first = first["time"] == second["time"] and not second["event"]
        if first["event"] and (earlier or event_first):
            pairs += w[i] * w[j]
            wins += w[i] * w[j] * (1.0 if p[i] > p[j] else 0.5 if p[i] == p[j] else 0.0)
    return wins, pairs


def ratio(wins, pairs):
    return wins / pairs if pairs > 0 else NAN


def roc_auc(y, p, w=None):
    return ratio(*auc_pairs(y, p, w))


def concordance_index(y, p, w=None):
    return ratio(*concordance_pairs(y, p, w))


def one_vs_rest(y, p, w=None, prevalence=False):
    """Mean over classes of the AUC of that class against all others."""
    k = p.shape[1]
    if len(set(y)) < k:
        return NAN
    weight = np.asarray(ones_like(y, w))
    aucs = [roc_auc((y == c).astype(int), p[:, c], w) for c in range(k)]
    shares = [weight[y == c].sum() if prevalence else 1.0 for c in range(k)]
    return np.average(aucs, weights=shares)


def one_vs_one(y, p, w=None, prevalence=False):
    """Mean over pairs of classes (Hand and Till) of the two AUCs between them."""
    k = p.shape[1]
    if len(set(y)) < k:
        return NAN
    weight = np.asarray(ones_like(y, w))
    aucs, shares = [], []
    for a, b in itertools.combinations(range(k), 2):
        rows = (y == a) | (y == b)
        of_a = roc_auc((y[rows] == a).astype(int), p[rows, a], weight[rows])
        of_b = roc_auc((y[rows] == b).astype(int), p[rows, b], weight[rows])
        aucs.append((of_a + of_b) / 2)
        shares.append(weight[rows].sum() if prevalence else 1.0)
    return np.average(aucs, weights=shares)


def average_precision(y, p, w=None):
    """Sum over thresholds, from the highest down, of precision times the step in recall."""
    w = np.asarray(ones_like(y, w))
    y, p = np.asarray(y), np.asarray(p)
    positives = w[y == 1].sum()
    if not positives > 0:
        return NAN
    area, recall = 0.0, 0.0
    for threshold in sorted(set(p), reverse=True):
        caught = p >= threshold
        true = w[caught & (y == 1)].sum()
        area += (true / positives - recall) * true / w[caught].sum()
        recall = true / positives
    return area


def median_absolute_error(y, p, w=None):
    """The weighted median; where a row ends exactly at half the weight, its mean with the next one."""
    error = np.abs(np.asarray(y) - np.asarray(p))
    if len(error) == 0:
        return NAN
    order = np.argsort(error, kind="stable")
    weight = [Fraction(v) for v in ones_like(y, w)]
    half, total = sum(weight) / 2, Fraction(0)
    for at, i in enumerate(order):
        total += weight[i]
        if total == half:
            following = next(error[j] for j in order[at + 1 :] if weight[j] > 0)
            return -(error[i] + following) / 2
        if total > half:
            return -error[i]
    raise AssertionError("a median always exists")


# ---- metrics of labels: who was said to be what ---------------------------------------------------------------------
def tally(y, p, w=None):
    """For each label that occurs: (weight of hits, of rows predicted so, of rows truly so)."""
    table = {k: [0.0, 0.0, 0.0] for k in sorted({*y} | {*p})}
    for true, said, weight in zip(y, p, ones_like(y, w), strict=True):
        table[said][1] += weight
        table[true][2] += weight
        if true == said:
            table[true][0] += weight
    return table


def divided(a, b):
    return a / b if b else 0.0  # scikit-learn's zero_division


def precision(hits, predicted, true):
    return divided(hits, predicted)


def recall(hits, predicted, true):
    return divided(hits, true)


def f1(hits, predicted, true):
    return divided(2 * hits, predicted + true)


def averaged(score, average):
    def oracle(y, p, w=None):
        if len(y) == 0 or (average == "binary" and 1 not in y):
            return NAN
        table = tally(y, p, w)
        if average == "binary":
            return score(*table[1])
        if average == "micro":
            return score(*(sum(column) for column in zip(*table.values(), strict=True)))
        scores = [score(*row) for row in table.values()]
        return np.average(scores, weights=[true if average == "weighted" else 1.0 for _, _, true in table.values()])

    return oracle


def balanced_accuracy(y, p, w=None):
    if len(set(y)) < 2:
        return NAN
    return np.mean([hits / true for hits, _, true in tally(y, p, w).values() if true])


def matthews_corrcoef(y, p, w=None):
    if len(set(y)) < 2:
        return NAN
    table, total = tally(y, p, w).values(), sum(ones_like(y, w))
    joint = total * sum(h for h, _, _ in table) - sum(s * t for _, s, t in table)
    said, true = (total**2 - sum(row[k] ** 2 for row in table) for k in (1, 2))
    return joint / np.sqrt(said * true) if said > 1e-9 else 0.0


# ---- means over rows ------------------------------------------------------------------------------------------------
def mean_of(loss, sign=-1, root=False):
    def oracle(y, p, w=None):
        if len(y) == 0:
            return NAN
        mean = np.average(loss(np.asarray(y), np.asarray(p)), weights=w)
        return sign * (np.sqrt(mean) if root else mean)

    return oracle


def log_loss(y, p):
    """Minus the log of the probability of what happened, kept away from 0 and 1 as scikit-learn does."""
    table = p if p.ndim == 2 else np.column_stack([1 - p, p])
    eps = np.finfo(p.dtype).eps
    return [-np.log(min(max(row[k], eps), 1 - eps)) for row, k in zip(table, y, strict=True)]


def brier(y, p):
    """Squared distance to what happened; halved for two classes, where both squares are the same."""
    return (p - y) ** 2 if p.ndim == 1 else ((p - np.eye(p.shape[1])[y]) ** 2).sum(axis=1)


def squared(y, p):
    return (y - p) ** 2


def squared_log(y, p):
    return (np.log1p(y) - np.log1p(p)) ** 2


def explained(centred):
    """1 - what is left / what there was; the mean residual is forgiven in explained variance, not in R2."""

    def oracle(y, p, w=None):
        if len(set(y)) < 2:
            return NAN
        residual = y - p - (np.average(y - p, weights=w) if centred else 0.0)
        return 1 - np.average(residual**2, weights=w) / np.average((y - np.average(y, weights=w)) ** 2, weights=w)

    return oracle


ORACLES = {
    "accuracy": mean_of(lambda y, p: y == p, +1),
    "balanced_accuracy": balanced_accuracy,
    "matthews_corrcoef": matthews_corrcoef,
    "neg_log_loss": mean_of(log_loss),
    "neg_brier_score": mean_of(brier),
    "roc_auc": roc_auc,
    "roc_auc_ovr": one_vs_rest,
    "roc_auc_ovo": one_vs_one,
    "roc_auc_ovr_weighted": lambda y, p, w=None: one_vs_rest(y, p, w, prevalence=True),
    "roc_auc_ovo_weighted": lambda y, p, w=None: one_vs_one(y, p, w, prevalence=True),
    "average_precision": average_precision,
    "neg_mean_squared_error": mean_of(squared),
    "neg_root_mean_squared_error": mean_of(squared, root=True),
    "neg_mean_absolute_error": mean_of(lambda y, p: abs(y - p)),
    "neg_median_absolute_error": median_absolute_error,
    "neg_mean_absolute_percentage_error": mean_of(lambda y, p: abs(y - p) / abs(y)),
    "neg_mean_squared_log_error": mean_of(squared_log),
    "neg_root_mean_squared_log_error": mean_of(squared_log, root=True),
    "neg_mean_poisson_deviance": mean_of(lambda y, p: 2 * (xlogy(y, y / p) - y + p)),
    "neg_mean_gamma_deviance": mean_of(lambda y, p: 2 * (np.log(p / y) + y / p - 1)),
    "r2": explained(centred=False),
    "explained_variance": explained(centred=True),
    "concordance_index": concordance_index,
}
for _name, _score in {"f1": f1, "precision": precision, "recall": recall}.items():
    ORACLES[_name] = averaged(_score, "binary")
    for _average in ("macro", "micro", "weighted"):
        ORACLES[f"{_name}_{_average}"] = averaged(_score, _average)

#: Those that can compare only pairs of the same fold, and how they count their pairs.
PAIRS = {"roc_auc": auc_pairs, "concordance_index": concordance_pairs}
