"""Dropping saves fits, never loses the winner of the table, and every rule can be replaced."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import LeaveOneOut, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import sobercv
from sobercv.errors import SoberError, SoberWarning
from sobercv.inference import DropVerdict

X, Y = (a[::2] for a in load_breast_cancer(return_X_y=True))
PIPELINE = Pipeline([("scale", StandardScaler()), ("model", LogisticRegression())])
GRID = {"model__C": [1e-8, 1e-6, 1e-4, 1e-2, 1, 100]}  # from hopeless to good


def search(**options):
    shared = {"scoring": "neg_log_loss", "cv": 5, "n_bootstraps": 50}
    return sobercv.BBCSearchCV(PIPELINE, GRID, **{**shared, **options})


class Fixed:
    """Drops configurations by their index for life: {round: [indices]}; remembers what it was asked."""

    def __init__(self, schedule):
        self.schedule, self.asked = schedule, []

    def __call__(self, predictions, question, round_index):
        self.asked.append(
            (
                round_index,
                question.first.name,
                question.seed,
                predictions.configurations.tolist(),
                len(predictions.rows),
            )
        )
        gone = np.isin(predictions.configurations, self.schedule.get(round_index, []))
        return DropVerdict(~gone, np.where(gone, 0.999, 0.1), -1)


@pytest.mark.parametrize("drop", ["auto", "bced"])
def test_the_dropped_are_marked_and_come_after_all_finishers(drop):
    one = search(drop=drop).fit(X, Y)
    table, log = one.cv_results_, one.race_
    dropped = log.status == "dropped"
    assert 0 < dropped.sum() < 6
    assert set(log.status) == {"dropped", "finished"}
    assert table["status"].tolist() == log.status.tolist()
    assert np.array_equal(table["dropped_at"].mask, ~dropped)
    assert table["dropped_at"].compressed().tolist() == log.dropped_at[dropped].tolist()
    assert (log.p[dropped] > 0.99).all()
    assert np.isnan(log.p[~dropped]).all()
    assert table["rank_test_score"][dropped].min() > table["rank_test_score"][~dropped].max()
    assert table["rank_test_score"][one.best_index_] == 1
    assert one.predictions_.configurations.tolist() == np.flatnonzero(~dropped).tolist()
    assert one.estimate_.configurations.tolist() == list(range(6))  # the dropped take part in the correction
    paper = search(drop=drop, count_dropped=False).fit(X, Y)
    assert paper.estimate_.configurations.tolist() == np.flatnonzero(~dropped).tolist()


def test_what_was_not_run_has_no_score_and_costs_no_fit():
    rule = Fixed({0: [0, 1], 2: [2], 4: [3]})
    one = search(drop=rule).fit(X, Y)
    ran = np.stack([~np.isnan(one.cv_results_[f"split{i}_test_score"]) for i in range(5)], axis=1)
    assert ran.sum(axis=1).tolist() == [1, 1, 3, 5, 5, 5]
    assert one.n_fits_ == ran.sum() + 1 == 21
    assert one.race_.n_fits_saved == 30 - 20
    assert one.race_.alive_by_round.tolist() == [4, 4, 3, 3, 2]
    assert one.race_.dropped_at.tolist() == [0, 0, 2, 4, -1, -1]
    assert repr(one.race_) == "RaceLog(2 finished, 4 dropped, 0 failed, 20 fits, 10 saved)"
    scores = np.stack([one.cv_results_[f"split{i}_test_score"] for i in range(5)], axis=1)
    np.testing.assert_allclose(one.cv_results_["mean_test_score"], np.nanmean(scores, axis=1), rtol=1e-12)
    # Those dropped later come first, whatever their scores say; among those of one round the score decides.
    assert one.cv_results_["rank_test_score"].tolist()[2:4] == [4, 3]
    assert sorted(one.cv_results_["rank_test_score"][:2]) in ([5, 6], [5, 5])


def test_scores_of_all_that_ran_are_those_of_the_search_without_dropping():
    full, one = search(drop=None).fit(X, Y), search(drop="bced").fit(X, Y)
    for i in range(5):
        mine = one.cv_results_[f"split{i}_test_score"]
        ran = ~np.isnan(mine)
        assert np.array_equal(mine[ran], full.cv_results_[f"split{i}_test_score"][ran])
    finished = one.race_.finishers
    assert np.array_equal(
        one.cv_results_["pooled_test_score"][finished], full.cv_results_["pooled_test_score"][finished]
    )
    assert one.best_index_ == full.best_index_
    assert full.n_fits_ == 5 * 6 + 1


def test_rules_are_asked_after_every_round_about_all_that_live():
    rule = Fixed({1: [0]})
    search(drop=rule, random_state=7).fit(X, Y)
    assert [asked[0] for asked in rule.asked] == list(range(5))
    assert [asked[3] for asked in rule.asked] == [[0, 1, 2, 3, 4, 5]] * 2 + [[1, 2, 3, 4, 5]] * 3
    assert [asked[4] for asked in rule.asked] == [57, 114, 171, 228, 285]
    assert {asked[1:3] for asked in rule.asked} == {("neg_log_loss", 7)}


@pytest.mark.parametrize(
    ("name", "rule"), [("auto", sobercv.PredictiveDrop(0.01)), ("bced", sobercv.BootstrapDrop(0.99, 50, 1000))]
)
def test_names_are_rules_with_their_defaults_and_draws_depend_on_nothing_else(name, rule):
    auto = search(drop=name, random_state=3).fit(X, Y)
    own = search(drop=rule, random_state=3).fit(X, Y)
    assert auto.race_.p.tobytes() == own.race_.p.tobytes()
    assert repr(auto.drop_rule_) == repr(rule)
    asked = []

    def spy(predictions, question, round_index):
        asked.append(question)
        return rule(predictions, question, round_index)

    spied = search(drop=spy, random_state=3).fit(X, Y)
    assert spied.race_.p.tobytes() == auto.race_.p.tobytes()
    assert all(question is spied.question_ for question in asked)  # the rule that drops, selects and judges is one


def test_nobody_is_dropped_before_the_guard():
    late = search(drop=sobercv.BootstrapDrop(min_predictions=200)).fit(X, Y)
    assert late.race_.dropped_at.max() == 3  # 4 folds of 57 are the first 200
    assert set(late.race_.dropped_at) <= {-1, 3, 4}
    never = search(drop=sobercv.BootstrapDrop(min_predictions=10_000)).fit(X, Y)
    assert never.race_.finishers.all()
    assert never.estimate_.to_dict() == search(drop=None).fit(X, Y).estimate_.to_dict()


def test_a_lower_threshold_drops_more():
    fits = [search(drop=sobercv.BootstrapDrop(threshold=t)).fit(X, Y).n_fits_ for t in (0.5, 0.9, 0.999)]
    assert fits == sorted(fits)
    assert fits[0] < fits[-1]


def test_equals_are_never_dropped():
    one = sobercv.BBCSearchCV(GaussianNB(), {"var_smoothing": [1e-9] * 4}, cv=5, n_bootstraps=50).fit(X, Y)
    assert one.race_.finishers.all()
    assert one.best_index_ == 0
    assert one.cv_results_["rank_test_score"].tolist() == [1, 1, 1, 1]


def test_later_repeats_are_run_by_survivors_only():
    one = search(n_repeats=3, drop="bced").fit(X, Y)
    assert (one.race_.dropped_at < 5).all()
    assert one.n_fits_ == 5 * 3 * one.race_.finishers.sum() + (one.race_.dropped_at + 1).sum() + 1
    assert one.predictions_.is_complete
    assert one.predictions_.n_repeats == 3


@pytest.mark.parametrize("metric", ["roc_auc", "accuracy", "neg_brier_score", "f1"])
@pytest.mark.parametrize("aggregate", ["pooled", "fold"])
def test_every_kind_of_metric_can_be_raced_over_repeats(metric, aggregate):
    one = search(scoring=metric, aggregate=aggregate, n_repeats=2, drop="auto").fit(X, Y)
    score = one.cv_results_["mean_test_score" if aggregate == "fold" else "pooled_test_score"]
    assert one.best_index_ == np.where(one.race_.finishers, score, -np.inf).argmax()
    assert one.estimate_.naive == pytest.approx(score[one.best_index_], rel=1e-12)


@pytest.mark.parametrize(
    "cv", [ShuffleSplit(6, test_size=0.3, random_state=0), LeaveOneOut()], ids=["hold-outs", "loo"]
)
def test_splits_that_are_no_partition_can_be_raced(cv):
    X_few, Y_few = X[:90], Y[:90]
    one = sobercv.BBCSearchCV(
        GaussianNB(), {"var_smoothing": [1e-9, 1e-6, 10.0]}, cv=cv, n_bootstraps=50, drop="auto", scoring="accuracy"
    ).fit(X_few, Y_few)
    assert one.race_.status[2] == "dropped"
    assert one.n_fits_ < 3 * one.n_splits_
    assert len(one.race_.alive_by_round) <= 20  # leave-one-out asks after several rows, not after each


def test_one_survivor_is_no_lack_of_configurations():
    one = search(drop=Fixed({1: [0, 1, 2, 3, 5]}), count_dropped=False).fit(X, Y)  # no W202: there was a choice
    assert one.best_index_ == 4
    assert one.estimate_.n_configurations == 1
    assert "were dropped early" in one.estimate_.notes[0].text
    assert one.estimate_.notes[0].code == "W202"


def test_auto_is_the_papers_rule_where_another_rule_than_the_best_selects():
    one = search(select=sobercv.simplest_within(tolerance=0.05)).fit(X, Y)
    assert isinstance(one.drop_rule_, sobercv.BootstrapDrop)
    assert search(drop=None).fit(X, Y).drop_rule_ is None


@pytest.mark.parametrize(("n", "first"), [(60, 4), (100, 1)])
def test_few_samples_are_raced_late(n, first):
    """Below 80 samples nobody is dropped before 50 predictions; from there on after 20."""
    one = search(cv=5).fit(X[:n], Y[:n])
    assert one.race_.dropped_at[one.race_.dropped_at >= 0].min(initial=9) >= first - 1
    assert (one.race_.dropped_at >= 0).any() == (n >= 80)


# ---- the other rules -------------------------------------------------------------------------------------------------
def test_selection_rules_pick_the_winner_and_are_run_in_every_resample():
    def worst(scores):
        asked.append(scores.shape)
        return scores.argmin(axis=1)

    asked = []
    one = search(select=worst, drop=None).fit(X, Y)
    assert one.best_index_ == one.cv_results_["pooled_test_score"].argmin()
    assert one.estimate_.win_counts[one.best_index_] > 25
    assert (1, 6) in asked
    assert sum(b for b, c in asked if b > 1) == 50


def test_the_simplest_within_a_tolerance():
    best, simple = (
        search(drop=None).fit(X, Y),
        search(drop=None, select=sobercv.simplest_within(tolerance=0.2)).fit(X, Y),
    )
    score = best.cv_results_["pooled_test_score"]
    assert simple.best_index_ == np.flatnonzero(score >= score.max() - 0.2)[0] < best.best_index_
    assert simple.estimate_.value < best.estimate_.value
    assert simple.predict(X).shape == Y.shape


@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("rule", [{"tolerance": 0.1}, {"standard_errors": 1.0}, {}], ids=str)
def test_complexities_follow_the_survivors(rule, counted):
    """Each configuration has its complexity for life, also after others were dropped."""
    complexity = np.array([1, 2, 3, 6, 5, 4])
    select = sobercv.simplest_within(**rule, complexity=complexity)
    drop = Fixed({0: [0], 1: [1]})
    one = search(select=select, drop=drop, count_dropped=counted).fit(X, Y)
    alive = np.arange(6) if counted else one.predictions_.configurations
    full = sobercv.bbc(
        None, one.predictions_, "neg_log_loss", n_bootstraps=50, random_state=0,
        select=sobercv.simplest_within(**rule, complexity=complexity[alive]),
    )  # fmt: skip
    assert one.best_index_ == full.winner
    assert one.estimate_.draws.tolist() == full.draws.tolist()
    again = search(select=select, drop="auto").fit(X, Y)
    assert again.race_.status[0] == "dropped"


def test_the_compromise_lies_between():
    plain = search(drop=None, interval="percentile").fit(X, Y).estimate_
    between = plain.as_632plus()
    assert plain.value < between.value < between.naive == plain.naive
    assert between.method == "632+"
    assert between.interval == pytest.approx(np.array(plain.interval) + between.value - plain.value)


def test_strata_keep_rare_classes_in_every_resample():
    rare = np.concatenate([np.flatnonzero(Y == 1)[:80], np.flatnonzero(Y == 0)[:6]])
    options = {"scoring": "roc_auc", "cv": 3, "drop": None, "n_bootstraps": 400}
    with pytest.warns(SoberWarning, match="stratify=True.*W201"):
        plain = search(**options).fit(X[rare], Y[rare]).estimate_
    strata = search(**options, stratify=True).fit(X[rare], Y[rare]).estimate_
    assert strata.n_undefined < 0.05 * 400 < plain.n_undefined


def test_confidence_level_sets_the_interval_only():
    narrow, wide = (search(drop=None, confidence_level=c).fit(X, Y).estimate_ for c in (0.5, 0.99))
    assert narrow.value == wide.value
    assert wide.interval[0] < narrow.interval[0] < narrow.interval[1] < wide.interval[1]
    assert wide.interval_at(0.5) == narrow.interval


def test_within_folds_is_for_ranks():
    one = search(scoring="roc_auc", aggregate="within_folds", drop=None).fit(X, Y)
    again = sobercv.bbc(None, one.predictions_, "roc_auc", aggregate="within_folds", n_bootstraps=50, random_state=0)
    assert one.estimate_.draws.tolist() == again.draws.tolist()
    fits = []

    class Counted(GaussianNB):
        def fit(self, X, y):
            fits.append(1)
            return super().fit(X, y)

    with pytest.raises(SoberError, match="within_folds") as caught:
        sobercv.BBCSearchCV(Counted(), {}, aggregate="within_folds", scoring="accuracy").fit(X, Y)
    assert caught.value.code == "E114"
    assert not fits  # refused before anything was trained


def test_the_dropped_take_part_in_the_correction():
    """Fewer models, the same winner, an estimate that knows of the race; the same bits for any number of jobs."""
    X, y = make_classification(200, 10, n_informative=3, flip_y=0.2, random_state=3)
    grid = {"C": np.logspace(-4, 2, 12)}
    options = {"scoring": "roc_auc", "n_bootstraps": 200, "drop": sobercv.PredictiveDrop(0.01)}
    found = {}
    for name, more in {
        "left out": {"count_dropped": False},
        "counted": {},
        "two": {"n_jobs": 2},
    }.items():
        found[name] = sobercv.BBCSearchCV(LogisticRegression(), grid, **options, **more).fit(X, y)
    out, counted, two = found.values()
    assert (out.race_.status == "dropped").any()
    assert len(counted.estimate_.configurations) == 12
    assert len(out.estimate_.configurations) == (out.race_.status == "finished").sum()
    assert "W217" in {note.code for note in counted.estimate_.notes}
    assert counted.best_index_ == out.best_index_
    assert np.array_equal(counted.estimate_.draws, two.estimate_.draws)
    assert counted.n_fits_ == two.n_fits_
    assert np.array_equal(counted.cv_results_["status"], two.cv_results_["status"])


def test_a_rule_that_remembers_gets_a_memory_for_each_race():
    X, y = make_classification(120, 6, random_state=0)
    rule = sobercv.BettingDrop()
    search = sobercv.BBCSearchCV(LogisticRegression(), {"C": np.logspace(-6, 1, 8)}, scoring="accuracy", drop=rule)
    first = search.fit(X, y).race_
    assert search.fit(X, y).race_.dropped_at.tolist() == first.dropped_at.tolist()
