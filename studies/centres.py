"""Simulated studies of 4, 6 and 10 centres, each centre held out in turn.

Is the honest score unbiased for the mean score in new centres, and does the prediction interval hold the score of the
final model in a new centre? The form of the interval was chosen on seeds from 0 on; the published table is of seeds
from 1000 on, which played no part in that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import LeaveOneGroupOut
from sklearn.pipeline import make_pipeline

import sobercv
from sobercv.report.subgroups import heterogeneity

from .harness import Options, Part, Rng, Row, Rows, grouped

GRID = {"selectkbest__k": [1, 2, 5, 10], "logisticregression__C": [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0]}
EFFECTS = np.array([0.8, 0.5, 0.3, 0.2, 0, 0, 0, 0, 0, 0])
#: Standard deviation of a coefficient between centres, by turns.
SPREADS = (0.0, 0.2, 0.4)
N_NEW = 60
CENTRES, SEEDS = (4, 6, 10), range(1000, 1066)


def centre(rng: Rng, spread: float, n: int) -> tuple[Any, Any]:
    """Simulate a centre with coefficients, means of columns and a level of its own."""
    effects = EFFECTS + spread * rng.normal(size=len(EFFECTS))
    X = rng.normal(size=(n, len(EFFECTS))) + 0.3 * rng.normal(size=len(EFFECTS))
    logits = X @ effects + 0.5 * rng.normal() - 0.3
    return X, (rng.random(n) < 1 / (1 + np.exp(-logits))).astype(int)


def study(options: Options, k: int, seed: int) -> list[Row]:
    """Tune on k centres, by AUC pooled over centres and within centres, and score the final model in new ones.

    A row holds the bias of the honest and of the naive score, and how much the interval for a new centre covers.
    """
    rng, spread = np.random.default_rng([k, seed]), SPREADS[seed % 3]
    sizes = rng.integers(40, 150, k)
    parts = [centre(rng, spread, n) for n in sizes]
    X, y = np.vstack([x for x, _ in parts]), np.concatenate([t for _, t in parts])
    groups = np.repeat(np.arange(k), sizes)
    rows = []
    for how in ("pooled", "within"):
        search = sobercv.BBCSearchCV(
            make_pipeline(SelectKBest(k=5), LogisticRegression()), GRID, scoring="roc_auc", cv=LeaveOneGroupOut(),
            within_folds=how == "within", random_state=seed, n_jobs=1,
        ).fit(X, y, groups=groups)  # fmt: skip
        new = [centre(rng, spread, 1000) for _ in range(N_NEW)]
        said, estimate = search.winner_predictions_.responses["decision_function"][:, 0, 0], search.estimate_
        held = [(y[groups == j], said[groups == j]) for j in range(k)]
        variances = np.array([variance(rng, *one) for one in held])
        variances = np.maximum(variances, np.mean(sizes * variances) / sizes / 4)
        between = heterogeneity(np.array([roc_auc_score(*one) for one in held]), variances)
        cost = max(estimate.naive - estimate.value, 0.0)
        low, high = max(between.low - cost, 0.0), min(between.high - cost, 1.0)
        truth = np.array([roc_auc_score(t, search.decision_function(x)) for x, t in new])
        mean = truth.mean()
        rows.append({
            "ranks": how, "honest bias": estimate.value - mean, "naive bias": estimate.naive - mean,
            "covers a new centre": float(np.mean((truth >= low) & (truth <= high))), "width": high - low,
            "interval covers the mean": float(estimate.interval[0] <= mean <= estimate.interval[1]),
        })  # fmt: skip
    return rows


def variance(rng: Rng, y: Any, values: Any) -> float:
    """The bootstrap variance of a centre's AUC."""
    draws = (rng.integers(0, len(y), len(y)) for _ in range(100))
    return float(np.var([roc_auc_score(y[at], values[at]) for at in draws if 0 < y[at].sum() < len(at)], ddof=1))


def results(rows: Rows) -> Rows:
    """Means by the way to rank and the number of centres."""

    def means(some: Rows) -> Row:
        error = some["honest bias"].std(ddof=0) / np.sqrt(len(some))
        return {"studies": len(some), **some.drop(columns=["ranks", "k", "seed"]).mean(), "se of bias": error}

    found = grouped(rows, "ranks k", means).rename(columns={"k": "centres"})
    return found.sort_values(["ranks", "centres"], ascending=[False, True])


PARTS = {"main": Part("k seed", lambda: [(k, seed) for seed in SEEDS for k in CENTRES], study, results, "%.3f")}
PAGES = ()
