"""The study of what was tuned: its truth, its pieces, its page."""

import numpy as np
import pandas as pd

from sobercv.inference import procedures
from sobercv.inference.bootstrap import BACK
from studies import tuned


def test_the_truth_of_a_threshold_is_that_of_new_samples():
    rows = pd.DataFrame([tuned.simulated(None, "threshold", 60, 20, r)[0] for r in range(6)])
    naive, value, low, high, truth = (rows[name] for name in ("naive", "value", "low", "high", "truth"))
    assert np.isfinite(rows.drop(columns="tuned")).all(axis=None)
    assert (naive > value).all()
    assert ((low <= value) & (value <= high)).all()
    assert ((truth > 0.4) & (truth < 0.9)).all()
    y, scores = tuned.draw_scores(np.random.default_rng(0), 400_000, np.array([1.0]))
    said = tuned.chances_of(scores[:, 0]) >= 0.55
    measured = (said[y == 1].mean() + 1 - said[y == 0].mean()) / 2
    exact = tuned.of_threshold(0.55, 1.0, "balanced_accuracy")
    assert abs(measured - exact) < 5 * 0.5 / np.sqrt(140_000)


def test_the_gain_of_a_mix_is_that_on_the_same_new_samples():
    (mix, gain), (family, behind) = (tuned.simulated(None, kind, 60, 20, 0) for kind in ("greedy ensemble", "family"))
    assert gain["truth"] > 0.02  # the members err apart from each other by half of their noise
    assert gain["low"] <= gain["value"] <= gain["high"]
    assert mix["truth"] > family["truth"]
    assert behind["truth"] <= 0
    mix = procedures.Mix((3,), (1.0,))
    alone = tuned.of_mix(mix, 3, np.ones(5), "roc_auc", np.random.default_rng(0))
    assert alone[0] == alone[1]


def test_a_claim_at_one_share_tells_that_at_every_other():
    rng = np.random.default_rng(0)
    plain, naive, truth = rng.random((3, 6))
    off = tuned.errors(pd.DataFrame({"naive": naive, "value": plain + BACK * (naive - plain), "truth": truth}))
    for k, share in enumerate(tuned.BACK_SHARES):
        np.testing.assert_allclose(off[:, k], (1 - share) * plain + share * naive - truth)


def test_pieces_make_rows():
    truth = np.linspace(0.6, 0.7, 10)
    claim = {"naive": truth + 0.1, "value": truth + 0.01, "low": truth - 0.1, "high": truth + 0.2, "truth": truth}
    names = {"greedy ensemble": ("", ", gain"), "family": ("", ", difference")}
    part, found = tuned.PARTS["main"], []
    for kind, n, c in part.design():
        for end in names.get(kind, ("",)):
            found.append(pd.DataFrame(claim | {"tuned": kind + end, "n": n, "c": c}))
    rows = part.results(pd.concat(found, ignore_index=True))
    assert len(rows) == 36
    assert list(dict.fromkeys(rows.tuned)) == list(tuned.CLAIMS)
    assert np.allclose(rows.bias, 0.01)
    assert (rows.covers == 1).all()
    assert (rows.tables == 10).all()


def test_a_real_table_is_judged_by_rows_that_no_model_saw():
    rng = np.random.default_rng(0)
    y, new = rng.integers(0, 2, 60), rng.integers(0, 2, 1200)
    p, p_new = (0.3 + 0.4 * t[:, None] * (np.arange(28) < 20) + 0.2 * rng.random((len(t), 28)) for t in (y, new))
    rows = tuned.real_claims(y, p, new, p_new)
    told = {row["tuned"]: list(row.values())[1:] for row in rows}
    assert tuple(told) == tuned.CLAIMS
    for kind in tuned.TUNED:  # every configuration of the family parts the classes
        assert told[kind][-1] == 1.0
    assert told["family, difference"] == [0.0] * 5
    made = [{"set": name, "n": n} | row for name, n in [("set", 100)] * 3 + [("other", 40)] for row in rows]
    found = tuned.real_results(pd.DataFrame(made))
    hundred = found["real"][found["real"].n == "100"]
    assert list(hundred.tuned) == [name for name in tuned.CLAIMS if not name.endswith("gain")]
    assert (hundred.tables == 3).all()
    assert hundred.bias.iloc[0] <= 0 == hundred.bias_error.iloc[0]
    assert set(found["back-sets"].data) == {"set", "other"}
    alone = tuned.real_results(pd.DataFrame(made[: len(rows)]))  # an early look: there is no other set to choose by
    assert len(alone["real"]) == len(tuned.CLAIMS) - 1
    assert alone["back-sets"].empty
