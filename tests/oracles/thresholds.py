"""A threshold tuned by trying every cut on really repeated rows: the slow twin of `best_with_threshold`.

Nothing here is clever: every cut labels all rows anew, and they are counted one by one; no scan, no counts of samples.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

NAN = float("nan")


def share(a, b):
    """A share of nothing is 0."""
    return a / b if b > 0 else 0.0


def matthews(tp, fp, fn, tn):
    return share(tp * tn - fp * fn, math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)))


def fbeta(beta):
    def score(tp, fp, fn, tn):
        precision, recall = share(tp, tp + fp), share(tp, tp + fn)
        return share((1 + beta**2) * precision * recall, beta**2 * precision + recall)

    return score


#: what must be there (positives, negatives), and true and false positives, false and true negatives -> score
SCORES = {
    "f1": ("p", fbeta(1)),
    "fbeta(beta=2)": ("p", fbeta(2)),
    "jaccard": ("p", lambda tp, fp, fn, tn: share(tp, tp + fp + fn)),
    "accuracy": ("", lambda tp, fp, fn, tn: (tp + tn) / (tp + fp + fn + tn)),
    "balanced_accuracy": ("pn", lambda tp, fp, fn, tn: (tp / (tp + fn) + tn / (tn + fp)) / 2),
    "youden": ("pn", lambda tp, fp, fn, tn: tp / (tp + fn) + tn / (tn + fp) - 1),
    "matthews_corrcoef": ("pn", matthews),
    "sensitivity": ("p", lambda tp, fp, fn, tn: tp / (tp + fn)),
    "specificity": ("n", lambda tp, fp, fn, tn: tn / (tn + fp)),
    "precision": ("p", lambda tp, fp, fn, tn: share(tp, tp + fp)),
    "neg_cost(missed=5)": ("", lambda tp, fp, fn, tn: -(5 * fn + fp) / (tp + fp + fn + tn)),
}


def table(y, said, w):
    """Weight of true and false positives, false and true negatives, row by row."""
    found = {(1, 1): 0.0, (0, 1): 0.0, (1, 0): 0.0, (0, 0): 0.0}
    for i, pair in enumerate(zip(y.tolist(), said.tolist(), strict=True)):
        found[pair] += 1.0 if w is None else float(w[i])
    return tuple(found.values())


def score(metric, y, said, w):
    needed, formula = SCORES[metric]
    if not len(y) or ("p" in needed and not y.any()) or ("n" in needed and y.all()):
        return NAN
    return formula(*table(y, said, w))


def cuts(scores):
    """All thresholds that part the rows differently, the highest first: above all, between neighbours, below all."""
    distinct = sorted(set(scores), reverse=True)
    between = [(a + b) / 2 for a, b in itertools.pairwise(distinct)]
    return [math.inf, *between, -math.inf]


def kept(y, said, w, floors):
    """Whether a cut keeps the floors; what no row can break is kept."""
    tp, fp, fn, tn = table(y, said, w)
    return (
        ("min_precision" not in floors or (tp > 0 and tp / (tp + fp) >= floors["min_precision"] - 1e-12))
        and ("at_sensitivity" not in floors or tp + fn == 0 or tp / (tp + fn) >= floors["at_sensitivity"] - 1e-12)
        and ("at_specificity" not in floors or tn + fp == 0 or tn / (tn + fp) >= floors["at_specificity"] - 1e-12)
    )


def tune(y, scores, w, metric, floors):
    """The best score over all cuts of these rows, and the cut: the highest of the best that no other cut outdoes."""
    if not len(y):
        return NAN, NAN
    tried = []
    for cut in cuts(scores):
        said = (scores >= cut).astype(int)
        if kept(y, said, w, floors):
            hits, alarms = int(((said == 1) & (y == 1)).sum()), int(((said == 1) & (y == 0)).sum())
            tried.append((score(metric, y, said, w), cut, hits, alarms))
    outdone = [
        any(h >= hits and a <= alarms and (h, a) != (hits, alarms) for _, _, h, a in tried)
        for _, _, hits, alarms in tried
    ]
    tried = [each for each, worse in zip(tried, outdone, strict=True) if not worse]
    if not tried or all(math.isnan(value) for value, *_ in tried):
        return NAN, NAN
    top = max(value for value, *_ in tried)
    return top, next(cut for value, cut, *_ in tried if value >= top - 1e-12 * (1 + abs(top)))


def bbc(y, predictions, counts, metric, floors=None, weight=None):
    """Algorithm 5 with the threshold among what is selected: in-bag scores [B, C], winners, thresholds, draws [B]."""
    floors, found = floors or {}, []
    for row in counts:
        bag = np.repeat(np.arange(len(y)), row)
        w = None if weight is None else weight[bag]
        tuned = [tune(y[bag], predictions[bag, c], w, metric, floors) for c in range(predictions.shape[1])]
        scores = [value for value, _ in tuned]
        if np.isnan(scores).all():
            found.append((scores, -1, NAN, NAN))
            continue
        top = np.nanmax(scores)
        winner = next(c for c, value in enumerate(scores) if value >= top - 1e-12 * (1 + abs(top)))
        out = np.flatnonzero(row == 0)
        said = (predictions[out, winner] >= tuned[winner][1]).astype(int)
        judged = score(metric, y[out], said, None if weight is None else weight[out])
        found.append((scores, winner, tuned[winner][1], judged))
    return tuple(np.array(column) for column in zip(*found, strict=True))
