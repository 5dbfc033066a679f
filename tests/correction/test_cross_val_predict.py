"""What cross_val_predict gave is judged as the same matrix is."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import sobercv
from sobercv.errors import SoberError

MODELS = {"1": KNeighborsClassifier(1), "5": KNeighborsClassifier(5), "9": KNeighborsClassifier(9)}


def predicted(models, X, y, method):
    return {name: cross_val_predict(model, X, y, cv=3, method=method) for name, model in models.items()}


def test_two_classes_and_logarithms():
    X, y = (a[:90] for a in load_breast_cancer(return_X_y=True))
    models = {s: GaussianNB(var_smoothing=float(s)) for s in ("1e-9", "1e-6", "1e-3")}
    found = predicted(models, X, y, "predict_proba")
    estimate = sobercv.correct(found, y=y, method="predict_proba")
    plain = sobercv.bbc(y, np.stack([p[:, 1] for p in found.values()], axis=1), "roc_auc")
    assert (estimate.metric, estimate.value, estimate.interval) == ("roc_auc", plain.value, plain.interval)
    assert estimate.winner_name == list(models)[plain.winner]
    logs = sobercv.correct(predicted(models, X, y, "predict_log_proba"), y=y, method="predict_log_proba")
    assert logs.value == pytest.approx(plain.value, abs=1e-3)  # exp(log(p)) can break ties


def test_several_classes_and_metrics():
    X, y = load_wine(return_X_y=True)
    found = predicted(MODELS, X, y, "predict_proba")
    several = sobercv.correct(found, ["roc_auc_ovr", "accuracy"], y=y, method="predict_proba")
    plain = sobercv.bbc(y, np.stack(list(found.values()), axis=1), ["roc_auc_ovr", "accuracy"])
    assert {n: e.value for n, e in several.items()} == {n: e.value for n, e in plain.items()}
    assert {e.winner_name for e in several.values()} == {list(MODELS)[plain["roc_auc_ovr"].winner]}
    labels = sobercv.correct(predicted(MODELS, X, y, "predict"), y=y)
    assert labels.metric == "accuracy"


def test_numbers():
    X, y = (a[:80] for a in load_diabetes(return_X_y=True))
    found = predicted({f"{a}": Ridge(a) for a in (0.1, 1, 10)}, X, y, "predict")
    assert sobercv.correct(found, y=y).metric == "r2"


@pytest.mark.parametrize(
    ("given", "method", "code"),
    [({}, "predict", "E813"), ({"a": [1, 0]}, "transform", "E122"), ({"a": [1, 0], "b": [1]}, "predict", "E101")],
)
def test_what_cannot_be_judged(given, method, code):
    with pytest.raises(SoberError) as caught:
        sobercv.correct(given, y=[0, 1], method=method)
    assert caught.value.code == code


def test_scores_of_two_classes_are_ranked():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    found = sobercv.correct({m: y + rng.normal(size=40) for m in "ab"}, y=y, method="decision_function")
    assert found.metric == "roc_auc"


def test_probabilities_without_a_method_are_told_to_name_it():
    chances = {"a": np.linspace(0.1, 0.9, 20), "b": np.linspace(0.9, 0.1, 20)}
    with pytest.raises(SoberError, match='method="predict_proba"') as error:
        sobercv.correct(chances, "roc_auc", y=np.arange(20) % 2)
    assert error.value.code == "E110"


def test_data_frames_are_matched_by_class_and_refused_in_another_order():
    """AutoGluon's predict_proba_oof: the columns were taken in their order, and rows by their place."""
    X, y = load_wine(return_X_y=True)
    y = pd.Series(np.array(["c", "a", "b"])[y])
    arrays = predicted(MODELS, X, y, "predict_proba")
    frames = {name: pd.DataFrame(each, columns=["a", "b", "c"])[["c", "a", "b"]] for name, each in arrays.items()}
    plain, named = (sobercv.correct(each, "accuracy", y=y, method="predict_proba") for each in (arrays, frames))
    assert named.draws.tolist() == plain.draws.tolist()
    with pytest.raises(SoberError, match=r"predictions\['5'\]\.loc\[y\.index\]") as error:
        sobercv.correct({**frames, "5": frames["5"][::-1]}, "accuracy", y=y, method="predict_proba")
    assert error.value.code == "E101"


@pytest.mark.parametrize("name", ["WeightedEnsemble_L2", "LightGBM_BAG_L2", "StackedEnsemble_AllModels_1_AutoML_1"])
def test_ensembles_of_automl_tools_are_refused_by_name(name):
    rng = np.random.default_rng(0)
    found = {model: rng.random(40) for model in ("Stacked", "blend", name)}
    with pytest.raises(SoberError, match=f"{name}.* Leave it out;") as error:
        sobercv.correct(found, y=np.arange(40) % 2, method="predict_proba")
    assert error.value.code == "E814"
    del found[name]  # the others are the caller's own
    assert sobercv.correct(found, y=np.arange(40) % 2, method="predict_proba").n_configurations == 2


def test_a_dict_by_model_is_sent_from_bbc_to_correct():
    with pytest.raises(SoberError, match=r"For a dict of arrays by model, use sobercv\.correct\(") as error:
        sobercv.bbc(np.arange(8) % 2, {"tree": np.zeros(8)}, "accuracy")
    assert error.value.code == "E116"
