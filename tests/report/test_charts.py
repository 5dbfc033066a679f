"""Curves agree with scikit-learn and scikit-survival, weights are repeats, bands are the library's own resamples."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import average_precision_score, confusion_matrix, roc_auc_score
from sksurv.nonparametric import kaplan_meier_estimator

from sobercv.inference.units import Units
from sobercv.report import charts
from sobercv.report.evidence import N_BANDS, Evidence
from sobercv.report.svg import draw

from . import cases

RNG = np.random.default_rng(0)
SCORES = np.round(RNG.normal(size=80), 1)  # with ties
TRUTH = RNG.random(80) < 0.4
WEIGHT = RNG.integers(0, 4, 80).astype(float)


def curve(formula, scores, truth, weight):
    return charts.by_cuts(scores[:, None], truth, None, formula)(0, weight)


def test_areas_are_scikit_learns_with_ties_and_weights():
    found = curve(charts.roc_curve, SCORES, TRUTH, WEIGHT)[-1]
    assert found == pytest.approx(roc_auc_score(TRUTH, SCORES, sample_weight=WEIGHT))
    found = curve(charts.precision_curve, SCORES, TRUTH, WEIGHT)[-1]
    assert found == pytest.approx(average_precision_score(TRUTH, SCORES, sample_weight=WEIGHT))


@pytest.mark.parametrize("make", [charts.roc_curve, charts.precision_curve])
def test_a_weight_is_a_repeated_row_and_one_class_is_undefined(make):
    rows = np.repeat(np.arange(80), WEIGHT.astype(int))
    repeated = curve(make, SCORES[rows], TRUTH[rows], np.ones(len(rows)))
    assert curve(make, SCORES, TRUTH, WEIGHT) == pytest.approx(repeated)
    assert np.isnan(curve(make, SCORES, np.zeros(80, bool), WEIGHT)).all()


def test_kaplan_meier_is_scikit_survivals():
    event, time = RNG.random(80) < 0.6, np.round(RNG.exponential(size=80), 1) + 0.1
    grid = np.linspace(0, time.max(), 50)
    rows = np.repeat(np.arange(80), WEIGHT.astype(int))
    at, share = kaplan_meier_estimator(event[rows], time[rows])
    expected = np.append(1.0, share)[np.searchsorted(at, grid, side="right")]
    curve = charts.by_cuts(time[:, None], event, None, charts.kaplan_meier(time, grid))
    assert curve(0, WEIGHT) == pytest.approx(expected)


def test_the_roc_of_a_report_is_that_of_the_pooled_predictions():
    search, _, y = cases.binary()
    evidence = Evidence.of(search)
    (line,) = charts.roc(evidence)[0].lines
    area = roc_auc_score(y == "case", evidence.scores[:, 0])
    assert line.label == "case", "the name leaves no doubt which class is the positive one"
    assert line.text.startswith(f"AUC {area:.3f}")
    assert area == pytest.approx(search.estimate_["roc_auc"].naive)
    inside = [lo <= v <= hi for lo, v, hi in zip(line.low, line.y, line.high, strict=True)]
    assert np.mean(inside) > 0.95


def test_repeats_are_scored_apart_and_averaged():
    search, _, y = cases.several()
    evidence = Evidence.of(search)
    line = charts.roc(evidence)[0].lines[2]
    areas = [roc_auc_score(y == 2, evidence.scores[:, r, 2]) for r in range(2)]
    assert line.text.startswith(f"AUC {np.mean(areas):.3f}")
    both = [confusion_matrix(y, evidence.labels[:, r], normalize="true") for r in range(2)]
    shares = [box.tint for box in charts.confusion(evidence)[0].boxes]
    assert shares == pytest.approx(np.mean(both, axis=0).reshape(-1), abs=1e-5)


def test_the_table_of_the_confusion_and_numbered_classes_can_be_read_alone():
    chart, table = charts.confusion(Evidence.of(cases.binary()[0]))
    assert "The table below has intervals." in chart.sentence
    assert "In brackets: 95 %" in table.sentence, "a table has no small print"
    names = tuple(f"grade {i}" for i in range(6))
    drawn = draw(replace(chart, x_range=(-0.5, 5.5), y_range=(5.5, -0.5), boxes=(), x_names=names, y_names=names))
    assert ">1: grade 0</text>" in drawn


def test_calibration_bins_hold_all_samples():
    search, _, y = cases.binary()
    evidence = Evidence.of(search)
    (line,) = charts.calibration(evidence)[0].lines
    assert len(line.x) == 5
    assert list(line.x) == sorted(line.x)
    assert np.mean(line.y) == pytest.approx(np.mean(y == "case"), abs=0.01)  # bins of equal size


def test_the_line_through_predictions_is_the_mean_of_the_truth():
    search, _, y = cases.regression()
    (chart,) = charts.predicted(Evidence.of(search))
    assert sorted(chart.points_y) == pytest.approx(sorted(y), rel=1e-4, abs=1e-4)
    assert np.mean(chart.lines[0].y) == pytest.approx(y.mean(), abs=0.1)


def test_risk_groups_are_thirds_and_equal_risks_stay_together():
    group, names = charts.risk_groups(np.arange(9.0))
    assert group.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert names == ["low risk", "middle risk", "high risk"]
    assert charts.risk_groups(np.array([1.0, 1.0, 1.0, 2.0]))[1] == ["low risk", "high risk"]
    assert charts.risk_groups(np.ones(5))[1] == ["all (equal risk)"]


def test_higher_risk_means_earlier_events():
    low, _, high = charts.survival(Evidence.of(cases.survival()[0]))[0].lines
    assert low.y[6] > high.y[6]
    assert high.y[0] == 1.0


def test_the_axis_of_times_has_their_name():
    assert cases.chart(cases.summary("survival"), "survival").x_label == "t"
    assert cases.survival()[0].plot.survival().get_xlabel() == "time", "a plot is not given y"


def test_bands_are_quantiles_of_the_librarys_resamples_and_keep_groups_together():
    evidence = Evidence.of(cases.regression()[0])
    n = len(evidence.y)
    groups = np.arange(n) // 8

    def mean(_, weight):
        return np.array([weight @ evidence.y / weight.sum()])

    for given in (None, groups):
        band = replace(evidence, groups=given).banded(mean)
        counts = Units(n, evidence.seed, "report", groups=given).counts(0, N_BANDS)
        draws = np.sort(counts @ evidence.y / counts.sum(axis=1))
        assert tuple(band[1:, 0]) == pytest.approx((draws[9], draws[389]))
        if given is not None:
            assert (counts[:, ::8] == counts[:, 7::8]).all()


@pytest.mark.parametrize("n", [256, 300])
def test_bands_do_not_depend_on_how_wide_a_count_is(n):
    """The weights of repeats were summed in eight bits: 256 samples weighed nothing, and no chart had a band."""
    evidence = evidence_of(np.arange(n) % 2)
    band = evidence.banded(lambda _, weight: np.array([weight @ evidence.y / weight.sum()]))
    assert 0.4 < band[1, 0] < band[0, 0] < band[2, 0] < 0.6


def test_large_tables_have_fewer_resamples():
    assert [evidence_of(np.zeros(n)).n_bands for n in (40, 5_000, 10_000, 20_000, 100_000)] == [400, 400, 200, 100, 100]
    evidence = evidence_of(np.arange(6_000) / 6_000)
    band = evidence.banded(lambda _, weight: np.array([weight @ evidence.y / weight.sum()]))
    counts = Units(6_000, 0, "report").counts(0, 333)
    assert band[1:, 0] == pytest.approx(np.sort(counts @ evidence.y / 6_000)[[8, 324]])


def test_undefined_resamples_do_not_count():
    evidence = evidence_of(np.arange(40.0))

    def sometimes(_, weight):
        return np.array([weight @ evidence.y / weight.sum() if weight[0] else np.nan, np.nan])

    band = evidence.banded(sometimes)
    counts = Units(40, 0, "report").counts(0, N_BANDS)
    draws = np.sort((counts @ evidence.y / 40)[counts[:, 0] > 0])
    assert draws[0] <= band[1, 0] == draws[int(np.ceil(0.025 * len(draws))) - 1]
    assert np.isnan(band[:, 1]).all()


def test_what_cannot_be_drawn_is_left_out():
    """Axes of no length: where no sample has the event, and where all times are 0."""
    well = replace(evidence_of(np.zeros(40, int)), classes=np.array(["well", "ill"]), task="classification",
                   responses={"predict_proba": RNG.random((40, 1))})  # fmt: skip
    assert [draw(part) for make in (charts.roc, charts.precision_recall, charts.calibration) for part in make(well)]
    assert charts.decision(well) == ()
    times = np.array([(True, 0.0)] * 40, dtype=[("event", bool), ("time", float)])
    risks = replace(evidence_of(times), task="survival", responses={"predict": RNG.random((40, 1))})
    assert charts.survival(risks) == ()


def evidence_of(y):
    return Evidence(
        y=y, responses={}, seen=np.ones((len(y), 1), bool), weight=np.ones(len(y)), groups=None, classes=None,
        task="regression", level=0.95, seed=0,
    )  # fmt: skip


def test_probabilities_of_a_model_without_decisions_are_taken_as_such():
    X, y = cases.binary()[1:]
    forest = RandomForestClassifier(20, random_state=0)
    for refit in (True, False):
        search = cases.fitted(forest, {"min_samples_leaf": [3, 10]}, X, y, scoring="roc_auc", refit=refit, cv=3)
        evidence = Evidence.of(search)
        assert list(evidence.responses) == ["predict_proba"]
        assert evidence.labels.mean() == pytest.approx(np.mean(y == "control"), abs=0.2)
        assert charts.confusion(evidence)[0].boxes[1].tint < 0.5
        assert charts.calibration(evidence)
