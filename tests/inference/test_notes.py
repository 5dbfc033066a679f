"""Notes: every one has a code of its own, and says what is true."""

import copy
import json
import pickle

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

import sobercv
from sobercv.errors import CODES, Note

RNG = np.random.default_rng(3)
Y = np.arange(40) % 2
P = RNG.random((40, 3))
L = (P > 0.5).astype(int)
PRUNED = np.ma.masked_array(P, np.arange(120).reshape(40, 3) == 119)
HALTED = np.ma.masked_array(P, np.repeat(np.arange(40)[:, None] >= 30, 3, axis=1))  # the last fold was not run


def codes(y, p, metric, **options):
    found = sobercv.bbc(y, p, metric, n_bootstraps=300, **options)
    return {
        note.code for estimate in (found.values() if isinstance(found, dict) else [found]) for note in estimate.notes
    }


CASES = {
    "nothing": (set(), (Y, P, "roc_auc"), {}),
    "many undefined": ({"W201"}, ((np.arange(40) < 3).astype(int), P, "roc_auc"), {}),
    "the wrong way round": ({"W701"}, (Y, P * 0.2 + 0.5 * (1 - Y)[:, None], "roc_auc"), {}),
    "labels that are ranked": ({"W206"}, (Y, L, "roc_auc"), {}),
    "one configuration": ({"W202"}, (Y, P[:, :1], "roc_auc"), {}),
    "scales": ({"W203"}, (Y, P + 100.0 * (np.arange(40)[:, None] // 10), "roc_auc"), {"folds": np.arange(40) // 10}),
    "pruned": ({"W204"}, (Y, PRUNED, "roc_auc"), {}),
    "few": ({"W205"}, (Y[:12], L[:12], "accuracy"), {}),
    "labels off probabilities": ({"W206"}, (Y, P, "accuracy"), {}),
    "labels off named probabilities": ({"W206"}, (Y, {"predict_proba": P}, "accuracy"), {}),
    "labels for the second metric": ({"W206"}, (Y, P, ["neg_log_loss", "accuracy"]), {}),
    "labels": (set(), (Y, L, "accuracy"), {}),
    "labels and probabilities": (set(), (Y, {"predict": L, "predict_proba": P}, "accuracy"), {}),
    "probabilities and labels": (set(), (Y, {"predict_proba": P, "predict": L}, "accuracy"), {}),
    "both for both": (set(), (Y, {"predict": L, "predict_proba": P}, ["accuracy", "roc_auc"]), {}),
    "perfect labels": ({"W301"}, (Y, L + (Y[:, None] - L) * (np.arange(3) == 1), "accuracy"), {}),
    "perfect ranks": ({"W301"}, (Y, P + Y[:, None], "roc_auc"), {}),
    "perfect numbers": ({"W301"}, (Y * 1.5, P + (Y[:, None] * 1.5 - P) * (np.arange(3) == 1), "r2"), {}),
    "perfect by every share": ({"W301"}, (Y, np.stack([Y, 1 - Y], 1), "sensitivity"), {}),
    "perfect and few": ({"W205"}, (Y[:12], np.stack([Y, 1 - Y], 1)[:12], "accuracy"), {}),
    "sensitive to all": (set(), (Y, np.ones((40, 2), int), "sensitivity"), {}),
    "precise about few": (set(), (Y, np.stack([Y * (np.arange(40) < 20), 1 - Y], 1), "precision"), {}),
    "tiny errors": (set(), (Y * 1e-9, (P + 1) * 1e-9, "neg_mean_squared_error"), {}),
    "incomplete": ({"W601"}, (Y, HALTED, "roc_auc"), {}),
}


@pytest.mark.filterwarnings("ignore::sobercv.errors.SoberWarning")
@pytest.mark.parametrize("case", CASES)
def test_what_is_noted(case):
    expected, arguments, options = CASES[case]
    assert codes(*arguments, **options) == expected
    assert expected <= CODES.keys()


@pytest.mark.parametrize(
    ("metric", "has_width"), [("r2", False), ("neg_mean_squared_error", False), ("accuracy", True)]
)
def test_a_perfect_score_says_what_its_interval_cannot_show(metric, has_width):
    y = Y if metric == "accuracy" else Y * 1.5
    columns = np.column_stack([y, L[:, 0] if metric == "accuracy" else P[:, 0]])
    estimate = sobercv.bbc(y, columns, metric, n_bootstraps=100)
    (text,) = [note.text for note in estimate.notes]
    assert text.startswith(f"{metric} is perfect on all 40 samples.")
    low, high = estimate.interval
    assert (low < high) == has_width == ("no width" not in text)


def test_a_search_notes_a_leak():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(60, 2)), np.arange(60) % 2])
    search = sobercv.BBCSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, cv=3)
    assert "W301" in [note.code for note in search.fit(X, np.arange(60) % 2).estimate_.notes]


def test_several_estimates_ask_for_the_metric():
    found = sobercv.bbc(Y, {"predict": L, "predict_proba": P}, ["accuracy", "roc_auc"], n_bootstraps=20)
    with pytest.raises(AttributeError, match=r"accuracy, roc_auc, so name the metric: estimates\[metric\]\.value"):
        _ = found.value
    assert pickle.loads(pickle.dumps(found)).keys() == copy.deepcopy(found).keys() == found.keys()


def test_notes_as_plain_data_as_text_and_as_html():
    estimate = sobercv.bbc(Y, P, "accuracy", n_bootstraps=20)
    text = "Labels were derived from probabilities: the most likely class."
    assert estimate.notes == (Note("W206", text),)
    assert json.loads(json.dumps(estimate.to_dict()))["notes"] == [Note("W206", text).to_dict()]
    assert f"note: {text}" in str(estimate)
    assert text in estimate._repr_html_()


# ---- what a user's function says ------------------------------------------------------------------------------------
def shapeless(y_true, y_pred):
    raise ValueError("y_pred should be one-hot")


def one_class_only(y_true, y_pred):
    if len(np.unique(y_true)) > 1:
        return np.mean(y_true == y_pred)
    raise ValueError("one class is too few")


def test_a_function_that_always_refuses_is_quoted():
    metric = sobercv.make_metric(shapeless, task="classification")
    with pytest.raises(sobercv.SoberError, match=r"shapeless is undefined.*y_pred should be one-hot") as caught:
        sobercv.bbc(Y, L, metric, n_bootstraps=5)
    assert caught.value.code == "E109"


def test_a_function_that_refuses_what_is_left_out_is_quoted():
    y = np.array([0] * 39 + [1])
    counts = np.ones((4, 40), int)
    counts[:, :3] = 0  # one class is left out
    metric = sobercv.make_metric(one_class_only, task="classification")
    with pytest.raises(sobercv.SoberError, match=r"all 4 draws.*one class is too few"):
        sobercv.bbc(y, L, metric, counts=counts)
