"""A search in MLflow: what is logged into a real store is what the search found."""

import json

import mlflow
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import sobercv
from sobercv.correction import judge_predictions, recognise
from sobercv.errors import SoberError
from sobercv.mlflow import MlflowListener

GRID = {"max_depth": [1, 2, 3], "criterion": ["gini", "entropy"]}


@pytest.fixture(scope="module")
def logged(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    mlflow.create_experiment("sober", artifact_location=(folder / "artifacts").as_uri())
    mlflow.set_experiment("sober")
    X, y = (part[:150] for part in load_breast_cancer(return_X_y=True))
    with pytest.raises(SoberError, match="start_run"):
        MlflowListener()
    with mlflow.start_run() as run:
        listener = MlflowListener()
        search = sobercv.BBCSearchCV(
            DecisionTreeClassifier(random_state=0), GRID, scoring=["roc_auc", "neg_log_loss"], refit="roc_auc", cv=3,
            drop=None, on_event=listener,
        ).fit(X, y)  # fmt: skip
        listener.log(search)
    return search, mlflow.get_run(run.info.run_id), folder


def test_metrics_are_honest_and_naive(logged):
    search, run, _ = logged
    for name, estimate in search.estimate_.items():
        low, high = estimate.interval
        wanted = {name: estimate.value, f"{name}_low": low, f"{name}_high": high, f"{name}_naive": estimate.naive}
        assert {key: run.data.metrics[key] for key in wanted} == wanted
    assert run.data.params["winner.max_depth"] == str(search.best_params_["max_depth"])
    assert run.data.params["n_configurations"] == "6"
    assert run.data.tags["sobercv.stopped"] == "finished"


def test_the_race_is_told_round_by_round(logged):
    search, run, _ = logged
    told = mlflow.MlflowClient().get_metric_history(run.info.run_id, "race/fits")
    assert [point.step for point in told] == list(range(len(told)))
    assert told[-1].value == search.race_.n_fits


def test_files_hold_the_report_and_every_prediction(logged, tmp_path):
    search, run, _ = logged
    client = mlflow.MlflowClient()
    names = {file.path for file in client.list_artifacts(run.info.run_id)}
    assert names == {"report.html", "estimate.json", "predictions.parquet"}
    paths = {name: client.download_artifacts(run.info.run_id, name, str(tmp_path)) for name in names}
    with open(paths["estimate.json"]) as file:
        assert json.load(file)["roc_auc"]["value"] == search.estimate_["roc_auc"].value
    found = recognise(pd.read_parquet(paths["predictions.parquet"]))
    assert judge_predictions(found, "roc_auc")["roc_auc"].value == pytest.approx(
        search.estimate_["roc_auc"].value, abs=1e-12
    )
    with open(paths["report.html"]) as file:
        assert f"{search.estimate_['roc_auc'].value:.3f}"[1:] in file.read()
