"""Differences between near-equal learners, where intervals from cross-validation are known to fail.

Bayle, Janson and Mackey (arXiv 2508.04409) show that a comparison of two lassos, or of a lasso with a ridge, can be
less stable than each of the learners, so that cross-validation shows too little variance of their difference. Here:
linear models of independent normal features, squared error, ten folds; the true difference of the refitted models
follows from their coefficients.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import lasso_path

import sobercv
from sobercv.errors import SoberWarning

from ..harness import write_results

#: Samples, features, features with a coefficient.
DESIGNS = ((90, 30, 5), (90, 200, 5), (360, 30, 5), (360, 200, 20))
PENALTIES, FOLDS, TABLES, BOOTSTRAPS = 15, 10, 200, 500
#: Name -> configurations on the one side and on the other; lassos come first, strongest penalty first.
PAIRS: dict[str, tuple[list[int], list[int]]] = {
    "lasso, next penalty": ([7], [8]),
    "ridge, next penalty": ([PENALTIES + 7], [PENALTIES + 8]),
    "lasso, ridge": ([7], [PENALTIES + 7]),
    "best lasso, best ridge": (list(range(PENALTIES)), list(range(PENALTIES, 2 * PENALTIES))),
}


def fits(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients [p, C] and intercepts [C] of all lassos and ridges."""
    n = len(y)
    mean, level = X.mean(axis=0), y.mean()
    Z, t = X - mean, y - level
    lassos = lasso_path(Z, t, alphas=np.geomspace(1.0, 0.03, PENALTIES), tol=1e-4, max_iter=5000)[1]
    u, s, vt = np.linalg.svd(Z, full_matrices=False)
    shrunk = s[:, None] / (s[:, None] ** 2 + n * np.geomspace(10, 0.01, PENALTIES))
    coefficients = np.hstack([lassos, vt.T @ (shrunk * (u.T @ t)[:, None])])
    return coefficients, level - mean @ coefficients


def table(n: int, p: int, active: int, sample: int) -> list[dict[str, Any]]:
    """Compare all pairs on one simulated table."""
    rng = np.random.default_rng([n, p, active, sample])
    beta = np.repeat([1.0, 0.0], [active, p - active]) / np.sqrt(active)
    X = rng.standard_normal((n, p))
    y = X @ beta + rng.standard_normal(n)
    folds = rng.permutation(n) % FOLDS
    predictions = np.empty((n, 2 * PENALTIES))
    for k in range(FOLDS):
        coefficients, intercepts = fits(X[folds != k], y[folds != k])
        predictions[folds == k] = X[folds == k] @ coefficients + intercepts
    coefficients, intercepts = fits(X, y)
    truth = -(((coefficients - beta[:, None]) ** 2).sum(axis=0) + intercepts**2 + 1.0)
    rows = []
    for name, (first, second) in PAIRS.items():
        found = sobercv.difference(
            y, predictions, "neg_mean_squared_error", first=first, second=second, folds=folds,
            n_bootstraps=BOOTSTRAPS, random_state=sample,
        )  # fmt: skip
        low, high = found.interval
        rows.append({
            "n": n, "p": p, "active": active, "sample": sample, "pair": name, "gain": found.value,
            "gain naive": found.naive, "gain low": low, "gain high": high,
            "gain truth": truth[found.first.winner] - truth[found.second.winner],
        })  # fmt: skip
    return rows


def run(path: Path) -> None:
    """Compare on all tables, and write what was found."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SoberWarning)
        rows = [row for design in DESIGNS for sample in range(TABLES) for row in table(*design, sample)]
    write_results(rows, path, {"tables": len(DESIGNS) * TABLES}, digits=".4g")


if __name__ == "__main__":
    run(Path(__file__).parent / "results-differences.csv")
