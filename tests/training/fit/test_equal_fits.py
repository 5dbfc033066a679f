"""Equal models on equal rows are fitted once, and nobody can tell from the predictions."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sobercv.presets.sklearn_models import CappedSVC, CappedSVR, RootForestRegressor
from sobercv.training import Experiment, Plan, Problem, expand
from sobercv.training.fit.steps import digest_of, fit_predict

from ..training_estimators import fit_whole, tasks_of

X = np.random.default_rng(0).normal(size=(60, 3))
Y = X[:, 0] + np.random.default_rng(1).normal(size=60)
#: The second way gives the bits of the first.
SAME_ROWS = [StandardScaler(), StandardScaler(copy=False)]


class Noisy(RegressorMixin, BaseEstimator):
    """Counts its fits; predicts a constant and, without a seed, noise of its own."""

    fits = 0

    def __init__(self, shift=0.0, random_state=0):
        self.shift = shift
        self.random_state = random_state

    def fit(self, X, y):
        Noisy.fits += 1
        self.value_ = y.mean() + self.shift + np.random.default_rng(self.random_state).normal()
        return self

    def predict(self, X):
        return np.full(len(X), self.value_)


def outcomes(way, model, grid):
    pipe = Pipeline([("scale", StandardScaler()), ("model", model)])
    problem = Problem.build(X, Y, task="regression")
    tasks = tasks_of(Plan.build(problem, 3).splits[0], expand(grid))
    found = list(way(Experiment(problem, pipe, (("predict",),)), tasks))
    return {outcome.configuration: outcome.responses["predict"] for outcome in found}


def test_equal_fits_are_made_once():
    Noisy.fits = 0
    grid = {"scale": SAME_ROWS, "model__shift": [0.0, 1.0]}
    found = outcomes(fit_predict, Noisy(), grid)
    assert Noisy.fits == 2
    alone = outcomes(fit_whole, Noisy(), grid)
    assert found.keys() == alone.keys() == set(range(4))
    for index, values in alone.items():
        np.testing.assert_array_equal(found[index], values)
    found[0][:] = 0  # nobody's answer is another's
    assert found[2].any()


def test_other_rows_are_fitted_anew():
    Noisy.fits = 0
    grid = {"scale": [StandardScaler(), StandardScaler(with_mean=False)], "model__shift": [0.0, 1.0]}
    outcomes(fit_predict, Noisy(), grid)
    assert Noisy.fits == 4


def test_models_that_draw_anew_are_fitted_each():
    Noisy.fits = 0
    grid = {"scale": SAME_ROWS, "model__shift": [0.0, 1.0]}
    found = outcomes(fit_predict, Noisy(random_state=None), grid)
    assert Noisy.fits == 4
    assert found[0][0] != found[2][0]


def test_forests_whose_roots_are_the_same_number_of_columns(monkeypatch):
    made = []
    fit = RootForestRegressor.fit
    monkeypatch.setattr(RootForestRegressor, "fit", lambda self, *given: made.append(self.roots) or fit(self, *given))
    grid = {"scale": SAME_ROWS, "model__roots": [0.5, 1.0, 1.5, 2.0], "model__min_samples_leaf": [1, 5]}
    found = outcomes(fit_predict, RootForestRegressor(3, random_state=0), grid)
    assert len(made) == 2 * 3  # of three columns, one, two and all are tried
    alone = outcomes(fit_whole, RootForestRegressor(3, random_state=0), grid)
    for index, values in alone.items():
        np.testing.assert_array_equal(found[index], values)


def test_costs_and_scales_of_a_polynomial_kernel_that_are_one_model(monkeypatch):
    made = []
    fit = CappedSVR.fit
    monkeypatch.setattr(CappedSVR, "fit", lambda self, *given: made.append((self.C, self.gamma)) or fit(self, *given))
    svm = CappedSVR(kernel="poly", degree=2, max_iter=1000)
    for scalers, times in ((SAME_ROWS, 1), ([StandardScaler()], 1)):  # also where the first steps have no rival
        made.clear()
        grid = {"scale": scalers, "model__C": [0.01, 0.1, 1.0], "model__gamma": [0.1, 1.0]}
        found = outcomes(fit_predict, svm, grid)
        assert len(made) == 5 * times  # 1 at 0.1 is 0.01 at 1
        alone = outcomes(fit_whole, svm, grid)
        for index, values in alone.items():
            np.testing.assert_array_equal(found[index], values)


def test_at_another_scale_it_is_the_same_machine():
    y = (X[:, 0] > 0).astype(int)
    options = {"kernel": "poly", "C": 0.01, "gamma": 0.1, "degree": 3, "tol": 1e-9}
    ours, theirs = CappedSVC(**options).fit(X, y), SVC(**options).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-6)
    assert ours.get_params() == theirs.get_params()
    assert CappedSVC(**options, probability=True).settled_params(X)["random_state"] is None  # its folds are drawn
    assert "random_state" not in ours.settled_params(X)
    other = CappedSVC(**{**options, "coef0": 1.0})
    assert (other.settled_params(X)["C"], other.settled_params(X)["gamma"]) == (0.01, 0.1)


@pytest.mark.parametrize(
    "other",
    [X + 1e-12, X[:, ::-1], np.asfortranarray(X), X.astype(np.float32), X.reshape(3, 60), sparse.csr_matrix(X)],
    ids=["values", "order", "layout", "type", "shape", "sparse"],
)
def test_digests_differ_where_anything_does(other):
    assert digest_of(X, X) == digest_of(X.copy(), X)
    assert digest_of(X, X) != digest_of(other, X)
    assert digest_of(X, X) != digest_of(X, other)


def test_what_cannot_be_compared_has_no_digest():
    assert digest_of([[1.0]], X) is None
    assert digest_of(X.astype(object), X) is None
