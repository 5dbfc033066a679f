"""Metrics of the clinic and of censored times, on plain rows; see `rows`."""

from __future__ import annotations

import itertools
import math

import numpy as np

from .rows import NAN
from .scores import d2_classes, precision, recall, shares, squares, weights


# ---- decisions at a threshold ---------------------------------------------------------------------------------------
def at(threshold, oracle, pos_label=1):
    """Labels of probabilities of the class 1; whoever reaches the threshold is called positive."""

    def decided(y, p, w=None):
        chance = p if pos_label == 1 else 1 - p
        return oracle(y, np.where(chance >= threshold, pos_label, 1 - pos_label), w)

    return decided


def net_benefit(threshold, pos_label=1):
    def oracle(y, p, w=None):
        total = benefit = 0.0
        for true, chance, weight in zip(y, p, weights(y, w), strict=True):
            treated = (chance if pos_label == 1 else 1 - chance) >= threshold
            total += weight
            if treated:
                benefit += weight * (1.0 if true == pos_label else -threshold / (1 - threshold))
        return benefit / total if total > 0 else NAN

    return oracle


# ---- censored times -------------------------------------------------------------------------------------------------
def still_observed(y, w, time, included):
    """Kaplan and Meier's chance not to be censored before a time (or until it, that included); events come first."""
    chance = 1.0
    for moment in sorted({row["time"] for row in y}):
        if moment < time or (included and moment == time):
            lost = sum(v for row, v in zip(y, w, strict=True) if row["time"] == moment and not row["event"])
            left = sum(v for row, v in zip(y, w, strict=True) if row["time"] > moment) + lost
            if lost > 0:
                chance *= 1 - lost / left
    return chance


def uno(tau=math.inf):
    def oracle(y, p, w=None):
        w = weights(y, w)
        wins = pairs = 0.0
        for i, j in itertools.product(range(len(y)), repeat=2):
            first, second = y[i], y[j]
            later = first["time"] < second["time"] or (first["time"] == second["time"] and not second["event"])
            if first["event"] and first["time"] < tau and later and w[i] > 0:
                weight = w[i] * w[j] / still_observed(y, w, first["time"], False) ** 2
                pairs += weight
                wins += weight * (1.0 if p[i] > p[j] else 0.5 if p[i] == p[j] else 0.0)
        return wins / pairs if pairs > 0 else NAN

    return oracle


def auc_at(time):
    def oracle(y, p, w=None):
        w = weights(y, w)
        wins = pairs = 0.0
        for i, j in itertools.product(range(len(y)), repeat=2):
            if y[i]["event"] and y[i]["time"] <= time < y[j]["time"] and w[i] > 0:
                weight = w[i] * w[j] / still_observed(y, w, y[i]["time"], False)
                pairs += weight
                wins += weight * (1.0 if p[i] > p[j] else 0.5 if p[i] == p[j] else 0.0)
        return wins / pairs if pairs > 0 else NAN

    return oracle


def brier_at(y, p, w, time):
    w = weights(y, w)
    if not any(row["time"] > time and v > 0 for row, v in zip(y, w, strict=True)):
        return NAN
    total = 0.0
    for row, chance, weight in zip(y, p, w, strict=True):
        if row["time"] > time:
            total += weight * (1 - chance) ** 2 / still_observed(y, w, time, True)
        elif row["event"] and weight > 0:
            total += weight * chance**2 / still_observed(y, w, row["time"], False)
    return total / sum(w)


def integrated_brier(times):
    def oracle(y, p, w=None):
        found = [brier_at(y, p[:, k], w, time) for k, time in enumerate(times)]
        if len(times) == 1:
            return -found[0]
        area = sum((b - a) * (f + g) / 2 for (a, f), (b, g) in itertools.pairwise(zip(times, found, strict=True)))
        return -area / (times[-1] - times[0])

    return oracle


sensitivity, specificity = shares(recall, "binary"), shares(recall, "binary", pos_label=0)
ppv, npv = shares(precision, "binary"), shares(precision, "binary", pos_label=0)


def youden(y, p, w=None):
    return sensitivity(y, p, w) + specificity(y, p, w) - 1


def neg_cost(missed, alarm, pos_label=1):
    def oracle(y, p, w=None):
        w = weights(y, w)
        total = 0.0
        for truth, said, weight in zip(y, p, w, strict=True):
            if truth != said:
                total += weight * (missed if truth == pos_label else alarm)
        return -total / sum(w)

    return oracle


ORACLES = {
    "sensitivity": sensitivity,
    "youden": youden,
    "neg_cost(missed=5)": neg_cost(5, 1),
    "neg_cost(missed=0.5, alarm=2, pos_label=0)": neg_cost(0.5, 2, pos_label=0),
    "specificity": specificity,
    "ppv": ppv,
    "npv": npv,
    "sensitivity(threshold=0.3)": at(0.3, sensitivity),
    "specificity(threshold=0.3)": at(0.3, specificity),
    "ppv(threshold=0.7)": at(0.7, ppv),
    "npv(threshold=0.3)": at(0.3, npv),
    "sensitivity(threshold=0.25, pos_label=0)": at(0.25, specificity, pos_label=0),
    "net_benefit(threshold=0.2)": net_benefit(0.2),
    "net_benefit(threshold=0.5, pos_label=0)": net_benefit(0.5, pos_label=0),
    "brier_scaled": d2_classes(squares),
    "concordance_index_ipcw": uno(),
    "concordance_index_ipcw(tau=5)": uno(5),
    "cumulative_dynamic_auc(time=4)": auc_at(4),
    "neg_survival_brier_score(time=4)": integrated_brier([4]),
    "neg_integrated_brier_score(times=[2, 4, 7])": integrated_brier([2, 4, 7]),
}
