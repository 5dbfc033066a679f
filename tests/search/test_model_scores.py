"""Scorers that need the fitted model: GridSearchCV's numbers for any callable, and a correction that resamples folds."""

import functools
import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, PoissonRegressor
from sklearn.metrics import accuracy_score, check_scoring, fbeta_score, get_scorer, make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import sobercv
from sobercv.errors import SoberError
from sobercv.inference import BootstrapDrop

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)
X, Y = X.iloc[::4, :6], Y.iloc[::4]
DIABETES_X, DIABETES_Y = (part.iloc[::3] for part in load_diabetes(return_X_y=True, as_frame=True))
TREE = DecisionTreeClassifier(random_state=0)
DEPTHS = {"max_depth": [1, 2, 4]}
PIPE = make_pipeline(StandardScaler(), LogisticRegression())
PENALTIES = {"logisticregression__C": [0.01, 1.0]}
ALPHAS = {"alpha": [0.01, 1.0, 100.0]}


# ---- the callables --------------------------------------------------------------------------------------------------
def by_column(estimator, X, y):
    return float(np.mean((estimator.predict(X) == y) * X["mean radius"]))


def by_proba(estimator, X, y):
    return roc_auc_score(y, estimator.predict_proba(X)[:, 1]) if hasattr(estimator, "predict_proba") else 0.0


def with_keywords(estimator, X, y, *, weight=0.5, power=1):
    return weight * estimator.score(X, y) ** power


def several(estimator, X, y):
    return {"right": estimator.score(X, y), "leaves": -estimator.get_n_leaves()}


def untouched(*everything):
    estimator, X, y = everything
    return estimator.score(X, y)


def unknown(y_true, y_pred):
    return float(np.mean((y_true == y_pred) ** 2) - 0.1 * np.mean(y_pred))


def spread(y_true, y_score):
    return float(y_score[np.asarray(y_true) == 1].mean() - y_score[np.asarray(y_true) == 0].mean())


class Leaves:
    """Scores right answers less what they cost."""

    def __init__(self, cost):
        self.cost = cost

    def __call__(self, estimator, X, y):
        return estimator.score(X, y) - self.cost * estimator.get_n_leaves()

    def method(self, model, rows, truth):
        return self(model, rows, truth)


class Nothing(BaseEstimator):
    """Predicts nothing; only its scorer knows what it is good for."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        self.mean_ = np.asarray(X).mean(axis=0) + self.shift
        return self


def distance(estimator, X, y):
    return -float(np.abs(np.asarray(X) - estimator.mean_).mean())


NESTED = GridSearchCV(PoissonRegressor(), {"alpha": [0.1, 1.0]}, cv=3)
KINDS = {
    "lambda with a column": (TREE, DEPTHS, lambda est, X, y: float((est.predict(X) == y)[X["mean area"] > 500].mean())),
    "function with a column": (TREE, DEPTHS, by_column),
    "coefficients of the last step": (PIPE, PENALTIES, lambda est, X, y: -np.abs(est[-1].coef_).sum()),
    "named steps": (PIPE, PENALTIES, lambda est, X, y: est.named_steps["standardscaler"].transform(X)[0, 0]),
    "hasattr predict_proba": (TREE, DEPTHS, by_proba),
    "hasattr without predict_proba": (LinearSVC(), {"C": [0.1, 1.0]}, by_proba),
    "keyword arguments": (TREE, DEPTHS, with_keywords),
    "partial": (TREE, DEPTHS, functools.partial(with_keywords, weight=2.0, power=3)),
    "class with __call__": (TREE, DEPTHS, Leaves(0.01)),
    "bound method": (TREE, DEPTHS, Leaves(0.02).method),
    "any arguments": (TREE, DEPTHS, untouched),
    "numpy scalar": (TREE, DEPTHS, lambda est, X, y: np.float32(est.score(X, y))),
    "whole number": (TREE, DEPTHS, lambda est, X, y: -est.get_n_leaves()),
    "numpy array of one": (TREE, DEPTHS, lambda est, X, y: np.array(est.score(X, y))),
    "own score of PoissonRegressor": (PoissonRegressor(), ALPHAS, None),
    "own score in a pipeline": (
        make_pipeline(StandardScaler(), PoissonRegressor()),
        {"poissonregressor__alpha": [0.01, 10.0]},
        None,
    ),
    "own score of LogisticRegressionCV": (
        LogisticRegressionCV(Cs=3, cv=3, scoring="roc_auc", solver="liblinear"),
        {"fit_intercept": [True, False]},
        None,
    ),
    "search within a search": (NESTED, {"estimator__fit_intercept": [True, False]}, None),
    "make_scorer of an unknown function": (TREE, DEPTHS, make_scorer(unknown)),
    "make_scorer of a loss": (TREE, DEPTHS, make_scorer(unknown, greater_is_better=False)),
    "make_scorer of probabilities": (TREE, DEPTHS, make_scorer(spread, response_method="predict_proba")),
    "make_scorer of decisions": (
        PIPE,
        PENALTIES,
        make_scorer(spread, response_method=("decision_function", "predict_proba")),
    ),
    "make_scorer with arguments": (TREE, DEPTHS, make_scorer(fbeta_score, beta=2)),
    "get_scorer": (TREE, DEPTHS, get_scorer("roc_auc")),
    "check_scoring of the estimator": (TREE, DEPTHS, check_scoring(TREE)),
    "estimator without predict": (Nothing(), {"shift": [0.0, 1.0]}, distance),
    "clusters": (KMeans(n_clusters=2, random_state=0), {"n_clusters": [2, 3]}, None),
    "density": (KernelDensity(), {"bandwidth": [1.0, 10.0]}, None),
}


def data_for(estimator):
    inner = getattr(estimator, "steps", [(None, estimator)])[-1][1]
    inner = getattr(inner, "estimator", inner)
    return (DIABETES_X, DIABETES_Y) if isinstance(inner, PoissonRegressor) else (X, Y)


def both(estimator, grid, scoring, refit=True, **options):
    X, y = data_for(estimator)
    ours = sobercv.BBCSearchCV(
        estimator, grid, scoring=scoring, cv=5, aggregate="fold", drop=None, n_bootstraps=50, refit=refit, **options
    ).fit(X, y)
    return ours, GridSearchCV(estimator, grid, scoring=scoring, cv=5, refit=refit).fit(X, y)


@pytest.mark.parametrize("kind", KINDS)
def test_any_scorer_gives_the_numbers_of_scikit_learn(kind):
    estimator, grid, scoring = KINDS[kind]
    ours, theirs = both(estimator, grid, scoring)
    for name in (*(f"split{i}_test_score" for i in range(5)), "mean_test_score", "std_test_score"):
        np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], rtol=0, atol=1e-12, err_msg=name)
    np.testing.assert_array_equal(ours.cv_results_["rank_test_score"], theirs.cv_results_["rank_test_score"])
    assert ours.best_params_ == theirs.best_params_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, abs=1e-12)
    X, y = data_for(estimator)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-12)


def test_a_dict_of_numbers_gives_several_scores_and_refit_names_the_one_that_selects():
    for refit in ("right", "leaves"):
        ours, theirs = both(TREE, DEPTHS, several, refit)
        for name in ("right", "leaves"):
            for key in (f"mean_test_{name}", f"std_test_{name}", f"rank_test_{name}"):
                np.testing.assert_allclose(ours.cv_results_[key], theirs.cv_results_[key], atol=1e-12)
        assert ours.multimetric_
        assert next(iter(ours.estimate_)) == refit
        assert ours.best_index_ == theirs.best_index_
        assert ours.score(X, Y) == theirs.score(X, Y)
    ours = sobercv.BBCSearchCV(TREE, DEPTHS, scoring=several, cv=5).fit(X, Y)
    assert list(ours.estimate_) == ["right", "leaves"]  # the first selects unless another is named
    with pytest.raises(SoberError, match="right, leaves; got 'wrong'") as caught:
        sobercv.BBCSearchCV(TREE, DEPTHS, scoring=several, cv=5, refit="wrong").fit(X, Y)
    assert caught.value.code == "E105"


def test_a_score_may_have_any_name():
    def scoring(estimator, X, y):
        return {"right": estimator.score(X, y), "training rows": float(len(X))}

    ours = sobercv.BBCSearchCV(TREE, DEPTHS, scoring=scoring, cv=5, return_train_score=True).fit(X, Y)
    assert list(ours.estimate_) == ["right", "training rows"]
    assert {"mean_train_right", "mean_train_training rows"} <= ours.cv_results_.keys()


@pytest.mark.parametrize("first", ["accuracy", "cost"])
def test_metrics_beside_a_scorer_of_the_model_are_judged_by_folds_too(first):
    scoring = {"accuracy": "accuracy", "auc": "roc_auc", "cost": Leaves(0.01)}
    ours, theirs = both(TREE, DEPTHS, scoring, first)
    for name in scoring:
        np.testing.assert_allclose(
            ours.cv_results_[f"mean_test_{name}"], theirs.cv_results_[f"mean_test_{name}"], atol=1e-12
        )
    assert next(iter(ours.estimate_)) == first
    assert {estimate.method for estimate in ours.estimate_.values()} == {"bbc-f"}
    assert ours.best_index_ == theirs.best_index_
    alone = sobercv.BBCSearchCV(TREE, DEPTHS, scoring="roc_auc", cv=5, drop=None).fit(X, Y)
    beside = ours.predictions_.responses["decision_function"]
    np.testing.assert_array_equal(beside, alone.predictions_.responses["decision_function"])


def test_the_correction_is_that_of_bbc_by_folds_and_the_estimate_says_so():
    """Accuracy, computed on the model, must give what `bbc(by="fold")` gives for the predictions."""
    options = {
        "cv": 5,
        "interval": "percentile",
    }  # the calibrated one would know the range of accuracy, and not of a function
    scored = sobercv.BBCSearchCV(TREE, DEPTHS, scoring=lambda est, X, y: est.score(X, y), **options).fit(X, Y)
    plain = sobercv.BBCSearchCV(TREE, DEPTHS, scoring="accuracy", cv=5, drop=None).fit(X, Y)
    wanted = sobercv.bbc(None, plain.predictions_, "accuracy", by="fold", interval="percentile")
    found = scored.estimate_
    assert found.method == "bbc-f"
    assert found.winner == wanted.winner
    np.testing.assert_allclose(found.draws, wanted.draws, atol=1e-12)
    np.testing.assert_allclose(found.scores, wanted.scores, atol=1e-12)
    np.testing.assert_allclose(found.interval, wanted.interval, atol=1e-12)
    (note,) = [note for note in found.notes if note.code == "W211"]
    assert "5 folds" in note.text
    assert (scored.race_.status == "finished").all()  # drop="auto" drops nobody
    assert scored.predictions_.responses == {}
    assert callable(scored.scorer_)
    assert scored.scorer_(scored.best_estimator_, X, Y) == scored.score(X, Y)


def test_the_rule_of_one_standard_error_takes_that_of_the_folds():
    rule = sobercv.inference.simplest_within(complexity=[1, 2, 4])
    search = sobercv.BBCSearchCV(TREE, DEPTHS, scoring=by_column, cv=5, select=rule).fit(X, Y)
    splits = np.stack([search.cv_results_[f"split{i}_test_score"] for i in range(5)])
    errors, mean = splits.std(axis=0, ddof=1) / np.sqrt(5), splits.mean(axis=0)
    best = int(mean.argmax())
    assert search.best_index_ == int(np.flatnonzero(mean >= mean[best] - errors[best])[0])


# ---- the same bits --------------------------------------------------------------------------------------------------
def bits(search):
    names = [name for name in search.cv_results_ if "test" in name]
    return [search.cv_results_[name].tobytes() for name in names], search.estimate_.draws.tobytes()


def test_results_do_not_depend_on_the_number_of_jobs():
    one, two = (
        sobercv.BBCSearchCV(PIPE, PENALTIES, scoring=KINDS["coefficients of the last step"][2], cv=5, n_jobs=n).fit(
            X, Y
        )
        for n in (1, 2)
    )
    assert bits(one) == bits(two)


def test_a_store_keeps_scores_and_a_resumed_search_gives_the_same_bits(tmp_path):
    def search(scoring, grid):
        return sobercv.BBCSearchCV(TREE, grid, scoring=scoring, cv=5, store=tmp_path / "run.sqlite")

    scoring = {"cost": Leaves(0.01), "auc": "roc_auc"}
    fresh = sobercv.BBCSearchCV(TREE, DEPTHS, scoring=scoring, cv=5).fit(X, Y)
    search(scoring, {"max_depth": [1, 2]}).fit(X, Y)
    resumed = search(scoring, DEPTHS).fit(X, Y)
    for name in fresh.cv_results_:
        if "_test_" in name:
            assert fresh.cv_results_[name].tobytes() == resumed.cv_results_[name].tobytes()
    for name in scoring:
        assert fresh.estimate_[name].draws.tobytes() == resumed.estimate_[name].draws.tobytes()
    with pytest.raises(SoberError, match="scorer") as caught:
        search({"cost": Leaves(0.02), "auc": "roc_auc"}, DEPTHS).fit(X, Y)
    assert caught.value.code == "E502"


def test_a_scorer_is_called_once_for_each_configuration_and_split():
    calls = []

    def scoring(estimator, X, y):
        calls.append((estimator.max_depth, len(X)))
        return estimator.score(X, y)

    sobercv.BBCSearchCV(TREE, DEPTHS, scoring=scoring, cv=5).fit(X, Y)
    assert len(calls) == 15
    assert sum(n for _, n in calls) == 3 * len(Y)


# ---- failures and refusals ------------------------------------------------------------------------------------------
def shy(estimator, X, y):
    if estimator.max_depth == 2:
        raise RuntimeError("no score for two")
    return estimator.score(X, y)


@pytest.mark.parametrize(
    ("answer", "kind", "says"),
    [
        (lambda est: float("nan"), "not finite", "nan"),
        (lambda est: "good", "raised", "must return a number"),
        (lambda est: {}, "raised", "empty dict"),
        (lambda est: 1 / 0, "raised", "division by zero"),
    ],
    ids=["nan", "text", "empty", "raises"],
)
def test_a_scorer_that_gives_no_number_fails_its_configuration(answer, kind, says):
    def scoring(estimator, X, y):
        return answer(estimator) if estimator.max_depth == 2 else estimator.score(X, y)

    with pytest.warns(sobercv.errors.SoberWarning, match="1 of 3 configurations failed"):
        search = sobercv.BBCSearchCV(TREE, DEPTHS, scoring=scoring, cv=5).fit(X, Y)
    assert search.race_.status.tolist() == ["finished", "failed", "finished"]
    assert search.race_.failures[1].kind == kind
    assert says in search.race_.failures[1].message
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [False, True, False]
    assert search.cv_results_["rank_test_score"][1] == 3


def test_errors_of_a_scorer_are_raised_where_that_is_asked_for():
    with pytest.raises(RuntimeError, match="no score for two"):
        sobercv.BBCSearchCV(TREE, DEPTHS, scoring=shy, cv=5, error_score="raise").fit(X, Y)


def test_names_must_be_the_same_for_all_models():
    def scoring(estimator, X, y):
        return {"a": 1.0} if estimator.max_depth == 2 else {"a": 1.0, "b": 2.0}

    with pytest.raises(SoberError, match="'b' for some models only") as caught:
        sobercv.BBCSearchCV(TREE, DEPTHS, scoring=scoring, cv=5).fit(X, Y)
    assert caught.value.code == "E117"


def test_one_of_several_scorers_gives_one_number():
    with pytest.raises(SoberError, match="must return a single number"):
        sobercv.BBCSearchCV(TREE, DEPTHS, scoring={"mine": several}, cv=5).fit(X, Y)


GROUPS = np.arange(len(Y)) % 20


@pytest.mark.parametrize(
    ("options", "fit", "says"),
    [
        ({"n_repeats": 2}, {}, "n_repeats=1"),
        ({"cv": ShuffleSplit(4, random_state=0)}, {}, "n_repeats=1.*KFold"),
        ({"drop": BootstrapDrop()}, {}, "`drop`.*drop=None"),
        ({"stratify": True}, {}, "`stratify`"),
        ({"aggregate": "within_folds"}, {}, "within_folds"),
        ({"cv": KFold(5)}, {"groups": GROUPS}, "keep groups together"),
    ],
    ids=["repeats", "overlapping", "rule", "stratify", "within folds", "groups"],
)
@pytest.mark.filterwarnings("ignore::sobercv.errors.SoberWarning")
def test_what_folds_cannot_tell_is_refused_before_training(options, fit, says):
    def never(estimator, X, y):
        raise AssertionError("a model was trained")

    with pytest.raises(SoberError, match=says) as caught:
        sobercv.BBCSearchCV(TREE, DEPTHS, scoring=never, error_score="raise", **{"cv": 5, **options}).fit(X, Y, **fit)
    assert caught.value.code == "E114"


def test_groups_that_stay_together_are_fine():
    search = sobercv.BBCSearchCV(TREE, DEPTHS, scoring=by_column, cv=GroupKFold(5)).fit(X, Y, groups=GROUPS)
    assert search.estimate_.n_groups == 20


def test_protocols_are_not_compared_by_a_score_of_the_model():
    with pytest.raises(SoberError, match="fitted model") as caught:
        sobercv.compare(TREE, DEPTHS, X, Y, scoring=by_column, cv=5, protocols=["naive", "bbc"])
    assert caught.value.code == "E116"


@pytest.mark.filterwarnings("ignore:The scoring:UserWarning")  # scikit-learn says the same
def test_sample_weights_go_to_fit_and_not_to_the_scorer():
    weight = np.linspace(0.1, 5.0, len(Y))
    ours = sobercv.BBCSearchCV(TREE, DEPTHS, scoring=by_column, cv=5).fit(X, Y, sample_weight=weight)
    theirs = GridSearchCV(TREE, DEPTHS, scoring=by_column, cv=5).fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-12)


# ---- containers and readers -----------------------------------------------------------------------------------------
def test_rows_come_in_the_container_that_was_given():
    pl = pytest.importorskip("polars")
    seen = set()

    def scoring(estimator, X, y):
        seen.add((type(X), type(y)))
        return float(np.mean(estimator.predict(X) == np.asarray(y)))

    for rows, truth in ((X, Y), (X.to_numpy(), Y.to_numpy()), (pl.DataFrame(X), pl.Series(Y.to_numpy()))):
        seen.clear()
        sobercv.BBCSearchCV(TREE, DEPTHS, scoring=scoring, cv=5, refit=False).fit(rows, truth)
        assert seen == {(type(rows), type(truth))}


@pytest.mark.parametrize(
    "scoring", [by_column, {"mine": by_column, "auc": "roc_auc"}], ids=["alone", "beside a metric"]
)
def test_reports_are_written_and_say_what_is_missing(scoring, tmp_path):
    search = sobercv.BBCSearchCV(TREE, DEPTHS, scoring=scoring, cv=5).fit(X, Y)
    for ending in ("html", "json"):
        text = search.report(tmp_path / f"report.{ending}", X, Y).read_text()
        assert "W211" in text
        assert ("kept no predictions" in text) == (scoring is by_column)
        assert "BootstrapDrop" not in text.split("To repeat it")[0]
    assert "bbc-f" in repr(search)
    assert "bbc-f" in repr(search)
    if scoring is by_column:
        with pytest.raises(SoberError, match="kept no predictions") as caught:
            search.plot.roc()
        assert caught.value.code == "E116"


def test_accuracy_on_the_model_is_accuracy():
    """The two routes to the same number agree, so neither is silently different."""
    model = sobercv.BBCSearchCV(TREE, DEPTHS, scoring=lambda e, X, y: accuracy_score(y, e.predict(X)), cv=5).fit(X, Y)
    table = sobercv.BBCSearchCV(TREE, DEPTHS, scoring="accuracy", cv=5, aggregate="fold", drop=None).fit(X, Y)
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], table.cv_results_["mean_test_score"], atol=1e-12)


def test_a_pickled_search_compares_on_the_same_folds():
    """A fold on which the metric that selects is undefined for all is one of the folds that are resampled."""
    order = np.argsort(Y.to_numpy(), kind="stable")
    rows, truth = X.iloc[order], Y.iloc[order]
    folds = np.arange(len(Y)) % 5
    folds[:12] = 5  # of one class
    scoring = {"auc": "roc_auc", "cost": Leaves(0.01)}
    cv = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(6)]
    search = sobercv.BBCSearchCV(TREE, DEPTHS, scoring=scoring, refit="auc", cv=cv, n_bootstraps=100).fit(rows, truth)
    assert np.isnan(search.cv_results_["split5_test_auc"]).all()
    own, again = search.gain_over(2), pickle.loads(pickle.dumps(search)).gain_over(2)
    assert (again.value, again.interval) == (own.value, own.interval)
