"""Races replayed on one complete table: what each rule would have trained, lost, and claimed.

Takes a table with the truth of every configuration, gives one row of numbers a rule; trains nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

import sobercv
from sobercv.inference import DropRule, Question
from sobercv.inference.bootstrap import corrected
from sobercv.inference.raced import RacedTable
from sobercv.inference.tables import Table

from ..race import Replay, replay

#: From 20 predictions on, whatever the size: the study says where that is too early.
_unguarded = partial(sobercv.PredictiveDrop, min_predictions=20)
RULES: dict[str, DropRule | None] = {
    "none": None,
    "bced": sobercv.BootstrapDrop(),
    "predictive .002": _unguarded(0.002),
    "predictive .005": _unguarded(0.005),
    "predictive .01": _unguarded(0.01),
    "predictive .005, zone .1": _unguarded(0.005, zone=0.1),
    "predictive .01, zone .1": _unguarded(0.01, zone=0.1),
    "predictive .005, guard 50": _unguarded(0.005, min_predictions=50),
}
#: On real tables only: how far it can be driven.
SHARPER: dict[str, DropRule | None] = {
    "predictive .02": _unguarded(0.02),
    "predictive .02, zone .1": _unguarded(0.02, zone=0.1),
    "predictive .01, zone .2": _unguarded(0.01, zone=0.2),
    "predictive .015, zone .15, guard 30": _unguarded(0.015, zone=0.15, min_predictions=30),
    "predictive .015, zone .2, guard 30": _unguarded(0.015, zone=0.2, min_predictions=30),
}
#: For metrics that are means over samples.
ROW_RULES: dict[str, DropRule | None] = {
    "betting .05": sobercv.BettingDrop(0.05),
    "confidence .01": sobercv.ConfidenceDrop(0.01),
    "hoeffding": sobercv.HoeffdingDrop(),
    "bernstein": sobercv.BernsteinDrop(),
}
N_BOOTSTRAPS = 500


def measure(
    table: sobercv.Predictions, truth: np.ndarray, metric: str, rules: Mapping[str, Any], seed: int = 0
) -> list[dict[str, Any]]:
    """Replay every rule.

    Parameters
    ----------
    table : Predictions
        Complete; one repeat.
    truth : array [C]
        Score of each configuration, trained on all samples, on cases that nobody saw.
    metric : str
    rules : mapping of str to rule
    seed : int

    Returns
    -------
    list of dict
        rule, models (share trained), alive (share at the end), kept (whether the winner of the whole table survived),
        true (score of the model returned), lost (of the true score, against the whole table's winner), error (standard
        error of the winner's score), survivors and counted (the two estimates minus the truth), covered by either
    """
    question = Question.ask(metric, interval="percentile", n_bootstraps=N_BOOTSTRAPS, random_state=seed)
    whole = Table(table, question)
    scores, full = whole.wholes[0], whole.winner()
    error = float(whole.standard_errors[full])
    rows = []
    for name, rule in rules.items():
        started = rule.for_race() if hasattr(rule, "for_race") else rule
        raced = None if started is None else _raced(table, started, question)
        finishers, dropped = (table, []) if raced is None else (raced.survivors, raced.dropped)
        estimates = {"survivors": _estimate(Table(finishers, question))}
        counted = _estimate(RacedTable(finishers, dropped, question)) if dropped else estimates["survivors"]
        winner = counted.winner
        row: dict[str, Any] = {
            "rule": name, "models": 1.0 if raced is None else raced.models,
            "alive": finishers.n_configurations / table.n_configurations,
            "kept": bool(scores[finishers.configurations].max() >= scores[full]), "true": float(truth[winner]),
            "lost": float(truth[full] - truth[winner]), "error": error,
        }  # fmt: skip
        for label, estimate in (*estimates.items(), ("counted", counted)):
            low, high = estimate.interval or (np.nan, np.nan)
            row[label] = estimate.value - float(truth[winner])
            row[f"{label} covers"] = bool(low <= truth[winner] <= high)
        rows.append(row)
    return rows


def _raced(table: sobercv.Predictions, rule: Any, question: Question) -> Replay:
    """Replay a rule round by round, or as it says itself."""
    return rule.replayed(table, question) if hasattr(rule, "replayed") else replay(table, rule, question)


def _estimate(table: Table) -> sobercv.Estimate:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # undefined draws, single survivors
        (found,) = corrected(table).values()
    return found
