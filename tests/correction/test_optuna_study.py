"""Fold scores that trials kept, in the ways in which people keep them."""

import warnings

import numpy as np
import optuna
import pytest
from optuna_integration import OptunaSearchCV
from sklearn.datasets import load_iris
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import sobercv
from sobercv import SoberError
from sobercv.optuna import Objective

optuna.logging.set_verbosity(optuna.logging.ERROR)
SCORES = np.random.default_rng(0).random((8, 5))  # trials x folds


def study(keep, direction="maximize"):
    def objective(trial):
        trial.suggest_float("x", 0, 1)
        scores = SCORES[trial.number]
        keep(trial, scores)
        return scores.mean()

    made = optuna.create_study(direction=direction, sampler=optuna.samplers.RandomSampler(seed=0))
    made.optimize(objective, n_trials=len(SCORES))
    return made


def as_list(trial, scores):
    trial.set_user_attr("seconds", 1.5)
    trial.set_user_attr("my scores", scores.tolist())


def fold_by_fold(trial, scores):
    for k, score in enumerate(scores):
        trial.report(score, k)


def mean_so_far(trial, scores):
    for k in range(len(scores)):
        trial.report(scores[: k + 1].mean(), k + 1)


@pytest.mark.parametrize("keep", [as_list, fold_by_fold])
@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_fold_scores_are_found_however_they_were_kept(keep, direction):
    made = study(keep, direction)
    found = sobercv.correct(made)
    sign = 1 if direction == "maximize" else -1
    expected = sobercv.correct(sign * SCORES.T)
    assert found.draws == pytest.approx(expected.draws, abs=1e-12)
    assert found.naive == pytest.approx(sign * made.best_value)
    assert found.winner_name == f"trial {made.best_trial.number}: x={made.best_params['x']}"
    assert found.winner_params == made.best_params


def test_one_trial_is_refused():
    for trial in (study(as_list).best_trial, study(as_list).trials[0]):
        with pytest.raises(SoberError, match="Pass the study") as error:
            sobercv.correct(trial)
        assert error.value.code == "E123"


def test_a_study_that_keeps_nothing_is_told_how_to_go_on():
    with pytest.raises(SoberError, match=r"sobercv\.optuna\.replay") as error:
        sobercv.correct(study(lambda trial, scores: None))
    assert error.value.code == "E812"


def test_a_study_that_objective_ran_is_told_of_its_estimate():
    X, y = load_iris(return_X_y=True)
    made = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    with pytest.raises(SoberError, match="no complete trial") as error:
        sobercv.correct(made)
    assert error.value.code == "E111"
    made.optimize(Objective(lambda trial: DecisionTreeClassifier(max_depth=2), X, y, scoring="accuracy", cv=3), 1)
    for options in ({}, {"y": y}):
        with pytest.raises(SoberError, match=r"write objective\.estimate\(study\)") as error:
            sobercv.correct(made, **options)
        assert error.value.code == "E812"


def test_values_that_agree_with_their_scores_by_chance_are_refused():
    """Two of eight values, rounded to two digits, agreed by chance; the others were left out as if they had failed."""

    def objective(trial):
        scores = SCORES[trial.number] if trial.number != 2 else 0.91 + np.array([-0.02, -0.01, 0.0, 0.01, 0.02])
        trial.set_user_attr("scores", scores.tolist())
        return round(scores.mean(), 2)

    made = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    made.optimize(objective, n_trials=len(SCORES))
    with pytest.raises(SoberError, match=r'2 of 8 complete trials .*"scores".*correct\(\{"trial 0"') as error:
        sobercv.correct(made)
    assert error.value.code == "E812"
    lists = {f"trial {trial.number}": trial.user_attrs["scores"] for trial in made.trials}
    assert len(sobercv.correct(lists, "r2").scores) == len(SCORES)


def test_a_storage_or_several_objectives_are_told_how_to_go_on():
    with pytest.raises(SoberError, match=r'load_study\(study_name=None, storage="sqlite:///a\.db"\)'):
        sobercv.correct("sqlite:///a.db")
    made = optuna.create_study(directions=["maximize", "minimize"])
    made.optimize(lambda trial: (1.0, 2.0), 1)
    with pytest.raises(SoberError, match=r"sobercv\.optuna\.replay"):
        sobercv.correct(made)


def test_pruned_trials_are_left_out_with_a_note():
    def keep(trial, scores):
        if trial.number % 3 == 0:
            raise optuna.TrialPruned
        as_list(trial, scores)

    found = sobercv.correct(study(keep))
    assert found.n_configurations == 5
    assert any(note.code == "W204" and "3 of 8" in note.text for note in found.notes)


def test_optuna_search_cv():
    X, y = load_iris(return_X_y=True)
    space = {"max_depth": optuna.distributions.IntDistribution(1, 6)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is experimental
        search = OptunaSearchCV(DecisionTreeClassifier(random_state=0), space, n_trials=6, cv=5, random_state=0).fit(
            X, y
        )
    found = sobercv.correct(search)
    assert (found.metric, found.n_folds) == ("accuracy", 5)
    assert found.naive == pytest.approx(search.best_score_)
    assert found.winner_params == search.best_params_
    assert any(note.code == "W811" for note in found.notes)
    piped = sobercv.correct(make_pipeline(StandardScaler(), search).fit(X, y))
    assert (piped.metric, piped.n_folds) == ("accuracy", 5)
    assert "W301" in [note.code for note in piped.notes]


def test_a_search_that_negates_a_loss_maximises():
    X, y = load_iris(return_X_y=True)
    space = {"max_depth": optuna.distributions.IntDistribution(1, 6)}
    scorer = make_scorer(mean_absolute_error, greater_is_better=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is experimental
        tree = DecisionTreeClassifier(random_state=0)
        search = OptunaSearchCV(tree, space, n_trials=4, cv=3, random_state=0, scoring=scorer).fit(X, y)
    assert sobercv.correct(search).naive == pytest.approx(search.best_score_)


@pytest.mark.parametrize("sampler", [optuna.samplers.TPESampler, optuna.samplers.RandomSampler])
def test_a_sampler_that_learns_from_scores_is_noted(sampler):
    made = optuna.create_study(direction="maximize", sampler=sampler(seed=0))

    def objective(trial):
        trial.suggest_float("x", 0, 1)
        as_list(trial, SCORES[trial.number])
        return SCORES[trial.number].mean()

    made.optimize(objective, n_trials=len(SCORES))
    noted = any(note.code == "W811" for note in sobercv.correct(made).notes)
    assert noted == (sampler is optuna.samplers.TPESampler)


def test_a_minimised_score_keeps_a_name_that_is_negated_already():
    assert sobercv.correct(study(as_list, "minimize"), "neg_log_loss").metric == "neg_log_loss"


def test_an_interval_has_a_width_where_a_negative_score_is_minimised():
    made = optuna.create_study(direction="minimize", sampler=optuna.samplers.RandomSampler(seed=0))

    def objective(trial):
        as_list(trial, -SCORES[trial.number])
        trial.suggest_float("x", 0, 1)
        return -SCORES[trial.number].mean()

    made.optimize(objective, n_trials=len(SCORES))
    low, high = sobercv.correct(made).interval
    assert low < sobercv.correct(made).value < high


def test_scores_of_unknown_range_are_noted_and_named_ones_are_not() -> None:
    def objective(trial: optuna.Trial) -> float:
        scores = np.clip(0.97 + 0.03 * np.random.default_rng(trial.number).normal(size=5), 0, 1)
        trial.suggest_float("C", 0, 1)
        trial.set_user_attr("fold_scores", scores.tolist())
        return float(scores.mean())

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, 10)
    unknown, named = sobercv.correct(study), sobercv.correct(study, "accuracy")
    assert "W201" in [note.code for note in unknown.notes]
    assert "W201" not in [note.code for note in named.notes]
    assert named.interval[1] <= 1


def test_a_best_trial_without_fold_scores_is_asked_for():
    best = int(SCORES.mean(axis=1).argmax())

    def keep(trial, scores):
        if trial.number != best:
            as_list(trial, scores)

    with pytest.raises(SoberError, match=f"best trial of the study, {best}, keeps no scores") as error:
        sobercv.correct(study(keep))
    assert error.value.code == "E111"


def test_what_a_study_minimises_is_no_score_of_which_more_is_better():
    made = study(as_list, "minimize")
    for name in ("roc_auc", "accuracy", "kappa"):
        with pytest.raises(SoberError, match=f"its values cannot be {name}") as error:
            sobercv.correct(made, name)
        assert error.value.code == "E122"
    assert sobercv.correct(made, "error").metric == "neg_error"
    assert sobercv.correct(study(as_list), "roc_auc").metric == "roc_auc"


def test_winners_are_numbers_of_trials():
    def keep(trial, scores):
        if trial.number < 2:
            raise optuna.TrialPruned
        as_list(trial, scores)

    made = study(keep)
    found, expected = sobercv.correct(made), sobercv.correct(SCORES[2:].T)
    assert found.winner == made.best_trial.number == expected.winner + 2
    assert found.configurations.tolist() == list(range(2, len(SCORES)))
    assert (found.value, *found.interval) == pytest.approx((expected.value, *expected.interval), abs=1e-12)
    assert found.gain_over(3).interval == pytest.approx(expected.gain_over(1).interval, abs=1e-12)
    with pytest.raises(SoberError, match="Name one of 2 to 7"):
        found.gain_over(0)


def test_means_so_far_are_refused_as_nothing_tells_them_from_learning_curves():
    with pytest.raises(SoberError, match=r"running means or a learning curve.*fold_scores") as error:
        sobercv.correct(study(mean_so_far))
    assert error.value.code == "E812"

    def both(trial, scores):
        as_list(trial, scores)
        mean_so_far(trial, scores)

    assert sobercv.correct(study(both)).draws == pytest.approx(sobercv.correct(SCORES.T).draws, abs=1e-12)
