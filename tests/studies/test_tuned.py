"""The study of what was tuned: its truth, its pieces, its page."""

import numpy as np
from studies.intervals import tables
from studies.tuned import back, page, real, run, simulated


def test_the_truth_of_a_threshold_is_that_of_new_samples():
    setting = simulated.Setting("threshold", 60, 20)
    rows = np.array([simulated.one_table(setting, r, 0)[0] for r in range(6)])
    assert np.isfinite(rows).all()
    naive, value, low, high, truth = rows.T
    assert (naive > value).all()
    assert ((low <= value) & (value <= high)).all()
    assert ((truth > 0.4) & (truth < 0.9)).all()
    distance = np.array([1.0])

    decided = simulated.sobercv.inference.procedures.Threshold(0, 0.55, "predict_proba", 1)
    y, scores = simulated._scores(np.random.default_rng(0), 400_000, distance)
    said = simulated._chances(scores[:, 0]) >= 0.55
    measured = (said[y == 1].mean() + 1 - said[y == 0].mean()) / 2
    exact = simulated.truth_of(decided, distance, "balanced_accuracy", np.random.default_rng(0))
    assert abs(measured - exact) < 5 * 0.5 / np.sqrt(140_000)


def test_the_gain_of_a_mix_is_that_on_the_same_new_samples():
    (mix, gain), (family, behind) = (
        simulated.one_table(simulated.Setting(tuned, 60, 20), 0, 0) for tuned in ("greedy ensemble", "family")
    )
    assert gain[-1] > 0.02  # the members err apart from each other by half of their noise
    assert gain[2] <= gain[1] <= gain[3]
    assert mix[-1] > family[-1]
    assert behind[-1] <= 0
    alone = simulated._mixed(
        simulated.sobercv.inference.procedures.Mix((3,), (1.0,)), np.ones(5), "roc_auc", np.random.default_rng(0), 3
    )
    assert alone[0] == alone[1]


def test_a_claim_at_one_share_tells_that_at_every_other():
    from studies.intervals.tables import Place

    from sobercv.inference.bootstrap import BACK

    rng = np.random.default_rng(0)
    plain, naive, truth = rng.random((3, 6))
    claims = np.stack([naive, plain + BACK * (naive - plain), 0 * plain, 0 * plain, truth], axis=1)  # [tables, 5]
    found = {Place(f"set {i % 3}", 40 if i < 3 else 100, i, 1): np.tile(c, (5, 1)) for i, c in enumerate(claims)}
    off, names = back.errors(found, "threshold, F1", "40", but="set 1")
    assert names.tolist() == ["set 0", "set 2"]
    for k, share in enumerate(back.SHARES):
        expected = (1 - share) * plain + share * naive - truth
        np.testing.assert_allclose(off[:, k], expected[[0, 2]])


def test_pieces_make_rows(tmp_path):
    for setting in simulated.settings():
        truth = np.linspace(0.6, 0.7, 10)
        row = np.stack([truth + 0.1, truth + 0.01, truth - 0.1, truth + 0.2, truth], axis=1)
        rows = np.repeat(row[:, None], len(simulated.CLAIMS[setting.tuned]), axis=1)
        np.savez_compressed(tmp_path / f"{setting.name}-0-0000.npz", rows=rows)
    found = run.run(tmp_path, 10, say=lambda text: None)
    assert len(found) == 36
    assert all(abs(row["bias"] - 0.01) < 1e-12 and row["covers"] == 1 for row in found)
    assert ("threshold", "60", "20", "0.650", "+0.100", "+0.010", "0.000", "1.000") in page.simulated_lines(found)


def test_a_real_table_is_judged_by_rows_that_nobody_saw(tmp_path):
    rng = np.random.default_rng(0)
    y, new = rng.integers(0, 2, 60), rng.integers(0, 2, 1200)
    p, p_new = (0.3 + 0.4 * t[:, None] * (np.arange(27) < 20) + 0.2 * rng.random((len(t), 27)) for t in (y, new))
    np.savez(tmp_path / "a.npz", y=y, predictions=p[:, :, None], y_judges=new, judged=p_new)
    rows = real.one_table(tmp_path / "a.npz")
    np.testing.assert_array_equal(rows[:4, 4], 1.0)  # every configuration of the family parts the classes
    np.testing.assert_array_equal(rows[4], 0.0)
    np.savez(tmp_path / "b.npz", y=y, predictions=p[:, :, None], y_judges=new[:90], judged=p_new[:90])
    assert len(real.one_table(tmp_path / "b.npz")) == 0
    found = real.summary({tables.Place("set", 100, i, 1): rows for i in range(3)})
    assert [row["tuned"] for row in found] == list(simulated.TUNED)
    assert found[0]["bias"] <= 0 == found[0]["bias_error"]
