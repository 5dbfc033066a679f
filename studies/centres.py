"""Simulated studies of 4, 6 and 10 centres, each centre held out in turn.

Is the honest score unbiased for the mean score in new centres, and does the prediction interval hold the score of the
final model in a new centre? The form of the interval was chosen on seeds from 0 on; the published table is of seeds
from 1000 on, which played no part in that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import LeaveOneGroupOut
from sklearn.pipeline import make_pipeline

import sobercv
from sobercv.report.subgroups import heterogeneity

from .harness import Key, Options, Part, Row

GRID = {"selectkbest__k": [1, 2, 5, 10], "logisticregression__C": [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0]}
EFFECTS = np.array([0.8, 0.5, 0.3, 0.2, 0, 0, 0, 0, 0, 0])
#: Standard deviation of a coefficient between centres, by turns.
SPREADS = (0.0, 0.2, 0.4)
N_NEW = 60
CENTRES, SEEDS = (4, 6, 10), range(1000, 1066)


def centre(rng: np.random.Generator, spread: float, n: int) -> tuple[Any, Any]:
    """Simulate a centre with coefficients, means of columns and a level of its own."""
    effects = EFFECTS + spread * rng.normal(size=len(EFFECTS))
    X = rng.normal(size=(n, len(EFFECTS))) + 0.3 * rng.normal(size=len(EFFECTS))
    logits = X @ effects + 0.5 * rng.normal() - 0.3
    return X, (rng.random(n) < 1 / (1 + np.exp(-logits))).astype(int)


def study(options: Options, k: int, seed: int) -> list[Row]:
    """Tune on k centres, by AUC pooled over centres and within centres, and score the final model in new ones."""
    rng, spread = np.random.default_rng([k, seed]), SPREADS[seed % 3]
    sizes = rng.integers(40, 150, k)
    parts = [centre(rng, spread, n) for n in sizes]
    X, y = np.vstack([x for x, _ in parts]), np.concatenate([t for _, t in parts])
    groups = np.repeat(np.arange(k), sizes)
    found: Row = {"k": k, "seed": seed, "spread": spread}
    for name, within in (("pooled", False), ("within", True)):
        search = sobercv.BBCSearchCV(
            make_pipeline(SelectKBest(k=5), LogisticRegression()), GRID, scoring="roc_auc", cv=LeaveOneGroupOut(),
            within_folds=within, random_state=seed, n_jobs=1,
        ).fit(X, y, groups=groups)  # fmt: skip
        new = [centre(rng, spread, 1000) for _ in range(N_NEW)]
        values = search.winner_predictions_.responses["decision_function"][:, 0, 0]
        scores = [roc_auc_score(y[groups == j], values[groups == j]) for j in range(k)]
        found[name] = {
            "value": search.estimate_.value,
            "naive": search.estimate_.naive,
            "interval": search.estimate_.interval,
            "scores": scores,
            "var": [_variance(rng, y[groups == j], values[groups == j]) for j in range(k)],
            "truth": [roc_auc_score(t, search.decision_function(x)) for x, t in new],
            "sizes": sizes.tolist(),
        }
    return [found]


def _variance(rng: np.random.Generator, y: Any, values: Any) -> float:
    draws = []
    for _ in range(100):
        at = rng.integers(0, len(y), len(y))
        if 0 < y[at].sum() < len(at):
            draws.append(roc_auc_score(y[at], values[at]))
    return float(np.var(draws, ddof=1))


def judged(row: Row, how: str) -> dict[str, float]:
    """Bias of the honest and of the naive score, and how much the interval for a new centre covers."""
    one = row[how]
    truth, sizes, variances = (np.array(one[name], float) for name in ("truth", "sizes", "var"))
    variances = np.maximum(variances, np.mean(sizes * variances) / sizes / 4)
    spread = heterogeneity(np.array(one["scores"]), variances)
    cost = max(one["naive"] - one["value"], 0.0)
    low, high = max(spread.low - cost, 0.0), min(spread.high - cost, 1.0)
    return {
        "honest bias": one["value"] - truth.mean(),
        "naive bias": one["naive"] - truth.mean(),
        "covers a new centre": float(np.mean((truth >= low) & (truth <= high))),
        "width": high - low,
        "interval covers the mean": float(one["interval"][0] <= truth.mean() <= one["interval"][1]),
    }


def results(found: dict[Key, list[Row]]) -> list[Row]:
    """Means by the way to rank and the number of centres."""
    rows = []
    for how in ("within", "pooled"):
        for k in CENTRES:
            some = pd.DataFrame([judged(one, how) for key, (one,) in found.items() if key[0] == k])
            if len(some):
                error = some["honest bias"].std(ddof=0) / np.sqrt(len(some))
                rows.append({"ranks": how, "centres": k, "studies": len(some), **some.mean(), "se of bias": error})
    return rows


PARTS = {"main": Part(lambda: [(k, seed) for seed in SEEDS for k in CENTRES], study, results, "%.3f")}
PAGES = ()
