"""Bad input of a search gets a stable code and a sentence that says what to do, before anything is trained."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import uniform
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import sobercv
from sobercv.errors import CODES, SoberError

X, Y = (a[::4] for a in load_breast_cancer(return_X_y=True))
IRIS = load_iris(return_X_y=True)
PIPELINE = Pipeline([("scale", StandardScaler()), ("model", LogisticRegression())])
GRID = {"model__C": [0.1, 1.0]}
N = len(Y)
RARE = np.where(np.arange(N) < 4, "rare", "common")
GAP = X[:, 0].copy()
GAP[3] = np.nan
SHUFFLED = pd.DataFrame(X).sample(frac=1, random_state=0)


def search(estimator=PIPELINE, grid=GRID, X=X, y=Y, *, data=None, **options):
    options = {"n_bootstraps": 20, "cv": 3, **options}
    kind = sobercv.BBCRandomizedSearchCV if "n_iter" in options else sobercv.BBCSearchCV
    return lambda: kind(estimator, grid, **options).fit(X, y, **(data or {}))


class Unknown(BaseEstimator):
    """Neither classifier nor regressor."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


BAD = [
    # what, call, code, what the message must name
    ("an empty list of grids", search(grid=[]), "E303", r"non-empty list of such dicts"),
    ("a parameter without values", search(grid={"model__C": []}), "E303", r"'model__C'.*at least one"),
    ("an empty grid among others", search(grid=[GRID, {"model__C": []}]), "E303", r"'model__C'"),
    ("no grid", search(grid=None), "E303", r"dict from parameter names.*list of such dicts.*None"),
    ("a number for values", search(grid={"model__C": 1.0}), "E303", r"'model__C'.*\[1\.0\]"),
    ("text for values", search(grid={"model__penalty": "l2"}), "E303", r"\['l2'\]"),
    ("a set of values", search(grid={"model__C": {1, 2}}), "E303", r"list"),
    ("values with two axes", search(grid={"model__C": np.ones((2, 2))}), "E303", r"one-dimensional.*\(2, 2\)"),
    ("names that are numbers", search(grid={1: [2]}), "E303", r"parameter names"),
    ("a distribution without n_iter", search(grid={"model__C": uniform()}), "E303", r"'model__C'.*n_iter"),
    ("n_iter zero", search(n_iter=0), "E108", r"n_iter.*0"),
    ("n_iter half", search(n_iter=2.5), "E108", r"n_iter.*2\.5"),
    ("a misspelt parameter", search(grid={"model__c": [1]}), "E122", r"'model__c'.*'model__C'"),
    ("a parameter in lower case", search(LogisticRegression(), {"c": [1]}), "E122", r"'c'; the closest is 'C'"),
    ("a misspelt step", search(grid={"modle__C": [1]}), "E122", r"'modle__C'.*'model__C'"),
    ("a step forgotten", search(grid={"C": [1]}), "E122", r"'C'.*'model__C'"),
    ("a parameter of another model", search(grid={"model": [GaussianNB()], "model__C": [1]}), "E122", r"'model__C'"),
    ("a parameter of nothing", search(grid={"scale": ["passthrough"], "scale__with_mean": [True]}), "E122", r"separate"),
    ("cv one", search(cv=1), "E307", r"at least 2.*1"),
    ("cv text", search(cv="five"), "E307", r"number of folds.*'five'"),
    ("cv a fraction", search(cv=0.3), "E307", r"0\.3"),
    ("cv a flag", search(cv=True), "E307", r"True"),
    ("more folds than samples", search(cv=N + 1), "E106", rf"{N + 1}.*{N}"),
    ("more folds than members of any class", search(y=np.arange(N) % 20, cv=40), "E106", r"n_splits=40.*each class"),
    ("more folds than groups", search(cv=10, data={"groups": np.arange(N) % 4}), "E106", r"10.*groups: 4"),
    ("time series", search(cv=TimeSeriesSplit(3)), "E307", r"TimeSeriesSplit.*GridSearchCV.*groups"),
    ("folds without a class", search(y=RARE, cv=KFold(3)), "E106", r"Fold 1 of repeat 1 has no sample of class 'rare'.*stratified splitter"),
    ("splits that train on what they predict", search(cv=[(np.arange(N), np.arange(5))]), "E307", r"row 0"),
    ("splits without rows", search(cv=[([], np.arange(5))]), "E307", r"no row to train on"),
    ("splits of other data", search(cv=[(np.arange(5), [N + 3])]), "E307", rf"0 to {N - 1}"),
    ("no split at all", search(cv=[]), "E307", r"no split"),
    ("splits that are no pairs", search(cv=[1, 2, 3]), "E307", r"pair of \(train, test\)"),
    ("a splitter that cannot", search(cv=StratifiedKFold(N + 1)), "E307", r"StratifiedKFold"),
    ("groups forgotten", search(cv=GroupKFold(3)), "E113", r"GroupKFold needs groups"),
    ("repeats of a splitter", search(cv=ShuffleSplit(3), n_repeats=2), "E114", r"n_repeats.*ShuffleSplit"),
    ("repeats zero", search(n_repeats=0), "E108", r"n_repeats.*0"),
    ("groups too short", search(data={"groups": np.arange(3)}), "E107", rf"{N}.*3"),
    ("weights too short", search(GaussianNB(), {}, data={"sample_weight": np.ones(3)}), "E107", rf"{N}.*3"),
    ("negative weights", search(GaussianNB(), {}, data={"sample_weight": -np.ones(N)}), "E107", r"negative"),
    ("X and y of different lengths", search(y=Y[:-1]), "E101", rf"{N}.*{N - 1}"),
    ("y in another order", search(X=SHUFFLED, y=pd.Series(Y)), "E101", r"`X` and `y`.*different order.*y\.loc\[X\.index"),
    ("groups in another order", search(X=SHUFFLED, data={"groups": pd.Series(Y)}), "E101", r"`X` and `groups`"),
    ("weights in another order", search(y=pd.Series(Y), data={"sample_weight": pd.Series(1.0, SHUFFLED.index)}),
     "E101", r"`y` and `sample_weight`"),
    ("metadata in another order", search(X=SHUFFLED, data={"model__sample_weight": pd.Series(1.0, range(N))}),
     "E101", r"`X` and `model__sample_weight`"),
    ("X a number", search(X=3), "E112", r"one row per sample"),
    ("no target", lambda: sobercv.BBCSearchCV(PIPELINE, GRID).fit(X), "E112", r"target y is None"),
    ("no task", search(Unknown(), {}), "E112", r"Unknown is neither"),
    ("numbers for classes", search(y=X[:, 0]), "E112", r"continuous.*regressor"),
    ("a target with a gap", search(Ridge(), {"alpha": [1, 2]}, y=GAP), "E112", r"missing"),
    ("a target whose squares overflow", search(Ridge(), {"alpha": [1, 2]}, y=X[:, 0] * 1e160), "E112", r"overflow"),
    ("None among labels", search(y=np.array(["a", None] * N, object)[:N]), "E112", r"missing"),
    ("complex numbers", search(Ridge(), {"alpha": [1, 2]}, y=X[:, 0] + 0j), "E112", r"[Cc]omplex"),
    ("dates", search(Ridge(), {"alpha": [1, 2]}, y=X[:, 0].astype("M8[s]")), "E112", r"1970"),
    ("flags as weights", search(GaussianNB(), {}, data={"sample_weight": Y > 0}), "E107", r"True|False"),
    ("a group that is NaN", search(data={"groups": np.array([np.nan, *range(1, N)], object)}), "E107", r"missing"),
    ("labels that do not tell the positive one", search(y=np.array(["ja", "nein"])[Y], scoring="f1"), "E120", r"'ja'"),
    ("a misspelt metric", search(scoring="roc_acu"), "E105", r"roc_acu.*roc_auc"),
    ("no metric", search(scoring=[]), "E105", r"empty"),
    ("a metric twice", search(scoring=["accuracy", "accuracy"]), "E105", "two metrics called 'accuracy'"),
    ("a number as a metric", search(scoring=3.14), "E105", r"float"),
    ("refit names no metric", search(scoring=["accuracy", "roc_auc"], refit="f1"), "E105", r"accuracy, roc_auc.*'f1'"),
    ("a metric of numbers for text", search(y=np.array(["a", "b"])[Y], scoring="r2"), "E116", r"r2.*numbers.*'a'"),
    ("a metric of classes for numbers", search(Ridge(), {}, scoring="f1"), "E116", r"f1.*classification"),
    ("a survival metric for classes", search(scoring="concordance_index"), "E116", r"concordance_index"),
    ("a binary metric for three classes", search(GaussianNB(), {}, *IRIS, scoring="roc_auc"), "E116", r"roc_auc_ovr"),
    ("one class", search(y=np.zeros(N, int), scoring="roc_auc"), "E112", r"single class"),
    ("refit gives no number", search(refit=lambda results: "best"), "E117", r"not an integer, but 'best'"),
    ("refit gives a number too large", search(refit=lambda results: 1000), "E117", r"1000.*out of range"),
    ("refit a number", search(refit=3), "E123", r"refit.*3"),
    ("unknown drop", search(drop="yes"), "E122", r'"auto", "bced", None.*PredictiveDrop\(\).*yes'),
    ("drop a class", search(drop=sobercv.BootstrapDrop), "E122", r"PredictiveDrop\(\)"),
    ("drop with too few arguments", search(drop=lambda predictions: None), "E122", r"predictions, question, round"),
    ("drop a flag", search(drop=False), "E122", r"None.*False"),
    ("drop an array", search(drop=np.array([0.9, 0.99])), "E122", r"0\.99"),
    ("drop answers nonsense", search(drop=lambda p, q, r: "all"), "E117", r"keep.*'all'"),
    ("drop leaves nobody", search(drop=lambda p, q, r: type("V", (), {"keep": np.zeros(2, bool), "p": np.ones(2)})),
     "E117", r"not all False.*0 kept"),
    ("unknown select", search(select="worst"), "E122", r"worst.*best"),
    ("unknown aggregate", search(aggregate="mean"), "E122", r"pooled.*fold.*mean"),
    ("confidence in per cent", search(confidence_level=95), "E108", r"95.*0\.95"),
    ("no bootstraps", search(n_bootstraps=0), "E108", r"n_bootstraps.*0"),
    ("unknown error_score", search(error_score="ignore"), "E122", r"ignore"),
    ("a seed that is text", search(random_state="lucky"), "E123", r"str"),
    ("strata of a number", search(Ridge(), {"alpha": [1, 2]}, y=X[:, 0], stratify=True), "E114", r"stratify"),
    ("ranks within folds of labels", search(aggregate="within_folds"), "E114", r"within_folds.*accuracy"),
    ("too few complexities", search(select=sobercv.simplest_within(0.1, complexity=[1])), "E101", r"complexity.*2"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "code", "says"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_bad_input_has_a_code_and_a_sentence(call, code, says):
    with pytest.raises(SoberError, match=says) as caught:
        call()
    assert caught.value.code == code
    text = str(caught.value)
    assert text.endswith(f"[{code}]")
    assert caught.value.message[-1] in ".?"
    assert len(text) < 500


def test_the_table_names_every_code_of_the_training_room_that_a_search_can_raise():
    covered = {case[2] for case in BAD}
    elsewhere = {"E315"}  # failures, see test_search_failures
    assert {code for code in CODES if code.startswith("E3")} - elsewhere <= covered


@pytest.mark.parametrize("estimator", [None, 3, "svc", object()])
def test_estimators_must_have_fit(estimator):
    with pytest.raises(TypeError, match="fit method"):
        sobercv.BBCSearchCV(estimator, {}).fit(X, Y)


TRAINED = []


class Counted(GaussianNB):
    def fit(self, X, y):
        TRAINED.append(1)
        return super().fit(X, y)


EARLY = {
    "aggregate": "mean", "drop": "yes", "select": 0, "refit": 0.5, "error_score": "ignore", "cv": 1,
    "scoring": "concordance_index", "confidence_level": 95, "n_bootstraps": 0, "n_repeats": 0,
}  # fmt: skip


@pytest.mark.parametrize("option", EARLY)
def test_options_are_refused_before_anything_is_trained(option):
    TRAINED.clear()
    with pytest.raises(SoberError):
        search(Counted(), {"var_smoothing": [0.1, 1]}, **{option: EARLY[option]})()
    assert not TRAINED


def test_groups_that_a_splitter_tears_apart_are_mentioned():
    with pytest.warns(sobercv.errors.SoberWarning, match="W301"):
        search(cv=KFold(3), data={"groups": np.arange(N) % 40})()


def test_comparisons_refuse_rows_in_another_order():
    with pytest.raises(SoberError, match="`X` and `y`"):
        sobercv.compare(PIPELINE, GRID, SHUFFLED, pd.Series(Y), cv=3, n_bootstraps=20)


def test_indexes_that_differ_in_another_way_say_nothing():
    fresh = SHUFFLED.reset_index(drop=True).set_axis(range(N, 2 * N))
    assert search(X=fresh, y=pd.Series(Y))().estimate_.value == search(X=fresh.to_numpy())().estimate_.value
