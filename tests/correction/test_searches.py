"""correct: an honest score for a search that was run by somebody else's class."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from dask_ml.model_selection import GridSearchCV as DaskGridSearchCV
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LinearRegression, LogisticRegressionCV, Ridge
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    HalvingGridSearchCV,
    KFold,
    LeavePOut,
    PredefinedSplit,
    RandomizedSearchCV,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
    cross_val_predict,
)
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from skopt import BayesSearchCV

import sobercv
from sobercv import SoberError
from sobercv.correction import FoldScores, judge, read_search

X, Y = (a[::3] for a in load_breast_cancer(return_X_y=True))
TREE = DecisionTreeClassifier(random_state=0)
GRID = {"max_depth": [1, 2, 3, 5], "min_samples_leaf": [1, 10]}
FOLDS = KFold(5, shuffle=True, random_state=0)


def grid(**options):
    return GridSearchCV(TREE, GRID, **{"cv": FOLDS, **options}).fit(X, Y)


def test_equals_bbc_by_folds_on_the_same_folds():
    search = grid()
    found = sobercv.correct(search)
    folds = np.empty(len(Y), int)
    for k, (_, test) in enumerate(FOLDS.split(X)):
        folds[test] = k
    predicted = np.column_stack(
        [cross_val_predict(TREE.set_params(**p), X, Y, cv=FOLDS) for p in search.cv_results_["params"]]
    )
    other = sobercv.bbc(Y, predicted, "accuracy", folds=folds, by="fold")
    assert found.draws == pytest.approx(other.draws, abs=1e-12)
    assert found.value == pytest.approx(other.value, abs=1e-12)
    assert found.naive == pytest.approx(other.naive, abs=1e-12) == pytest.approx(search.best_score_, abs=1e-12)
    assert found.winner == search.best_index_
    assert found.winner_params == search.best_params_
    assert np.array_equal(found.win_counts, other.win_counts)


def test_the_claim_falls_and_the_interval_holds_the_honest_score():
    found = sobercv.correct(grid())
    low, high = found.interval
    assert low < found.value < found.naive < high
    assert found.metric == "accuracy"
    assert found.interval_at(0.5)[0] > low


def test_noise_is_corrected():
    rng = np.random.default_rng(0)
    optimism, off = [], []
    for seed in range(20):
        scores = rng.normal(0.5, 0.08, (10, 60))
        found = sobercv.correct(scores, random_state=seed)
        optimism.append(found.naive - 0.5)
        off.append(found.value - 0.5)
    assert np.mean(optimism) > 0.04
    assert abs(np.mean(off)) < 5 * np.std(off) / np.sqrt(20)


def test_several_metrics_are_a_table_by_the_metric_that_selects():
    search = grid(scoring=["accuracy", "roc_auc"], refit="roc_auc")
    found = sobercv.correct(search)
    assert list(found) == ["roc_auc", "accuracy"]
    assert found["roc_auc"].naive == pytest.approx(search.best_score_)
    assert found["accuracy"].naive == pytest.approx(search.cv_results_["mean_test_accuracy"][search.best_index_])
    assert "claimed" in str(found)


def test_several_metrics_without_refit_ask_which_selects():
    search = grid(scoring=["accuracy", "roc_auc"], refit=False)
    with pytest.raises(SoberError, match=r"one of accuracy, roc_auc") as error:
        sobercv.correct(search)
    assert error.value.code == "E113"
    assert sobercv.correct(search, "accuracy")["accuracy"].winner == np.argmax(search.cv_results_["mean_test_accuracy"])


def test_a_callable_refit_is_called_again_on_every_resample():
    calls = []

    def steady(results):
        calls.append(results["split0_test_score"].copy())
        assert set(results["rank_test_score"]) <= set(range(1, 9))
        return int(np.argmax(results["mean_test_score"] - results["std_test_score"]))

    search = grid(refit=steady)
    before = len(calls)
    found = sobercv.correct(search, n_bootstraps=50)
    assert len(calls) - before == 50
    assert found.winner == search.best_index_
    worst = sobercv.correct(grid(refit=lambda r: int(np.argmin(r["mean_test_score"]))), n_bootstraps=50)
    assert worst.value <= worst.naive < found.naive


def test_a_callable_refit_that_fails_on_resamples_is_an_error_of_one_sentence():
    def needs_all_folds(results):
        return int(np.argmax(results["mean_test_score"])) + 0 * len({len(results["split0_test_score"])}) // (
            results.get("first", 1) if "mean_fit_time" in results else 0
        )

    assert sobercv.correct(grid(refit=needs_all_folds), n_bootstraps=20).value > 0  # other columns are there
    search = grid(refit=lambda r: 0)
    search.refit = lambda results: results["nothing"]
    with pytest.raises(SoberError, match="KeyError") as error:
        sobercv.correct(search, n_bootstraps=20)
    assert error.value.code == "E117"


def test_repeats_are_resampled_one_by_one():
    search = grid(cv=RepeatedKFold(n_splits=5, n_repeats=3, random_state=0))
    found = sobercv.correct(search)
    assert (found.n_repeats, found.n_folds) == (3, 5)
    scores = read_search(search).first
    alone = [judge(FoldScores({"accuracy": scores[5 * r : 5 * r + 5]}))["accuracy"] for r in range(3)]
    assert found.draws == pytest.approx(np.mean([one.draws for one in alone], axis=0), abs=1e-12)
    # Repeats share samples: three of them do not make the interval sqrt(3) times narrower.
    width = np.mean([one.interval[1] - one.interval[0] for one in alone])
    assert found.interval[1] - found.interval[0] > 0.7 * width


def test_repeats_that_no_splitter_tells_are_given():
    splits = list(RepeatedKFold(n_splits=5, n_repeats=2, random_state=0).split(X))
    search = grid(cv=splits)
    assert sobercv.correct(search).n_repeats == 1
    assert sobercv.correct(search, n_repeats=2).n_repeats == 2
    with pytest.raises(SoberError, match="3 repeats"):
        sobercv.correct(search, n_repeats=3)


def test_overlapping_test_sets_widen_the_interval():
    search = grid(cv=ShuffleSplit(8, test_size=0.4, random_state=0))
    found = sobercv.correct(search)
    as_folds = judge(FoldScores({"accuracy": read_search(search).first}))["accuracy"]
    assert found.interval[1] - found.interval[0] > 1.3 * (as_folds.interval[1] - as_folds.interval[0])


@pytest.mark.parametrize(
    ("cv", "share"),
    [
        (ShuffleSplit(4), 0.1 / 0.9),
        (GroupShuffleSplit(4), 0.2 / 0.8),
        (ShuffleSplit(4, test_size=0.2), 0.2 / 0.8),
        (ShuffleSplit(4, train_size=0.5), 1.0),
        (ShuffleSplit(4, train_size=0.8), 0.2 / 0.8),
        (ShuffleSplit(4, test_size=0.2, train_size=0.5), 0.4),
        (ShuffleSplit(4, test_size=30, train_size=60), 0.5),
        (ShuffleSplit(4, test_size=30), 1.0),  # of unknown size
        (LeavePOut(2), 1.0),
        ([([0, 1, 2, 3], [4, 5]), ([0, 1, 2, 4], [3, 5])], 0.5),
        ([([0, 1, 2], [3, 4, 5]), ([3, 4, 5], [0, 1, 2])], None),
        (KFold(4), None),
    ],
)
def test_the_size_of_overlapping_test_sets(cv, share):
    results = {"params": [{}], **{f"split{k}_test_score": [0.5] for k in range(4)}}
    found = read_search(SimpleNamespace(cv_results_=results, cv=cv))
    assert found.test_share == (None if share is None else pytest.approx(share))
    assert [note.code for note in found.notes] == ([] if share is None else ["W203"])


def test_one_hold_out_is_refused_with_the_way_out():
    search = grid(cv=PredefinedSplit(np.where(np.arange(len(Y)) % 3 == 0, 0, -1)))
    with pytest.raises(SoberError, match="cv=5") as error:
        sobercv.correct(search)
    assert error.value.code == "E307"


def test_a_metric_that_is_named_selects_the_winner_too():
    results = {"params": [{"a": c} for c in range(3)]}
    for name, order in (("accuracy", [0.5, 0.6, 0.7]), ("roc_auc", [0.9, 0.8, 0.7])):
        results |= {f"split{k}_test_{name}": np.array(order) + k / 100 for k in range(5)}
    search = SimpleNamespace(cv_results_=results, refit="roc_auc", best_index_=0)
    assert sobercv.correct(search)["roc_auc"].winner == 0
    found = sobercv.correct(search, "accuracy")
    assert [one.winner for one in found.values()] == [2, 2]
    assert found["accuracy"].naive == pytest.approx(0.72)


def test_a_fold_that_is_missing_is_refused():
    results = dict(grid().cv_results_)
    del results["split2_test_score"]
    with pytest.raises(SoberError, match="no split2_test_score") as error:
        sobercv.correct(results)
    assert error.value.code == "E812"


@pytest.mark.filterwarnings("ignore")
def test_failed_configurations_are_left_out_with_a_note():
    search = GridSearchCV(TREE, {"max_depth": [1, 2, -1, 3]}, cv=FOLDS).fit(X, Y)
    found = sobercv.correct(search)
    assert found.n_left_out == 1
    assert any(note.code == "W204" for note in found.notes)
    assert found.configurations.tolist() == [0, 1, 3]
    assert found.winner == search.best_index_


def test_groups_are_kept_together_by_their_folds():
    groups = np.arange(len(Y)) // 10
    search = GridSearchCV(TREE, GRID, cv=GroupKFold(5)).fit(X, Y, groups=groups)
    assert sobercv.correct(search).n_folds == 5


def test_halving_judges_the_last_iteration_and_says_so():
    search = HalvingGridSearchCV(TREE, GRID, cv=5, random_state=0, factor=2).fit(X, Y)
    found = sobercv.correct(search)
    assert found.winner_params == search.best_params_
    assert found.n_configurations < len(search.cv_results_["params"])
    assert any(note.code == "W811" for note in found.notes)


def test_randomized_search_and_regression():
    inputs, target = load_diabetes(return_X_y=True)
    search = RandomizedSearchCV(Ridge(), {"alpha": np.logspace(-3, 2, 20)}, n_iter=8, cv=5, random_state=0)
    found = sobercv.correct(search.fit(inputs, target))
    assert found.metric == "r2"
    assert found.value <= found.naive == pytest.approx(search.best_score_)


def test_bayes_search_of_scikit_optimize():
    search = BayesSearchCV(TREE, {"max_depth": (1, 6)}, n_iter=6, cv=4, random_state=0).fit(X, Y)
    found = sobercv.correct(search)
    assert found.naive == pytest.approx(search.best_score_)
    assert found.n_folds == 4
    assert {"W205", "W811"} <= {note.code for note in found.notes}  # few folds; proposed by earlier scores


def test_bbc_search_gives_its_own_estimate():
    search = sobercv.BBCSearchCV(TREE, GRID, cv=5, n_bootstraps=50).fit(X, Y)
    assert sobercv.correct(search) is sobercv.correct(search, "accuracy") is search.estimate_


@pytest.mark.parametrize("asked", [{"metric": "roc_auc"}, {"confidence_level": 0.8}, {"n_repeats": 2}, {"by": "fold"}])
def test_what_a_bbc_search_has_not_computed_is_refused(asked):
    search = sobercv.BBCSearchCV(TREE, GRID, cv=5, n_bootstraps=50).fit(X, Y)
    with pytest.raises(
        SoberError, match=r"corrected already, by accuracy.*bbc\(y, search.predictions_, metric\)"
    ) as error:
        sobercv.correct(search, **asked)
    assert error.value.code == "E114"


@pytest.mark.parametrize(
    ("thing", "code"),
    [(GridSearchCV(TREE, GRID), "E113"), (TREE, "E123"), ("x", "E123"), (np.zeros((1, 3)), "E307"), (None, "E123")],
)
def test_what_cannot_be_corrected_is_refused(thing, code):
    with pytest.raises(SoberError) as error:
        sobercv.correct(thing)
    assert error.value.code == code


def test_seeds_and_levels():
    search = grid()
    one, again, other = (sobercv.correct(search, random_state=seed).draws for seed in (1, 1, 2))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    narrow, wide = (sobercv.correct(search, confidence_level=level).interval for level in (0.8, 0.99))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_cv_results_alone_are_enough():
    search = grid()
    found = sobercv.correct(search.cv_results_)
    assert np.array_equal(found.draws, sobercv.correct(search).draws)
    named, framed = (sobercv.correct(kind(search.cv_results_), "roc_auc") for kind in (dict, pd.DataFrame))
    assert (named.metric, named.interval) == (framed.metric, framed.interval)
    assert named.metric == "roc_auc"


def test_scorers_say_what_they_are_whatever_they_are_called():
    plain = sobercv.correct(grid(scoring=["roc_auc", "accuracy"], refit="accuracy"))
    scoring = {"A": "roc_auc", "B": make_scorer(accuracy_score)}
    search = grid(scoring=scoring, refit="B")
    found = sobercv.correct(search)
    assert list(found) == ["B", "A"]
    for name, metric in (("A", "roc_auc"), ("B", "accuracy")):
        assert found[name].interval == plain[metric].interval
        assert "W201" not in [note.code for note in found[name].notes]
    assert next(iter(sobercv.correct(search, "roc_auc"))) == "A"
    assert sobercv.correct(search, "accuracy")["B"].interval == found["B"].interval


def test_splits_that_depend_on_each_other_are_said_to():
    for cv in (ShuffleSplit(5, random_state=0), TimeSeriesSplit(5)):
        assert any(note.code == "W203" for note in sobercv.correct(grid(cv=cv)).notes)


def test_a_race_is_not_corrected_by_its_fold_scores():
    X, y = load_breast_cancer(return_X_y=True)
    search = sobercv.BBCSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3, 5]}, cv=5)
    race, whole = (search.set_params(drop=drop).fit(X, y).cv_results_ for drop in ("auto", None))
    for results in (race, pd.DataFrame(race)):
        with pytest.raises(SoberError, match="estimate_, or search with drop=None") as error:
            sobercv.correct(results)
        assert error.value.code == "E812"
    assert sobercv.correct(whole).n_configurations == 3


def test_a_pipeline_that_ends_in_a_search_is_that_search_and_what_came_before_is_noted():
    pipeline = Pipeline([("scale", StandardScaler()), ("search", GridSearchCV(TREE, GRID, cv=FOLDS))]).fit(X, Y)
    found, expected = sobercv.correct(pipeline), sobercv.correct(pipeline[-1])
    assert (found.value, found.interval, found.winner) == (expected.value, expected.interval, expected.winner)
    (note,) = [note for note in found.notes if note not in expected.notes]
    assert (note.code, "(scale) were fitted once" in note.text) == ("W301", True)
    nothing = Pipeline([("nothing", "passthrough"), ("search", pipeline[-1])])
    assert sobercv.correct(nothing).notes == expected.notes
    with pytest.raises(SoberError, match="This GridSearchCV is not fitted yet"):
        sobercv.correct(Pipeline([("scale", StandardScaler()), ("search", GridSearchCV(TREE, GRID))]))


def test_a_pickled_search_is_not_opened(tmp_path):
    path = tmp_path / "search.joblib"
    path.write_bytes(b"")
    for given in (path, str(path)):
        with pytest.raises(SoberError, match=r"does not open pickled files.*correct\(joblib\.load\(") as error:
            sobercv.correct(given)
        assert error.value.code == "E123"


def test_a_search_given_to_bbc_is_sent_to_correct():
    with pytest.raises(SoberError, match=r"got a GridSearchCV.*sobercv\.correct\(search\)") as error:
        sobercv.bbc(GridSearchCV(TREE, GRID, cv=FOLDS).fit(X, Y), "accuracy")
    assert error.value.code == "E123"


def test_what_keeps_no_search_is_not_called_unfitted():
    with pytest.raises(SoberError, match="LogisticRegressionCV") as error:
        sobercv.correct(LogisticRegressionCV(Cs=2, cv=3, max_iter=5000).fit(X[:, :3], Y))
    assert error.value.code == "E123"


def test_parameters_are_shown_as_people_write_them():
    found = sobercv.correct(
        GridSearchCV(Ridge(), {"alpha": np.array([0.1, 1.0])}, cv=5).fit(*load_diabetes(return_X_y=True))
    )
    assert "np.float64" not in str(found)


def test_dask_ml():
    search = DaskGridSearchCV(TREE, GRID, cv=5, scheduler="synchronous").fit(X, Y)
    found = sobercv.correct(search)
    by_fold = [search.cv_results_[f"split{k}_test_score"][search.best_index_] for k in range(5)]
    assert found.naive == pytest.approx(np.mean(by_fold))  # its own mean is weighted by the sizes of the folds
    assert found.winner_params == search.best_params_
    assert found.n_folds == 5


def test_winners_are_named_by_their_parameters():
    models = [Ridge(alpha=a, fit_intercept=False, max_iter=777) for a in (0.1, 10)] + [LinearRegression()]
    space = {"model": models, "scale__with_mean": [True]}
    pipeline = Pipeline([("scale", StandardScaler()), ("model", Ridge())])
    search = GridSearchCV(pipeline, space, cv=5).fit(*load_diabetes(return_X_y=True))
    found = sobercv.correct(search)
    assert found.winner_params == search.best_params_
    expected = f"model={search.best_params_['model']!r}, scale__with_mean=True"
    assert expected in str(found)
    assert expected.replace("'", "&#x27;") in found._repr_html_()


def test_naming_a_metric_judges_the_highest_mean_in_place_of_a_callable_refit():
    search = grid(scoring=["roc_auc", "accuracy"], refit=lambda results: int(np.argmin(results["mean_test_roc_auc"])))
    plain = grid(scoring=["roc_auc", "accuracy"], refit="accuracy")
    found, expected = sobercv.correct(search, "accuracy"), sobercv.correct(plain)
    assert {name: one.value for name, one in found.items()} == {name: one.value for name, one in expected.items()}
