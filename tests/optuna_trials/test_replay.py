"""A study that kept nothing is run again, and then corrected."""

import optuna
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

import sobercv
import sobercv.optuna
from sobercv import SoberError

X, Y = (a[::3] for a in load_breast_cancer(return_X_y=True))
TREE = DecisionTreeClassifier(random_state=0)
optuna.logging.set_verbosity(optuna.logging.ERROR)


def study(n_trials=6, sampler=optuna.samplers.RandomSampler):
    def objective(trial):
        params = {
            "max_depth": trial.suggest_int("max_depth", 1, 6),
            "criterion": trial.suggest_categorical("criterion", ["gini", "entropy"]),
        }
        return cross_val_score(TREE.set_params(**params), X, Y, cv=5).mean()

    made = optuna.create_study(direction="maximize", sampler=sampler(seed=1))
    made.optimize(objective, n_trials=n_trials)
    return made


def test_the_same_number_as_a_search_over_the_same_parameters(tmp_path):
    made = study()
    with pytest.raises(SoberError, match="replay"):
        sobercv.correct(made)
    found = sobercv.optuna.replay(made, TREE, X, Y, drop=None, verbose=0, store=tmp_path / "store.db")
    grid = [{name: [value] for name, value in trial.params.items()} for trial in made.trials]
    expected = sobercv.BBCSearchCV(TREE, grid, cv=5, drop=None).fit(X, Y).estimate_
    assert found.value == expected.value
    number = next(t.number for t in made.trials if t.params == expected.winner_params)
    assert found.winner_params == expected.winner_params == made.trials[number].params
    params = found.winner_params
    name = f"trial {number}: max_depth={params['max_depth']}, criterion='{params['criterion']}'"
    assert found.winner_name == name
    assert name in str(found)
    again = sobercv.optuna.replay(made, TREE, X, Y, drop=None, verbose=0, store=tmp_path / "store.db")
    assert again.value == found.value


def test_parameters_that_are_not_the_estimators_are_made():
    def make(trial):
        depth = trial.suggest_int("max_depth", 1, 6)
        criterion = trial.suggest_categorical("criterion", ["gini", "entropy"])
        return DecisionTreeClassifier(max_depth=depth, criterion=criterion, random_state=0)

    made = study(4)
    found = sobercv.optuna.replay(made, make, X, Y, drop=None, verbose=0)
    assert found.value == sobercv.optuna.replay(made, TREE, X, Y, drop=None, verbose=0).value


def test_parameters_that_the_estimator_lacks_are_refused_with_the_way_out():
    with pytest.raises(SoberError, match=r"no parameter 'max_depth'.*replay\(study, make, X, y\)"):
        sobercv.optuna.replay(study(2), LogisticRegression(), X, Y)


def test_what_cannot_be_run_again_is_refused_with_what_to_write():
    made = study(2)

    def other(trial):
        return DecisionTreeClassifier(max_depth=trial.suggest_int("depth", 1, 6))

    def value(trial):
        return 0.5 * trial.suggest_int("max_depth", 1, 6)

    def logged(trial):
        return DecisionTreeClassifier(max_depth=trial.suggest_int("max_depth", 1, 6, log=True))

    objective = sobercv.optuna.Objective(other, X, Y, scoring="accuracy")
    for thing, options, code, part in (
        (other, {}, "E117", "asks for the parameter 'depth', which trial 0 lacks; it has max_depth, criterion"),
        (value, {}, "E117", "must return an estimator with a fit method; it returned"),
        (lambda trial: DecisionTreeClassifier, {}, "E117", r"returned a class\. Write DecisionTreeClassifier\(\)"),
        (DecisionTreeClassifier, {}, "E123", r"got a class\. Write DecisionTreeClassifier\(\)"),
        (objective, {}, "E123", r"objective\.estimate\(study\).*objective\.make"),
        (logged, {}, "E117", r"`make` fails on trial 0: Cannot set different log configuration .* as the study did"),
        (None, {}, "E123", "must be an estimator or a function of the trial; got None"),
        (TREE, {"folds": 5}, "E122", "no option `folds`.*cv=5"),
    ):
        with pytest.raises(SoberError, match=part) as error:
            sobercv.optuna.replay(made, thing, X, Y, verbose=0, **options)
        assert error.value.code == code


def test_several_metrics_are_shown_as_a_table():
    found = sobercv.optuna.replay(study(3), TREE, X, Y, scoring=["accuracy", "roc_auc"], verbose=0, n_bootstraps=50)
    assert str(found).splitlines()[0].split() == ["metric", "claimed", "honest", "interval"]


def test_a_sampler_that_learned_from_scores_is_noted():
    codes = [
        [note.code for note in sobercv.optuna.replay(study(4, sampler), TREE, X, Y, verbose=0).notes]
        for sampler in (optuna.samplers.TPESampler, optuna.samplers.RandomSampler)
    ]
    assert "W811" in codes[0]
    assert "W811" not in codes[1]


def test_a_study_without_trials_is_refused():
    with pytest.raises(SoberError) as error:
        sobercv.optuna.replay(optuna.create_study(), TREE, X, Y)
    assert error.value.code == "E111"


def test_what_is_no_study_is_refused():
    objective = sobercv.optuna.Objective(make_tree, X, Y, scoring="accuracy")
    calls = (
        lambda: sobercv.optuna.replay(make_tree, study(2), X, Y),
        lambda: objective.estimate(make_tree),
        lambda: objective.retry(make_tree),
    )
    for call in calls:
        with pytest.raises(SoberError, match=r"`study` must be what .*; got function") as error:
            call()
        assert error.value.code == "E123"


def test_rows_in_another_order_are_refused():
    rows = pd.DataFrame(X).sample(frac=1, random_state=0)
    with pytest.raises(SoberError, match="`X` and `y`"):
        sobercv.optuna.Objective(make_tree, rows, pd.Series(Y), scoring="accuracy")
    with pytest.raises(SoberError, match="`X` and `y`"):
        sobercv.optuna.replay(study(2), TREE, rows, pd.Series(Y), verbose=0)


def make_tree(trial):
    return DecisionTreeClassifier(max_depth=trial.suggest_int("max_depth", 1, 6), random_state=0)


def test_a_study_with_several_objectives_is_judged_by_scoring():
    made = optuna.create_study(directions=["maximize", "minimize"], sampler=optuna.samplers.RandomSampler(seed=0))
    made.optimize(lambda trial: (0.1 * trial.suggest_int("max_depth", 1, 6), 1.0), 5)
    found = sobercv.optuna.replay(made, make=make_tree, X=X, y=Y, drop=None, verbose=0)
    grid = [{"max_depth": [trial.params["max_depth"]]} for trial in made.trials]
    assert found.value == sobercv.BBCSearchCV(TREE, grid, cv=5, drop=None).fit(X, Y).estimate_.value
    assert "W212" not in [note.code for note in found.notes]


def test_pruned_trials_are_replayed_and_others_are_noted():
    def objective(trial):
        if trial.number == 4:  # before its parameter was suggested
            raise optuna.TrialPruned
        depth = trial.suggest_int("max_depth", 1, 6)
        if trial.number == 5:
            raise ValueError
        if trial.number % 2:
            raise optuna.TrialPruned
        return -depth

    made = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=1))
    for depth in (1, 2, 6, 5):
        made.enqueue_trial({"max_depth": depth})
    made.optimize(objective, 6, catch=ValueError)
    found = sobercv.optuna.replay(made, make_tree, X, Y, drop=None, verbose=0)
    grid = [{"max_depth": [depth]} for depth in (1, 2, 6, 5)]
    assert found.scores.tolist() == sobercv.BBCSearchCV(TREE, grid, cv=5, drop=None).fit(X, Y).estimate_.scores.tolist()
    assert found.winner_name == "trial 1: max_depth=2"
    notes = {note.code: note.text for note in found.notes}
    assert notes["W204"].startswith("2 of 6 trials failed, or were pruned before they had all parameters")
    assert "trial 1 is the best; in the study it was trial 0" in notes["W212"]
