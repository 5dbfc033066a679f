"""Simulated studies of 4, 6 and 10 centres, each centre held out in turn.

Is the honest score unbiased for the mean score in new centres, and does the prediction interval of the report hold the
score of the final model in a new centre? The form of the interval was chosen on seeds from 0 on; the published table is
of seeds from 1000 on, which played no part in that.
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
from sobercv.report.subgroups import _spread, scores_by

from .harness import Mean, Options, Part, Rng, Row, Rows, grouped

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
    """Tune on k centres by the AUC within centres, and score the final model in new ones.

    A row holds the bias of the honest and of the naive score, and how much the interval for a new centre covers.
    """
    rng, spread = np.random.default_rng([k, seed]), SPREADS[seed % 3]
    sizes = rng.integers(40, 150, k)
    parts = [centre(rng, spread, n) for n in sizes]
    groups = np.repeat(np.arange(k), sizes)
    search = sobercv.BBCSearchCV(
        make_pipeline(SelectKBest(k=5), LogisticRegression()), GRID, scoring="roc_auc", cv=LeaveOneGroupOut(),
        aggregate="within_folds", random_state=seed, n_jobs=1,
    ).fit(np.vstack([X for X, _ in parts]), np.concatenate([y for _, y in parts]), groups=groups)  # fmt: skip
    table, question, estimate = search.winner_predictions_, search.question_, search.estimate_
    scorer = question.bind(table, question.first, pooled=True)
    between = _spread(scores_by(table, groups, scorer, 0.95, search.seed_), estimate, question.first)
    new = [centre(rng, spread, 1000) for _ in range(N_NEW)]
    truth = np.array([roc_auc_score(y, search.decision_function(X)) for X, y in new])
    return [{
        "honest bias": estimate.value - truth.mean(), "naive bias": estimate.naive - truth.mean(),
        "covers a new centre": np.mean((truth >= between.low) & (truth <= between.high)),
        "width": between.high - between.low,
        "interval covers the mean": float(estimate.interval[0] <= truth.mean() <= estimate.interval[1]),
    }]  # fmt: skip


def means(rows: Rows) -> Row:
    """Means over the studies with so many centres."""
    found = rows.drop(columns=["k", "seed"]).mean()
    return {"studies": len(rows), **found, "se of bias": Mean.of(rows["honest bias"]).error}


PARTS = {
    "main": Part(
        "k seed", lambda: [(k, seed) for seed in SEEDS for k in CENTRES], study,
        lambda rows: grouped(rows, "k", means).rename(columns={"k": "centres"}), "%.3f",
    )
}  # fmt: skip
PAGES = ()
