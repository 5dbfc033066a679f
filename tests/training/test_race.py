from dataclasses import FrozenInstanceError, dataclass

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, LeaveOneOut, ShuffleSplit
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sobercv.errors import SoberError
from sobercv.search.progress import listening
from sobercv.training import (
    Dropped,
    Experiment,
    Failed,
    Fitted,
    MemoryStore,
    Plan,
    Problem,
    RoundEnded,
    RoundStarted,
    expand,
)
from sobercv.training.pool.base import SerialPool
from sobercv.training.race import race

from .training_estimators import LABELS, Troubled, search

X, Y = (a[::4] for a in load_breast_cancer(return_X_y=True))
SIZES = {"size": [0, 1, 2, 3]}


@dataclass
class Decision:
    keep: np.ndarray
    p: np.ndarray


def drops(schedule):
    """Make a rule that drops configurations by their index for life: {round: [indices]}."""
    asked = []

    def rule(predictions, index):
        asked.append((index, predictions.configurations.tolist(), int(predictions.seen.sum())))
        gone = np.isin(predictions.configurations, schedule.get(index, []))
        return Decision(~gone, np.where(gone, 0.995, 0.5)) if gone.any() else None

    rule.asked = asked
    return rule


def test_without_a_rule_everything_is_fitted():
    store, log, _ = search(Troubled(), SIZES, X, Y, cv=5)
    assert log.status.tolist() == ["finished"] * 4
    assert (log.n_fits, log.n_fits_saved, log.alive_by_round.tolist()) == (20, 0, [4])
    assert log.finishers.all()
    assert log.dropped_at.tolist() == [-1] * 4
    assert np.isnan(log.p).all()
    assert store.done.all()
    assert repr(log) == "RaceLog(4 finished, 0 dropped, 0 failed, 20 fits, 0 saved)"


def test_the_rule_is_asked_after_every_round_the_last_included():
    rule = drops({1: [3], 2: [0], 4: [2]})
    store, log, plan = search(Troubled(), SIZES, X, Y, cv=5, rule=rule)
    sizes = np.cumsum([len(split.test) for split in plan.splits]).tolist()
    assert rule.asked == [
        (0, [0, 1, 2, 3], sizes[0]),
        (1, [0, 1, 2, 3], sizes[1]),
        (2, [0, 1, 2], sizes[2]),
        (3, [1, 2], sizes[3]),
        (4, [1, 2], sizes[4]),
    ]
    assert log.status.tolist() == ["dropped", "finished", "dropped", "dropped"]
    assert log.dropped_at.tolist() == [2, -1, 4, 1]
    assert log.p[[0, 2, 3]].tolist() == [0.995] * 3
    assert np.isnan(log.p[1])
    assert (log.n_fits, log.n_fits_saved) == (4 * 2 + 3 + 2 + 2, 5)
    assert log.alive_by_round.tolist() == [4, 3, 2, 2, 1]
    assert store.predictions(log.finishers).configurations.tolist() == [1]
    assert store.done.sum(axis=1).tolist() == [3, 5, 5, 2]


def test_rounds_of_leave_one_out_and_hold_outs():
    rule = drops({})
    search(Troubled(), SIZES, X[:60], Y[:60], cv=LeaveOneOut(), rule=rule)
    assert [seen for _, _, seen in rule.asked] == list(range(3, 61, 3))
    rule = drops({0: [1]})
    _, log, plan = search(Troubled(), SIZES, X, Y, cv=ShuffleSplit(3, test_size=20, random_state=0), rule=rule)
    assert [seen for _, _, seen in rule.asked] == [20, 40, 60]
    assert plan.n_repeats == 3
    assert log.n_fits == 4 + 3 + 3


def test_a_rule_may_look_at_repeats():
    rule = drops({3: [0]})
    _, log, plan = search(Troubled(), SIZES, X, Y, cv=3, n_repeats=2, rule=rule)
    assert plan.n_rounds == len(rule.asked) == 6
    assert log.dropped_at[0] == 3
    assert log.n_fits == 4 * 4 + 3 * 2


def test_the_failed_are_set_aside_and_the_others_go_on():
    grid = {"trouble": ["none", "raise", "none", "raise late"]}
    rows = np.arange(len(X), dtype=float)[:, None]
    rule = drops({})
    _, log, _ = search(Troubled(), grid, rows, Y, cv=5, rule=rule)
    assert log.status.tolist() == ["finished", "failed", "finished", "failed"]
    assert str(log.failures[1]) == "fold 1 of repeat 1: RuntimeError: no luck today"
    assert str(log.failures[3]) == "fold 1 of repeat 1: RuntimeError: row 0 is missing"
    assert [alive for _, alive, _ in rule.asked] == [[0, 2]] * 5
    assert log.n_fits == 2 * 5 + 2
    unruled, log, _ = search(Troubled(), grid, rows, Y, cv=5)
    assert log.status.tolist() == ["finished", "failed", "finished", "failed"]
    assert log.n_fits == 20
    assert unruled.predictions().configurations.tolist() == [0, 2]


@pytest.mark.parametrize("rule", [None, drops({})])
def test_when_all_fail_the_first_cause_is_shown(rule):
    with pytest.raises(SoberError) as error:
        search(Troubled(), {"trouble": ["predict", "raise"]}, X, Y, rule=rule)
    assert error.value.code == "E315"
    assert error.value.message == (
        "All 2 configurations failed; the first failure was in configuration 0, fold 1 of repeat 1: "
        "OSError: the disk is full"
    )
    with pytest.raises(SoberError, match="The only configuration failed"):
        search(Troubled(), {"trouble": ["raise"]}, X, Y, rule=rule)


@pytest.mark.parametrize(
    "decision",
    [
        Decision(np.zeros(4, bool), np.ones(4)),
        Decision(np.ones(3, bool), np.ones(3)),
        Decision(np.ones(4), np.ones(4)),
        Decision(np.ones(4, bool), np.ones(2)),
    ],
)
def test_rules_that_answer_nonsense(decision):
    with pytest.raises(SoberError) as error:
        search(Troubled(), SIZES, X, Y, rule=lambda predictions, index: decision)
    assert error.value.code == "E117"
    assert "for 4 configurations" in error.value.message


def test_events_tell_the_story_in_order():
    events = []
    grid = {"trouble": ["none", "raise", "none"]}
    _, log, _ = search(Troubled(), grid, X, Y, cv=3, rule=drops({1: [2]}), on_event=events.append)
    told = [event for event in events if not isinstance(event, Fitted)]
    assert [type(event) for event in told] == [
        RoundStarted,
        Failed,
        RoundEnded,
        RoundStarted,
        Dropped,
        RoundEnded,
        RoundStarted,
        RoundEnded,
    ]
    assert told[0] == RoundStarted(0, 3, 3)
    assert told[1] == Failed(1, 0, log.failures[1])
    assert told[4] == Dropped(2, 1, 0.995)
    assert (told[-1].n_alive, told[-1].n_fits) == (1, 6)
    assert sum(isinstance(event, Fitted) for event in events) == log.n_fits == 6
    assert sum(event.ok for event in events if isinstance(event, Fitted)) == 5
    with pytest.raises(FrozenInstanceError):
        told[0].n_alive = 9


def test_a_listener_that_raises_changes_nothing():
    def listener(event):
        raise RuntimeError("I do not like this")

    with pytest.warns(UserWarning, match="I do not like this") as caught, listening(listener, 0) as tell:
        _, log, _ = search(Troubled(), SIZES, X, Y, on_event=tell)
    assert [w.message.code for w in caught] == ["W602"]
    assert log.finishers.all()


def test_what_the_store_has_is_not_fitted_again():
    problem = Problem.build(X, Y, task="classification")
    plan, configurations = Plan.build(problem, 4), expand(SIZES)
    whole, _, _ = search(Troubled(), SIZES, X, Y, cv=4)
    for n_before in (0, 3, 7, 16):
        store = MemoryStore(problem, plan, 4)
        outcomes = []
        experiment = Experiment(problem, Troubled(), LABELS)
        race(experiment, configurations, plan, pool=Recorder(outcomes), store=MemoryStore(problem, plan, 4))
        for outcome in outcomes[:n_before]:
            store.record(outcome)
        fresh = Recorder([])
        log = race(experiment, configurations, plan, pool=fresh, store=store, rule=drops({}))
        assert len(fresh.outcomes) == 16 - n_before
        assert log.n_fits == 16
        np.testing.assert_array_equal(
            store.predictions().responses["predict"], whole.predictions().responses["predict"]
        )


class Recorder(SerialPool):
    """Keeps the outcomes that pass through."""

    def __init__(self, outcomes):
        super().__init__()
        self.outcomes = outcomes

    def wait(self, seconds):
        reports = super().wait(seconds)
        self.outcomes += [outcome for report in reports for outcome in report.outcomes]
        return reports


def test_fold_means_are_those_of_grid_search():
    X3, Y3 = load_iris(return_X_y=True)
    pipe = Pipeline([("scale", StandardScaler()), ("model", LogisticRegression())])
    grid = [{"model__C": [0.01, 1]}, {"model": [SVC()], "model__C": [0.01, 1], "scale": [StandardScaler(), None]}]
    store, _, plan = search(pipe, grid, X3, Y3, cv=4)
    right = store.predictions().responses["predict"][:, :, 0] == Y3[:, None]
    means = np.mean([right[split.test].mean(axis=0) for split in plan.splits], axis=0)
    expected = GridSearchCV(pipe, grid, cv=4).fit(X3, Y3).cv_results_["mean_test_score"]
    np.testing.assert_allclose(means, expected, atol=1e-12)
