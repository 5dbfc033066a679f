"""What is said of kinds of models: a kind that was dropped early is not called as good as the winner."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from sobercv.report.families_table import _sentence, labels_of


def family(name, members, *, near, above=False):
    gap = SimpleNamespace(confidence_level=0.95, value=0.01 if above else -0.01)
    estimate = SimpleNamespace(metric="roc_auc", value=0.8)
    return SimpleNamespace(
        name=name, configurations=np.array(members), may_be_as_good=near, difference=gap, estimate=estimate
    )


def said(status, near):
    search = SimpleNamespace(best_index_=0, race_=SimpleNamespace(status=np.array(status)))
    kinds = [
        family("ridge", [0, 1], near=True),
        family("forests", [2], near=near),
        family("baseline", [3, 4], near=near),
    ]
    return _sentence(search, kinds)


DROPPED = "Dropped early and so judged on few samples, so their intervals say little:"


@pytest.mark.parametrize(
    ("status", "near", "ends"),
    [
        (["finished"] * 5, True, "2 other kinds may be as good as the winner: forests, baseline."),
        (["finished"] * 3 + ["dropped"] * 2, True,
         f"1 other kind may be as good as the winner: forests. {DROPPED} baseline."),
        (["finished"] * 3 + ["dropped", "failed"], False,
         f"The other kinds that stayed in the race are worse than the winner by more than chance explains. {DROPPED} "
         "baseline."),
        (["finished"] + ["dropped"] * 4, True, f"(95 %, percentiles). {DROPPED} forests, baseline."),
    ],
)  # fmt: skip
def test_who_may_be_as_good(status, near, ends):
    assert said(status, near).endswith(ends)
    assert "  " not in said(status, near)


def test_a_kind_above_the_honest_score_is_explained():
    search = SimpleNamespace(best_index_=0, race_=SimpleNamespace(status=np.array(["finished"] * 2)))
    kinds = [family("ridge", [0], near=True, above=True), family("forests", [1], near=True)]
    told = _sentence(search, kinds)
    assert "Above the honest score at the top: ridge, because choosing among fewer costs less." in told
    assert "Above" not in _sentence(search, kinds[1:])
    assert "Above" not in _sentence(search, kinds, digits=1), "what is written as +0.0 is not above"


@pytest.mark.parametrize(
    ("model", "params", "name"),
    [
        (LogisticRegression(), {"C": 1}, "ridge logistic regression"),
        (LogisticRegression(penalty="l1", solver="liblinear"), {"C": 1}, "logistic regression"),
        (LogisticRegression(l1_ratio=0.5, solver="saga"), {}, "logistic regression"),
        (LogisticRegression(solver="saga"), {"l1_ratio": 0.5}, "logistic regression"),
    ],
)
def test_only_a_ridge_is_called_one(model, params, name):
    search = SimpleNamespace(estimator=model, cv_results_={"params": [params]})
    assert labels_of(search, None) == [name]
