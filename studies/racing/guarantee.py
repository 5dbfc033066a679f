"""`python -m studies.racing.guarantee`: how often the betting rule drops the winner, where that is easiest.

Takes a number of races, writes results-guarantee.csv: simulated accuracies, the winner of the whole table known. Where
all configurations are equally good, the leader changes most often and a winner is easiest to lose; where one is ahead,
most is saved. The rule promises a share of lost winners of at most its chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import joblib
import numpy as np

import sobercv
from sobercv.inference import Question
from sobercv.testing import simulate

from ..harness import read_options, write_results
from ..race import replay
from .run import HERE

RACES = 10_000
CHANCES = (0.05, 0.2)
#: Samples, configurations, parameters of the beta distribution of true accuracies, correlation of errors.
SETTINGS = [
    (n, c, ab, rho)
    for n, c in ((100, 20), (300, 20))
    for ab in ((9.0, 6.0), (9e4, 6e4))  # spread, and all equally good
    for rho in (0.0, 0.9)
]


def race(n: int, c: int, ab: tuple[float, float], rho: float, seed: int) -> list[tuple[bool, float]]:
    """Whether the winner was dropped, and the share of models trained, at each chance."""
    data = simulate.correlated_accuracy(n=n, c=c, a=ab[0], b=ab[1], rho=rho, seed=seed)
    table = sobercv.Predictions.build(data.y, data.predictions, task="classification", folds=data.folds)
    right = (data.predictions == np.asarray(data.y)[:, None]).sum(axis=0)
    found = []
    for chance in CHANCES:
        raced = replay(table, sobercv.BettingDrop(chance).for_race(), Question.ask("accuracy", random_state=seed))
        # The winner of the whole table is the first of its best.
        found.append((int(np.argmax(right)) not in raced.survivors.configurations, raced.models))
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    races = {"type": int, "default": RACES, "help": "in all, shared by the settings"}
    options = read_options(__doc__, arguments, {"races": races}, jobs=-1)
    each = -(-options.races // len(SETTINGS))
    rows: list[dict[str, Any]] = []
    for n, c, ab, rho in SETTINGS:
        calls = (joblib.delayed(race)(n, c, ab, rho, seed) for seed in range(each))
        found = np.array(joblib.Parallel(n_jobs=options.jobs)(calls), float)  # [races, chances, 2]
        for k, chance in enumerate(CHANCES):
            lost = float(found[:, k, 0].mean())
            rows.append({
                "n": n, "configurations": c, "equal": ab[0] > 100, "rho": rho, "chance": chance, "races": each,
                "lost": lost, "error": float(np.sqrt(max(lost * (1 - lost), 1 / each) / each)),
                "models": float(found[:, k, 1].mean()),
            })  # fmt: skip
            print({k: f"{v:.4g}" if isinstance(v, float) else v for k, v in rows[-1].items()}, flush=True)
    write_results(rows, HERE / "results-guarantee.csv", {})


if __name__ == "__main__":
    main()
