"""BBCSearchCV is a scikit-learn citizen: its checks, its tools around and inside, its containers, its habits."""

import io
import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier, is_regressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.decomposition import PCA
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, f1_score, fbeta_score, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator
from sklearn.utils.validation import check_is_fitted

import sobercv
from sobercv.errors import SoberError

X, Y = (a[::2] for a in load_breast_cancer(return_X_y=True))
DIGITS = tuple(a[::6] for a in load_digits(return_X_y=True))
DIABETES = load_diabetes(return_X_y=True)
TREE = DecisionTreeClassifier(random_state=0)
DEPTHS = {"max_depth": [1, 3, 5]}
RIDGE = {"alpha": [0.1, 1.0]}
NAMES = [f"gene {i}" for i in range(X.shape[1])]
SMOOTHING = {"var_smoothing": [1e-9, 0.1]}


def search(estimator=TREE, grid=None, **options):
    grid = DEPTHS if grid is None else grid
    return sobercv.BBCSearchCV(clone(estimator), grid, **{"cv": 3, "n_bootstraps": 20, "drop": None, **options})


# ---- scikit-learn's own checks ---------------------------------------------------------------------------------------
CHECKED = {
    "classifier": (GaussianNB(), SMOOTHING, "auto"),
    "regressor": (Ridge(), RIDGE, "auto"),
    "pipeline of a classifier": (
        make_pipeline(PCA(), LogisticRegression(tol=0.01, max_iter=20)),
        {"logisticregression__C": [0.1, 1.0]},
        None,
    ),
    "pipeline of a regressor": (make_pipeline(PCA(), Ridge()), {"ridge__alpha": [0.1, 1.0]}, None),
    "tree of classes": (TREE, {"max_depth": [1, 2]}, "auto"),
    "tree of numbers": (DecisionTreeRegressor(random_state=0), {"max_depth": [1, 2]}, "auto"),
    "density": (KernelDensity(), {"bandwidth": [0.5, 1.0]}, "auto"),
}


def outcome(check, estimator):
    """What a check says: "passed", "skipped", or why it failed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            check(estimator)
        except BaseException as problem:
            if "SkipTest" in type(problem).__name__:
                return "skipped"
            return f"{type(problem).__name__}: {problem}"
    return "passed"


@pytest.mark.parametrize("name", CHECKED)
def test_estimator_checks_fail_only_where_grid_search_fails(name):
    estimator, grid, drop = CHECKED[name]
    ours = sobercv.BBCSearchCV(estimator, grid, cv=2, error_score="raise", n_bootstraps=5, drop=drop)
    theirs = {
        check.func.__name__: (check, instance)
        for instance, check in estimator_checks_generator(GridSearchCV(estimator, grid, cv=2, error_score="raise"))
    }
    passed, unmet = 0, {}
    for instance, check in estimator_checks_generator(ours):
        said, known = outcome(check, instance), theirs.get(check.func.__name__)
        passed += said == "passed"
        if said != "passed" and (known is None or outcome(*known) == "passed"):
            unmet[check.func.__name__] = said
    assert unmet == {}
    assert passed >= 40


# ---- tools around it -------------------------------------------------------------------------------------------------
def test_clone_is_unfitted_and_fits_the_same():
    fitted = search(drop=sobercv.BootstrapDrop(threshold=0.9), select=sobercv.simplest_within(tolerance=0.01)).fit(X, Y)
    copy = clone(fitted)
    assert not hasattr(copy, "estimate_")
    assert repr(copy.get_params()) == repr(fitted.get_params())
    assert copy.fit(X, Y).estimate_.to_dict() == fitted.estimate_.to_dict()


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("way", ["pickle", "joblib"])
def test_pickle_and_joblib_bring_everything_back(way, fitted):
    one = search(scoring=make_scorer(fbeta_score, beta=2))
    one = one.fit(X, Y) if fitted else one
    if way == "pickle":
        back = pickle.loads(pickle.dumps(one))
    else:
        file = io.BytesIO()
        joblib.dump(one, file)
        file.seek(0)
        back = joblib.load(file)
    assert repr(back) == repr(one)
    if fitted:
        assert np.array_equal(back.predict(X), one.predict(X))
        assert back.estimate_.to_dict() == one.estimate_.to_dict()
        assert back.score(X, Y) == one.score(X, Y)
        assert back.race_.status.tolist() == one.race_.status.tolist()


def own_score(model, X, y):
    return model.score(X, y)


@pytest.mark.parametrize(
    "options",
    [{"drop": "auto"}, {"scoring": own_score}, {"scoring": ["roc_auc", "accuracy"]}],
    ids=["predictions", "scores of models", "several"],
)
def test_a_pickled_search_still_tells_what_tuning_gained(options):
    one = search(**options).fit(X, Y)
    again = pickle.loads(pickle.dumps(one))
    for first in (0, 1):
        before, after = one.gain_over(first), again.gain_over(first)
        assert (before.value, before.interval) == (after.value, after.interval)
        assert before.draws.tobytes() == after.draws.tobytes()


def test_parameters_are_read_and_set():
    one = search().set_params(estimator__criterion="entropy", cv=4, drop="auto")
    assert one.estimator.criterion == "entropy"
    assert (one.get_params()["cv"], one.get_params()["drop"]) == (4, "auto")
    with pytest.raises(ValueError, match="Invalid parameter 'folds'"):
        one.set_params(folds=3)


def test_last_step_of_a_pipeline():
    pipeline = Pipeline([("scale", StandardScaler()), ("search", search())]).set_output(transform="pandas")
    frame = pd.DataFrame(X, columns=NAMES)
    pipeline.fit(frame, Y)
    assert pipeline["search"].feature_names_in_.tolist() == NAMES
    assert pipeline.score(frame, Y) > 0.9


def test_output_of_the_transformers_inside_can_be_set():
    inner = make_pipeline(StandardScaler(), GaussianNB()).set_output(transform="pandas")
    frame = pd.DataFrame(X, columns=NAMES)
    one = search(inner, {"gaussiannb__var_smoothing": [1e-9, 0.1]}).fit(frame, Y)
    assert isinstance(one.best_estimator_[0].transform(frame), pd.DataFrame)
    assert one.best_estimator_[-1].feature_names_in_.tolist() == NAMES


def test_cross_validation_around_it_is_nested_cross_validation():
    ours = cross_validate(search(aggregate="fold"), X, Y, cv=3, scoring=["accuracy", "roc_auc"], return_estimator=True)
    theirs = cross_validate(GridSearchCV(TREE, DEPTHS, cv=3), X, Y, cv=3, scoring=["accuracy", "roc_auc"])
    assert np.array_equal(ours["test_accuracy"], theirs["test_accuracy"])
    assert np.array_equal(ours["test_roc_auc"], theirs["test_roc_auc"])
    assert all(hasattr(one, "estimate_") for one in ours["estimator"])
    assert np.array_equal(cross_val_score(search(aggregate="fold"), X, Y, cv=3, n_jobs=2), ours["test_accuracy"])


META = {
    "another grid": lambda one: GridSearchCV(one, {"estimator__criterion": ["gini", "entropy"]}, cv=2),
    "itself": lambda one: search(one, {"estimator__criterion": ["gini", "entropy"]}, cv=2),
    "voting": lambda one: VotingClassifier([("one", one), ("other", GaussianNB())], voting="soft"),
    "stacking": lambda one: StackingClassifier([("one", one), ("other", GaussianNB())], cv=2),
}


@pytest.mark.parametrize("name", META)
def test_inside_other_meta_estimators(name):
    assert META[name](search()).fit(X, Y).score(X, Y) > 0.93


def test_tags_are_those_of_the_estimator():
    assert is_classifier(search())
    assert is_regressor(search(Ridge(), RIDGE))
    assert not is_classifier(search(Ridge(), RIDGE))
    assert get_tags(search(SVC(kernel="precomputed"), {})).input_tags.pairwise
    assert not get_tags(search()).input_tags.pairwise
    assert get_tags(search()).target_tags.required
    assert get_tags(search(GaussianNB(), SMOOTHING)).input_tags.sparse is False


# ---- habits ----------------------------------------------------------------------------------------------------------
PROXIES = ("predict", "predict_proba", "decision_function", "transform", "score_samples")


@pytest.mark.parametrize(
    ("estimator", "grid"), [(TREE, DEPTHS), (SVC(), {"C": [1, 2]}), (Ridge(), RIDGE)], ids=["tree", "svc", "ridge"]
)
def test_methods_are_those_of_the_estimator(estimator, grid):
    data = DIABETES if is_regressor(estimator) else (X, Y)
    before, after = search(estimator, grid), search(estimator, grid).fit(*data)
    theirs = GridSearchCV(estimator, grid, cv=3).fit(*data)
    for name in PROXIES:
        assert hasattr(before, name) == hasattr(estimator, name)
        assert hasattr(after, name) == hasattr(theirs, name)
        if hasattr(theirs, name):
            np.testing.assert_allclose(getattr(after, name)(data[0]), getattr(theirs, name)(data[0]), rtol=1e-9)
    assert hasattr(after, "classes_") == hasattr(theirs, "classes_")
    assert after.n_features_in_ == theirs.n_features_in_


def test_transform_and_back():
    pipeline = make_pipeline(StandardScaler(), PCA(3), Ridge())
    inner = search(pipeline, {"ridge__alpha": [0.1, 1]})
    assert not hasattr(inner, "transform")
    step = sobercv.BBCSearchCV(Scaling(), {"by": [2.0, 4.0]}, cv=3, n_bootstraps=20, drop=None).fit(X, Y)
    assert np.array_equal(step.transform(X), X * step.best_params_["by"])
    assert np.array_equal(step.inverse_transform(step.transform(X)), X)
    assert np.array_equal(step.score_samples(X), X[:, 0])


class Scaling(ClassifierMixin, BaseEstimator):
    """A classifier that also transforms, there and back."""

    def __init__(self, by=1.0):
        self.by = by

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[int(self.by > 3)])

    def transform(self, X):
        return X * self.by

    def inverse_transform(self, X):
        return X / self.by

    def score_samples(self, X):
        return X[:, 0]


def test_unfitted_searches_say_so():
    for name in ("predict", "predict_proba", "score"):
        with pytest.raises(NotFittedError):
            getattr(search(), name)(*((X, Y) if name == "score" else (X,)))
    with pytest.raises(NotFittedError):
        check_is_fitted(search())
    assert not hasattr(search(), "n_features_in_")
    assert not hasattr(search(), "classes_")


def test_without_refit_there_is_a_winner_but_no_model():
    one = search(refit=False).fit(X, Y)
    check_is_fitted(one)
    assert one.best_params_ == one.cv_results_["params"][one.best_index_]
    assert one.best_score_ == one.cv_results_["mean_test_score"][one.best_index_]
    assert one.estimate_.winner == one.best_index_
    assert not any(hasattr(one, name) for name in ("best_estimator_", "refit_time_", "classes_", "n_features_in_"))
    for name in ("predict", "predict_proba", "score"):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'|refit=False"):
            getattr(one, name)(*((X, Y) if name == "score" else (X,)))


def test_refitting_forgets_the_model_of_the_fit_before():
    one = search().fit(X, Y)
    assert one.fit(*DIGITS).classes_.tolist() == list(range(10))
    one.set_params(estimator=Ridge(), param_grid=RIDGE).fit(*DIABETES)
    assert not hasattr(one, "classes_")
    assert one.predictions_.task == "regression"


def test_fit_returns_self_and_leaves_its_arguments_alone():
    grid = {"max_depth": [1, 3], "class_weight": [{0: 1, 1: 2}, None]}
    before, x, y = repr(grid), X.copy(), Y.copy()
    one = search(grid=grid)
    assert one.fit(X, Y) is one
    assert repr(grid) == before
    assert one.param_grid is grid
    assert not hasattr(one.estimator, "tree_")
    assert np.array_equal(X, x)
    assert np.array_equal(Y, y)
    one.best_params_["max_depth"] = 99
    assert 99 not in [p["max_depth"] for p in one.cv_results_["params"]]


# ---- containers ------------------------------------------------------------------------------------------------------
CONTAINERS = {
    "lists": lambda: (X.tolist(), Y.tolist()),
    "pandas": lambda: (pd.DataFrame(X, columns=NAMES), pd.Series(Y, index=np.arange(7, 7 + len(Y)))),
    "pandas column": lambda: (pd.DataFrame(X), pd.DataFrame({"y": Y})),
    "polars": lambda: (pl.DataFrame(X, schema=NAMES), pl.Series(Y)),
    "csr": lambda: (sparse.csr_matrix(X), Y),
    "csc array": lambda: (sparse.csc_array(X), Y),
    "coo": lambda: (sparse.coo_matrix(X), Y),
    "column": lambda: (X, Y[:, None]),
    "fortran order": lambda: (np.asfortranarray(X), Y),
    "booleans": lambda: (X, Y.astype(bool)),
    "floats": lambda: (X, Y.astype(float)),
    "plus and minus": lambda: (X, 2 * Y - 1),
    "text": lambda: (X, np.array(["ill", "well"])[Y]),
    "objects": lambda: (X, np.array(["ill", "well"], object)[Y]),
    "categories": lambda: (X, pd.Series(pd.Categorical(np.array(["ill", "well"])[Y]))),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_any_container_gives_the_same(name):
    plain = search(scoring="roc_auc", drop="auto").fit(X, Y)
    x, y = CONTAINERS[name]()
    one = search(scoring="roc_auc", drop="auto").fit(x, y)
    assert one.estimate_.draws.tolist() == plain.estimate_.draws.tolist()
    assert np.array_equal(
        one.predictions_.responses["decision_function"], plain.predictions_.responses["decision_function"]
    )
    assert np.array_equal(one.classes_[plain.predict(X)], one.predict(x))
    assert one.score(x, y) == plain.score(X, Y)
    if name in ("pandas", "polars"):
        assert one.feature_names_in_.tolist() == NAMES


def test_data_frames_keep_their_kinds_on_the_way_to_the_estimator():
    seen = []

    class Looking(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            seen.append((type(X), type(y)))
            return super().fit(X, y, sample_weight)

    search(Looking(), SMOOTHING).fit(pd.DataFrame(X), pd.Series(Y))
    assert set(seen) == {(pd.DataFrame, pd.Series)}
    assert len(seen) == 7


def test_x_with_three_axes():
    class Flat(ClassifierMixin, BaseEstimator):
        def __init__(self, depth=1):
            self.depth = depth

        def fit(self, X, y):
            self.tree_ = DecisionTreeClassifier(max_depth=self.depth, random_state=0).fit(X.reshape(len(X), -1), y)
            self.classes_ = self.tree_.classes_
            return self

        def predict(self, X):
            assert X.shape[1:] == (15, 2)
            return self.tree_.predict(X.reshape(len(X), -1))

    one = search(Flat(), {"depth": [1, 3, 5]}).fit(X.reshape(len(X), 15, 2), Y)
    assert one.estimate_.draws.tolist() == search().fit(X, Y).estimate_.draws.tolist()


def test_precomputed_kernels_are_cut_on_both_sides():
    kernel = X @ X.T
    grid = {"C": [1e-9, 1e-7]}
    theirs = GridSearchCV(SVC(kernel="precomputed"), grid, cv=3).fit(kernel, Y)
    ours = search(SVC(kernel="precomputed"), grid, aggregate="fold").fit(kernel, Y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-12)
    assert ours.score(kernel, Y) == theirs.score(kernel, Y)


# ---- what is passed to fit -------------------------------------------------------------------------------------------
GROUPS = np.arange(len(Y)) // 3
WEIGHT = np.random.default_rng(0).random(len(Y)) + 0.1


class Nosy(GaussianNB):
    """Remembers what its fits were given."""

    heard: list = []  # noqa: RUF012

    def fit(self, X, y, sample_weight=None, colour=None, marks=None):
        Nosy.heard.append((len(y), None if sample_weight is None else len(sample_weight), colour, marks))
        return super().fit(X, y, sample_weight)


def test_arguments_of_fit_are_cut_to_the_rows_or_passed_whole():
    Nosy.heard.clear()
    search(Nosy(), SMOOTHING).fit(X, Y, sample_weight=WEIGHT.tolist(), colour="red", marks=list(range(len(Y))))
    assert len(Nosy.heard) == 7
    assert all(n == w and colour == "red" and len(marks) == n for n, w, colour, marks in Nosy.heard)
    assert Nosy.heard[-1][0] == len(Y)
    assert Nosy.heard[0][3][:3] != [0, 1, 2]  # rows of the second and third fold


def test_arguments_for_a_step_of_a_pipeline():
    pipeline = Pipeline([("scale", StandardScaler()), ("model", GaussianNB())])
    grid = {"model__var_smoothing": [1e-9, 0.1]}
    theirs = GridSearchCV(pipeline, grid, cv=3).fit(X, Y, model__sample_weight=WEIGHT)
    ours = search(pipeline, grid, aggregate="fold").fit(X, Y, model__sample_weight=WEIGHT)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-12)
    assert ours.predictions_.sample_weight is None


def test_weights_for_a_pipeline_go_to_its_last_step_and_into_metrics():
    pipeline = Pipeline([("scale", StandardScaler()), ("model", GaussianNB())])
    grid = {"model__var_smoothing": [1e-9, 0.1]}
    fitted = search(pipeline, grid).fit(X, Y, model__sample_weight=WEIGHT)
    both = search(pipeline, grid).fit(X, Y, sample_weight=WEIGHT)
    for name, values in fitted.predictions_.responses.items():
        np.testing.assert_array_equal(both.predictions_.responses[name], values)
    np.testing.assert_array_equal(both.predictions_.sample_weight, WEIGHT)
    assert fitted.predictions_.sample_weight is None


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
class TestMetadataRouting:
    @pytest.mark.parametrize("in_fit", [True, False])
    @pytest.mark.parametrize("in_score", [True, False])
    def test_weights_go_where_they_are_asked_for(self, in_fit, in_score):
        model = GaussianNB().set_fit_request(sample_weight=in_fit).set_score_request(sample_weight=in_score)
        if not in_fit and not in_score:
            with pytest.raises(TypeError, match=r"unexpected argument.*sample_weight"):
                search(model, SMOOTHING).fit(X, Y, sample_weight=WEIGHT)
            return
        one = search(model, SMOOTHING).fit(X, Y, sample_weight=WEIGHT)
        plain = search(GaussianNB(), SMOOTHING).fit(X, Y)
        assert np.array_equal(one.best_estimator_.theta_, plain.best_estimator_.theta_) is not in_fit
        assert (one.predictions_.sample_weight is not None) is in_score

    def test_weights_as_scikit_learn(self):
        model = GaussianNB().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        theirs = GridSearchCV(model, SMOOTHING, cv=3).fit(X, Y, sample_weight=WEIGHT)
        ours = search(model, SMOOTHING, aggregate="fold").fit(X, Y, sample_weight=WEIGHT)
        np.testing.assert_allclose(
            ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-12
        )

    def test_weights_under_another_name(self):
        model = GaussianNB().set_fit_request(sample_weight="importance")
        one = search(model, SMOOTHING).fit(X, Y, importance=WEIGHT)
        assert np.array_equal(one.best_estimator_.theta_, GaussianNB().fit(X, Y, WEIGHT).theta_)
        assert one.predictions_.sample_weight is None  # only fit has asked

    def test_pipelines_route_to_their_steps(self):
        steps = [StandardScaler().set_fit_request(sample_weight=True), GaussianNB().set_fit_request(sample_weight=True)]
        pipeline = make_pipeline(*steps).set_score_request(sample_weight=True)  # which scikit-learn 1.7 asks for
        one = search(pipeline, {"gaussiannb__var_smoothing": [1e-9, 0.1]}).fit(X, Y, sample_weight=WEIGHT)
        scale = StandardScaler().fit(X, sample_weight=WEIGHT)
        assert np.array_equal(one.best_estimator_[0].mean_, scale.mean_)

    @pytest.mark.parametrize("name", ["groups", "patient"])
    def test_groups_go_to_the_splitter_and_to_the_bootstrap(self, name):
        splitter = GroupKFold(3) if name == "groups" else GroupKFold(3).set_split_request(groups="patient")
        one = search(GaussianNB(), SMOOTHING, cv=splitter).fit(X, Y, **{name: GROUPS})
        assert one.estimate_.n_groups == len(set(GROUPS))
        fold = one.predictions_.fold_of[:, 0]
        assert all(len(set(fold[g == GROUPS])) == 1 for g in set(GROUPS))

    def test_inside_cross_validate(self):
        model = GaussianNB().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        one = search(model, SMOOTHING, cv=GroupKFold(3))
        scores = cross_validate(
            one, X, Y, cv=GroupKFold(3), params={"sample_weight": WEIGHT, "groups": GROUPS}, return_estimator=True
        )
        assert scores["test_score"].min() > 0.85
        assert sum(e.estimate_.n_groups for e in scores["estimator"]) == 2 * len(set(GROUPS))

    @pytest.mark.parametrize(
        ("params", "message"),
        [({"sample_weight": WEIGHT}, "set_fit_request"), ({"colour": "red"}, "unexpected argument.*colour")],
        ids=["nobody said whether", "nobody wants it"],
    )
    def test_what_nobody_asked_for_is_refused(self, params, message):
        with pytest.raises((TypeError, ValueError), match=message):
            search(GaussianNB(), SMOOTHING).fit(X, Y, **params)


# ---- scoring ---------------------------------------------------------------------------------------------------------
SCORINGS = {
    "name": "accuracy",
    "function": accuracy_score,
    "scorer": make_scorer(accuracy_score),
    "own function": sobercv.make_metric(lambda y_true, y_pred: float((y_pred == y_true).mean()), task="classification"),
    "metric": sobercv.make_metric(accuracy_score, task="classification"),
    "registered": sobercv.metrics.get("accuracy"),
}


@pytest.mark.parametrize("name", SCORINGS)
def test_ways_to_say_accuracy(name):
    plain = search().fit(X, Y)
    one = search(scoring=SCORINGS[name]).fit(X, Y)
    np.testing.assert_allclose(one.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], rtol=1e-12)
    np.testing.assert_allclose(one.estimate_.draws, plain.estimate_.draws, rtol=1e-12)
    assert not one.multimetric_


def test_scorers_with_options_keep_them():
    labels = np.array(["ill", "well"])[Y]
    scoring = make_scorer(f1_score, pos_label="ill")
    theirs = GridSearchCV(TREE, DEPTHS, scoring=scoring, cv=3).fit(X, labels)
    ours = search(scoring=scoring, aggregate="fold").fit(X, labels)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-12)


def test_weights_reach_scorers():
    theirs = GridSearchCV(GaussianNB(), SMOOTHING, scoring="jaccard", cv=3)
    ours = search(GaussianNB(), SMOOTHING, scoring="jaccard", aggregate="fold")
    for one in (theirs, ours):
        one.fit(X, Y, sample_weight=WEIGHT)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-12)


def test_several_metrics_judge_one_winner():
    scoring = {"auc": "roc_auc", "loss": "neg_log_loss", "mine": accuracy_score}
    one = search(scoring=scoring, refit="loss").fit(X, Y)
    assert one.multimetric_
    assert list(one.estimate_) == ["loss", "auc", "mine"]  # the one that selects comes first
    assert {e.winner for e in one.estimate_.values()} == {one.cv_results_["pooled_test_loss"].argmax()}
    assert [e.metric for e in one.estimate_.values()] == ["loss", "auc", "mine"]
    assert one.best_score_ == one.cv_results_["mean_test_loss"][one.best_index_]
    alone = search(scoring="neg_log_loss").fit(X, Y)
    assert one.estimate_["loss"].draws.tolist() == alone.estimate_.draws.tolist()
    assert {"predict", "predict_proba", "decision_function"} == set(one.predictions_.responses)


# ---- what people see -------------------------------------------------------------------------------------------------
def test_html_shows_the_honest_number_first():
    one = search(scoring=["roc_auc", "accuracy"], refit="accuracy").fit(X, Y)
    number = f"{one.estimate_['accuracy'].value:.4f}"
    for html in (one._repr_html_(), one._repr_mimebundle_()["text/html"]):
        assert html.index("honest score") < html.index(number) < html.index("plain CV says") < html.index("estimator")
        assert "DecisionTreeClassifier" in html
    assert "honest score" not in search()._repr_html_()


def test_repr_shows_the_honest_number_first():
    one = search(drop="auto").fit(X, Y)
    first, *rest = repr(one).splitlines()
    assert first == repr(one.estimate_)
    assert "\n".join(rest) == repr(clone(one))
    assert repr(search()).startswith("BBCSearchCV(")


def test_verbose_prints_a_line_for_each_round(capsys):
    search(drop="auto", verbose=1).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("round 1 of 3: ")


def test_missing_target_is_refused():
    with pytest.raises(SoberError, match="requires y to be passed"):
        search().fit(X)


class Silent(GaussianNB):
    """Its fit gives nothing, as some users' do."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)


def test_a_model_whose_fit_gives_nothing_is_the_winner_all_the_same():
    search = sobercv.BBCSearchCV(Silent(), {"var_smoothing": [1e-9, 0.1]}, cv=3, n_bootstraps=20).fit(X, Y)
    assert isinstance(search.best_estimator_, Silent)
    assert search.predict(X).shape == Y.shape
