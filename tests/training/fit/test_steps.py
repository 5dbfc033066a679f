import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, Normalizer, StandardScaler
from sklearn.svm import SVC, LinearSVC

from sobercv.training import Experiment, Plan, Problem, expand
from sobercv.training.fit.steps import fit_predict, prefix_keys

from ..training_estimators import (
    LABELS,
    PROBABILITIES,
    RANKS,
    Counting,
    Troubled,
    Writer,
    WritingRegressor,
    fit_whole,
    tasks_of,
)

X2, Y2 = (a[::5] for a in load_breast_cancer(return_X_y=True))
XN, YN = (a[::5] for a in load_diabetes(return_X_y=True))
LOGISTIC = LogisticRegression(solver="liblinear", tol=0.1, random_state=0)
COLUMNS = ColumnTransformer([("a", StandardScaler(), slice(0, 10)), ("b", PCA(2), slice(10, 20))], remainder="drop")
UNION = FeatureUnion([("pca", PCA(2)), ("best", SelectKBest(k=2))])

CASES = {
    "scale, pca, model": (
        Pipeline([("scale", StandardScaler()), ("pca", PCA(3)), ("model", LOGISTIC)]),
        {"scale": [StandardScaler(), "passthrough", None], "pca__n_components": [2, 3], "model__C": [0.1, 1]},
    ),
    "two kinds of model": (
        Pipeline([("scale", StandardScaler()), ("model", LOGISTIC)]),
        [
            {"model": [SVC()], "model__C": [0.1, 1], "scale": [StandardScaler(), MinMaxScaler()]},
            {"model": [RandomForestClassifier(3, random_state=0)], "scale": [StandardScaler(), "passthrough"]},
            {"model__C": np.array([0.1, 1.0])},
        ],
    ),
    "columns": (
        Pipeline([("prep", COLUMNS), ("best", SelectKBest(k=3)), ("model", SVC())]),
        {
            "prep__b__n_components": [1, 2],
            "prep__a": [StandardScaler(), "drop"],
            "best__k": [1, "all"],
            "model__C": [1, 2],
        },
    ),
    "union": (
        Pipeline([("union", UNION), ("model", SVC())]),
        {"union__best__k": [1, 3], "union__pca": [PCA(1), "passthrough"], "model__C": [1, 2]},
    ),
    "pipelines inside": (
        Pipeline([("prep", Pipeline([("s", StandardScaler()), ("p", PCA(2))])), ("model", Pipeline([("m", SVC())]))]),
        {"prep__p__n_components": [1, 2], "model__m__C": [1, 2], "prep__s": [StandardScaler(), "passthrough"]},
    ),
    "steps of the pipeline itself": (
        Pipeline([("scale", StandardScaler()), ("model", SVC())]),
        {"steps": [[("model", SVC(C=3))], [("scale", MinMaxScaler()), ("model", SVC())]]},
    ),
    "supervised and random steps": (
        Pipeline(
            [("best", SelectKBest(k=5)), ("pca", PCA(2, svd_solver="randomized", random_state=3)), ("model", SVC())]
        ),
        {
            "best__k": [5, 8],
            "pca__random_state": [0, np.random.RandomState(5)],
            "model": [ExtraTreesClassifier(3, random_state=np.random.RandomState(1)), SVC()],
        },
    ),
    "no pipeline": (SVC(), {"C": [1, 2]}),
    "last step missing": (Pipeline([("scale", StandardScaler()), ("model", "passthrough")]), {"model": [SVC(), None]}),
    "names that begin alike": (
        Pipeline([("s", StandardScaler()), ("s_2", MinMaxScaler()), ("model", SVC())]),
        {"s__with_mean": [True, False], "s_2__feature_range": [(0, 1), (0, 2)], "model__C": [1, 2]},
    ),
}


def both(problem, estimator, grid, wanted):
    """Fit shared and unshared; give both, by configuration and split."""
    configurations = tuple(expand(grid))
    found = []
    for way in (fit_whole, fit_predict):
        outcomes = {}
        for split in Plan.build(problem, 3).splits[:2]:
            for outcome in way(Experiment(problem, estimator, wanted), tasks_of(split, configurations)):
                assert (outcome.configuration, outcome.fold) not in outcomes
                outcomes[outcome.configuration, outcome.fold] = outcome
        found.append(outcomes)
    assert found[0].keys() == found[1].keys()
    assert len(found[0]) == 2 * len(configurations)
    return found


def assert_identical(alone, shared):
    for key, outcome in alone.items():
        assert outcome.failure == shared[key].failure
        assert outcome.responses.keys() == shared[key].responses.keys()
        for name, values in outcome.responses.items():
            np.testing.assert_array_equal(values, shared[key].responses[name])


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("wanted", [LABELS, RANKS])
def test_shared_equals_unshared_bit_for_bit(name, wanted):
    estimator, grid = CASES[name]
    problem = Problem.build(X2, Y2, task="classification")
    assert_identical(*both(problem, estimator, grid, wanted))


@pytest.mark.parametrize("make", [np.asfortranarray, pd.DataFrame, sparse.csr_array, np.float32])
def test_other_containers(make):
    pipe = Pipeline([("scale", StandardScaler(with_mean=False)), ("best", SelectKBest(k=4)), ("model", LOGISTIC)])
    grid = {"scale": [StandardScaler(with_mean=False), "passthrough"], "best__k": [2, 6], "model__C": [0.1, 1]}
    assert_identical(*both(Problem.build(make(X2), Y2, task="classification"), pipe, grid, PROBABILITIES))


def test_set_output_is_kept():
    pipe = Pipeline([("pca", PCA(3)), ("pick", FunctionTransformer(only_first)), ("model", LOGISTIC)])
    pipe.set_output(transform="pandas")
    grid = {"pca__n_components": [3, 4], "model__C": [0.1, 1]}
    alone, shared = both(Problem.build(X2, Y2, task="classification"), pipe, grid, PROBABILITIES)
    assert all(outcome.failure is None for outcome in alone.values())
    assert_identical(alone, shared)
    mixed = {"pca": [PCA(3), PCA(3).set_output(transform="pandas")], "model__C": [0.1, 1]}
    bare = Pipeline([("pca", PCA(3)), ("pick", FunctionTransformer(only_first)), ("model", LOGISTIC)])
    alone, shared = both(Problem.build(X2, Y2, task="classification"), bare, mixed, PROBABILITIES)
    assert {outcome.failure is None for outcome in alone.values()} == {True, False}
    assert_identical(alone, shared)


def only_first(frame):
    return frame[["pca0"]]


def test_frames_that_are_written_to():
    pipe = Pipeline([("pca", PCA(3)), ("spoil", FunctionTransformer(spoil)), ("model", LOGISTIC)])
    pipe.set_output(transform="pandas")
    grid = {"spoil__kw_args": [{"by": 2}, {"by": 3}, {"by": 4}], "model__C": [0.1, 1]}
    assert_identical(*both(Problem.build(X2, Y2, task="classification"), pipe, grid, RANKS))


def spoil(frame, by):
    frame["pca0"] *= by
    return frame


def test_steps_that_write_into_their_input():
    pipe = Pipeline(
        [
            ("writer", Writer()),
            ("unit", Normalizer(copy=False)),
            ("scale", StandardScaler(copy=False)),
            ("model", WritingRegressor()),
        ]
    )
    grid = {
        "writer__shift": [0.5, 2.0],
        "unit": [Normalizer(copy=False), "passthrough"],
        "model": [WritingRegressor(), LinearRegression(copy_X=False), Ridge(copy_X=False)],
    }
    assert_identical(*both(Problem.build(XN, YN, task="regression"), pipe, grid, LABELS))


def test_common_steps_are_fitted_once():
    pipe = Pipeline([("first", Counting()), ("second", Counting()), ("model", Ridge())])
    problem = Problem.build(XN, YN, task="regression")
    grid = {"first__k": [1.0, 2.0], "second": [Counting(3.0), "passthrough"], "model__alpha": [1, 2, 3, 4]}
    tasks = tasks_of(Plan.build(problem, 3).splits[0], expand(grid))
    Counting.fits = 0
    assert len(list(fit_predict(Experiment(problem, pipe, LABELS), tasks))) == 16
    assert Counting.fits == 2 + 2


def test_equal_values_are_shared_across_grids():
    pipe = Pipeline([("first", Counting()), ("model", Ridge())])
    problem = Problem.build(XN, YN, task="regression")
    grid = [
        {"first": [Counting(2.0)], "model__alpha": [1]},
        {"first": [Counting(2.0)], "model__alpha": [2]},
        {"first__k": np.array([3.0, 4.0]), "model__alpha": [1, 2]},
    ]
    Counting.fits = 0
    tasks = tasks_of(Plan.build(problem, 3).splits[0], expand(grid))
    list(fit_predict(Experiment(problem, pipe, LABELS), tasks))
    assert Counting.fits == 1 + 2


def test_shared_seconds_go_to_the_first_that_needed_them():
    pipe = Pipeline([("first", Counting(seconds=0.05)), ("model", Ridge())])
    problem = Problem.build(XN, YN, task="regression")
    tasks = tasks_of(Plan.build(problem, 3).splits[0], expand({"model__alpha": [1, 2, 3]}))
    seconds = {o.configuration: o.fit_seconds for o in fit_predict(Experiment(problem, pipe, LABELS), tasks)}
    assert seconds[0] > 0.05
    assert max(seconds[1], seconds[2]) < 0.05


def test_failures_do_not_depend_on_what_is_fitted_beside():
    """Batches are cut for the number of workers, so the text must be the same alone and among others."""
    pipe = Pipeline([("scale", StandardScaler()), ("model", LinearSVC())])
    problem = Problem.build(X2, Y2, task="classification")
    configurations, split = tuple(expand({"model__C": [1, 2]})), Plan.build(problem, 3).splits[0]
    found = [
        [outcome.failure for outcome in fit_predict(Experiment(problem, pipe, PROBABILITIES), tasks_of(split, part))]
        for part in (configurations, configurations[:1], configurations[1:])
    ]
    assert found[0] == found[1] + found[2]
    assert found[0][0].message.startswith("LinearSVC predicts no probabilities (predict_proba); wrap it in Calibrated")


def test_a_failing_step_fails_all_that_share_it():
    pipe = Pipeline([("first", Counting()), ("model", Troubled())])
    problem = Problem.build(X2, Y2, task="classification")
    grid = {"first__k": [1.0, 2.0], "first__fail": [False, True], "model__trouble": ["none", "raise", "predict"]}
    Counting.fits = 0
    alone, shared = both(problem, pipe, grid, LABELS)
    assert_identical(alone, shared)
    assert Counting.fits == 2 * (12 + 4)
    assert sum(o.failure is None for o in shared.values()) == 2 * 2
    assert {o.failure.message for o in shared.values() if o.failure} == {
        "k=1.0 is not for me",
        "k=2.0 is not for me",
        "no luck today",
        "the disk is full",
    }
    grid = {"first__fail": [True], "model__trouble": ["none", "a"]}
    tasks = tasks_of(Plan.build(problem, 3).splits[0], expand(grid))
    with pytest.raises(ValueError, match="not for me"):
        list(fit_predict(Experiment(problem, pipe, LABELS, raise_errors=True), tasks))


def test_a_parameter_that_cannot_be_set_fails_alone():
    pipe = Pipeline([("scale", StandardScaler()), ("model", SVC())])
    alone, shared = both(
        Problem.build(X2, Y2, task="classification"), pipe, [{"model__C": [1]}, {"model__bad": [1]}], LABELS
    )
    assert [o.failure is None for o in shared.values()].count(False) == 2
    assert_identical(alone, shared)


def test_a_step_that_cannot_transform_keeps_the_pipelines_own_message():
    pipe = Pipeline([("scale", SVC()), ("model", SVC())])
    alone, shared = both(Problem.build(X2, Y2, task="classification"), pipe, {"model__C": [1, 2]}, LABELS)
    assert "should be transformers" in alone[0, 0].failure.message
    assert_identical(alone, shared)


def test_fit_params_of_steps():
    pipe = Pipeline([("scale", StandardScaler()), ("model", Ridge())])
    weights = np.random.default_rng(0).uniform(size=len(YN))
    fit_params = {"scale__sample_weight": weights, "model__sample_weight": weights}
    grid = {"scale__with_mean": [True, False], "model__alpha": [1, 2]}
    weighted = both(Problem.build(XN, YN, task="regression", fit_params=fit_params), pipe, grid, LABELS)
    assert_identical(*weighted)
    plain, _ = both(Problem.build(XN, YN, task="regression"), pipe, grid, LABELS)
    assert not np.array_equal(plain[0, 0].responses["predict"], weighted[0][0, 0].responses["predict"])


def test_metadata_routing():
    weights = np.random.default_rng(0).uniform(size=len(YN))
    with sklearn.config_context(enable_metadata_routing=True):
        pipe = Pipeline(
            [
                ("scale", StandardScaler().set_fit_request(sample_weight=False)),
                ("model", Ridge().set_fit_request(sample_weight=True)),
            ]
        )
        problem = Problem.build(XN, YN, task="regression", sample_weight=weights)
        alone, shared = both(problem, pipe, {"model__alpha": [1, 2]}, LABELS)
    assert alone[0, 0].failure is None
    assert_identical(alone, shared)


PIPE = Pipeline([("scale", StandardScaler()), ("model", Ridge())])
PLAIN = Problem.build(XN, YN, task="regression")


class Derived(Pipeline):
    """Might do anything."""


@pytest.mark.parametrize(
    ("problem", "estimator"),
    [
        (PLAIN, Ridge()),
        (PLAIN, Pipeline([("model", Ridge())])),
        (PLAIN, Pipeline(PIPE.steps, memory="somewhere")),
        (PLAIN, Pipeline(PIPE.steps, verbose=True)),
        (PLAIN, Pipeline(PIPE.steps, transform_input=["sample_weight"])),
        (PLAIN, Derived(PIPE.steps)),
        (Problem.build(XN, YN, task="regression", sample_weight=np.ones(len(YN))), PIPE),
        (Problem.build(XN, YN, task="regression", fit_params={"other__x": 1}), PIPE),
    ],
)
def test_in_doubt_nothing_is_shared(problem, estimator):
    assert prefix_keys(Experiment(problem, estimator, LABELS), expand([{}, {}])) == [(), ()]
    assert prefix_keys(Experiment(PLAIN, PIPE, LABELS), expand([{}, {}])) == [((),), ((),)]


def test_keys_tell_values_apart():
    values = [0.0, -0.0, 0, False, "0", None, np.float32(0), (0,), [0], len, lambda x: x, lambda x: x, PCA(1), PCA(2)]
    keys = prefix_keys(Experiment(PLAIN, PIPE, LABELS), expand({"scale__with_mean": values}))
    assert len(set(keys)) == len(values)
    equal = prefix_keys(Experiment(PLAIN, PIPE, LABELS), expand({"scale": [PCA(1), PCA(1)], "model__alpha": [1, 2]}))
    assert len(set(equal)) == 1


def test_precomputed_kernels_are_not_walked():
    K = X2 @ X2.T / 1e6
    pipe = Pipeline([("center", sklearn.preprocessing.KernelCenterer()), ("model", SVC(kernel="precomputed"))])
    alone, shared = both(Problem.build(K, Y2, task="classification"), pipe, {"model__C": [1, 10]}, RANKS)
    assert alone[0, 0].failure is None
    assert_identical(alone, shared)
