"""A study whose trials several processes can run; its estimator writes down each of its fits."""

import os
import signal
from pathlib import Path

import optuna
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from sobercv.optuna import Objective

X, y = make_classification(90, 5, flip_y=0.3, random_state=0)
GRID = {"depth": [1, 2, 3], "leaf": [1, 5]}


class Logged(ClassifierMixin, BaseEstimator):
    """A tree that writes down each of its fits, and ends its process at one of them."""

    def __init__(self, depth=1, leaf=1):
        self.depth = depth
        self.leaf = leaf

    def fit(self, X, y):
        if "SOBER_FITS" in os.environ:
            log = Path(os.environ["SOBER_FITS"])
            with log.open("a") as file:
                file.write(f"{self.depth} {self.leaf} {X.sum():.6f}\n")
            if len(log.read_text().splitlines()) == int(os.environ.get("SOBER_KILL_AT", -1)):
                os.kill(os.getpid(), signal.SIGKILL)
        self.tree_ = DecisionTreeClassifier(max_depth=self.depth, min_samples_leaf=self.leaf, random_state=0).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict_proba(self, X):
        return self.tree_.predict_proba(X)

    def predict(self, X):
        return self.tree_.predict(X)


def make(trial):
    return Logged(trial.suggest_categorical("depth", [1, 2, 3]), trial.suggest_categorical("leaf", [1, 5]))


def objective(folder=None, **options):
    return Objective(make, X, y, scoring="roc_auc", cv=5, drop=None, store=folder and folder / "trials", **options)


def study(folder):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    backend = optuna.storages.journal.JournalFileBackend(str(folder / "journal.log"))
    sampler = optuna.samplers.GridSampler(GRID, seed=0)
    return optuna.create_study(
        storage=optuna.storages.JournalStorage(backend), study_name="s", sampler=sampler, direction="maximize",
        load_if_exists=True,
    )  # fmt: skip


def main(folder, n_trials):
    """Run trials in a process of its own."""
    study(folder).optimize(objective(folder), n_trials=n_trials)
