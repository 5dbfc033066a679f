"""Weights, metadata, training rows, several outputs and no target: GridSearchCV's numbers, by whichever route."""

import numpy as np
import pytest
import sklearn
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, make_multilabel_classification, make_regression
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import Ridge
from sklearn.metrics import (
    accuracy_score,
    check_scoring,
    make_scorer,
    mean_pinball_loss,
    mean_squared_error,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import sobercv
from sobercv.errors import SoberError, SoberWarning

X, Y = (part[::4] for part in load_breast_cancer(return_X_y=True))
WEIGHT = np.random.default_rng(0).random(len(Y))
TREE, DEPTHS = DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3]}
BAYES, SMOOTHING = GaussianNB(), {"var_smoothing": [1e-9, 0.1]}
SCALED, ALPHAS = make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": [0.1, 10.0]}
LABELS = make_multilabel_classification(60, random_state=0)
OUTPUTS = make_regression(60, n_targets=3, random_state=0)


def compared(estimator, grid, X, y, fit=None, **options):
    """Fit both searches, compare every score of every split, and give ours with the codes of its notes."""
    fit = fit or {}
    theirs = GridSearchCV(estimator, grid, cv=3, **options).fit(X, y, **fit)
    ours = sobercv.BBCSearchCV(estimator, grid, cv=3, drop=None, aggregate="fold", n_bootstraps=20, **options)
    ours.fit(X, y, **fit)
    names = [name for name in theirs.cv_results_ if "_test_" in name or "_train_" in name]
    assert {name for name in ours.cv_results_ if "_train_" in name} == {name for name in names if "_train_" in name}
    for name in names:
        np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], atol=1e-12, err_msg=name)
    estimate = next(iter(ours.estimate_.values())) if ours.multimetric_ else ours.estimate_
    return ours, [note.code for note in estimate.notes]


def weighted(estimator, X, y, sample_weight=None):
    return float(np.average(estimator.predict(X) == y, weights=sample_weight))


def plain(estimator, X, y):
    return estimator.score(X, y)


def share(y_true, y_pred):
    return float(np.mean(y_true == y_pred))


# ---- training rows --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"scoring": ["accuracy", "roc_auc", "neg_log_loss"], "refit": "accuracy"},
        {"scoring": plain},
        {"scoring": {"mine": plain, "auc": "roc_auc"}, "refit": "auc"},
        {"scoring": lambda est, X, y: {"a": est.score(X, y), "b": 1.0}, "refit": "a"},
    ],
    ids=["own score", "metrics", "scorer", "both", "dict"],
)
def test_scores_on_training_rows(options):
    compared(TREE, DEPTHS, X, Y, return_train_score=True, **options)
    compared(TREE, DEPTHS, X, Y, return_train_score=True, fit={"sample_weight": WEIGHT})


def test_training_rows_of_a_pipeline_and_of_the_dropped(tmp_path):
    compared(SCALED, ALPHAS, X, X[:, 0], return_train_score=True)
    grid = {"max_depth": [1, 2, 3], "criterion": ["gini", "entropy"]}
    options = {"scoring": "roc_auc", "cv": 5, "drop": sobercv.BootstrapDrop(threshold=0.5, min_predictions=10)}
    search = sobercv.BBCSearchCV(TREE, grid, return_train_score=True, **options).fit(X, Y)
    dropped = search.cv_results_["status"] == "dropped"
    assert dropped.any()
    assert np.isnan(search.cv_results_["split4_train_score"][dropped]).any()
    assert np.isfinite(search.cv_results_["mean_train_score"]).all()
    without = sobercv.BBCSearchCV(TREE, grid, **options).fit(X, Y)
    assert search.estimate_.draws.tobytes() == without.estimate_.draws.tobytes()
    assert not any("train" in name for name in without.cv_results_)


def test_a_store_keeps_scores_on_training_rows(tmp_path):
    options = {"cv": 3, "store": tmp_path / "run.sqlite", "return_train_score": True}
    sobercv.BBCSearchCV(TREE, DEPTHS, **options).fit(X, Y)
    more = {"max_depth": [1, 3, 5]}
    resumed = sobercv.BBCSearchCV(TREE, more, **options).fit(X, Y)
    theirs = GridSearchCV(TREE, more, cv=3, return_train_score=True).fit(X, Y)
    np.testing.assert_allclose(resumed.cv_results_["mean_train_score"], theirs.cv_results_["mean_train_score"])
    with pytest.raises(SoberError, match="scorer that is called") as caught:  # stored fits were not asked for it
        sobercv.BBCSearchCV(TREE, more, cv=3, store=tmp_path / "run.sqlite").fit(X, Y)
    assert caught.value.code == "E502"


# ---- functions of one's own -----------------------------------------------------------------------------------------
def test_a_foreign_function_is_called_on_models_once_a_fit_and_the_note_says_how_to_have_more():
    calls = []

    def mine(y_true, y_pred):
        calls.append(len(y_true))
        return share(y_true, y_pred)

    search = sobercv.BBCSearchCV(TREE, DEPTHS, scoring=make_scorer(mine), cv=5).fit(X, Y)
    assert len(calls) == 2 * 5
    (note,) = [note for note in search.estimate_.notes if note.code == "W211"]
    assert "make_metric" in note.text
    by_sample = sobercv.BBCSearchCV(
        TREE, DEPTHS, scoring=sobercv.make_metric(mine, task="classification"), cv=5, drop=None
    )
    assert by_sample.fit(X, Y).estimate_.method == "bbc"


def test_a_foreign_function_beside_a_metric_that_selects_is_alone_in_being_read_by_folds(tmp_path):
    scoring = {"mine": make_scorer(share), "right": "accuracy", "f": "f1"}
    options = {"cv": 5, "n_bootstraps": 50}
    grid = {"max_depth": [1, 3, -1]}  # the last one fails
    with pytest.warns(SoberWarning, match="1 of 3 configurations failed"):
        search = sobercv.BBCSearchCV(TREE, grid, scoring=scoring, refit="right", **options).fit(X, Y)
    same = sobercv.BBCSearchCV(TREE, DEPTHS, scoring=["accuracy", "f1"], drop=None, **options).fit(X, Y)
    found, results = search.estimate_, search.cv_results_
    assert {name: one.method for name, one in found.items()} == {"right": "bbc", "mine": "bbc-f", "f": "bbc"}
    assert {one.winner for one in found.values()} == {same.best_index_} == {search.best_index_}
    for ours, theirs in (("right", "accuracy"), ("f", "f1")):
        assert found[ours].draws.tobytes() == same.estimate_[theirs].draws.tobytes()
        assert found[ours].interval == same.estimate_[theirs].interval
    assert [name for name, one in found.items() if "W211" in [note.code for note in one.notes]] == ["mine"]
    for key in ("mean_test_", "split4_test_"):
        np.testing.assert_array_equal(results[f"{key}mine"], results[f"{key}right"])
    np.testing.assert_array_equal(results["rank_test_mine"], np.argsort(np.argsort(-results["mean_test_mine"])) + 1)
    assert search.scorer_["mine"](search.best_estimator_, X, Y) == accuracy_score(Y, search.predict(X))
    assert search.gain_over().value == pytest.approx(same.gain_over().value)
    assert "W211" in search.report(tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    "options", [{"n_repeats": 2}, {"cv": ShuffleSplit(3, random_state=0)}, {"stratify": True}], ids=str
)
def test_where_folds_cannot_tell_a_foreign_function_is_called_on_resamples(options):
    options = {"cv": 3, "drop": None, "n_bootstraps": 20, **options}
    search = sobercv.BBCSearchCV(TREE, DEPTHS, scoring=make_scorer(share), **options).fit(X, Y)
    same = sobercv.BBCSearchCV(TREE, DEPTHS, scoring="accuracy", **options).fit(X, Y)
    assert search.estimate_.method == "bbc"
    assert search.estimate_.value == pytest.approx(same.estimate_.value)


# ---- weights and metadata -------------------------------------------------------------------------------------------
def test_weights_reach_scorers_that_take_them_without_routing():
    for scoring in (weighted, check_scoring(BAYES)):
        ours, _ = compared(BAYES, SMOOTHING, X, Y, {"sample_weight": WEIGHT}, scoring=scoring)
    assert ours.score(X, Y, sample_weight=WEIGHT) == pytest.approx(weighted(ours.best_estimator_, X, Y, WEIGHT))


@pytest.mark.parametrize("scoring", [plain, make_scorer(share)], ids=["scorer", "function"])
def test_a_scorer_without_weights_warns(scoring):
    search = sobercv.BBCSearchCV(BAYES, SMOOTHING, scoring=scoring, cv=3)
    with pytest.warns(SoberWarning, match=r"does not support sample_weight.*\[W210\]"):
        search.fit(X, Y, sample_weight=WEIGHT)


def asking(**request):
    return make_scorer(accuracy_score).set_score_request(**request)


def routed(call):
    def inside(*arguments):
        with sklearn.config_context(enable_metadata_routing=True):
            call(*arguments)

    return inside


@routed
def _every_request_is_met():
    model = GaussianNB().set_fit_request(sample_weight=True)
    yes, no, other = asking(sample_weight=True), asking(sample_weight=False), asking(sample_weight="other")
    given, both = {"sample_weight": WEIGHT}, {"sample_weight": WEIGHT, "other": WEIGHT**2}
    # From predictions where all want the same, else on models.
    assert "W211" not in compared(model, SMOOTHING, X, Y, given, scoring=yes, return_train_score=True)[1]
    assert "W211" not in compared(model, SMOOTHING, X, Y, given, scoring=no)[1]
    assert "W211" not in compared(model, SMOOTHING, X, Y, given, scoring={"a": yes, "b": yes}, refit="b")[1]
    options = {"scoring": {"a": yes, "b": no}, "refit": "b", "return_train_score": True}
    assert "W211" in compared(model, SMOOTHING, X, Y, given, **options)[1]
    ours, codes = compared(model, SMOOTHING, X, Y, both, scoring={"a": yes, "c": other}, refit="c")
    assert "W211" in codes
    best = ours.best_estimator_
    assert ours.score(X, Y, other=WEIGHT) == accuracy_score(Y, best.predict(X), sample_weight=WEIGHT)
    assert ours.score(X, Y) == accuracy_score(Y, best.predict(X))
    compared(model, SMOOTHING, X, Y, given, scoring=weighted)  # a plain function asks for nothing
    compared(
        GaussianNB().set_score_request(sample_weight=True).set_fit_request(sample_weight=True), SMOOTHING, X, Y, given
    )


def test_every_request_of_a_scorer_is_met():
    _every_request_is_met()


@routed
def _nobody_said():
    model = GaussianNB().set_fit_request(sample_weight=True)
    for kind in (GridSearchCV, sobercv.BBCSearchCV):
        with pytest.raises(ValueError, match="are passed but are not explicitly set as requested"):
            kind(model, SMOOTHING, scoring="accuracy").fit(X, Y, sample_weight=WEIGHT)


def test_a_scorer_that_did_not_say_whether_it_wants_weights_is_refused_as_in_scikit_learn():
    _nobody_said()


def test_a_score_takes_no_metadata_without_routing():
    search = sobercv.BBCSearchCV(BAYES, SMOOTHING, cv=3).fit(X, Y)
    with pytest.raises(ValueError, match=r"colour.*is only supported if enable_metadata_routing=True"):
        search.score(X, Y, colour="red")


# ---- targets that only models read ----------------------------------------------------------------------------------
def outliers(y):
    return np.where(y == 1, 1, -1)


FOREST = IsolationForest(n_estimators=5, random_state=0)
READ_BY_MODELS = {
    "several labels": (TREE, DEPTHS, *LABELS, {}),
    "several labels, averaged": (TREE, DEPTHS, *LABELS, {"scoring": "f1_samples"}),
    "several outputs": (SCALED, ALPHAS, *OUTPUTS, {"return_train_score": True}),
    "several outputs and metrics": (
        SCALED,
        ALPHAS,
        *OUTPUTS,
        {"scoring": ["r2", "neg_mean_squared_error"], "refit": "r2"},
    ),
    "clusters": (KMeans(n_init=1, random_state=0), {"n_clusters": [2, 3]}, X, None, {}),
    "clusters and labels": (
        KMeans(n_init=1, random_state=0),
        {"n_clusters": [2, 3, 4]},
        X,
        Y,
        {"scoring": "adjusted_rand_score"},
    ),
    "density": (KernelDensity(), {"bandwidth": [1.0, 3.0]}, X, None, {}),
    "density with a scorer": (
        KernelDensity(),
        {"bandwidth": [1.0, 3.0]},
        X,
        None,
        {"scoring": lambda est, X: est.score(X)},
    ),
    "outliers": (FOREST, {"max_samples": [0.5, 1.0]}, X, outliers(Y), {"scoring": "f1"}),
    "outliers by rank": (FOREST, {"max_samples": [0.5, 1.0]}, X, Y, {"scoring": "roc_auc"}),
}


@pytest.mark.parametrize("kind", READ_BY_MODELS)
def test_what_only_models_can_read_is_scored_by_folds(kind, tmp_path):
    estimator, grid, rows, truth, options = READ_BY_MODELS[kind]
    ours, codes = compared(estimator, grid, rows, truth, **options)
    assert "W211" in codes
    assert np.isfinite(ours.score(rows, truth))
    assert "W211" in ours.report(tmp_path / "report.html").read_text()
    advice = "A metric of predictions has a narrower one" in str(ours.estimate_)
    assert advice == (truth is not None and np.ndim(truth) == 1)  # it needs one value per sample
    assert len(ours.predictions_.to_frame()) == len(rows) * len(ours.cv_results_["params"])


def test_several_outputs_want_a_scorer_of_scikit_learn():
    with pytest.raises(SoberError, match="several outputs") as caught:
        sobercv.BBCSearchCV(TREE, DEPTHS, scoring=sobercv.make_metric(share), cv=3).fit(*LABELS)
    assert caught.value.code == "E112"
    with pytest.raises(SoberError, match="one entry per sample") as caught:
        sobercv.compare(TREE, DEPTHS, *LABELS, cv=3)
    assert caught.value.code == "E112"


def test_several_outputs_keep_the_range_of_a_known_score():
    found = {
        scoring: sobercv.BBCSearchCV(TREE, DEPTHS, scoring=scoring, cv=3, n_bootstraps=50).fit(*LABELS).estimate_
        for scoring in ("accuracy", None, plain)
    }
    assert not any(note.code == "W201" for scoring in ("accuracy", None) for note in found[scoring].notes)
    assert found["accuracy"].value == found[plain].value
    assert found[plain].interval[0] < 0 < found["accuracy"].interval[0]
    (text,) = [note.text for note in found[plain].notes if note.code == "W201"]
    assert text.endswith("If the scores cannot exceed 1, read it only up to there.")  # no metric of predictions serves


def test_losses_of_several_outputs_are_minimised():
    names = {"mean_squared_error": "neg_mean_squared_error", "mean_pinball_loss": "mean_pinball_loss"}
    for loss, scoring in ((mean_squared_error, "neg_mean_squared_error"), (mean_pinball_loss, None)):
        scoring = scoring or make_scorer(loss, greater_is_better=False)
        ours, expected = (
            sobercv.BBCSearchCV(SCALED, ALPHAS, scoring=each, cv=3, n_bootstraps=50).fit(*OUTPUTS)
            for each in (loss, scoring)
        )
        assert ours.best_params_ == expected.best_params_ == {"ridge__alpha": 0.1}
        assert ours.estimate_.value == expected.estimate_.value < 0
        assert ours.estimate_.metric == names[loss.__name__]


def test_a_function_of_scores_is_given_scores_by_every_route():
    with sklearn.config_context(enable_metadata_routing=True):
        scoring = {"weighted": make_scorer(accuracy_score).set_score_request(sample_weight=True), "rank": roc_auc_score}
        estimator = TREE.set_params(max_depth=3).__sklearn_clone__().set_fit_request(sample_weight=False)
        ours = sobercv.BBCSearchCV(estimator, DEPTHS, scoring=scoring, cv=3, drop=None, n_bootstraps=50)
        ours.fit(X, Y, sample_weight=WEIGHT)
    expected = sobercv.BBCSearchCV(TREE, DEPTHS, scoring="roc_auc", cv=3, drop=None, n_bootstraps=50).fit(X, Y)
    found = ours.cv_results_["mean_test_rank"]
    np.testing.assert_allclose(found, expected.cv_results_["mean_test_score"], atol=1e-12)


@pytest.mark.parametrize("scoring", [plain, make_scorer(share)], ids=["of the model", "of predictions"])
def test_shares_of_unknown_range_are_noted(scoring):
    ours = sobercv.BBCSearchCV(TREE, DEPTHS, scoring=scoring, cv=3, n_bootstraps=50).fit(X, Y)
    (text,) = [note.text for note in ours.estimate_.notes if note.code == "W201"]
    assert "the interval may reach beyond it" in text
    assert "sobercv.make_metric(function, range=(0, 1))" in text
    named = sobercv.make_metric(share, range=(0, 1), max_calls=10**5)
    ours = sobercv.BBCSearchCV(TREE, DEPTHS, scoring=named, cv=3, n_bootstraps=50).fit(X, Y)
    assert ours.estimate_.interval[1] <= 1
    assert "W201" not in [note.code for note in ours.estimate_.notes]
