"""Tables and searches of people who tried `correct`, which were read wrongly or refused without a way on."""

import numpy as np
import optuna
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.feature_selection import RFECV
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.tree import DecisionTreeClassifier

import sobercv
from sobercv import SoberError
from sobercv.correction import recognise

from .predictions import N, melted, wide

optuna.logging.set_verbosity(optuna.logging.ERROR)
RNG = np.random.default_rng(5)
IRIS = load_iris(return_X_y=True)


def codes(estimate):
    return [note.code for note in estimate.notes]


def bootstraps(*more):
    """Return metrics of tidymodels on ten bootstraps, and in what else is named."""
    return pd.DataFrame(
        [
            {"id": name, ".metric": "roc_auc", ".estimate": 0.7 + m / 50 + RNG.normal(0, 0.05), ".config": f"Model{m}"}
            for name in [*(f"Bootstrap{b:02}" for b in range(1, 11)), *more] for m in range(4)
        ]
    )  # fmt: skip


def study(keep, value=np.mean, direction="maximize", n_folds=5, n_trials=12):
    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        scores = 0.8 + 0.1 * x + 0.03 * np.random.default_rng(trial.number).normal(size=n_folds)
        keep(trial, scores)
        return float(value(scores))

    made = optuna.create_study(direction=direction, sampler=optuna.samplers.RandomSampler(seed=0))
    made.optimize(objective, n_trials=n_trials)
    return made


def as_list(trial, scores):
    trial.set_user_attr("fold_scores", scores.tolist())


# ---- numbers --------------------------------------------------------------------------------------------------------
def test_scores_on_the_rows_of_training_are_left_out():
    table = bootstraps("Apparent")
    found, expected = (sobercv.correct(one) for one in (table, table[table["id"] != "Apparent"]))
    assert found.value == expected.value
    assert found.interval == expected.interval
    assert any(note.code == "W204" and "'Apparent'" in note.text for note in found.notes)


def test_predictions_of_the_rows_of_training_are_left_out():
    tidy = pd.DataFrame({".row": LONG["sample"] + 1, ".config": LONG["model"], "id": "Bootstrap" + LONG["fold"].astype(str),
                         ".pred_R": LONG["prob_R"], ".pred_M": 1 - LONG["prob_R"], "y": LONG["y_true"]})  # fmt: skip
    apparent = tidy.assign(**{"id": "Apparent", ".pred_R": 0.5})
    found, expected = recognise(pd.concat([tidy, apparent])), recognise(tidy)
    assert found.n_repeats == expected.n_repeats
    assert (found.responses["predict_proba"] == expected.responses["predict_proba"]).all()
    assert [note.code for note in found.notes] == ["W204"]


LONG = melted()


@pytest.mark.parametrize("numbers", [np.arange(N) + 1001, 2000 - np.arange(N), np.arange(N) * 3])
def test_a_column_that_numbers_the_rows_is_no_configuration(numbers):
    with pytest.raises(SoberError, match=r"'case_no' numbers the rows.*--ignore case_no"):
        recognise(wide(case_no=numbers), target="y")
    assert "case_no" not in recognise(wide(case_no=numbers), target="y", ignore=("case_no",)).names


def test_configurations_are_in_natural_order_whatever_that_of_the_rows():
    names = ["1e-05", "0.1", "1.0", "2", "10", "model2", "model10"]
    long = pd.concat([LONG[LONG["model"] == "model 0"].assign(model=name) for name in names])
    for seed in range(3):
        mixed = long.sample(frac=1, random_state=seed)
        assert recognise(mixed).names == names
        assert sobercv.correct(mixed, "roc_auc").winner_name == "1e-05", "all are equal"
    scores = long.groupby(["fold", "model"], as_index=False)["prob_R"].mean().rename(columns={"prob_R": "score"})
    assert {sobercv.correct(scores.sample(frac=1, random_state=k)).winner_name for k in range(5)} == {"1e-05"}
    caret = pd.DataFrame({
        "pred": long["prob_R"], "obs": np.arange(len(long)) % N / 7, "rowIndex": long["sample"], "cp": long["model"],
        "Resample": "Fold" + long["fold"].astype(str),
    })  # fmt: skip
    caret["obs"] = caret["rowIndex"] / 7
    assert recognise(caret).names == [f"cp={name}" for name in names]


SPLITS = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
GRID = {"max_depth": [1, 2, 3]}
TREE = DecisionTreeClassifier(random_state=0)


def test_splits_that_may_be_of_several_repeats_are_noted():
    search = GridSearchCV(TREE, GRID, cv=SPLITS.split(*IRIS)).fit(*IRIS)
    long = pd.DataFrame({"fold": np.repeat(range(1, 16), 3), "model": list("abc") * 15, "score": RNG.random(45)})
    things = [
        search,
        search.cv_results_,
        pd.DataFrame(search.cv_results_),
        study(as_list, n_folds=15),
        long,
        RNG.random((15, 3)),
    ]
    for thing in things:
        found = sobercv.correct(thing)
        text = next(note.text for note in found.notes if note.code == "W203")
        assert "whether these 15 splits are folds of several repeats" in text
        assert "n_repeats=3" in text
        assert "W203" not in codes(sobercv.correct(thing, n_repeats=3))
    assert "W203" not in codes(sobercv.correct(GridSearchCV(TREE, GRID, cv=SPLITS).fit(*IRIS)))
    assert "W203" not in codes(sobercv.correct(GridSearchCV(TREE, GRID, cv=15).fit(*IRIS)))
    assert "W203" not in codes(sobercv.correct(long[long["fold"] <= 10]))


@pytest.mark.parametrize("make", [lambda table: table, lambda table: table.to_numpy()])
def test_samples_are_not_read_as_folds(make):
    table = make(pd.DataFrame(RNG.random((150, 4)), columns=list("abcd")))
    with pytest.raises(SoberError, match=r'150 folds.*sobercv\.bbc\(y, table, "roc_auc"\)') as error:
        sobercv.correct(table, "roc_auc")
    assert error.value.code == "E812"
    assert sobercv.correct(table, "roc_auc", n_repeats=15).n_repeats == 15


def test_a_scorer_that_maximises_a_loss_is_noted():
    X, y = load_diabetes(return_X_y=True)
    scorers = [make_scorer(mean_absolute_error, greater_is_better=sign) for sign in (True, False)]
    wrong, right = (GridSearchCV(Ridge(), {"alpha": [0.1, 10]}, scoring=scorer).fit(X, y) for scorer in scorers)
    assert "W210" in codes(sobercv.correct(wrong))
    assert "W210" not in codes(sobercv.correct(right))


def test_the_direction_of_a_study_is_compared_with_the_metric():
    for made, name, given in ((study(as_list), "rmse", None), (study(as_list), None, False),
                              (study(as_list, direction="minimize"), "mine", True)):  # fmt: skip
        with pytest.raises(SoberError, match=r"study (maxi|mini)mises, so its values cannot be") as error:
            sobercv.correct(made, name, greater_is_better=given)
        assert error.value.code == "E122"
    assert sobercv.correct(study(as_list), "neg_rmse", greater_is_better=True).metric == "neg_rmse"


def test_a_learning_curve_is_not_read_as_folds():
    def objective(trial):
        top = trial.suggest_float("x", 0.8, 0.92)
        for step in range(1, 11):
            trial.report(reported := top - 0.4 * np.exp(-step / 3), step)
        return reported

    made = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
    made.optimize(objective, 12)
    for metric in (None, "accuracy"):
        with pytest.raises(SoberError, match=r"learning curve.* sobercv\.optuna\.replay") as error:
            sobercv.correct(made, metric)
        assert error.value.code == "E812"


def test_repeats_that_contradict_the_names_of_the_folds_are_refused():
    table = bootstraps()
    table["id"] = table["id"].str.replace("Bootstrap", "Fold")
    with pytest.raises(SoberError, match="1 repeat, with 10 folds") as error:
        sobercv.correct(table, n_repeats=2)
    assert error.value.code == "E108"


# ---- ways on --------------------------------------------------------------------------------------------------------
def test_recursive_elimination_is_a_search():
    search = RFECV(LogisticRegression(max_iter=2000), cv=5).fit(*IRIS)
    found = sobercv.correct(search)
    assert found.winner_params == {"n_features": search.n_features_}
    with pytest.raises(SoberError, match="lacks split0_test_score or params"):
        sobercv.correct(
            type("Odd", (), {"cv_results_": {"split0_test_score": np.ones(3), "split1_test_score": np.ones(3)}})()
        )


def test_a_configuration_may_have_whole_numbers_on_all_folds():
    table = pd.DataFrame({"fold": [1, 2, 3], "a": [1.0, 1.0, 1.0], "b": [0.8, 0.7, 0.9]})
    assert recognise(table, metric="accuracy").names == ["a", "b"]


def test_measures_of_r_are_known():
    scores = RNG.random(15)
    caret = pd.DataFrame({"AUC": scores, "Precision": scores, "Recall": scores, "F": scores, "mtry": [2, 4, 8] * 5,
                          "Resample": np.repeat([f"Fold{f}" for f in range(5)], 3)})  # fmt: skip
    assert recognise(caret, metric="AUC").names == ["mtry=2", "mtry=4", "mtry=8"]
    mlr3 = pd.DataFrame(
        {"nr": 1, "learner_id": ["a", "b", "c"] * 5, "resampling_id": "cv", "iteration": np.repeat(range(5), 3)}
    )
    for measure in ("surv.cindex", "classif.tpr"):
        assert list(recognise(mlr3.assign(**{measure: scores})).scores) == [measure]
    for measure in ("classif.fnr", "surv.graf"):
        assert list(recognise(mlr3.assign(**{measure: scores})).scores) == [f"neg_{measure}"]
    for measure in ("kap", "roc_auc_survival", "rsq_trad", "roc_aunp", "mine_score"):
        assert list(recognise(bootstraps().assign(**{".metric": measure})).scores) == [measure]
    for measure in ("brier_survival", "mine_loss"):
        assert list(recognise(bootstraps().assign(**{".metric": measure})).scores) == [f"neg_{measure}"]
    with pytest.raises(SoberError, match=r"mine_score \(higher is better\) or mine_loss"):
        recognise(bootstraps().assign(**{".metric": "mine"}))


def test_fold_scores_may_be_a_dict():
    scores = {"lr": RNG.random(5), "tree": RNG.random(5)}
    found = sobercv.correct(scores, "accuracy")
    assert found.value == sobercv.correct(pd.DataFrame(scores), "accuracy").value
    assert found.winner_name in scores
    with pytest.raises(SoberError) as error:
        sobercv.correct({"lr": RNG.random(5), "tree": RNG.random(4)}, "accuracy")
    assert error.value.code == "E123"
    with pytest.raises(SoberError, match="table is empty"):
        sobercv.correct(pd.DataFrame(), "accuracy")


def test_a_value_of_a_study_may_be_rounded_and_any_other_is_named():
    assert sobercv.correct(study(as_list, lambda scores: round(scores.mean(), 3))).n_folds == 5
    with pytest.raises(
        SoberError, match=r'trial 0 keeps 5 numbers in "fold_scores", whose mean is 0.\d+, but its value'
    ):
        sobercv.correct(study(as_list, np.median))


# ---- words ----------------------------------------------------------------------------------------------------------
def test_advice_names_the_tool():
    for thing, words in ((bootstraps(), "save_pred = TRUE"), (study(as_list), 'set_user_attr("oof"')):
        assert any(note.code == "W211" and words in note.text for note in sobercv.correct(thing).notes)
    with pytest.raises(SoberError, match="Did you mean 'roc_auc'"):
        sobercv.correct(RNG.random((5, 3)), "roc-auc")
    search = GridSearchCV(TREE, GRID, cv=5).fit(*IRIS)
    with pytest.raises(SoberError, match="scored by accuracy only; leave the metric out"):
        sobercv.correct(search, "roc_auc")


def test_one_failed_configuration_is_one():
    scores = RNG.random((5, 4))
    scores[0, 1] = np.nan
    texts = [note.text for note in sobercv.correct(scores).notes]
    assert any(text.startswith("1 of 4 configurations failed or were stopped") for text in texts)
