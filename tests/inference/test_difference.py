"""Two selections on one table: each corrected as it would be alone, compared on the same draws."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import sobercv
from sobercv import SoberError, SoberWarning
from sobercv.report.families_table import families_table
from sobercv.testing import simulate

OPTIONS = {"n_bootstraps": 200, "random_state": 3}


@pytest.fixture(scope="module")
def data():
    return simulate.correlated_accuracy(n=120, c=12, seed=4)


def test_each_side_is_the_estimate_of_its_own_columns(data):
    found = sobercv.difference(data.y, data.predictions, "accuracy", first=[0, 3, 5], **OPTIONS)
    alone = sobercv.bbc(data.y, data.predictions[:, [0, 3, 5]], "accuracy", **OPTIONS)
    best = sobercv.bbc(data.y, data.predictions, "accuracy", **OPTIONS)
    assert np.array_equal(found.first.draws, alone.draws)
    assert np.array_equal(found.second.draws, best.draws)
    assert found.first.winner == [0, 3, 5][alone.winner]
    assert found.value == pytest.approx(alone.value - best.value)
    assert found.naive == alone.naive - best.naive
    assert found.interval[0] <= found.value <= found.interval[1]


def test_rules_are_compared_and_a_selection_with_itself_is_no_better(data):
    rule = sobercv.simplest_within(tolerance=0.02)
    found = sobercv.difference(data.y, data.predictions, "accuracy", first=rule, **OPTIONS)
    expected = sobercv.bbc(data.y, data.predictions, "accuracy", select=rule, **OPTIONS)
    assert np.array_equal(found.first.draws, expected.draws)
    same = sobercv.difference(data.y, data.predictions, "accuracy", first="best", second="best", **OPTIONS)
    assert (same.value, same.interval) == (0.0, (0.0, 0.0))


def test_two_fixed_configurations_differ_as_a_paired_comparison_says(data):
    """Without a choice there is nothing to correct: the mean over draws is near the plain difference."""
    found = sobercv.difference(data.y, data.predictions, "accuracy", first=[1], second=[2], n_bootstraps=2000)
    right = data.predictions == data.y[:, None]
    paired = right[:, 1].astype(float) - right[:, 2]
    error = paired.std() / np.sqrt(len(paired))
    assert abs(found.value - paired.mean()) < 5 * 1.31 * error / np.sqrt(2000) + 1e-3
    # a draw judges 36.8 % of the samples: 1.31 times the standard error of all of them
    assert np.std(found.draws) == pytest.approx(1.31 * error, rel=0.1)


def test_procedures_are_compared_on_the_same_draws():
    data = simulate.binormal_auc(n=90, c=8, seed=2)
    chances = 1 / (1 + np.exp(-data.predictions))
    tuned, mixed = sobercv.best_with_threshold(), sobercv.greedy_ensemble(size=5)
    found = sobercv.difference(data.y, chances, "f1", first=tuned, second="best", **OPTIONS)
    first = sobercv.bbc(data.y, chances, "f1", select=tuned, **OPTIONS)
    second = sobercv.bbc(data.y, chances, "f1", **OPTIONS)
    np.testing.assert_array_equal(found.draws, first.draws - second.draws)
    mix = sobercv.bbc(data.y, chances, "roc_auc", select=mixed, **OPTIONS)
    gap = sobercv.difference(data.y, chances, "roc_auc", first=mixed, **OPTIONS)
    assert (gap.value, gap.interval) == (mix.gain, mix.gain_interval)


def test_groups_widen_the_gain_of_a_mix_as_they_widen_a_difference():
    """Four groups said that a mix was .03 to .24 better: its interval did not know that units were few."""
    data = simulate.binormal_auc(n=90, c=8, seed=1)
    chances, options = 1 / (1 + np.exp(-data.predictions)), {**OPTIONS, "groups": np.arange(90) // 3}
    mix = sobercv.bbc(data.y, chances, select=sobercv.stacked_ensemble(), **options)
    gap = sobercv.difference(data.y, chances, first=sobercv.stacked_ensemble(), **options)
    assert (gap.value, gap.interval) == (mix.gain, mix.gain_interval)


def test_handed_draws_judge_one_configuration_of_a_procedure_too():
    """`gain_over` drew anew where `counts` were handed in, and failed on their number."""
    data = simulate.binormal_auc(n=60, c=4, seed=1)
    counts = np.random.default_rng(0).multinomial(60, np.full(60, 1 / 60), 50)
    select = sobercv.best_with_threshold()
    found = sobercv.bbc(data.y, data.predictions, "f1", select=select, counts=counts).gain_over(0)
    with pytest.warns(SoberWarning, match="only one configuration"):
        alone = sobercv.bbc(data.y, data.predictions[:, :1], "f1", select=select, counts=counts)
    assert np.array_equal(found.second.draws, alone.draws)


def test_fixed_models_draw_the_interval_together(data):
    """For two fixed columns it is then that of a paired comparison: draws judge 37 % of the samples, and vary more."""
    options = {"first": [1], "second": [2], "n_bootstraps": 2000, "random_state": 0}
    wide = sobercv.difference(data.y, data.predictions, "accuracy", **options)
    near = sobercv.difference(data.y, data.predictions, "accuracy", interval="fixed_models", **options)
    right = data.predictions == data.y[:, None]
    paired = right[:, 1].astype(float) - right[:, 2]
    error = paired.std() / np.sqrt(len(paired))
    assert near.value == wide.value
    assert np.diff(near.interval)[0] == pytest.approx(2 * 1.96 * error, rel=0.07)
    assert np.diff(wide.interval)[0] == pytest.approx(2 * 1.96 * 1.31 * error, rel=0.07)
    mixed = sobercv.greedy_ensemble(size=3)
    gains = [
        sobercv.bbc(data.y, 0.1 + 0.8 * data.predictions, "accuracy", select=mixed, interval=interval, **OPTIONS)
        for interval in ("calibrated", "fixed_models")
    ]
    wide_gain, near_gain = (np.diff(one.gain_interval)[0] for one in gains)
    assert near_gain == pytest.approx(0.763 * wide_gain, rel=1e-3)


def test_the_interval_reaches_nothing_where_both_select_the_same(data):
    winner = sobercv.bbc(data.y, data.predictions, "accuracy", **OPTIONS).winner
    found = sobercv.difference(
        data.y, data.predictions, "accuracy", first=[winner], second="best", interval="fixed_models", **OPTIONS
    )
    assert found.value > 0  # resamples that take another one lose by it
    assert found.interval[0] == 0.0


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"first": [99]}, "E122"),
        ({"first": 99}, "E122"),
        ({"first": []}, "E122"),
        ({"first": [0], "select": "best"}, "E114"),
    ],
)
def test_what_means_nothing_is_refused(data, options, code):
    with pytest.raises(SoberError) as error:
        sobercv.difference(data.y, data.predictions, "accuracy", **options)
    assert error.value.code == code
    with pytest.raises(SoberError) as error:
        sobercv.difference(data.y, data.predictions, ["accuracy"], first=[0])
    assert error.value.code == "E114"


@pytest.fixture(scope="module")
def search():
    X, y = make_classification(150, 6, flip_y=0.2, random_state=1)
    pipeline = Pipeline([("scale", StandardScaler()), ("model", LogisticRegression())])
    grid = [
        {"model": [LogisticRegression()], "model__C": [0.01, 1.0]},
        {"model": [DecisionTreeClassifier(random_state=0)], "model__max_depth": [1, 3, None]},
    ]
    return sobercv.BBCSearchCV(pipeline, grid, scoring="roc_auc", cv=5, drop=None, n_bootstraps=200).fit(X, y)


def test_families_of_a_search(search):
    found = search.families()
    assert sorted(len(family.configurations) for family in found) == [2, 3]
    assert [f.estimate.value for f in found] == sorted((f.estimate.value for f in found), reverse=True)
    assert sum(family.share for family in found) == pytest.approx(1.0)
    for family in found:
        table = search.predictions_.take_configurations(family.configurations)
        alone = sobercv.bbc(None, table, "roc_auc", n_bootstraps=200)
        assert family.estimate.value == alone.value
        assert family.difference.value == pytest.approx(alone.value - search.estimate_.value)
    assert sum(" 2 configurations, " in repr(family) for family in found) == 1
    home = next(f for f in found if search.best_index_ in f.configurations)
    assert home.may_be_as_good
    assert home.difference.naive == 0.0


def test_families_by_parameter_function_and_label(search):
    by_depth = {f.name for f in search.families("model__max_depth")}
    assert by_depth == {"no model__max_depth", "model__max_depth=1", "model__max_depth=3", "model__max_depth=None"}
    assert {f.name for f in search.families(lambda params: len(params) > 1)} == {"True"}
    assert {f.name for f in search.families(["a", "b", "a", "b", "a"])} == {"a", "b"}
    for by, code in (("gamma", "E122"), (["a"], "E101")):
        with pytest.raises(SoberError) as error:
            search.families(by)
        assert error.value.code == code


def test_families_of_which_nobody_finished():
    """A race may leave one survivor; the others are compared by the predictions that they have."""
    X, y = make_classification(200, 8, n_informative=3, flip_y=0.15, random_state=2)
    pipeline = Pipeline([("model", LogisticRegression())])
    grid = [
        {"model": [LogisticRegression()], "model__C": [1e-5, 0.1, 1.0]},
        {"model": [DecisionTreeClassifier(random_state=0)], "model__max_depth": [1, 2, 8]},
    ]
    options = {"scoring": "accuracy", "n_bootstraps": 200, "random_state": 0}
    raced = sobercv.BBCSearchCV(pipeline, grid, **options).fit(X, y)
    kinds = {f.name: f for f in raced.families()}
    assert len(kinds) == 2
    assert (raced.race_.status == "dropped").sum() >= 3
    full = {f.name: f for f in sobercv.BBCSearchCV(pipeline, grid, drop=None, **options).fit(X, y).families()}
    for name, family in kinds.items():
        assert family.estimate.winner in family.configurations
        assert family.estimate.value == pytest.approx(full[name].estimate.value, abs=0.04)
        assert family.difference.value == pytest.approx(full[name].difference.value, abs=0.04)
        assert family.difference.interval[0] <= family.difference.value <= family.difference.interval[1]


@pytest.mark.parametrize(
    ("scoring", "select"), [("f1", sobercv.best_with_threshold()), ("roc_auc", sobercv.average_of_best(2))]
)
def test_families_of_what_is_tuned_are_tuned_on_their_members(scoring, select, search):
    X, y = make_classification(100, 6, flip_y=0.2, random_state=1)
    tuned = sobercv.BBCSearchCV(
        search.estimator, search.param_grid, scoring=scoring, cv=5, select=select, n_bootstraps=100
    ).fit(X, y)
    first, second = tuned.families()
    assert first.estimate.value > second.estimate.value
    for family in (first, second):
        table = tuned.predictions_.take_configurations(family.configurations)
        alone = sobercv.bbc(None, table, scoring, select=select, n_bootstraps=100, random_state=tuned.estimate_.seed)
        np.testing.assert_array_equal(family.estimate.draws, alone.draws)
        assert family.estimate.decision == alone.decision
        assert family.estimate.winner in family.configurations
    assert first.share + second.share == pytest.approx(1.0)
    tables = families_table(tuned)
    assert (not tables) == select.stands_beside
    assert all([row[0] for row in table.rows[1:]] == [first.name, second.name] for table in tables)


# ---- was tuning worth it? --------------------------------------------------------------------------------------------
def test_the_gain_over_a_configuration_is_the_difference_to_it_alone(data):
    estimate = sobercv.bbc(data.y, data.predictions, "accuracy", **OPTIONS)
    found = estimate.gain_over(3)
    expected = sobercv.difference(data.y, data.predictions, "accuracy", first="best", second=[3], **OPTIONS)
    assert np.array_equal(found.draws, expected.draws)
    assert (found.value, found.interval) == (expected.value, expected.interval)


@pytest.mark.parametrize("select", [sobercv.best_with_threshold(), sobercv.average_of_best(3)])
def test_the_gain_of_a_procedure_is_over_the_same_for_one_configuration(select):
    data = simulate.binormal_auc(n=90, c=6, seed=2)
    chances = 1 / (1 + np.exp(-data.predictions))
    found = sobercv.bbc(data.y, chances, "balanced_accuracy", select=select, **OPTIONS).gain_over(2)
    with pytest.warns(SoberWarning, match="only one configuration"):
        alone = sobercv.bbc(data.y, chances[:, [2]], "balanced_accuracy", select=select, **OPTIONS)
    assert found.second.value == alone.value
    assert found.interval[0] <= found.value <= found.interval[1]


def test_every_metric_has_a_gain_at_the_same_winner(data):
    both = sobercv.bbc(data.y, data.predictions, ["accuracy", "balanced_accuracy"], **OPTIONS)
    for name, estimate in both.items():
        assert estimate.gain_over(1).second.metric == name
    assert both["balanced_accuracy"].gain_over(1).value != both["accuracy"].gain_over(1).value


def test_the_gain_is_said_in_words(data):
    estimate = sobercv.bbc(data.y, data.predictions, "accuracy", **OPTIONS)
    assert estimate.winner > 0
    assert estimate.gain_over(estimate.winner).sentence() == (
        f"The winner is configuration {estimate.winner}: tuning changed nothing."
    )
    worst = int(np.argmin(estimate.scores))
    wrong = data.predictions.copy()
    wrong[:, worst] = 1 - data.y
    clear = sobercv.bbc(data.y, wrong, "accuracy", **OPTIONS).gain_over(worst)
    assert clear.sentence("C=1").endswith("clearly better than C=1.")
    assert clear.sentence().startswith("Tuning gained 0.")
    lost = replace(clear, value=-0.041, interval=(-0.5, 0.1))
    said = "Tuning changed the score by -0.041 (95 % interval -0.500 to 0.100): not clearly better than C=1."
    assert lost.sentence("C=1") == said, "the number and the interval have one sign"
    near = np.repeat(data.predictions[:, [0]], 3, axis=1)
    near[0, 0], near[0, 1:] = 1 - data.y[0], data.y[0]  # the others are right on one sample more
    found = sobercv.bbc(data.y, near, "accuracy", **OPTIONS)
    assert found.winner == 1
    assert ": not clearly better than the first configuration." in found.gain_over(0).sentence()


def test_a_gain_needs_a_configuration_that_is_there_and_the_predictions(data):
    estimate = sobercv.bbc(data.y, data.predictions, "accuracy", **OPTIONS)
    with pytest.raises(SoberError, match="There is no configuration 99 to compare with"):
        estimate.gain_over(99)
    again = pickle.loads(pickle.dumps(estimate))
    assert again.value == estimate.value
    with pytest.raises(SoberError, match="no longer has the predictions"):
        again.gain_over(0)


def test_a_search_tells_whether_tuning_was_worth_it():
    X, y = make_classification(200, 8, flip_y=0.2, random_state=3)
    grid = {"C": [1e-4, 0.01, 1.0, 100.0]}
    search = sobercv.BBCSearchCV(LogisticRegression(), grid, cv=5, scoring="roc_auc", n_bootstraps=200).fit(X, y)
    found = search.gain_over()
    assert found.first.value == search.estimate_.value
    assert found.second.winner == 0
    assert search.gain_over(1).second.winner == 1


def test_fold_scores_tell_it_too():
    X, y = make_classification(200, 8, flip_y=0.2, random_state=3)
    search = GridSearchCV(LogisticRegression(), {"C": [1e-4, 0.01, 1.0]}, cv=5, scoring="roc_auc").fit(X, y)
    found = sobercv.correct(search).gain_over(0)
    folds = np.array([search.cv_results_[f"split{k}_test_score"] for k in range(5)])
    assert found.second.naive == pytest.approx(folds[:, 0].mean())
    assert found.interval[0] <= found.value <= found.interval[1]
    with pytest.raises(SoberError, match="There is no configuration 7"):
        sobercv.correct(search).gain_over(7)


@pytest.mark.parametrize("n_folds", [3, 5, 10])
def test_few_folds_that_agree_are_no_clear_gain(n_folds):
    """All folds may agree by chance: with 3 folds 'clearly better' was said with an interval of .009 to .010."""
    scores = np.column_stack([np.linspace(0.70, 0.74, n_folds), np.linspace(0.709, 0.75, n_folds)])
    found = sobercv.correct(scores).gain_over(0)
    assert ("does not show that the winner differs" in found.sentence()) == (n_folds < 6)
    draws = found.draws
    spread = np.quantile(draws, 0.975) - np.quantile(draws, 0.025)
    assert found.interval[1] - found.interval[0] > (1.2 if n_folds > 5 else 1.5) * spread
