"""What would be run: the metric of the task, the listed space, how many fits, and how long they take."""

import math

import pytest

from sobercv.checks import planned_search
from sobercv.errors import SoberError
from sobercv.forests.forest import COMPILING, FASTER, faster_seconds
from sobercv.tables import Settings, assign

from .tables import TIMED, honest, numeric, timed


def plan_search(data, **given):
    return planned_search.plan_search(data, Settings(**given))


def seconds_needed(jobs=1, **given):
    settings = Settings(jobs=jobs, **given)
    return planned_search.seconds_needed(planned_search.plan_search(DATA, settings), DATA, settings)


DATA = assign(honest(80), target="y")


def test_each_task_has_its_metric():
    several = honest(90).assign(y=["a", "b", "c"] * 30)
    given = {
        "roc_auc": DATA,
        "balanced_accuracy": assign(several, target="y"),
        "r2": assign(numeric(80), target="y"),
        "concordance_index": assign(timed(80), **TIMED),
    }
    for metric, data in given.items():
        planned = plan_search(data, preset="quick")
        assert planned.scoring == [metric]
        assert planned.n_fits == planned.preset.n_configurations * 10 + 1


def test_a_part_of_the_configurations_is_drawn_by_the_seed():
    whole = plan_search(DATA, preset="quick", cv=5, repeats=2)
    one, same, other = (plan_search(DATA, preset="quick", configurations=4, seed=s) for s in (0, 0, 1))
    assert (one.preset.n_configurations, one.n_fits) == (4, 41)
    assert whole.n_fits == 33 * 5 * 2 + 1
    assert str(one.preset.configurations) == str(same.preset.configurations) != str(other.preset.configurations)
    assert "drawn at random" in one.preset.description
    assert plan_search(DATA, preset="quick", configurations=99).preset.n_configurations == 33


def test_metrics_that_want_probabilities_get_them():
    planned = plan_search(DATA, preset="quick", metric=("roc_auc", "neg_log_loss"))
    kinds = {type(c.params["model"]).__name__ for c in planned.preset.configurations}
    assert "CalibratedClassifierCV" in kinds
    assert "CappedSVC" not in kinds


def test_a_metric_of_another_task_is_refused():
    with pytest.raises(SoberError) as caught:
        plan_search(DATA, metric=("r2",))
    assert caught.value.code == "E116"


def test_the_time_grows_with_repeats_and_falls_with_workers(monkeypatch):
    monkeypatch.setattr(planned_search, "_timed", lambda step, X, y: 0.5)
    small = {"preset": "quick", "configurations": 3, "cv": 5}
    once, tens = seconds_needed(**small), seconds_needed(**small, repeats=10)
    assert 7.5 < once < 10 * once * 0.5 < tens
    assert seconds_needed(jobs=4, **small) < once


def test_a_budget_that_is_used_up_at_once_still_gives_a_time(monkeypatch):
    monkeypatch.setattr(planned_search, "TRIAL_SECONDS", 0.0)
    seconds = seconds_needed(preset="quick", configurations=3, cv=3)
    assert math.isfinite(seconds)
    assert seconds > 0


def test_no_workers_are_refused():
    with pytest.raises(SoberError) as caught:
        seconds_needed(jobs=0, preset="quick", configurations=1, cv=3)
    assert caught.value.code == "E108"


def test_forests_that_are_grown_faster_count_less(monkeypatch):
    monkeypatch.setattr(planned_search, "_timed", lambda step, X, y: 10.0)
    planned = plan_search(DATA, preset="quick", cv=5)
    seconds = seconds_needed(preset="quick", cv=5)
    monkeypatch.setattr(planned_search, "faster_seconds", lambda seconds: seconds)
    n_forests = sum(type(c.params["model"]).__name__ == "RootForestClassifier" for c in planned.preset.configurations)
    assert n_forests > 0
    saved = seconds_needed(preset="quick", cv=5) - seconds
    assert saved == pytest.approx(5 * 10 * n_forests - (COMPILING + 5 * 10 * n_forests / FASTER), rel=0.1)
    assert faster_seconds(2.0) == 2.0
