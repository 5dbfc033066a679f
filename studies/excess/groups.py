"""Few groups: bias and coverage by their number, simulated.

Takes nothing, gives a row per table; the estimates are those of `sobercv.bbc` with groups. Twenty configurations are
judged on G groups of ten samples. Groups are easier or harder, for all configurations and for each of them; the truth
is the score on new groups.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special

import sobercv
from sobercv.errors import SoberWarning

from ..harness import write_results

NUMBERS = (3, 4, 5, 6, 8, 10, 15, 20, 40)
CONFIGURATIONS, SIZE, TABLES, BOOTSTRAPS = 20, 10, 200, 300
SHIFT, OWN = 0.6, 0.4  # standard deviations, in log odds or in standard deviations of a score


def accuracy(g: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, predictions [N, C], and the true accuracy of each configuration."""
    odds = rng.normal(1.0, 0.3, CONFIGURATIONS)
    here = odds + rng.normal(0, SHIFT, (g, 1)) + rng.normal(0, OWN, (g, CONFIGURATIONS))
    right = rng.random((g, SIZE, CONFIGURATIONS)) < special.expit(here)[:, None]
    y = rng.integers(0, 2, g * SIZE)
    predictions = np.where(right.reshape(-1, CONFIGURATIONS), y[:, None], 1 - y[:, None])
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    spread = np.hypot(SHIFT, OWN)
    truth = special.expit(odds[:, None] + spread * nodes) @ weights / weights.sum()
    return y, predictions, truth


def area(g: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same for AUC: scores of whole groups are shifted."""
    apart = rng.normal(1.0, 0.3, CONFIGURATIONS)
    y = np.tile(np.arange(SIZE) % 2, g)
    shifts = rng.normal(0, SHIFT, (g, 1)) + rng.normal(0, OWN, (g, CONFIGURATIONS))
    scores = apart * y[:, None] + np.repeat(shifts, SIZE, axis=0) + rng.normal(size=(g * SIZE, CONFIGURATIONS))
    return y, scores, special.ndtr(apart / np.sqrt(2 * (1 + SHIFT**2 + OWN**2)))


def run(path: Path) -> None:
    """Judge all tables, and write them."""
    rows: list[dict[str, Any]] = []
    for metric, make in (("accuracy", accuracy), ("roc_auc", area)):
        for g in NUMBERS:
            for sample in range(TABLES):
                y, predictions, truth = make(g, np.random.default_rng([g, sample, len(metric)]))
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", SoberWarning)
                    found = sobercv.bbc(
                        y, predictions, metric, groups=np.repeat(np.arange(g), SIZE), n_bootstraps=BOOTSTRAPS
                    )
                assert found.interval is not None
                row = {"metric": metric, "groups": g, "sample": sample, "truth": float(truth[found.winner])}
                row |= {"naive": found.naive, "value": found.value, "low": found.interval[0], "high": found.interval[1]}
                row["lower"] = found.lower_bound(0.95)
                rows.append(row)
    write_results(rows, path, {"tables": len(rows)}, digits=".4g")


if __name__ == "__main__":
    run(Path(__file__).parent / "results-groups.csv")
