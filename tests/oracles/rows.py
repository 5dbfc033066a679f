"""Every metric on plain rows: y, one prediction a row, weights or None. Slow and obvious; NaN where undefined.

The loss l(y, y_hat) of section 2 of the paper, in scikit-learn's names and signs (up is good). Rows are really repeated
before they come here, so that nothing in this file knows what a count is.
"""

from __future__ import annotations

import itertools
import warnings
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
from sklearn import config_context
from sklearn import metrics as sk

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


# ---- everything else: scikit-learn on the rows, behind our rule of what is undefined --------------------------------
@contextmanager
def quietly():
    """scikit-learn warns where zero_division steps in, and of single-precision probabilities."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def from_sklearn(function, sign=1, defined=lambda y: len(y) > 0, **options):
    def oracle(y, p, w=None):
        if not defined(y):
            return NAN
        with quietly(), config_context(skip_parameter_validation=True, assume_finite=True):
            return sign * float(function(y, p, sample_weight=w, **options))

    return oracle


def two_classes(y):
    return len(set(y)) >= 2


def has_positive(y):
    return 1 in set(y)


def varies(y):
    return len(set(y)) >= 2


def needs_labels(function):
    """log_loss and brier_score must be told the classes: some may be absent from the rows."""

    def oracle(y, p, w=None):
        if len(y) == 0:
            return NAN
        table = p if np.ndim(p) == 2 else np.column_stack([1 - np.asarray(p), p])
        with quietly():
            return -float(function(y, table, sample_weight=w, labels=np.arange(table.shape[1])))

    return oracle


ORACLES = {
    "accuracy": from_sklearn(sk.accuracy_score),
    "balanced_accuracy": from_sklearn(sk.balanced_accuracy_score, defined=two_classes),
    "matthews_corrcoef": from_sklearn(sk.matthews_corrcoef, defined=two_classes),
    "neg_log_loss": needs_labels(sk.log_loss),
    "neg_brier_score": needs_labels(sk.brier_score_loss),
    "roc_auc": roc_auc,
    "roc_auc_ovr": one_vs_rest,
    "roc_auc_ovo": one_vs_one,
    "roc_auc_ovr_weighted": lambda y, p, w=None: one_vs_rest(y, p, w, prevalence=True),
    "roc_auc_ovo_weighted": lambda y, p, w=None: one_vs_one(y, p, w, prevalence=True),
    "average_precision": average_precision,
    "neg_mean_squared_error": from_sklearn(sk.mean_squared_error, -1),
    "neg_root_mean_squared_error": from_sklearn(sk.root_mean_squared_error, -1),
    "neg_mean_absolute_error": from_sklearn(sk.mean_absolute_error, -1),
    "neg_median_absolute_error": median_absolute_error,
    "neg_mean_absolute_percentage_error": from_sklearn(sk.mean_absolute_percentage_error, -1),
    "neg_mean_squared_log_error": from_sklearn(sk.mean_squared_log_error, -1),
    "neg_root_mean_squared_log_error": from_sklearn(sk.root_mean_squared_log_error, -1),
    "neg_mean_poisson_deviance": from_sklearn(sk.mean_poisson_deviance, -1),
    "neg_mean_gamma_deviance": from_sklearn(sk.mean_gamma_deviance, -1),
    "r2": from_sklearn(sk.r2_score, defined=varies),
    "explained_variance": from_sklearn(sk.explained_variance_score, defined=varies),
    "concordance_index": concordance_index,
}
for _name, _function in {"f1": sk.f1_score, "precision": sk.precision_score, "recall": sk.recall_score}.items():
    ORACLES[_name] = from_sklearn(_function, defined=has_positive, zero_division=0)
    for _average in ("macro", "micro", "weighted"):
        ORACLES[f"{_name}_{_average}"] = from_sklearn(_function, average=_average, zero_division=0)

#: Those that can compare only pairs of the same fold, and how they count their pairs.
PAIRS = {"roc_auc": auc_pairs, "concordance_index": concordance_pairs}
