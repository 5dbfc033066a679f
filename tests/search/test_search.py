"""BBCSearchCV finds what GridSearchCV finds, on the same splits, and its results do not depend on how it is run."""

import warnings

import joblib
import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RandomizedSearchCV,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import sobercv

BREAST = tuple(a[::2] for a in load_breast_cancer(return_X_y=True))
DIGITS = tuple(a[::4] for a in load_digits(return_X_y=True))
DIABETES = load_diabetes(return_X_y=True)
PIPELINE = Pipeline([("scale", StandardScaler()), ("model", LogisticRegression())])
C = {"model__C": [0.001, 0.1, 10.0]}
TREE = DecisionTreeClassifier(random_state=0)
DEPTHS = {"max_depth": [1, 3, 6, None]}
MIXED = [
    {"model": [LogisticRegression()], "model__C": [0.01, 1]},
    {"scale": ["passthrough"], "model": [GaussianNB()], "model__var_smoothing": [1e-9, 1e-3, 0.1]},
]


def gbsg2():
    """The German Breast Cancer Study, which comes with scikit-survival."""
    from sksurv.datasets import load_gbsg2
    from sksurv.preprocessing import OneHotEncoder

    X, y = load_gbsg2()
    return OneHotEncoder().fit_transform(X), y


def cox():
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    return CoxPHSurvivalAnalysis()


def search(estimator, grid, **options):
    """Without dropping, selecting by the mean over folds: what scikit-learn does."""
    options = {"drop": None, "aggregate": "fold", "n_bootstraps": 30, **options}
    return sobercv.BBCSearchCV(estimator, grid, **options)


def assert_same(ours, theirs):
    """Every column of scikit-learn's table, its dtype included, and the winner."""
    for name, column in theirs.cv_results_.items():
        mine = ours.cv_results_[name]
        if name.endswith("_time"):
            assert mine.shape == column.shape
            assert mine.dtype == column.dtype
        elif name == "params":
            assert [list(p) for p in mine] == [list(p) for p in column]
            assert repr(mine) == repr(column)
        elif name.startswith("param_"):
            assert isinstance(mine, np.ma.MaskedArray)
            assert mine.dtype == column.dtype
            assert np.array_equal(np.ma.getmaskarray(mine), np.ma.getmaskarray(column))
            assert repr(mine.compressed().tolist()) == repr(column.compressed().tolist())
        elif name.startswith("rank_"):
            assert mine.dtype == column.dtype
            assert mine.tolist() == column.tolist()
        else:
            np.testing.assert_allclose(mine, column, rtol=1e-12, atol=1e-12)
    assert ours.best_index_ == theirs.best_index_
    assert repr(ours.best_params_) == repr(theirs.best_params_)
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-12)
    assert ours.n_splits_ == theirs.n_splits_
    assert ours.multimetric_ == theirs.multimetric_


CLASSIFICATION = [
    "accuracy",
    "roc_auc",
    "neg_log_loss",
    "f1",
    "average_precision",
    "matthews_corrcoef",
    "jaccard",
    None,
]
MANY_CLASSES = ["accuracy", "roc_auc_ovr", "f1_macro", "neg_log_loss", "roc_auc_ovo_weighted", "balanced_accuracy"]
REGRESSION = ["r2", "neg_mean_squared_error", "neg_median_absolute_error", "neg_max_error", None]


@pytest.mark.parametrize("scoring", CLASSIFICATION)
def test_breast_cancer_as_scikit_learn(scoring):
    theirs = GridSearchCV(PIPELINE, C, scoring=scoring, cv=4).fit(*BREAST)
    ours = search(PIPELINE, C, scoring=scoring, cv=4, n_bootstraps=5).fit(*BREAST)
    assert_same(ours, theirs)
    assert np.array_equal(ours.predict(BREAST[0]), theirs.predict(BREAST[0]))
    np.testing.assert_allclose(ours.predict_proba(BREAST[0]), theirs.predict_proba(BREAST[0]), rtol=1e-9)
    assert ours.score(*BREAST) == pytest.approx(theirs.score(*BREAST), rel=1e-12)


@pytest.mark.parametrize("scoring", MANY_CLASSES)
def test_digits_as_scikit_learn(scoring):
    theirs = GridSearchCV(TREE, DEPTHS, scoring=scoring, cv=3).fit(*DIGITS)
    ours = search(TREE, DEPTHS, scoring=scoring, cv=3, n_bootstraps=5).fit(*DIGITS)
    assert_same(ours, theirs)
    assert ours.score(*DIGITS) == pytest.approx(theirs.score(*DIGITS), rel=1e-12)


@pytest.mark.parametrize("scoring", REGRESSION)
def test_diabetes_as_scikit_learn(scoring):
    grid = {"alpha": [0.01, 0.1, 1, 10], "fit_intercept": [True, False]}
    theirs = GridSearchCV(Ridge(), grid, scoring=scoring, cv=5).fit(*DIABETES)
    ours = search(Ridge(), grid, scoring=scoring, cv=5).fit(*DIABETES)
    assert_same(ours, theirs)
    assert ours.score(*DIABETES) == pytest.approx(theirs.score(*DIABETES), rel=1e-12)


@pytest.mark.parametrize("folds", [5, KFold(4, shuffle=True, random_state=1)], ids=["number", "shuffled"])
def test_gbsg2_as_scikit_learn(folds):
    X, y = gbsg2()
    splits = list(StratifiedKFold(folds).split(X, y["cens"]) if isinstance(folds, int) else folds.split(X))
    theirs = GridSearchCV(cox(), {"alpha": [0.1, 1e3, 1e5]}, cv=splits).fit(X, y)
    ours = search(cox(), {"alpha": [0.1, 1e3, 1e5]}, cv=folds).fit(X, y)  # a number stratifies by the event
    assert_same(ours, theirs)
    assert ours.estimate_.metric == "concordance_index"
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), rel=1e-12)
    assert len(ours.predict_survival_function(X[:2])) == 2


SPLITTERS = {
    "repeated": RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
    "hold-outs": ShuffleSplit(4, test_size=0.3, random_state=0),
    "one hold-out": StratifiedShuffleSplit(1, test_size=0.4, random_state=0),
    "grouped": GroupKFold(4),
}


@pytest.mark.parametrize("name", SPLITTERS)
def test_any_splitter_as_scikit_learn(name):
    data = {"groups": np.arange(len(BREAST[1])) // 3} if name == "grouped" else {}
    theirs = GridSearchCV(PIPELINE, C, scoring="roc_auc", cv=SPLITTERS[name]).fit(*BREAST, **data)
    assert_same(search(PIPELINE, C, scoring="roc_auc", cv=SPLITTERS[name]).fit(*BREAST, **data), theirs)


def test_generators_of_splits_are_used_once():
    theirs = GridSearchCV(TREE, DEPTHS, cv=KFold(3).split(*BREAST)).fit(*BREAST)
    assert_same(search(TREE, DEPTHS, cv=KFold(3).split(*BREAST)).fit(*BREAST), theirs)


@pytest.mark.parametrize(
    "scoring", [["roc_auc", "accuracy"], ("accuracy", "roc_auc"), {"auc": "roc_auc", "accuracy": "accuracy"}], ids=repr
)
def test_several_metrics_as_scikit_learn(scoring):
    theirs = GridSearchCV(PIPELINE, C, scoring=scoring, refit="accuracy", cv=3).fit(*BREAST)
    ours = search(PIPELINE, C, scoring=scoring, refit="accuracy", cv=3).fit(*BREAST)
    assert_same(ours, theirs)
    assert set(ours.scorer_) == set(theirs.scorer_)
    assert set(ours.estimate_) == set(scoring)
    assert {e.winner for e in ours.estimate_.values()} == {theirs.best_index_}
    assert ours.score(*BREAST) == pytest.approx(theirs.score(*BREAST), rel=1e-12)


def test_weights_as_scikit_learn():
    weight = np.random.default_rng(0).random(len(BREAST[1]))
    theirs = GridSearchCV(TREE, DEPTHS, scoring="accuracy", cv=3).fit(*BREAST, sample_weight=weight)
    ours = search(TREE, DEPTHS, scoring="accuracy", cv=3).fit(*BREAST, sample_weight=weight)
    assert_same(ours, theirs)  # weighted in fit and in the metric
    assert np.array_equal(ours.predictions_.sample_weight, weight)


def test_random_search_as_scikit_learn():
    space = [{"var_smoothing": loguniform(1e-9, 1)}, {"var_smoothing": [1e-3], "priors": [None, [0.5, 0.5]]}]
    theirs = RandomizedSearchCV(GaussianNB(), space, n_iter=6, cv=3, random_state=5).fit(*BREAST)
    ours = sobercv.BBCRandomizedSearchCV(
        GaussianNB(), space, n_iter=6, cv=3, random_state=5, drop=None, aggregate="fold", n_bootstraps=30
    ).fit(*BREAST)
    assert_same(ours, theirs)


def test_whole_steps_are_values():
    theirs = GridSearchCV(PIPELINE, MIXED, scoring="roc_auc", cv=3).fit(*BREAST)
    ours = search(PIPELINE, MIXED, scoring="roc_auc", cv=3).fit(*BREAST)
    assert_same(ours, theirs)
    assert ours.cv_results_["param_model__C"].mask.tolist() == [False, False, True, True, True]
    assert all(values["model"] is not ours.best_estimator_["model"] for values in ours.cv_results_["params"])


def test_ties_go_to_the_first_and_share_their_rank():
    grid = {"max_depth": [2, 2, 1, 1]}
    theirs = GridSearchCV(TREE, grid, cv=3).fit(*BREAST)
    assert_same(search(TREE, grid, cv=3).fit(*BREAST), theirs)


def test_param_columns_have_scikit_learns_types():
    grid = [
        {"max_depth": [1, None], "criterion": ["gini"]},
        {"min_samples_leaf": [1, 0.1], "ccp_alpha": np.array([0.0, 0.1], np.float32)},
        {"class_weight": [None, {0: 1, 1: 2}], "max_features": [2, 0.5, "sqrt"], "splitter": np.array(["best"])},
    ]
    theirs = GridSearchCV(TREE, grid, cv=2).fit(*BREAST)
    assert_same(search(TREE, grid, cv=2).fit(*BREAST), theirs)


# ---- the search's own meaning ----------------------------------------------------------------------------------------
def test_by_default_the_pooled_score_selects():
    ours = search(PIPELINE, C, scoring="roc_auc", cv=3, aggregate="pooled").fit(*BREAST)
    pooled = ours.cv_results_["pooled_test_score"]
    assert ours.best_index_ == pooled.argmax()
    assert ours.estimate_.naive == pooled.max()
    assert np.array_equal(ours.cv_results_["rank_test_score"], 1 + (-pooled).argsort().argsort())
    assert np.array_equal(ours.estimate_.scores, pooled)
    table = ours.predictions_
    again = sobercv.bbc(None, table, "roc_auc", n_bootstraps=30, random_state=ours.seed_)
    assert (again.value, again.interval) == (ours.estimate_.value, ours.estimate_.interval)


def test_predictions_are_those_of_cross_val_predict():
    from sklearn.model_selection import cross_val_predict

    ours = search(PIPELINE, C, scoring="neg_log_loss", cv=4).fit(*BREAST)
    for index, params in enumerate(ours.cv_results_["params"]):
        model = PIPELINE.set_params(**params)
        theirs = cross_val_predict(model, *BREAST, cv=4, method="predict_proba")[:, 1]
        np.testing.assert_allclose(ours.predictions_.responses["predict_proba"][:, index, 0], theirs, rtol=1e-9)


def test_one_row_that_is_never_tested_leaves_the_scores_pooled():
    fold = np.arange(len(BREAST[1])) % 5
    left_out = np.where(np.arange(len(fold)) == 7, -1, fold)
    options = {"scoring": "roc_auc", "aggregate": "pooled"}
    ours = search(PIPELINE, C, cv=PredefinedSplit(left_out), **options).fit(*BREAST)
    seen = ours.predictions_.seen
    assert seen.shape == (len(fold), 1)
    assert np.flatnonzero(~seen[:, 0]).tolist() == [7]
    scores = ours.predictions_.responses["decision_function"][:, ours.best_index_, 0]
    pooled = roc_auc_score(BREAST[1][seen[:, 0]], scores[seen[:, 0]])
    assert ours.cv_results_["pooled_test_score"][ours.best_index_] == pytest.approx(pooled, rel=1e-12)
    assert ours.estimate_.naive == pytest.approx(pooled, rel=1e-12)
    # One row per test set: nothing but pooled scores are defined.
    almost = list(LeaveOneOut().split(BREAST[0][:60]))[:-1]
    pooled = search(GaussianNB(), {"var_smoothing": [1e-9, 0.1]}, cv=almost, **options)
    assert pooled.fit(BREAST[0][:60], BREAST[1][:60]).estimate_.value > 0.5


@pytest.mark.parametrize(("n_repeats", "expected"), [(1, 3 * 4 + 1), (3, 3 * 4 * 3 + 1)])
def test_models_trained_are_k_times_c_plus_one(n_repeats, expected):
    ours = search(GaussianNB(), {"var_smoothing": [1e-9, 1e-3, 0.1]}, cv=4, n_repeats=n_repeats).fit(*BREAST)
    assert ours.n_fits_ == expected
    assert ours.n_splits_ == 4 * n_repeats
    assert ours.race_.n_fits == expected - 1
    assert ours.predictions_.n_repeats == n_repeats
    assert ours.set_params(refit=False).fit(*BREAST).n_fits_ == expected - 1


def test_first_repeat_is_the_unrepeated_search_and_others_differ():
    one = search(TREE, DEPTHS, cv=3).fit(*BREAST)
    three = search(TREE, DEPTHS, cv=3, n_repeats=3).fit(*BREAST)
    for split in range(3):
        column = f"split{split}_test_score"
        assert np.array_equal(one.cv_results_[column], three.cv_results_[column])
    folds = three.predictions_.fold_of
    assert not np.array_equal(folds[:, 0], folds[:, 1])
    assert not np.array_equal(folds[:, 1], folds[:, 2])
    scores = np.stack([three.cv_results_[f"split{i}_test_score"] for i in range(9)], axis=1)
    np.testing.assert_allclose(three.cv_results_["mean_test_score"], scores.mean(axis=1), rtol=1e-12)
    np.testing.assert_allclose(three.cv_results_["std_test_score"], scores.std(axis=1), rtol=1e-12)
    np.testing.assert_allclose(three.estimate_.scores, scores.mean(axis=1), rtol=1e-12)


def test_groups_stay_together_in_folds_and_in_the_bootstrap():
    groups = np.random.default_rng(1).permutation(len(BREAST[1])) % 40
    ours = search(TREE, DEPTHS, cv=4, n_repeats=2).fit(*BREAST, groups=[f"patient {g}" for g in groups])
    for repeat in range(2):
        fold = ours.predictions_.fold_of[:, repeat]
        assert all(len(set(fold[groups == g])) == 1 for g in range(40))
    assert ours.estimate_.n_groups == 40
    single = search(TREE, DEPTHS, cv=4, n_repeats=2).fit(*BREAST)
    assert np.diff(ours.estimate_.interval) > np.diff(single.estimate_.interval)  # 40 patients know less than 285


def parts(fitted):
    """All that a search found, as bytes, but the clock."""
    table = fitted.predictions_
    columns = {k: v for k, v in fitted.cv_results_.items() if not k.endswith("_time") and not k.startswith("param")}
    return (
        {name: np.ascontiguousarray(values).tobytes() for name, values in table.responses.items()},
        {name: np.asarray(np.ma.filled(column)).tobytes() for name, column in columns.items()},
        fitted.estimate_.draws.tobytes(),
        fitted.estimate_.to_dict(),
        (fitted.best_index_, fitted.n_fits_, fitted.race_.p.tobytes(), fitted.race_.alive_by_round.tobytes()),
    )


@pytest.mark.parametrize("drop", [None, "auto"])
@pytest.mark.parametrize(
    ("backend", "options"),
    [("loky", {"n_jobs": 2}), ("threading", {"n_jobs": 2}), ("loky", {"n_jobs": None, "verbose": 1})],
    ids=["processes", "threads", "verbose"],
)
def test_results_do_not_depend_on_jobs_backend_or_verbosity(drop, backend, options, capsys):
    grid = {"model__C": [1e-6, 1e-4, 0.01, 1, 100]}
    shared = {"scoring": "roc_auc", "cv": 5, "drop": drop, "n_repeats": 2}
    alone = search(PIPELINE, grid, **shared).fit(*BREAST)
    with joblib.parallel_config(backend=backend), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # loky: a worker stopped
        assert parts(search(PIPELINE, grid, **shared, **options).fit(*BREAST)) == parts(alone)
    printed = capsys.readouterr().out
    assert ("configurations in the race" in printed) == ("verbose" in options)


def test_random_state_repeats_a_search_and_another_one_does_not():
    options = {"cv": 3, "n_repeats": 2}
    one, same, other = (search(TREE, DEPTHS, **options, random_state=s).fit(*BREAST) for s in (7, 7, 8))
    assert parts(one) == parts(same)
    assert one.estimate_.draws.tolist() != other.estimate_.draws.tolist()
    assert not np.array_equal(one.predictions_.fold_of, other.predictions_.fold_of)


def test_seed_that_was_drawn_repeats_the_run():
    fresh = search(TREE, DEPTHS, cv=3, n_repeats=2, random_state=None).fit(*BREAST)
    other = search(TREE, DEPTHS, cv=3, n_repeats=2, random_state=None).fit(*BREAST)
    assert fresh.seed_ != other.seed_
    again = search(TREE, DEPTHS, cv=3, n_repeats=2, random_state=fresh.seed_).fit(*BREAST)
    assert parts(again) == parts(fresh)
