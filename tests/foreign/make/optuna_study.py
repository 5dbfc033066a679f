"""A study with an objective of one's own, as Optuna keeps it: python tests/foreign/make/optuna_study.py tests/foreign/files

pip install optuna (5.0.0 wrote the file beside this folder): a journal, in which every trial has its out-of-fold
predictions.
"""

import sys
from pathlib import Path

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from sklearn.datasets import load_iris
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

path = Path(sys.argv[1]) / "optuna-journal.log"
path.unlink(missing_ok=True)
X, y = load_iris(return_X_y=True)
rows = [*range(60, 90), *range(110, 140)]
X, y = X[rows, :2], y[rows] == 2


def objective(trial):
    model = KNeighborsClassifier(
        trial.suggest_int("k", 1, 15), weights=trial.suggest_categorical("weights", ["uniform", "distance"])
    )
    if trial.number == 3:
        raise optuna.TrialPruned
    oof = cross_val_predict(model, X, y, cv=5, method="predict_proba")[:, 1]
    trial.set_user_attr("oof", oof.round(6).tolist())
    return roc_auc_score(y, oof.round(6))


storage = JournalStorage(JournalFileBackend(str(path)))
study = optuna.create_study(
    study_name="iris", storage=storage, direction="maximize", sampler=optuna.samplers.TPESampler(seed=1)
)
study.optimize(objective, n_trials=6)
