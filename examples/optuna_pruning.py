"""Optuna's way to prune a cross-validation, and the same with sober: the same best trial, fewer fits, an honest score.

Run: python examples/optuna_pruning.py [FOLDER]. With a folder, the study can be killed at any time: run it again with
the same folder, and it goes on where it was.
"""

import sys
import warnings
from pathlib import Path

import optuna
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sobercv.optuna import Objective

X, y = load_breast_cancer(return_X_y=True)
X = X[:, :6]
GRID = {"C": [0.001, 0.01, 0.1, 1.0, 10.0, 100.0], "gamma": [0.001, 0.01, 0.1, 1.0, 10.0]}


def make(trial):
    C, gamma = trial.suggest_float("C", 1e-3, 1e2, log=True), trial.suggest_float("gamma", 1e-3, 1e1, log=True)
    return make_pipeline(StandardScaler(), SVC(C=C, gamma=gamma))


n_fits = 0


def by_hand(trial):
    """The usual loop: report the mean after each fold, let the study's pruner decide."""
    global n_fits
    model, scores = make(trial), []
    for fold, (train, test) in enumerate(StratifiedKFold(10).split(X, y)):
        scores.append(model.fit(X[train], y[train]).score(X[test], y[test]))
        n_fits += 1
        trial.report(scores[-1], fold)
        if trial.should_prune():
            raise optuna.TrialPruned
    return sum(scores) / len(scores)


def study_in(folder, name, pruner):
    storage = optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(folder / "study.log")))
    sampler = optuna.samplers.GridSampler(GRID, seed=0)
    return optuna.create_study(
        storage=storage, study_name=name, sampler=sampler, pruner=pruner, direction="maximize", load_if_exists=True
    )


def main(folder):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    folder.mkdir(parents=True, exist_ok=True)

    study = study_in(folder, "sober", optuna.pruners.NopPruner())
    objective = Objective(make, X, y, scoring="accuracy", cv=10, store=folder / "trials")
    again = objective.retry(study)  # what a killed run has left; its folds are not fitted again
    if again:
        print(f"goes on with {again} trial that was killed")
    if len(study.get_trials(states=(optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED))) < 30:
        study.optimize(objective)  # a grid ends by itself
    estimate = objective.estimate(study)
    n_folds = sum(len(trial.intermediate_values) for trial in study.trials)
    print(f"sober:  {n_folds} fits, best trial {study.best_params}")
    print(estimate)

    if "--compare" in sys.argv:
        compare()


def compare():
    """The usual loop, without a pruner and with the one that Optuna has for folds."""
    global n_fits
    for pruner in (optuna.pruners.NopPruner(), optuna.pruners.WilcoxonPruner(p_threshold=0.1)):
        n_fits = 0
        usual = optuna.create_study(
            sampler=optuna.samplers.GridSampler(GRID, seed=0), pruner=pruner, direction="maximize"
        )
        usual.optimize(by_hand)
        name = type(pruner).__name__
        print(f"{name}: {n_fits} fits, best trial {usual.best_params}, which claims {usual.best_value:.4f}")


if __name__ == "__main__":
    import tempfile

    given = [word for word in sys.argv[1:] if not word.startswith("-")]
    if given:
        main(Path(given[0]))
    else:
        with tempfile.TemporaryDirectory() as made:
            main(Path(made))
