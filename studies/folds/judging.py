"""Judge searches by their fold scores: bias, coverage, width; real ones beside `sobercv.bbc` on their predictions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special

from sobercv import Estimate, metrics
from sobercv.correction import FoldScores, judge
from sobercv.inference.intervals import Calibrated

from ..harness import read_piece
from ..intervals import simulated
from ..intervals.measure import build
from ..intervals.tables import spread_folds
from .tables import FOLDS, Place

#: Degrees of freedom, as a multiple of K - 1, that were tried.
FREEDOM = (1.0, 1.5, 2.0, 3.0, np.inf)
SETTINGS = [
    simulated.Setting("accuracy", n, c, a, rho)
    for n, c, a, rho in ((60, 50, 0.6, 0), (60, 50, 0.9, 0.5), (100, 300, 0.6, 0), (500, 100, 0.9, 0.5))
] + [
    simulated.Setting("area", n, c, a, rho, 0.5)
    for n, c, a, rho in ((60, 50, 0.7, 0), (100, 300, 0.7, 0.5), (500, 100, 0.92, 0))
]


def real(work: Path, place: Place) -> list[dict[str, Any]]:
    """Judge one real search by each of its metrics."""
    table = read_piece(work / place.file)
    rows = []
    for metric in (key.removesuffix(" scores") for key in table if key.endswith(" scores")):
        scores, truth, bbc = (table[f"{metric} {part}"] for part in ("scores", "truth", "bbc"))
        if np.isnan(scores).any(axis=0).all():
            continue  # a fold without an event or a class: scikit-learn's search would have no scores either
        about = {"data": place.name, "n": place.n, "k": place.k, "sample": place.sample, "metric": metric}
        other = dict(zip(("bbc", "bbc naive", "bbc low", "bbc high", "bbc truth"), map(float, bbc), strict=True))
        rows.append({**about, **_row(metric, scores, truth), **other})
    return rows


def simulate(setting: simulated.Setting, k: int, seed: int) -> dict[str, Any]:
    """Judge one simulated search."""
    made = simulated.table(setting, seed)
    folds = spread_folds("classification", made.y, np.random.default_rng([seed, k]), k)
    chances = made.predictions if setting.family == "accuracy" else special.expit(made.predictions)
    table = build(made.y, np.asarray(chances, dtype=np.float64)[:, :, None], "classification", folds[:, None])
    by_fold = (folds == np.arange(k)[:, None]).astype(np.uint8)
    scores = metrics.get(setting.metric).bind(table).scores(by_fold)
    about = {"data": setting.name, "n": setting.n, "k": k, "sample": seed, "metric": setting.metric}
    return {**about, **_row(setting.metric, scores, made.truth)}


def simulations(repetitions: int) -> list[dict[str, Any]]:
    """Judge all simulated searches."""
    return [simulate(s, k, seed) for s in SETTINGS for k in FOLDS for seed in range(repetitions)]


def _row(metric: str, scores: np.ndarray, truth: np.ndarray) -> dict[str, Any]:
    found = judge(FoldScores({metric: scores}))[metric]
    assert found.interval is not None
    assert found.draws is not None
    low, high = np.quantile(found.draws, [0.025, 0.975])
    row = {
        "naive": found.naive, "value": found.value, "low": found.interval[0], "high": found.interval[1],
        "lower bound": found.lower_bound(), "percentile low": low, "percentile high": high,
        "truth": float(truth[found.winner]),
    }  # fmt: skip
    for multiple in FREEDOM:
        row[f"low {multiple:g}"], row[f"high {multiple:g}"] = _with(found, multiple * (scores.shape[0] - 1))
    return row


def _with(found: Estimate, freedom: float) -> tuple[float, float]:
    assert isinstance(found.bounds, Calibrated)
    return replace(found, bounds=replace(found.bounds, freedom=freedom)).interval_at(0.95)
