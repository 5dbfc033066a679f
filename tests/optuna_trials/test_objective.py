"""An objective for Optuna: its values, its pruning, its estimate, and what survives a kill."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import optuna
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

import sobercv
from sobercv import SoberError
from sobercv.optuna import Objective

from . import worker
from .worker import GRID, X, make, objective, y

HERE = Path(__file__).parent
COMPLETE, PRUNED, RUNNING = (optuna.trial.TrialState[s] for s in ("COMPLETE", "PRUNED", "RUNNING"))


@pytest.fixture(autouse=True)
def quiet():
    optuna.logging.set_verbosity(optuna.logging.ERROR)


def in_memory(sampler=None, **options):
    sampler = optuna.samplers.GridSampler(GRID, seed=0) if sampler is None else sampler
    return optuna.create_study(sampler=sampler, direction="maximize", **options)


def n_rounds(study):
    return sum(len(trial.intermediate_values) for trial in study.trials)


def columns(study):
    """Out-of-fold probabilities of all trials, by scikit-learn."""
    models = [worker.Logged(**trial.params) for trial in study.trials]
    return np.stack([cross_val_predict(m, X, y, cv=5, method="predict_proba")[:, 1] for m in models], axis=1)


def test_values_and_estimate_are_those_of_scikit_learns_predictions():
    study, judge = in_memory(), objective()
    study.optimize(judge)
    table = columns(study)
    assert [t.value for t in study.trials] == pytest.approx([roc_auc_score(y, column) for column in table.T], abs=1e-12)
    estimate = judge.estimate(study, n_bootstraps=200)
    folds = judge.plan.fold_of[:, 0]
    expected = sobercv.bbc(y, table, "roc_auc", folds=folds, n_bootstraps=200)
    assert (estimate.value, estimate.interval, estimate.winner) == (expected.value, expected.interval, expected.winner)
    assert estimate.winner == study.best_trial.number
    assert estimate.winner_params == study.best_params
    assert estimate.winner_name.startswith(f"trial {estimate.winner}: depth={study.best_params['depth']}, leaf=")
    assert n_rounds(study) == 6 * 5
    model = judge.refit(estimate)
    assert (model.depth, model.leaf) == (study.best_params["depth"], study.best_params["leaf"])


def test_several_metrics_give_a_dict():
    judge = Objective(make, X, y, scoring=["roc_auc", "accuracy"], cv=3, drop=None)
    study = in_memory()
    study.optimize(judge, n_trials=3)
    found = judge.estimate(study, n_bootstraps=50)
    assert list(found) == ["roc_auc", "accuracy"]
    assert found["accuracy"].winner == found["roc_auc"].winner == study.best_trial.number
    assert str(found).splitlines()[0].split() == ["metric", "claimed", "honest", "interval"]
    models = [judge.refit(thing) for thing in (found, found["accuracy"], study)]
    assert [(m.depth, m.leaf) for m in models] == [tuple(study.best_params[n] for n in ("depth", "leaf"))] * 3
    for thing in ({}, study.best_trial, None):
        with pytest.raises(SoberError, match=r"objective\.refit\(objective\.estimate\(study\)\)") as error:
            judge.refit(thing)
        assert error.value.code == "E123"


@pytest.mark.parametrize("given", [DecisionTreeClassifier, DecisionTreeClassifier(), None])
def test_what_is_no_function_of_the_trial_is_refused(given):
    with pytest.raises(SoberError, match="must be a function from a trial to an estimator") as error:
        Objective(given, X, y, scoring="roc_auc")
    assert error.value.code == "E123"


def test_weights_reach_the_last_step_of_a_pipeline():
    def tree(trial):
        return DecisionTreeClassifier(max_depth=trial.suggest_int("depth", 1, 3), random_state=0)

    weight, found = np.random.default_rng(0).random(len(y)), []
    for made in (tree, lambda trial: Pipeline([("same", None), ("model", tree(trial))])):
        judge = Objective(made, X, y, scoring="roc_auc", cv=3, sample_weight=weight)
        study = in_memory(optuna.samplers.RandomSampler(seed=0))
        study.optimize(judge, n_trials=2)
        estimate = judge.estimate(study, n_bootstraps=50)
        found.append((estimate.value, judge.refit(estimate).predict_proba(X).tolist()))
    assert found[0] == found[1]


def hopeless(trial):
    """The first trial is good; of the others some are hopeless."""
    from sklearn.dummy import DummyClassifier
    from sklearn.linear_model import LogisticRegression

    good = trial.suggest_categorical("good", [True, False])
    number = trial.suggest_int("number", 0, 9)
    return LogisticRegression(C=1.0 + number) if good else DummyClassifier(strategy="uniform", random_state=number)


@pytest.mark.parametrize("drop", ["auto", sobercv.PredictiveDrop(), sobercv.BettingDrop()])
def test_hopeless_trials_are_pruned_and_take_part_as_leavers(drop):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    y = (X[:, 0] + 0.3 * rng.standard_normal(200) > 0).astype(int)
    scoring = "accuracy"
    judge = Objective(hopeless, X, y, scoring=scoring, cv=10, drop=drop)
    study = in_memory(optuna.samplers.RandomSampler(seed=1))
    for good in (True, False, True, False):
        study.enqueue_trial({"good": good, "number": len(study.trials)})
    study.optimize(judge, n_trials=4)
    assert [t.state for t in study.trials] == [COMPLETE, PRUNED, COMPLETE, PRUNED]
    assert n_rounds(study) < 40
    assert study.trials[1].intermediate_values.keys() == set(range(max(study.trials[1].intermediate_values) + 1))
    estimate = judge.estimate(study, n_bootstraps=100)
    assert estimate.winner == study.best_trial.number
    assert estimate.configurations.tolist() == [0, 1, 2, 3]
    assert [note.code for note in estimate.notes] == ["W217"]
    without = judge.estimate(study, n_bootstraps=100, count_pruned=False)
    assert without.configurations.tolist() == [0, 2]
    assert "W204" in [note.code for note in without.notes]
    unpruned = in_memory(optuna.samplers.RandomSampler(seed=1))
    for trial in study.trials:
        unpruned.enqueue_trial(trial.params)
    unpruned.optimize(Objective(hopeless, X, y, scoring=scoring, cv=10, drop=None), n_trials=4)
    assert unpruned.best_trial.number == study.best_trial.number


def test_the_studys_own_pruner_is_obeyed_where_asked():
    class Always(optuna.pruners.BasePruner):
        def prune(self, study, trial):
            return trial.last_step == 1

    study = in_memory(pruner=Always())
    judge = Objective(make, X, y, scoring="roc_auc", cv=5, drop="study")
    study.optimize(judge, n_trials=2)
    assert [t.state for t in study.trials] == [PRUNED, PRUNED]
    assert n_rounds(study) == 4
    with pytest.raises(SoberError) as error:
        judge.estimate(study)
    assert error.value.code == "E111"


def test_samplers_that_learn_are_told_of():
    blind, learning = in_memory(), in_memory(optuna.samplers.TPESampler(seed=0))
    for study in (blind, learning):
        study.optimize(judge := objective(), n_trials=3)
        codes = [note.code for note in judge.estimate(study, n_bootstraps=50).notes]
        assert ("W811" in codes) == (study is learning)


def test_half_of_the_folds_propose_and_the_others_judge():
    judge = objective(propose_from=0.5)
    study = in_memory(optuna.samplers.TPESampler(seed=0))
    study.optimize(judge, n_trials=5)
    leading = judge.proposing
    assert 0.3 < leading.mean() < 0.7
    table = columns(study)
    assert [t.value for t in study.trials] == pytest.approx([roc_auc_score(y[leading], c[leading]) for c in table.T])
    estimate = judge.estimate(study, n_bootstraps=100)
    assert estimate.winner == int(np.argmax([roc_auc_score(y, c) for c in table.T]))
    codes = [note.code for note in estimate.notes]
    assert "W201" in codes
    assert "W811" not in codes
    # the first rounds are those of the leading folds
    order = [bool(leading[split.test].all()) for split in judge.plan.splits]
    assert order == sorted(order, reverse=True)


def test_how_a_trial_was_proposed_is_remembered():
    study, judge = in_memory(optuna.samplers.TPESampler(seed=0)), objective()
    study.optimize(judge, n_trials=3)
    study.sampler = optuna.samplers.RandomSampler(seed=0)  # as if another process had loaded it
    assert "W811" in [note.code for note in judge.estimate(study, n_bootstraps=50).notes]
    with pytest.raises(SoberError, match="propose_from") as error:  # its judges have led the sampler
        objective(propose_from=0.5).estimate(study)
    assert error.value.code == "E114"
    study.add_trial(optuna.create_trial(value=0.99))
    foreign = judge.estimate(study, n_bootstraps=50)
    assert foreign.winner != 3
    assert "1 were run outside this objective" in next(note.text for note in foreign.notes if note.code == "W204")


def test_equal_trials_are_fitted_once(tmp_path, monkeypatch):
    monkeypatch.setenv("SOBER_FITS", str(tmp_path / "fits"))
    study = in_memory(optuna.samplers.RandomSampler(seed=0))
    for _ in range(3):
        study.enqueue_trial({"depth": 2, "leaf": 5})
    study.optimize(judge := objective(tmp_path), n_trials=3)
    assert len((tmp_path / "fits").read_text().splitlines()) == 5
    assert judge.estimate(study, n_bootstraps=50).configurations.tolist() == [0, 1, 2]


def test_a_trial_waits_for_an_equal_one(tmp_path, monkeypatch):
    monkeypatch.setenv("SOBER_FITS", str(tmp_path / "fits"))
    study = in_memory(optuna.samplers.RandomSampler(seed=0))
    for _ in range(4):
        study.enqueue_trial({"depth": 2, "leaf": 5})
    study.optimize(judge := objective(tmp_path), n_trials=4, n_jobs=2)
    assert len((tmp_path / "fits").read_text().splitlines()) == 5
    assert len(list((tmp_path / "trials").glob("*.sqlite"))) == 1
    assert judge.estimate(study, n_bootstraps=50).configurations.tolist() == [0, 1, 2, 3]


def run(folder, n_trials, **env):
    code = f"from pathlib import Path; from tests.optuna_trials import worker; worker.main(Path({str(folder)!r}), {n_trials})"
    command = [sys.executable, "-c", code]
    return subprocess.Popen(command, cwd=HERE.parent.parent, env={**os.environ, **env})


def test_a_killed_study_goes_on_and_ends_as_if_nothing_had_happened(tmp_path):
    fits = tmp_path / "fits"
    killed = run(tmp_path, 6, SOBER_FITS=str(fits), SOBER_KILL_AT="13")
    assert killed.wait() == -9
    study, judge = worker.study(tmp_path), objective(tmp_path)
    assert [t.state for t in study.trials] == [COMPLETE, COMPLETE, RUNNING]
    assert judge.retry(study) == 1
    os.environ["SOBER_FITS"] = str(fits)
    try:
        study.optimize(judge)
    finally:
        del os.environ["SOBER_FITS"]
    made = fits.read_text().splitlines()
    assert len(made) == 31  # the fit in which the process was killed had to be made again, and no other
    assert len(set(made)) == 30
    estimate = judge.estimate(study, n_bootstraps=100)
    assert estimate.n_configurations == 6
    assert [note.code for note in estimate.notes] == ["W204"]  # the killed trial, whose place another took
    whole, all_at_once = in_memory(), objective()
    whole.optimize(all_at_once)
    assert estimate.naive == all_at_once.estimate(whole, n_bootstraps=100).naive
    assert estimate.winner_params == whole.best_params


def test_processes_and_threads_share_a_study(tmp_path):
    workers = [run(tmp_path, 2) for _ in range(2)]
    assert [w.wait() for w in workers] == [0, 0]
    study, judge = worker.study(tmp_path), objective(tmp_path)
    study.optimize(judge, n_trials=2, n_jobs=2)
    assert {t.state for t in study.trials} == {COMPLETE}
    assert len(study.trials) == 6
    estimate = judge.estimate(study, n_bootstraps=100)
    expected = sobercv.bbc(y, columns(study), "roc_auc", folds=judge.plan.fold_of[:, 0], n_bootstraps=100)
    assert (estimate.value, estimate.interval, estimate.winner) == (expected.value, expected.interval, expected.winner)


def test_what_means_nothing_is_refused(tmp_path):
    with pytest.raises(SoberError, match="maximize") as error:
        optuna.create_study(direction="minimize").optimize(objective(), n_trials=1)
    assert error.value.code == "E114"
    with pytest.raises(SoberError) as error:
        objective().estimate(in_memory())
    assert error.value.code == "E111"
    study = in_memory()
    study.optimize(objective(), n_trials=1)
    with pytest.raises(SoberError) as error:
        objective().estimate(study)  # another objective, whose memory is empty
    assert error.value.code == "E505"
    with pytest.raises(SoberError, match="no option 'scoring' here") as error:
        objective().estimate(study, scoring="accuracy")
    assert error.value.code == "E122"
    for options, code in (({"propose_from": 0}, "E108"), ({"drop": "never"}, "E122"), ({"store": 3}, "E123")):
        with pytest.raises(SoberError) as error:
            Objective(make, X, y, **{"scoring": "roc_auc", **options})
        assert error.value.code == code
    study = in_memory()
    study.optimize(objective(tmp_path), n_trials=1)
    other = Objective(make, X + 1, y, scoring="roc_auc", cv=5, store=tmp_path / "trials")
    with pytest.raises(SoberError) as error:  # other data
        other.estimate(study)
    assert error.value.code == "E502"


def test_fewer_rows_are_other_data_and_no_other_propose_from(tmp_path):
    study = in_memory()
    study.optimize(objective(tmp_path), n_trials=1)
    with pytest.raises(SoberError, match="holds another run; what differs is the data") as error:
        Objective(make, X[:60], y[:60], scoring="roc_auc", cv=5, store=tmp_path / "trials").estimate(study)
    assert error.value.code == "E502"


def test_a_failing_fit_fails_its_trial_where_optuna_is_told_to_go_on():
    def fragile(trial):
        depth = trial.suggest_categorical("depth", [1, -5])
        return DecisionTreeClassifier(max_depth=depth, random_state=0)

    judge, study = Objective(fragile, X, y, scoring="roc_auc", cv=3), in_memory(optuna.samplers.RandomSampler(seed=0))
    for depth in (1, -5, 1):
        study.enqueue_trial({"depth": depth})
    study.optimize(judge, n_trials=3, catch=(Exception,))
    assert [t.state for t in study.trials] == [COMPLETE, optuna.trial.TrialState.FAIL, COMPLETE]
    assert "1 failed" in next(n.text for n in judge.estimate(study, n_bootstraps=50).notes if n.code == "W204")


def test_a_class_is_no_estimator():
    study = in_memory()
    with pytest.raises(SoberError, match=r"returned a class\. Write DecisionTreeClassifier\(\)") as error:
        study.optimize(Objective(lambda trial: DecisionTreeClassifier, X, y, scoring="roc_auc", cv=3), n_trials=1)
    assert error.value.code == "E117"


def test_without_optuna_the_extra_is_named():
    code = (
        "import sys; sys.modules['optuna'] = None\ntry:\n import sobercv.optuna\nexcept ImportError as e: print(e.code)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "E403"
