"""The protocols side by side: nested cross-validation equals the slow, literal one; counts are the paper's."""

import json
import sys
import time

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, get_scorer, log_loss, mean_absolute_error, r2_score, roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, ShuffleSplit, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import sobercv
from sobercv.errors import SoberError, SoberWarning
from tests.training.training_estimators import Troubled

BREAST = tuple(a[::3] for a in load_breast_cancer(return_X_y=True))
DIABETES = tuple(a[::2] for a in load_diabetes(return_X_y=True))
IRIS = load_iris(return_X_y=True)
PIPELINE = Pipeline([("scale", StandardScaler()), ("model", LogisticRegression())])
TREE = DecisionTreeClassifier(random_state=0)
DEPTHS = {"max_depth": [1, 2, 3, 5]}
SMOOTHING = {"var_smoothing": [1e-9, 1e-3, 0.1]}


SCORES = {  # what is asked for, and how it is scored
    "accuracy": ("predict", accuracy_score),
    "roc_auc": ("decision_function", roc_auc_score),
    "neg_log_loss": ("predict_proba", lambda y, p, **weight: -log_loss(y, p, **weight)),
    "r2": ("predict", r2_score),
    "neg_mean_absolute_error": ("predict", lambda y, p, **weight: -mean_absolute_error(y, p, **weight)),
}


def literal_nested_cv(estimator, grid, X, y, scoring, folds, aggregate="pooled", weight=None, pick=np.argmax):
    """The paper's algorithm 3, training anew in every outer and inner fold; gives the score and the number of fits."""
    method, score = SCORES[scoring]
    (name, values), fits, scores = next(iter(grid.items())), [], []

    def weights(rows):
        return {} if weight is None else {"sample_weight": weight[rows]}

    def answers(value, train, test):
        fits.append(1)
        model = clone(estimator).set_params(**{name: value}).fit(X[train], y[train], **weights(train))
        if hasattr(model, method):
            return getattr(model, method)(X[test])
        return model.predict_proba(X[test])[:, 1]

    def without(*left_out):
        return np.sort(np.concatenate([fold for i, fold in enumerate(folds) if i not in left_out]))

    for k, outer in enumerate(folds):
        inner = [j for j in range(len(folds)) if j != k]
        by_value = []
        for value in values:
            parts = [answers(value, without(j, k), folds[j]) for j in inner]
            rows = [folds[j] for j in inner]
            if aggregate == "pooled":
                parts, rows = [np.concatenate(parts)], [np.concatenate(rows)]
            pairs = [np.prod(np.bincount(y[r])) if aggregate == "within_folds" else 1 for r in rows]
            by_fold = [score(y[r], a, **weights(r)) for a, r in zip(parts, rows, strict=True)]
            by_value.append(np.average(by_fold, weights=pairs))
        chosen = answers(values[pick(by_value)], without(k), outer)
        scores.append(score(y[outer], chosen, **weights(outer)))
    return float(np.mean(scores)), len(fits)


NESTED = {
    "accuracy": (TREE, DEPTHS, BREAST, "accuracy"),
    "auc": (LogisticRegression(C=1, max_iter=500), {"C": [1e-6, 1e-3, 1.0]}, BREAST, "roc_auc"),
    "auc of probabilities": (GaussianNB(), SMOOTHING, BREAST, "roc_auc"),
    "log loss of three classes": (GaussianNB(), SMOOTHING, IRIS, "neg_log_loss"),
    "regression": (Ridge(), {"alpha": [0.01, 0.1, 1, 10]}, DIABETES, "r2"),
    "absolute error": (Ridge(), {"alpha": [0.01, 0.1, 1, 10]}, DIABETES, "neg_mean_absolute_error"),
}


@pytest.mark.parametrize("aggregate", ["pooled", "fold"])
@pytest.mark.parametrize("name", NESTED)
def test_nested_cv_equals_the_literal_one(name, aggregate):
    estimator, grid, (X, y), scoring = NESTED[name]
    if name == "auc":
        X = StandardScaler().fit_transform(X)
    folds = [test for _, test in (KFold(4) if y.dtype.kind == "f" else StratifiedKFold(4)).split(X, y)]
    value, fits = literal_nested_cv(estimator, grid, X, y, scoring, folds, aggregate)
    found = sobercv.compare(
        estimator, grid, X, y, protocols=["ncv"], scoring=scoring, cv=4, aggregate=aggregate, n_bootstraps=20
    )
    c = len(next(iter(grid.values())))
    assert found["ncv"].score == pytest.approx(value, abs=1e-12, rel=1e-12)
    assert fits == 4 * 3 * c + 4
    assert found["ncv"].models_paper == 4 * 4 * c + 4 + 1
    assert found["ncv"].models == 4 * c + (4 * 3 // 2) * c + 1  # plain CV, pairs of folds, and the final model
    assert found["ncv"].interval is None


class Unweighted(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        assert sample_weight is None, "it requested none"
        return super().fit(X, y)


def test_nested_cv_gives_weights_to_what_requested_them():
    X, y = BREAST
    with sklearn.config_context(enable_metadata_routing=True):
        model = Unweighted().set_fit_request(sample_weight=False)
        scorer = get_scorer("accuracy").set_score_request(sample_weight=True)
        options = {"protocols": ["ncv"], "cv": 4, "scoring": scorer, "sample_weight": np.arange(1.0, len(y) + 1)}
        assert sobercv.compare(model, SMOOTHING, X, y, **options)["ncv"].score > 0.9


def test_nested_cv_with_weights_and_groups():
    X, y = BREAST
    rng = np.random.default_rng(0)
    weight, groups = rng.random(len(y)), rng.integers(0, 30, len(y))
    folds = [test for _, test in GroupKFold(4).split(X, y, groups)]
    value, _ = literal_nested_cv(GaussianNB(), SMOOTHING, X, y, "accuracy", folds, weight=weight)
    found = sobercv.compare(
        GaussianNB(), SMOOTHING, X, y, protocols=["ncv"], cv=GroupKFold(4), groups=groups, sample_weight=weight,
        n_bootstraps=20,
    )  # fmt: skip
    assert found["ncv"].score == pytest.approx(value, abs=1e-12)


@pytest.mark.filterwarnings("ignore::sobercv.errors.SoberWarning")
def test_nested_cv_of_three_hospitals_selects_on_two():
    X, y = BREAST
    hospital = np.arange(len(y)) % 3
    value, _ = literal_nested_cv(
        GaussianNB(), SMOOTHING, X, y, "accuracy", [np.flatnonzero(hospital == k) for k in range(3)]
    )
    splits = [(np.flatnonzero(hospital != k), np.flatnonzero(hospital == k)) for k in range(3)]
    found = sobercv.compare(
        GaussianNB(), SMOOTHING, X, y, protocols=["ncv"], cv=splits, groups=hospital, n_bootstraps=20
    )
    assert found["ncv"].score == pytest.approx(value, abs=1e-12)


def test_nested_cv_selects_by_the_rule_of_the_search():
    X, y = BREAST
    folds = [test for _, test in StratifiedKFold(4).split(X, y)]
    value, _ = literal_nested_cv(TREE, DEPTHS, X, y, "accuracy", folds, pick=np.argmin)
    found = sobercv.compare(
        TREE, DEPTHS, X, y, protocols=["ncv"], cv=4, n_bootstraps=20, select=lambda s: s.argmin(axis=1)
    )
    assert found["ncv"].score == pytest.approx(value, abs=1e-12)


class Shifted(ClassifierMixin, BaseEstimator):
    """A good column, on another scale in every fold; or a poor one on the same scale everywhere."""

    def __init__(self, shifted=False):
        self.shifted = shifted

    def fit(self, X, y):
        self.classes_, self.level_ = np.unique(y), 100 * np.modf(1.2345 * X[:, 3].sum())[0]
        return self

    def decision_function(self, X):
        return self.level_ - X[:, 27] if self.shifted else -X[:, 4]

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


@pytest.mark.parametrize("aggregate", ["pooled", "within_folds"])
def test_all_protocols_compare_within_folds_where_asked(aggregate):
    X, y = BREAST
    grid = {"shifted": [False, True]}
    folds = [test for _, test in StratifiedKFold(4).split(X, y)]
    options = {"protocols": ["naive", "tt", "ncv", "bbc"], "scoring": "roc_auc", "cv": 4, "n_bootstraps": 20}
    found = sobercv.compare(Shifted(), grid, X, y, aggregate=aggregate, **options)
    value, _ = literal_nested_cv(Shifted(), grid, X, y, "roc_auc", folds, aggregate=aggregate)
    assert found["ncv"].score == pytest.approx(value, abs=1e-12)
    assert {row.winner for row in found.rows} == {int(aggregate == "within_folds")}


def test_within_folds_needs_a_metric_that_ranks():
    with pytest.raises(SoberError, match=r"within_folds.*accuracy") as caught:
        sobercv.compare(TREE, DEPTHS, *BREAST, aggregate="within_folds", scoring="accuracy", cv=4)
    assert caught.value.code == "E114"


def test_strata_reach_every_protocol_that_draws_samples():
    X, y = BREAST
    rare = np.concatenate([np.flatnonzero(y == 1)[:80], np.flatnonzero(y == 0)[:8]])
    options = {"scoring": "roc_auc", "cv": 3, "n_bootstraps": 100}
    protocols = ("bbc", "bbc-f", "632+", "bced")
    found = sobercv.compare(GaussianNB(), SMOOTHING, X[rare], y[rare], protocols=protocols, stratify=True, **options)
    search = sobercv.BBCSearchCV(GaussianNB(), SMOOTHING, drop=None, stratify=True, **options).fit(X[rare], y[rare])
    assert found["bbc"].interval == search.estimate_.interval
    assert found["632+"].score == search.estimate_.as_632plus().value


def slow_hits(y_true, y_pred):
    time.sleep(0.005)
    return np.mean(y_true == y_pred)


def test_the_seconds_of_bbc_hold_its_bootstrap():
    found = sobercv.compare(
        GaussianNB(), SMOOTHING, *BREAST, protocols=["bbc"], scoring=slow_hits, cv=3, n_bootstraps=40, n_jobs=1
    )
    assert found["bbc"].seconds > 40 * (3 + 1) * 0.005  # as many sleeps, in bag and out of bag


def test_a_frame_without_pandas_says_what_to_install(everything, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(SoberError, match=r"pip install pandas") as caught:
        everything.to_frame()
    assert caught.value.code == "E403"


def test_nested_cv_leaves_the_failed_out():
    X, y = BREAST
    grid = {"trouble": ["none", "raise", "none"]}
    with pytest.warns(SoberWarning, match="W204"):
        found = sobercv.compare(Troubled(), grid, X, y, protocols=["ncv", "naive"], cv=4, n_bootstraps=20)
    folds = [test for _, test in StratifiedKFold(4).split(X, y)]
    value, _ = literal_nested_cv(Troubled(), {"trouble": ["none"]}, X, y, "accuracy", folds)
    assert found["ncv"].score == pytest.approx(value, abs=1e-12)


ALL = (
    "naive", "tt", "ncv", "bbc", "bbc-f", "632+", "wmc", "wmcs", "ipl", "bced", "bbc-repeated",
)  # fmt: skip


@pytest.fixture(scope="module")
def everything():
    return sobercv.compare(
        PIPELINE, {"model__C": [1e-8, 1e-6, 1e-4, 0.01, 1, 100]}, *BREAST, protocols=ALL, scoring="neg_log_loss", cv=5,
        n_repeats=3, n_bootstraps=200,
    )  # fmt: skip


def test_models_are_counted_as_the_paper_counts_them(everything):
    k, c = 5, 6
    assert (everything.n_folds, everything.n_configurations, everything.n_samples) == (k, c, len(BREAST[1]))
    for protocol in ("naive", "tt", "bbc", "bbc-f", "632+", "wmc", "wmcs", "ipl"):
        assert everything[protocol].models == everything[protocol].models_paper == k * c + 1
    assert everything["ncv"].models_paper == k * k * c + k + 1
    assert everything["ncv"].models == k * c + k * (k - 1) // 2 * c + 1
    assert everything["bbc-repeated"].models == 3 * k * c + 1
    assert k + c < everything["bced"].models < k * c


def test_protocols_are_those_of_the_library(everything):
    options = {"scoring": "neg_log_loss", "cv": 5, "n_bootstraps": 200}
    grid = {"model__C": [1e-8, 1e-6, 1e-4, 0.01, 1, 100]}
    plain = sobercv.BBCSearchCV(PIPELINE, grid, drop=None, **options).fit(*BREAST)
    table = plain.predictions_
    raced = sobercv.BBCSearchCV(PIPELINE, grid, drop="bced", count_dropped=False, **options).fit(*BREAST)
    repeated = sobercv.BBCSearchCV(PIPELINE, grid, drop=None, n_repeats=3, **options).fit(*BREAST)
    shared = {"n_bootstraps": 200, "random_state": 0}
    expected = {
        "naive": sobercv.naive(None, table, "neg_log_loss"),
        "tt": sobercv.tibshirani(None, table, "neg_log_loss"),
        "bbc": plain.estimate_,
        "bbc-f": sobercv.bbc(None, table, "neg_log_loss", by="fold", **shared),
        "632+": sobercv.bbc(None, table, "neg_log_loss", **shared).as_632plus(),
        "bced": raced.estimate_,
        "bbc-repeated": repeated.estimate_,
    }
    for protocol, estimate in expected.items():
        row = everything[protocol]
        assert (row.score, row.interval, row.winner) == (estimate.value, estimate.interval, estimate.winner)
    assert everything["bced"].models == raced.n_fits_
    assert [row.protocol for row in everything.rows] == list(ALL)
    assert all(row.seconds > 0 for row in everything.rows)


def test_the_table_is_shown_as_text_html_frame_and_plain_data(everything):
    lines = str(everything).splitlines()
    assert lines[0] == "190 samples, 6 configurations, 5 folds"
    assert lines[2].split("  ")[0] == "protocol"
    assert [line.split()[0] for line in lines[3:]] == list(ALL)
    assert f"{everything['bbc'].score:.4f}" in str(everything)
    html = everything._repr_html_()
    assert html.count("<tr>") == len(ALL) + 1
    frame = everything.to_frame()
    assert frame.index.tolist() == list(ALL)
    assert frame.loc["bbc", "score"] == everything["bbc"].score
    plain = json.loads(json.dumps(everything.to_dict()))
    assert [row["protocol"] for row in plain["rows"]] == list(ALL)
    with pytest.raises(KeyError):
        everything["cv"]


@pytest.mark.parametrize("kind", ["iterator", "no seed"])
def test_all_protocols_see_the_same_folds(kind):
    """A splitter without a seed, or one that can be read once, must not give every protocol its own folds."""
    folds, kept = KFold(4, shuffle=True), []

    class Once:
        def split(self, X, y=None, groups=None):
            kept.append(list(folds.split(X)))
            return kept[-1]

        def get_n_splits(self, *data):
            return 4

    X, y = DIABETES
    cv = Once() if kind == "no seed" else iter(Once().split(X))
    grid = {"alpha": [0.01, 0.1, 1, 10]}
    found = sobercv.compare(
        Ridge(), grid, X, y, protocols=["naive", "ncv", "bced"], cv=cv, n_bootstraps=20, drop=_keep_all
    )
    value, _ = literal_nested_cv(Ridge(), grid, X, y, "r2", [test for _, test in kept[0]])
    assert len(kept) == 1
    assert found["ncv"].score == pytest.approx(value, abs=1e-12)
    plain = sobercv.BBCSearchCV(Ridge(), grid, cv=kept[0], n_bootstraps=20, drop=None).fit(X, y)
    assert (found["naive"].score, found["bced"].score) == (plain.estimate_.naive, plain.estimate_.value)


def _keep_all(predictions, question, round_index):
    return None


def test_jobs_change_nothing():
    options = {"protocols": ["naive", "ncv", "bced"], "cv": 3, "n_bootstraps": 50}
    one, two = (sobercv.compare(TREE, DEPTHS, *BREAST, **options, n_jobs=n) for n in (1, 2))
    for a, b in zip(one.rows, two.rows, strict=True):
        assert (a.score, a.interval, a.models, a.winner) == (b.score, b.interval, b.models, b.winner)


class Counted(GaussianNB):
    """Counts its fits."""

    n_fits = 0

    def fit(self, X, y, sample_weight=None):
        Counted.n_fits += 1
        return super().fit(X, y, sample_weight)


def test_a_list_of_one_metric_is_that_metric():
    listed, named = (
        sobercv.compare(
            GaussianNB(), SMOOTHING, *BREAST, scoring=given, cv=3, n_bootstraps=20, protocols=["naive", "bbc"]
        )
        for given in (["roc_auc"], "roc_auc")
    )
    assert [row.score for row in listed.rows] == [row.score for row in named.rows]


def test_nested_cv_of_a_metric_of_several_times():
    """Chances of survival at four times are four responses; the literal loop trains anew everywhere."""
    linear_model = pytest.importorskip("sksurv.linear_model")
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 3))
    time = rng.exponential(np.exp(-X[:, 0]))
    y = np.array([*zip(rng.random(60) < 0.8, time + 0.01, strict=True)], dtype=[("event", bool), ("time", float)])
    times = [float(t) for t in np.quantile(y["time"], [0.2, 0.4, 0.6])]
    scoring, cox = f"neg_integrated_brier_score(times={times})", linear_model.CoxPHSurvivalAnalysis()
    alphas, folds = [0.01, 100.0], [np.arange(60)[k::3] for k in range(3)]
    splits = [(np.setdiff1d(np.arange(60), fold), fold) for fold in folds]
    found = sobercv.compare(
        cox, {"alpha": alphas}, X, y, scoring=scoring, cv=splits, protocols=["ncv"], n_bootstraps=20
    )
    metric, judged = sobercv.metrics.get(scoring), []

    def score(rows, models):
        """Score several models, each on rows of its own, pooled."""
        chances = np.concatenate(
            [
                [[f(t) for t in times] for f in m.predict_survival_function(X[r])]
                for m, r in zip(models, rows, strict=True)
            ]
        )
        order = np.concatenate(rows)
        responses = {name: chances[:, j, None, None] for j, (name,) in enumerate(metric.wanted)}
        table = sobercv.Predictions.build(y[order], responses, task="survival")
        return metric.scores(table, np.ones((1, len(order)), np.uint8))[0, 0]

    for k in range(3):
        inner = [folds[j] for j in range(3) if j != k]
        models = {a: [clone(cox).set_params(alpha=a).fit(X[r], y[r]) for r in (inner[1], inner[0])] for a in alphas}
        best = max(alphas, key=lambda a: score(inner, models[a]))
        train = np.sort(np.concatenate(inner))
        judged.append(score([folds[k]], [clone(cox).set_params(alpha=best).fit(X[train], y[train])]))
    assert found["ncv"].score == pytest.approx(np.mean(judged), rel=1e-9)


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        ({"protocols": ["cv"]}, "E122", "naive, tt.*'cv'"),
        ({"protocols": []}, "E122", "none"),
        ({"scoring": ["accuracy", "roc_auc"]}, "E114", "one metric"),
        ({"scoring": {"a": "accuracy", "b": "roc_auc"}}, "E114", "one metric"),
        ({"scoring": "f1", "select": sobercv.best_with_threshold()}, "E114", "more than one column"),
        ({"max_seconds": 3}, "E122", "no option 'max_seconds'.*scoring"),
        ({"protocols": ["ncv"], "cv": RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)}, "E114", "partition"),
        ({"protocols": ["ncv"], "cv": ShuffleSplit(3, random_state=0)}, "E114", "partition"),
        ({"protocols": ["bbc-repeated"], "cv": StratifiedKFold(3)}, "E114", "n_repeats"),
        ({"protocols": ["naive", "bced"], "drop": "bcd"}, "E122", "`drop` must be"),
        (
            {"protocols": ["naive", "bced"], "drop": sobercv.HoeffdingDrop(), "scoring": "roc_auc"},
            "E114",
            "bounded loss",
        ),
    ],
    ids=[
        "unknown",
        "none",
        "several metrics",
        "a dict of metrics",
        "a threshold",
        "an option of searches alone",
        "repeats",
        "hold-outs",
        "repeats of a splitter",
        "no drop rule",
        "a drop rule for other metrics",
    ],
)
def test_bad_input_is_refused_before_any_fit(options, code, says):
    Counted.n_fits = 0
    with pytest.raises(SoberError, match=says) as caught:
        sobercv.compare(Counted(), SMOOTHING, *BREAST, **{"cv": 3, "n_bootstraps": 20, **options})
    assert caught.value.code == code
    assert Counted.n_fits == 0
