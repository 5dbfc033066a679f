import numpy as np
import pytest
from scipy import stats
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sobercv.errors import SoberError
from sobercv.training import expand

PIPE = Pipeline([("scale", StandardScaler()), ("model", LogisticRegression())])


@pytest.mark.parametrize(
    "space",
    [
        {"model__C": [1, 2], "scale": [StandardScaler(), "passthrough"]},
        [{"model__C": np.logspace(0, 1, 3)}, {"model": [SVC()], "model__C": [1, 2], "model__gamma": (0.1, 1)}],
        {},
        [{}, {"model__C": range(3)}],
    ],
)
def test_order_is_scikit_learns(space):
    configurations = expand(space, estimator=PIPE)
    assert [dict(c.params) for c in configurations] == list(ParameterGrid(space))
    assert [c.index for c in configurations] == list(range(len(configurations)))


def test_sampling_is_scikit_learns():
    space = {"model__C": stats.loguniform(0.1, 10), "scale__with_mean": [True, False]}
    drawn = expand(space, n_iter=5, seed=3, estimator=PIPE)
    assert [dict(c.params) for c in drawn] == list(ParameterSampler(space, 5, random_state=3))
    assert len(expand(space, n_iter=2, seed=2**40)) == 2


def test_names_are_checked_against_the_replacement():
    good = [
        {"model": [SVC()], "model__gamma": [1]},
        {"model": [SVC(), RandomForestClassifier()], "model__random_state": [0]},
        {"scale": [Pipeline([("a", StandardScaler()), ("b", PCA())])], "scale__b__n_components": [1]},
        {"scale": ["passthrough"], "model__C": [1]},
    ]
    assert len(expand(good, estimator=PIPE)) == 5


def test_estimators_that_set_more_than_they_list_are_believed():
    class Open(LogisticRegression):
        def set_params(self, **params):
            self.extra = params.pop("extra", None)
            return super().set_params(**params)

    assert len(expand({"extra": [1, 2]}, estimator=Open())) == 2


@pytest.mark.parametrize(
    ("space", "options", "code", "part"),
    [
        ([], {}, "E303", "non-empty"),
        ({"model__C": []}, {}, "E303", "'model__C' need to be a non-empty sequence"),
        ({"model__C": np.array([])}, {}, "E303", "'model__C' need to be a non-empty sequence"),
        ({"model__C": 1.0}, {}, "E303", "Write [1.0]"),
        ({"model__penalty": "l2"}, {}, "E303", "Write ['l2']"),
        ({"model__C": {1, 2}}, {}, "E303", "list(model__C_values)"),
        ({"model__C": np.ones((2, 2))}, {}, "E303", "one-dimensional"),
        ({"model__C": {1, 2}}, {"n_iter": 2}, "E303", "list("),
        (3, {}, "E303", "got 3"),
        ("grid", {}, "E303", "got 'grid'"),
        ([{"model__C": [1]}, [1]], {}, "E303", "[1]]. Write"),
        ({1: [1]}, {}, "E303", "names to values"),
        ({"model__C": stats.uniform()}, {}, "E303", "n_iter="),
        ({"model__C": [1]}, {"n_iter": 0}, "E108", "`n_iter`"),
        ({"model__C": [1]}, {"n_iter": 1.5}, "E108", "`n_iter`"),
        ({"model__c": [1]}, {}, "E122", "'model__C'"),
        ({"C": [1]}, {}, "E122", "'model__C'"),
        ({"modle": [SVC()]}, {}, "E122", "'model'"),
        ({"model": [SVC()], "model__l1_ratio": [1]}, {}, "E122", "no parameter 'model__l1_ratio'"),
        ({"scale": ["passthrough"], "scale__with_mean": [True]}, {}, "E122", "'scale' is 'passthrough'"),
        ({"model": [LogisticRegression(), SVC()], "model__gamma": [1]}, {}, "E122", "no parameter 'model__gamma'"),
    ],
)
def test_errors(space, options, code, part):
    with pytest.raises(SoberError) as error:
        expand(space, estimator=PIPE, **options)
    assert error.value.code == code
    assert part in error.value.message
