"""What is tuned in every resample: all thresholds of all configurations, beside the AUC; ensembles."""

from __future__ import annotations

from functools import partial

import sobercv

from .problems import problem
from .report import Section, number, ratio
from .timing import race

N, C, B = 500, 610, 1000
MIX = (1000, 100, 200)  # N, C, B of ensembles
METRICS = ("f1", "balanced_accuracy", "matthews_corrcoef", "accuracy")


def run(quick: bool = False, large: bool = False) -> list[Section]:
    rounds, budget = (3, 0.5) if quick else (15, 5.0)
    data = problem("neg_log_loss", N, C)  # probabilities
    tuned = sobercv.best_with_threshold()
    racers = {"roc_auc": partial(sobercv.bbc, data.y, data.predictions, "roc_auc", n_bootstraps=B, n_jobs=-1)}
    for metric in METRICS:
        racers[metric] = partial(sobercv.bbc, data.y, data.predictions, metric, select=tuned, n_bootstraps=B, n_jobs=-1)
    n, c, b = MIX
    mixed = problem("neg_log_loss", n, c)
    for select in (sobercv.greedy_ensemble(), sobercv.stacked_ensemble()):
        racers[repr(select)] = partial(
            sobercv.bbc, mixed.y, mixed.predictions, "roc_auc", select=select, n_bootstraps=b, n_jobs=-1
        )
    for racer in racers.values():
        racer()  # compile
    taken = race(racers, rounds, budget)
    rows = [[metric, number(1e3 * taken[metric]), ratio(taken[metric] / taken["roc_auc"])] for metric in METRICS]
    ensembles = [[name, number(taken[name])] for name in taken if "ensemble" in name]
    return [
        Section(
            f"Tuned thresholds: BBC with N = {N}, C = {C}, B = {B:,}",
            ["metric", "sober ms", "by the AUC"],
            rows,
            [f"The AUC, one column selected: {number(1e3 * taken['roc_auc'])} ms. Whole calls, on all cores."],
        ),
        Section(
            f"Ensembles: BBC with N = {n:,}, C = {c}, B = {b}",
            ["ensemble", "sober s"],
            ensembles,
            ["Whole calls, the best single configuration beside the mix included."],
        ),
    ]
