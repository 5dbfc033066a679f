"""What AutoGluon predicts out of fold, as its users save it: python tests/foreign/make/autogluon_oof.py tests/foreign/files

pip install autogluon.tabular sobercv (AutoGluon 1.6.3 wrote the files beside this folder). The tables hold the truth and
the out-of-fold predictions of every base model; autogluon-live.json what `sobercv.correct` said of the predictors
themselves.
"""

import json
import sys
import tempfile
from pathlib import Path

import pandas as pd
from autogluon.tabular import TabularPredictor
from sklearn.datasets import load_diabetes, load_iris

import sobercv

folder = Path(sys.argv[1])
live = {}


def fitted(data, label, **options):
    models = {
        "KNN": [{"weights": "uniform"}, {"weights": "distance"}],
        "RF": [{"n_estimators": 20}],
        "XT": [{"n_estimators": 20}],
    }
    return TabularPredictor(label, path=tempfile.mkdtemp(), verbosity=0, **options).fit(
        data, hyperparameters=models, num_bag_folds=3, num_bag_sets=1, num_stack_levels=1, num_cpus=1, num_gpus=0,
        ag_args_ensemble={"fold_fitting_strategy": "sequential_local", "use_child_oof": False}, dynamic_stacking=False,
    )  # fmt: skip


def write(name, data, predictor):
    base = predictor.model_names(level=1)
    truth = pd.DataFrame({predictor.label: data[predictor.label]})
    oof = {model: predictor.predict_proba_oof(model).astype(float) for model in base}  # else the CSV rounds float32
    if predictor.problem_type == "binary":
        oof = {model: table[predictor.positive_class] for model, table in oof.items()}
    if predictor.problem_type == "multiclass":
        parts = [
            t.add_prefix("prob_").assign(row=t.index, model=m, y_true=truth[predictor.label]) for m, t in oof.items()
        ]
        table = pd.concat(parts)
    else:
        table = truth.join(pd.DataFrame(oof))
    table.to_csv(folder / f"autogluon-{name}.csv", index=False)
    estimate = sobercv.correct(predictor)
    live[name] = {
        "metric": estimate.metric, "value": estimate.value, "interval": estimate.interval, "winner": estimate.winner_name,
        "notes": [note.code for note in estimate.notes], "models": predictor.model_names(),
    }  # fmt: skip


iris = load_iris(as_frame=True)
frame = iris.data.iloc[:, :2].assign(species=[iris.target_names[i] for i in iris.target])
two = frame.iloc[list(range(60, 90)) + list(range(110, 140))].reset_index(drop=True)
write("two", two, fitted(two, "species"))
three = frame.iloc[::3].reset_index(drop=True)
write("three", three, fitted(three, "species"))
diabetes = load_diabetes(as_frame=True)
numbers = diabetes.data.iloc[:60, :4].assign(progression=diabetes.target.iloc[:60])
write("numbers", numbers, fitted(numbers, "progression", problem_type="regression"))
(folder / "autogluon-live.json").write_text(json.dumps(live, indent=1) + "\n")
