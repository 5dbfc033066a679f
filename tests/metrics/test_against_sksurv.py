"""The same number as scikit-survival, on tables and on their resamples."""

import numpy as np
import pytest
from sklearn.model_selection import KFold
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.linear_model.coxph import BreslowEstimator
from sksurv.metrics import (
    brier_score,
    concordance_index_censored,
    concordance_index_ipcw,
    cumulative_dynamic_auc,
    integrated_brier_score,
)
from sksurv.svm import FastSurvivalSVM

import sobercv
from sobercv.predictions import Predictions
from sobercv.presets.elastic import ElasticNetCox
from tests.cases import make
from tests.oracles import rows

TIMES = [2.0, 4.0, 5.0, 8.0]


@pytest.mark.parametrize("setting", ["plain", "ties"])
def test_concordance_is_scikit_survivals(setting):

    for seed in range(5):
        case = make("concordance_index-survival", setting, seed=seed, n=50)
        y = case.y
        expected = [concordance_index_censored(y["event"], y["time"], case.p[:, j, 0])[0] for j in range(4)]
        np.testing.assert_allclose(case.scores(np.ones((1, 50), int))[0], expected, rtol=1e-12)
        np.testing.assert_allclose([rows.concordance_index(y, case.p[:, j, 0]) for j in range(4)], expected, rtol=1e-12)


def cohort(seed, n=80, rounded=False):
    """Times without an event and a censoring at the same moment, where the two libraries read the law differently."""
    rng = np.random.default_rng(seed)
    y = np.empty(n, [("event", bool), ("time", float)])
    y["event"], y["time"] = rng.random(n) < 0.6, rng.exponential(10.0, n)
    if rounded:
        y["time"] = np.ceil(y["time"]) + np.where(y["event"], 0.0, 0.5)
    y["event"][np.argsort(y["time"])[-3:]] = False  # scikit-survival wants to have seen the last times
    risks = -y["time"][:, None] + rng.normal(size=(n, 3)) * 5
    chances = {t: 1 / (1 + np.exp(risks / 10)) ** (t / 5) for t in TIMES}
    return y, risks, chances


def theirs(name, y, risk, chances):
    if name.startswith("concordance_index_ipcw"):
        return concordance_index_ipcw(y, y, risk, tau=6.0 if "tau" in name else None)[0]
    if name.startswith("cumulative"):
        return cumulative_dynamic_auc(y, y, risk, [5.0])[0][0]
    if name.startswith("neg_survival"):
        return -brier_score(y, y, chances[:, [2]], [5.0])[1][0]
    return -integrated_brier_score(y, y, chances, TIMES)


@pytest.mark.parametrize("rounded", [False, True], ids=["all times differ", "times shared"])
@pytest.mark.parametrize(
    "name",
    [
        "concordance_index_ipcw",
        "concordance_index_ipcw(tau=6)",
        "cumulative_dynamic_auc(time=5)",
        "neg_survival_brier_score(time=5)",
        "neg_integrated_brier_score(times=[2, 4, 5, 8])",
    ],
)
def test_scores_of_censored_times(name, rounded):
    for seed in range(4):
        y, risks, chances = cohort(seed, rounded=rounded)
        answers = {"predict": risks} | {f"survival_at({t:g})": p for t, p in chances.items()}
        table = Predictions.build(y, answers, task="survival")
        drawn = np.random.default_rng(seed).multinomial(80, [1 / 80] * 80, size=3)
        counts = np.vstack([np.ones((1, 80), int), drawn])
        counts[:, np.argsort(y["time"])[-3:]] += 1  # so that the last times are seen in every resample
        ours = sobercv.metrics.get(name).scores(table, counts)
        for row, scores in zip(counts, ours, strict=True):
            bag = np.repeat(np.arange(80), row)
            for j in range(3):
                columns = np.stack([chances[t][bag, j] for t in TIMES], axis=1)
                assert scores[j] == pytest.approx(theirs(name, y[bag], risks[bag, j], columns), abs=1e-8)


def test_without_censoring_uno_is_harrell_and_brier_is_the_plain_one():
    y, risks, chances = cohort(9)
    y["event"] = True
    table = Predictions.build(y, {"predict": risks, "survival_at(5)": chances[5.0]}, task="survival")
    ones = np.ones((1, 80), int)
    get = sobercv.metrics.get
    uno, harrell = (get(name).scores(table, ones) for name in ("concordance_index_ipcw", "concordance_index"))
    np.testing.assert_allclose(uno, harrell, rtol=1e-12)
    plain = -np.mean(((y["time"] > 5)[:, None] - chances[5.0]) ** 2, axis=0)
    np.testing.assert_allclose(get("neg_survival_brier_score(time=5)").scores(table, ones)[0], plain, rtol=1e-12)
    auc = sobercv.naive((y["time"] <= 5).astype(int), risks, "roc_auc").scores
    np.testing.assert_allclose(get("cumulative_dynamic_auc(time=5)").scores(table, ones)[0], auc, rtol=1e-12)


def test_the_correction_takes_survival_probabilities():
    y, risks, chances = cohort(10)
    answers = {"predict": risks, "survival_at(5)": chances[5.0]}
    metrics = ["concordance_index", "neg_survival_brier_score(time=5)", "cumulative_dynamic_auc(time=5)"]
    found = sobercv.bbc(y, answers, metrics, n_bootstraps=50, random_state=0)
    assert list(found) == metrics
    assert all(np.isfinite(estimate.value) for estimate in found.values())


@pytest.mark.parametrize(
    ("call", "code", "says"),
    [
        (lambda: sobercv.metrics.get("cumulative_dynamic_auc"), "E113", "needs `time`"),
        (lambda: sobercv.metrics.get("cumulative_dynamic_auc(time=-1)"), "E108", "above 0"),
        (lambda: sobercv.metrics.get("neg_integrated_brier_score(times=[3, 2])"), "E108", "ascending"),
        (lambda: sobercv.metrics.get("neg_integrated_brier_score(times=3)"), "E108", "ascending"),
        (lambda: sobercv.metrics.get("concordance_index_ipcw(tau='late')"), "E108", "tau"),
        (lambda: sobercv.naive(*cohort(1)[:2], "neg_survival_brier_score(time=5)"), "E116", r"survival_at\(5\)"),
        (lambda: sobercv.naive(cohort(1)[0], {"survival_at(5)": 2 * cohort(1)[2][5.0]}, "neg_survival_brier_score(time=5)"), "E102", "between 0 and 1"),
    ],
)  # fmt: skip
def test_bad_arguments_have_a_code(call, code, says):
    with pytest.raises(sobercv.errors.SoberError, match=says) as caught:
        call()
    assert caught.value.code == code


# ---- asked of models ------------------------------------------------------------------------------------------------
BRIER, INTEGRATED = "neg_survival_brier_score(time=5)", "neg_integrated_brier_score(times=[2, 4, 5, 8])"


def test_a_search_asks_models_for_survival_probabilities_and_can_select_by_them():
    y, risks, _ = cohort(3, n=120)
    X = np.column_stack([risks, np.random.default_rng(3).normal(size=(120, 4))])
    grid, folds = {"alpha": [0.01, 1000.0]}, list(KFold(4, shuffle=True, random_state=0).split(X))
    search = sobercv.BBCSearchCV(
        CoxPHSurvivalAnalysis(),
        grid,
        scoring=[BRIER, INTEGRATED, "concordance_index"],
        cv=folds,
        n_bootstraps=100,
        drop=None,
    ).fit(X, y)
    for c, alpha in enumerate(grid["alpha"]):
        chances = np.empty((120, len(TIMES)))
        for train, test in folds:
            model = CoxPHSurvivalAnalysis(alpha=alpha).fit(X[train], y[train])
            chances[test] = [[curve(t) for t in TIMES] for curve in model.predict_survival_function(X[test])]
        for name in (BRIER, INTEGRATED):
            ours = search.cv_results_[f"pooled_test_{name}"][c]
            assert ours == pytest.approx(theirs(name, y, None, chances), abs=1e-8)
    assert search.best_index_ == 0
    for estimate in search.estimate_.values():
        low, high = estimate.interval
        assert low < estimate.value < high
    chances = [[curve(t) for t in TIMES] for curve in search.best_estimator_.predict_survival_function(X)]
    assert search.score(X, y) == pytest.approx(theirs(BRIER, y, None, np.array(chances)), abs=1e-8)


def test_models_without_curves_fail_by_name():
    y, risks, _ = cohort(3)
    search = sobercv.BBCSearchCV(FastSurvivalSVM(), {"alpha": [1.0, 2.0]}, scoring=BRIER, cv=3)
    with pytest.raises(sobercv.SoberError, match=r"has none of survival_at\(5\)"):
        search.fit(risks, y)


def test_our_own_cox_regression_has_breslows_curves():
    y, risks, _ = cohort(1, rounded=True)
    risks = risks / 20  # of large risks, their sums that go down one by one lose all digits
    model = ElasticNetCox(alpha=1.0).fit(risks, y)
    theirs = BreslowEstimator().fit(model.predict(risks), y["event"], y["time"])
    expected = theirs.get_survival_function(model.predict(risks))
    for ours, curve in zip(model.predict_survival_function(risks), expected, strict=True):
        np.testing.assert_allclose(ours(curve.x), curve.y, atol=1e-8)
    assert ours(0.0) == 1.0, "nobody had the event before the first time"
