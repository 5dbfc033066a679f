"""A study that kept nothing is run again, and then corrected."""

import optuna
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
    assert found.winner_params == expected.winner_params == made.trials[int(found.winner_name.split()[1])].params
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

    objective = sobercv.optuna.Objective(other, X, Y, scoring="accuracy")
    for thing, options, code, part in (
        (other, {}, "E117", "asks for the parameter 'depth', which trial 0 lacks; it has max_depth, criterion"),
        (value, {}, "E117", "must return an estimator with a fit method; it returned"),
        (lambda trial: DecisionTreeClassifier, {}, "E117", r"returned a class\. Write DecisionTreeClassifier\(\)"),
        (DecisionTreeClassifier, {}, "E123", r"got a class\. Write DecisionTreeClassifier\(\)"),
        (objective, {}, "E123", r"objective\.estimate\(study\).*objective\.make"),
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
