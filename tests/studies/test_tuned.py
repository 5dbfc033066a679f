"""The study of what was tuned: its truth, its pieces, its page."""

import numpy as np
import pandas as pd

from sobercv.inference import procedures
from sobercv.inference.bootstrap import BACK
from studies import tuned


def test_the_truth_of_a_threshold_is_that_of_new_samples():
    rows = np.array([tuned.one_table("threshold", 60, 20, r)[0] for r in range(6)])
    assert np.isfinite(rows).all()
    naive, value, low, high, truth = rows.T
    assert (naive > value).all()
    assert ((low <= value) & (value <= high)).all()
    assert ((truth > 0.4) & (truth < 0.9)).all()
    distance = np.array([1.0])

    decided = procedures.Threshold(0, 0.55, "predict_proba", 1)
    y, scores = tuned._scores(np.random.default_rng(0), 400_000, distance)
    said = tuned._chances(scores[:, 0]) >= 0.55
    measured = (said[y == 1].mean() + 1 - said[y == 0].mean()) / 2
    exact = tuned.truth_of(decided, distance, "balanced_accuracy", np.random.default_rng(0))
    assert abs(measured - exact) < 5 * 0.5 / np.sqrt(140_000)


def test_the_gain_of_a_mix_is_that_on_the_same_new_samples():
    (mix, gain), (family, behind) = (tuned.one_table(kind, 60, 20, 0) for kind in ("greedy ensemble", "family"))
    assert gain[-1] > 0.02  # the members err apart from each other by half of their noise
    assert gain[2] <= gain[1] <= gain[3]
    assert mix[-1] > family[-1]
    assert behind[-1] <= 0
    mix = procedures.Mix((3,), (1.0,))
    alone = tuned.mixed(mix, np.ones(5), "roc_auc", np.random.default_rng(0), 3)
    assert alone[0] == alone[1]


def test_a_claim_at_one_share_tells_that_at_every_other():
    rng = np.random.default_rng(0)
    plain, naive, truth = rng.random((3, 6))
    off = tuned.errors(pd.DataFrame({"naive": naive, "value": plain + BACK * (naive - plain), "truth": truth}))
    for k, share in enumerate(tuned.BACK_SHARES):
        np.testing.assert_allclose(off[:, k], (1 - share) * plain + share * naive - truth)


def test_pieces_make_rows():
    truth = np.linspace(0.6, 0.7, 10)
    row = np.stack([truth + 0.1, truth + 0.01, truth - 0.1, truth + 0.2, truth], axis=1)
    found = {key: np.repeat(row[:, None], len(tuned.CLAIMS[key[0]]), axis=1) for key in tuned.design()[:24]}
    rows = tuned.results(found)
    assert len(rows) == 36
    assert all(abs(row["bias"] - 0.01) < 1e-12 and row["covers"] == 1 for row in rows)
    assert all(row["repetitions"] == 10 for row in rows)


def test_a_real_table_is_judged_by_rows_that_no_model_saw():
    rng = np.random.default_rng(0)
    y, new = rng.integers(0, 2, 60), rng.integers(0, 2, 1200)
    p, p_new = (0.3 + 0.4 * t[:, None] * (np.arange(27) < 20) + 0.2 * rng.random((len(t), 27)) for t in (y, new))
    rows = np.array(tuned.real_claims(y, p, new, p_new))
    np.testing.assert_array_equal(rows[:4, 4], 1.0)  # every configuration of the family parts the classes
    np.testing.assert_array_equal(rows[4], 0.0)
    found = tuned.real_results({("set", 100, i, 1): rows.tolist() for i in range(3)} | {("other", 40, 0, 1): rows})
    names = [row["tuned"] for row in found["real"] if row["n"] == "100"]
    assert names == list(tuned.TUNED)
    assert found["real"][1]["tables"] == 3
    assert found["real"][1]["bias"] <= 0 == found["real"][1]["bias_error"]
    assert {row["data"] for row in found["back-sets"]} == {"set", "other"}
