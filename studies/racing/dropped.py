"""`python -m studies.racing.dropped`: where counting the dropped holds, beyond one repeat of single samples.

Takes a number of tables, writes results-dropped.csv: simulated accuracies with known truth, the default race, and the
estimate (with the default interval) of the whole table, of the survivors alone, and with the dropped; for single
samples, groups, repeats, and where folds are drawn (BBC-F).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import joblib
import numpy as np
from scipy import stats

import sobercv
from sobercv.inference import Question
from sobercv.inference.bootstrap import corrected
from sobercv.inference.raced import RacedTable
from sobercv.inference.tables import Table

from ..harness import read_options, write_results
from ..race import replay
from .run import HERE

REPETITIONS = 100
KINDS = ("single samples", "groups of five", "two repeats", "folds drawn")
SIZES, CORRELATIONS = (100, 300), (0.0, 0.5, 0.9)
CONFIGURATIONS, FOLDS, N_BOOTSTRAPS = 50, 10, 500
GROUP, ALIKE = 5, 0.5  # samples of a group, and the correlation of their errors
SAME = 0.8  # correlation of errors between repeats


def simulated(kind: str, n: int, rho: float, seed: int) -> tuple[sobercv.Predictions, np.ndarray]:
    """Predictions of configurations whose accuracies are known [C], errors correlated by `rho` between them."""
    rng = np.random.default_rng([16, n, int(10 * rho), KINDS.index(kind), seed])
    truth, c = rng.beta(9.0, 6.0, CONFIGURATIONS), CONFIGURATIONS
    groups = np.arange(n) // GROUP if kind == "groups of five" else np.arange(n)
    repeats = 2 if kind == "two repeats" else 1

    def normal(width: int) -> np.ndarray:
        """[N, width, R]: alike within a group, and between repeats."""
        own, shared = rng.standard_normal((n, width, 1)), rng.standard_normal((groups[-1] + 1, width, 1))[groups]
        one = np.sqrt(ALIKE) * shared + np.sqrt(1 - ALIKE) * own if kind == "groups of five" else own
        new = rng.standard_normal((n, width, repeats))
        return np.sqrt(SAME) * one + np.sqrt(1 - SAME) * new if repeats > 1 else one

    latent = np.sqrt(rho) * normal(1) + np.sqrt(1 - rho) * normal(c)
    right = stats.norm.cdf(latent) < truth[None, :, None]
    y = rng.permutation(np.arange(n) % 2)
    order = [rng.permutation(groups[-1] + 1) for _ in range(repeats)]
    folds = np.stack([o[groups] % FOLDS for o in order], axis=1)
    table = sobercv.Predictions.build(
        y, np.where(right, y[:, None, None], 1 - y[:, None, None]), task="classification", folds=folds,
        groups=groups if kind == "groups of five" else None,
    )  # fmt: skip
    return table, truth


def judge(kind: str, n: int, rho: float, seed: int) -> list[float]:
    """Models trained, then error and coverage of the three estimates."""
    table, truth = simulated(kind, n, rho, seed)
    by = "fold" if kind == "folds drawn" else "sample"
    question = Question.ask("accuracy", by=by, n_bootstraps=N_BOOTSTRAPS, random_state=seed)
    raced = replay(table, sobercv.PredictiveDrop(), question)
    survivors = Table(raced.survivors, question)
    tables = [
        Table(table, question),
        survivors,
        RacedTable(raced.survivors, raced.dropped, question) if raced.dropped else survivors,
    ]
    row = [raced.models]
    for one in tables:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # few folds, a single survivor
            (found,) = corrected(one).values()
        low, high = found.interval or (np.nan, np.nan)
        true = truth[found.winner]
        row += [found.value - true, float(low <= true <= high)]
    return row


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(__doc__, arguments, repetitions=REPETITIONS, jobs=-1)
    rows: list[dict[str, Any]] = []
    for kind in KINDS:
        for n in SIZES:
            for rho in CORRELATIONS:
                calls = (joblib.delayed(judge)(kind, n, rho, seed) for seed in range(options.repetitions))
                found = np.array(joblib.Parallel(n_jobs=options.jobs)(calls))
                added = found[:, 5] - found[:, 1]
                rows.append({
                    "kind": kind, "n": n, "rho": rho, "tables": len(found), "models": float(found[:, 0].mean()),
                    **{
                        f"{what}, {who}": float(found[:, 1 + 2 * i + k].mean())
                        for i, who in enumerate(("none", "survivors", "dropped"))
                        for k, what in enumerate(("bias", "covered"))
                    },
                    **{f"rmse, {who}": float(np.sqrt((found[:, 1 + 2 * i] ** 2).mean()))
                       for i, who in enumerate(("none", "survivors", "dropped"))},
                    "error of the difference": float(added.std(ddof=1) / np.sqrt(len(added))),
                })  # fmt: skip
                print({k: f"{v:.4g}" if isinstance(v, float) else v for k, v in rows[-1].items()}, flush=True)
    write_results(rows, HERE / "results-dropped.csv", {})


if __name__ == "__main__":
    main()
