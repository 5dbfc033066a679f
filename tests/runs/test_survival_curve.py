"""Probabilities of survival from a risk: Cox's model of one number, as scikit-survival fits it."""

import numpy as np
import pytest

from sobercv.runs.survival_curve import SurvivalCurve
from sobercv.targets import SURVIVAL


def rows(n=120, ties=False, seed=0):
    rng = np.random.default_rng(seed)
    risk = rng.normal(2, 3, n)
    time = rng.exponential(10 * np.exp(-risk / 4))
    y = np.empty(n, SURVIVAL)
    y["time"] = np.ceil(time) if ties else time
    y["event"] = rng.random(n) < 0.7
    return risk, y


@pytest.mark.parametrize("ties", [False, True])
def test_as_scikit_survival(ties):
    linear = pytest.importorskip("sksurv.linear_model")
    risk, y = rows(ties=ties)
    curve = SurvivalCurve.fit(risk, y)
    theirs = linear.CoxPHSurvivalAnalysis(ties="breslow", tol=1e-12).fit(risk[:, None], y)
    assert curve.slope / curve.scale == pytest.approx(theirs.coef_[0], rel=1e-6)
    for time in (1.0, 5.0, 12.5):
        expected = [step(time) for step in theirs.predict_survival_function(risk[:7, None])]
        np.testing.assert_allclose(curve.survival(risk[:7], time), expected, rtol=1e-6)


def test_the_greater_the_risk_the_less_survival_and_the_later_the_less():
    risk, y = rows()
    curve = SurvivalCurve.fit(risk, y)
    some = curve.survival(np.sort(risk), 5.0)
    assert (np.diff(some) < 0).all()
    assert curve.survival(0.0, 1e-9) == 1.0
    assert curve.survival(0.0, 1.0) > curve.survival(0.0, 9.0) > 0


def test_a_risk_that_tells_nothing_and_one_that_tells_all():
    _, y = rows()
    flat = SurvivalCurve.fit(np.zeros(len(y)), y)
    assert flat.slope == 0
    known = SurvivalCurve.fit(-y["time"], y)
    assert np.isfinite(known.survival(-y["time"], 3.0)).all()


def test_a_damaged_curve_is_refused():
    with pytest.raises(ValueError, match="one length"):
        SurvivalCurve(0.0, 1.0, 1.0, (1.0, 2.0), (0.5,))


def test_a_weight_is_a_repeated_row():
    risk, y = rows(ties=True)
    weight = np.random.default_rng(1).integers(1, 4, len(risk))
    weighted = SurvivalCurve.fit(risk, y, weight.astype(float))
    repeated = SurvivalCurve.fit(np.repeat(risk, weight), np.repeat(y, weight))
    for time in (1.0, 5.0, 12.5):
        np.testing.assert_allclose(weighted.survival(risk, time), repeated.survival(risk, time), rtol=1e-8)


def test_a_row_without_weight_is_no_row():
    risk, y = rows()
    weight = np.ones(len(risk))
    longest = np.argmax(y["time"])
    weight[longest], y["event"][longest] = 0.0, True
    weighted, without = SurvivalCurve.fit(risk, y, weight), SurvivalCurve.fit(risk[weight > 0], y[weight > 0])
    assert weighted == without
