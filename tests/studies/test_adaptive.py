"""The study of adaptive search: the same numbers however it is interrupted and a proposer like Optuna's."""

import numpy as np
import optuna
import pytest
from scipy import stats
from studies.adaptive.__main__ import RESULTS
from studies.adaptive.measure import COLUMNS, Setting, some_problems
from studies.adaptive.proposers import by_chance, tpe
from studies.adaptive.real import Sample
from studies.adaptive.run import run
from studies.adaptive.surface import DIMENSIONS, SHAPES, Surface
from studies.harness import read_results
from studies.intervals.data import Ready

from sobercv.inference import notes


def test_a_point_is_as_good_as_the_surface_says():
    surface = Surface(SHAPES[1], 40_000, np.random.default_rng(0))
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


def test_interruptions_change_nothing(tmp_path):
    chosen = [Setting(SHAPES[0], 50, 50)]
    options = {"repetitions": {50: 30, 200: 0, 1000: 0}, "chosen": chosen, "say": lambda _: None}
    whole = run(tmp_path / "a", **options)
    run(tmp_path / "b", **options)
    sorted((tmp_path / "b").iterdir())[0].unlink()
    assert run(tmp_path / "b", **options) == whole
    row = dict(zip(COLUMNS, some_problems(chosen[0], 0, 2, 0)[0], strict=True))
    assert row["truth all"] == pytest.approx(0.7)
    assert row["naive all"] > row["bbc all"]


def test_the_note_quotes_the_results():
    for row in read_results(RESULTS):
        if row["trials"] not in notes.ADAPTIVE_TRIALS:
            continue
        i, j = notes.ADAPTIVE_SAMPLES.index(int(row["n"])), notes.ADAPTIVE_TRIALS.index(int(row["trials"]))
        assert notes.ADAPTIVE_BIAS[i][j] == round(row["bias bbc all"], 3)


def test_judging_apart_is_unbiased_where_the_correction_is_not():
    for row in read_results(RESULTS):
        assert abs(row["bias apart half"]) < 0.01 + 3 * row["se apart half"]
        if row["trials"] >= 200 and row["n"] <= 300:
            assert row["bias bbc all"] > 0.01


def test_a_sample_of_real_data_is_predicted_out_of_fold():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    features = np.column_stack([2.0 * y + rng.normal(size=400), rng.normal(size=(400, 5))])
    sample = Sample(Ready("a", "classification", features, None, y), 100, np.random.default_rng(1))
    good, blind = np.array([0.5, 0.5, 0.1]), np.array([1.0, 0.0, 1.0])
    assert sample.right(good).shape == (100,)
    assert abs(sample.right(good).mean() - sample.truth(good)) < 5 * np.sqrt(0.15 * 0.85 / 100)
    assert sample.truth(good) > sample.truth(blind)
    noise = Sample(Ready("b", "classification", features[:, 1:], None, y), 100, np.random.default_rng(1))
    assert abs(noise.right(blind).mean() - 0.5) < 5 * 0.05  # nobody learns from rows that are held out
