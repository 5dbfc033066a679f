"""A small real search that can be stopped anywhere, and everything that must come out the same."""

import os
import time
from hashlib import sha256
from pathlib import Path

import numpy as np
from sklearn.linear_model import RidgeClassifier

import sobercv

rng = np.random.default_rng(7)
N = 60
X = rng.normal(size=(N, 4))
Y = (X[:, 0] + rng.normal(size=N) > 0).astype(int)
GRID = {"C": [1e-3, 0.01, 1.0, 10.0], "flip": [False, True]}


class Logged(RidgeClassifier):
    """Writes a line for every fit that begins; `flip` makes hopeless models, so that there is something to drop."""

    def __init__(self, C=1.0, flip=False, seconds=0.0):
        super().__init__()
        self.C = C
        self.flip = flip
        self.seconds = seconds

    def fit(self, X, y):
        if os.environ.get("SOBER_FIT_LOG"):
            line = f"{self.C} {self.flip} {len(X)} {sha256(np.ascontiguousarray(X).tobytes()).hexdigest()}\n"
            with open(os.environ["SOBER_FIT_LOG"], "a") as file:
                file.write(line)
        if self.seconds:
            time.sleep(self.seconds)
        self.alpha = 1 / self.C
        return super().fit(X, y)

    def decision_function(self, X):
        return super().decision_function(X) * (-1 if self.flip else 1)


def search(store, *, seconds=0.0, cv=4, n_repeats=2, grid=GRID, X=X, y=Y, **options):
    drop = options.pop("drop", sobercv.BootstrapDrop(min_predictions=20, n_bootstraps=50))
    kind = sobercv.BBCRandomizedSearchCV if "n_iter" in options else sobercv.BBCSearchCV
    made = kind(
        options.pop("estimator", Logged(seconds=seconds)),
        grid,
        scoring="roc_auc",
        cv=cv,
        n_repeats=n_repeats,
        drop=drop,
        n_bootstraps=50,
        store=store,
        **options,
    )
    return made.fit(X, y)


def bits(found) -> str:
    """One digest of predictions, drops, winner, estimate and table."""
    table, log, estimate = found.predictions_, found.race_, found.estimate_
    held = sha256()
    for name in sorted(table.responses):
        held.update(np.ascontiguousarray(table.responses[name]).tobytes())
    for array in (table.seen, table.configurations, log.dropped_at, log.p, log.alive_by_round, estimate.draws):
        held.update(np.ascontiguousarray(array).tobytes())
    plain = (
        log.status.tolist(),
        found.race_.n_fits,
        found.best_index_,
        found.best_params_,
        estimate.value,
        estimate.naive,
    )
    held.update(repr((plain, sorted((k, str(v)) for k, v in log.failures.items()))).encode())
    for name in found.cv_results_:
        if "score" in name and "time" not in name:
            held.update(np.ascontiguousarray(found.cv_results_[name]).tobytes())
    return held.hexdigest()


def fits(log: Path) -> list[str]:
    """The fits that were begun, those of the winner on all rows left out."""
    lines = log.read_text().splitlines() if log.exists() else []
    return [line for line in lines if f" {N} " not in line]
