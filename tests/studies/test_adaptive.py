"""The study of adaptive search: its truth, and a proposer like Optuna's."""

import numpy as np
import optuna
import pandas as pd
import pytest
from scipy import stats
from studies.adaptive import DIMENSIONS, PARTS, Sample, Surface, by_chance, tpe
from studies.harness import read_results
from studies.sets import Ready

from sobercv.inference import notes
from studies import adaptive


def test_a_point_is_as_good_as_the_surface_says():
    surface = Surface("hill", 40_000, np.random.default_rng(0))
    for point in np.random.default_rng(1).random((4, DIMENSIONS)):
        truth = surface.truth(point)
        error = np.sqrt(truth * (1 - truth) / 40_000)
        assert abs(surface.right(point).mean() - truth) < 5 * error


def final_distances_of_ours(propose, trials, searches):
    rng, target = np.random.default_rng(0), 0.3
    points, values = np.empty((searches, trials, 3)), np.empty((searches, trials))
    for t in range(trials):
        points[:, t] = propose(points[:, :t], values[:, :t], rng)
        values[:, t] = -((points[:, t] - target) ** 2).sum(axis=1)
    return -values[:, -15:].mean(axis=1)


def test_the_proposer_learns_as_optunas_does():
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    theirs = []
    for seed in range(12):
        study = optuna.create_study(direction="minimize", sampler=optuna.samplers.TPESampler(seed=seed))
        study.optimize(
            lambda trial: sum((trial.suggest_float(f"x{j}", 0, 1) - 0.3) ** 2 for j in range(3)), n_trials=45
        )
        theirs.append(np.mean([trial.value for trial in study.trials[-15:]]))
    ours, chance = (final_distances_of_ours(p, 45, 40) for p in (tpe, by_chance))
    assert stats.ttest_ind(np.log(ours), np.log(theirs), equal_var=False).pvalue > 1e-4
    assert np.mean(ours) < 0.5 * np.mean(chance)


def test_a_piece_has_what_it_says(monkeypatch):
    monkeypatch.setattr(adaptive, "PIECE", 2)
    part = PARTS["main"]
    found = part.made(None, [("flat", 50, 50, 0)])
    assert len(found) == 2
    assert found[0]["truth all"] == pytest.approx(0.7)
    assert found[0]["naive all"] > found[0]["bbc all"]
    told = part.results(pd.DataFrame(found + found)).iloc[0]
    assert (told["n"], told["trials"], told["repetitions"]) == (50, 50, 4)
    assert told["bias bbc all"] == pytest.approx(np.mean([row["bbc all"] for row in found]) - 0.7)


def test_the_note_quotes_the_results():
    for row in read_results("adaptive").to_dict("records"):
        if row["trials"] not in notes.ADAPTIVE_TRIALS:
            continue
        i, j = notes.ADAPTIVE_SAMPLES.index(int(row["n"])), notes.ADAPTIVE_TRIALS.index(int(row["trials"]))
        assert notes.ADAPTIVE_BIAS[i][j] == round(row["bias bbc all"], 3)


def test_judging_apart_is_unbiased_where_the_correction_is_not():
    for row in read_results("adaptive").to_dict("records"):
        assert abs(row["bias apart half"]) < 0.01 + 3 * row["se apart half"]
        if row["trials"] >= 200 and row["n"] <= 300:
            assert row["bias bbc all"] > 0.01


def test_a_sample_of_real_data_is_predicted_out_of_fold():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    features = np.column_stack([2.0 * y + rng.normal(size=400), rng.normal(size=(400, 5))])
    sample = Sample(Ready("a", features, None, y), 100, np.random.default_rng(1))
    good, blind = np.array([0.5, 0.5, 0.1]), np.array([1.0, 0.0, 1.0])
    assert sample.right(good).shape == (100,)
    assert abs(sample.right(good).mean() - sample.truth(good)) < 5 * np.sqrt(0.15 * 0.85 / 100)
    assert sample.truth(good) > sample.truth(blind)
    noise = Sample(Ready("b", features[:, 1:], None, y), 100, np.random.default_rng(1))
    assert abs(noise.right(blind).mean() - 0.5) < 5 * 0.05  # nothing is learned from rows that are held out
