"""What mljar-supervised writes, cut to what is read: python tests/foreign/make/mljar.py tests/foreign/files

pip install mljar-supervised (1.3.2 wrote the files beside this folder). Of each run the out-of-fold predictions of every
model are kept, and a few lines of framework.json and params.json.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path

from sklearn.datasets import load_diabetes, load_iris
from supervised.automl import AutoML

folder = Path(sys.argv[1])
validation = {"validation_type": "kfold", "k_folds": 3, "shuffle": True, "stratify": False, "random_seed": 1}


def write(name, X, y, task, algorithms):
    with tempfile.TemporaryDirectory() as work:
        AutoML(
            work + "/run", mode="Compete", ml_task=task, algorithms=algorithms, total_time_limit=60, start_random_models=2,
            hill_climbing_steps=1, top_models_to_improve=1, train_ensemble=True, stack_models=False,
            golden_features=False, features_selection=False, mix_encoding=False, kmeans_features=False,
            explain_level=0, validation_strategy=validation, random_state=1, n_jobs=1,
        ).fit(X, y)  # fmt: skip
        keep(Path(work) / "run", folder / name)


def keep(run, target):
    shutil.rmtree(target, ignore_errors=True)
    for file in sorted(run.glob("*/predictions_*.csv")):
        (target / file.parent.name).mkdir(parents=True)
        shutil.copy(file, target / file.parent.name)
        for settings in ("framework.json", "ensemble.json"):
            if (file.parent / settings).exists():
                told = json.loads((file.parent / settings).read_text())
                kept = {k: told[k] for k in ("name", "is_stacked", "predictions_fname", "metric_name") if k in told}
                (target / file.parent.name / settings).write_text(json.dumps(kept, indent=1) + "\n")
    told = json.loads((run / "params.json").read_text())
    kept = {k: told[k] for k in ("mode", "ml_task", "eval_metric", "hill_climbing_steps", "boost_on_errors")}
    (target / "params.json").write_text(json.dumps(kept, indent=1) + "\n")


X, y = load_iris(return_X_y=True, as_frame=True)
names = y.map({0: "setosa", 1: "versicolor", 2: "virginica"})
rows = list(range(60, 90)) + list(range(110, 140))
write("mljar-two", X.iloc[rows, :2], names.iloc[rows], "binary_classification", ["Decision Tree", "Nearest Neighbors"])
write(
    "mljar-three", X.iloc[::3, :2], names.iloc[::3], "multiclass_classification", ["Decision Tree", "Nearest Neighbors"]
)
X, y = load_diabetes(return_X_y=True, as_frame=True)
write("mljar-numbers", X.iloc[:60, :4], y.iloc[:60], "regression", ["Decision Tree", "Nearest Neighbors"])
