"""A run that its time limit stopped: what was compared is what was judged, and the rest is counted apart."""

import re
from dataclasses import replace

import pytest
from sklearn.svm import SVC

from sobercv.cli.fitting import show
from sobercv.cli.screen import Screen
from sobercv.runs import fit
from sobercv.runs.fit import Deadline, _space, execute
from sobercv.runs.folder import RunFolder
from sobercv.runs.methods import methods
from sobercv.runs.prepare import prepare
from sobercv.training import Fitted
from sobercv.training.fit.space import Configuration
from sobercv.training.stopping import Stop

from .runs import begun_in, settings

PLANNED = 40


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """Let the time be over when the first few configurations have been fitted on one fold."""
    folder, heard = tmp_path_factory.mktemp("stopped"), []

    def is_time(self):
        if self.reason is None and len(heard) >= 2:
            self.reason = "max_seconds"
        return self.reason is not None

    def listen(event):
        if isinstance(event, Fitted):
            heard.append(event)

    asked = replace(settings(folder), preset="standard", configurations=PLANNED, max_time=600.0)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Stop, "is_time", is_time)
        run, ready = begun_in(folder, prepare(asked))
        return execute(ready, run, Deadline(600.0), "fast", listen)


def test_what_was_not_reached_did_not_fail(stopped):
    assert (stopped.stopped, stopped.n_configurations, stopped.n_failed) == ("max_seconds", PLANNED, 0)
    assert 0 < stopped.n_unreached < PLANNED
    status = [row.status for row in stopped.summary.configurations]
    assert status.count("not reached") == stopped.n_unreached
    assert status.count("still in the race") == PLANNED - stopped.n_unreached
    assert "failures" not in [section.name for section in stopped.summary.sections]


def test_only_what_was_judged_was_compared(stopped):
    n, text = PLANNED - stopped.n_unreached, methods(stopped)
    assert (
        f"We compared {n} of {PLANNED} configurations, drawn at random from preset standard, before the time " in text
    )
    assert sum(int(re.search(r"\((\d+)", family)[1]) for family in stopped.space) == n
    assert f"the best of {n} scores" in stopped.summary.why or f"among {n} configurations" in stopped.summary.why
    assert stopped.summary.data["Configurations"] == f"{n} of {PLANNED}"


def test_the_command_that_repeats_it_names_the_limit(stopped):
    assert stopped.command.endswith(" --max-time 600s")
    assert "--max-time 600s (seed 0)" in methods(stopped)


def test_the_screen_counts_what_was_not_reached_apart(stopped, tmp_path, capsys):
    first, second, *rows = sorted(stopped.summary.configurations, key=lambda row: row.status != "not reached")
    rows += [replace(row, status="failed") for row in (first, second)]
    show(
        Screen({}), replace(stopped, summary=replace(stopped.summary, configurations=tuple(rows))), RunFolder(tmp_path)
    )
    said = " ".join(capsys.readouterr().out.split())
    assert f"2 failed, {stopped.n_unreached - 2} not reached" in said
    assert "failed or not" not in said


def test_failures_are_no_comparisons_either(stopped):
    text = methods(replace(stopped, stopped="finished", n_unreached=0, n_failed=1))
    assert f"{PLANNED - 1} of {PLANNED} configurations, drawn at random from preset standard; 1 failed: " in text


@pytest.mark.parametrize(
    ("n", "said"), [(1, "was dropped early; it took part"), (2, "were dropped early; they took part")]
)
def test_one_that_was_dropped_is_one(stopped, n, said):
    summary = replace(stopped.summary, race=replace(stopped.summary.race, counted=True))
    assert said in methods(replace(stopped, n_dropped=n, summary=summary))


def test_a_parameter_that_is_never_set_is_not_named():
    tried = [{"model": SVC(), "model__C": c, "model__gamma": None, "model__degree": d} for c, d in [(1, None), (10, 2)]]
    assert _space([Configuration(i, params) for i, params in enumerate(tried)]) == (
        "support vector machines (2; C 1 to 10, degree None or 2)",
    )


def test_a_signal_during_the_final_training_hurries_all_that_follows(tmp_path, monkeypatch):
    def interrupted(search, data, seconds):
        search.stopped_ = "terminated"
        return []

    left = []

    def summarize(search, prepared, deadline, report, on_phase, made=fit.summarize_run):
        left.append(deadline.left())
        return made(search, prepared, deadline, report, on_phase)

    monkeypatch.setattr(fit, "train_final_model", interrupted)
    monkeypatch.setattr(fit, "summarize_run", summarize)
    run, ready = begun_in(tmp_path, prepare(settings(tmp_path)))
    execute(ready, run, Deadline(None), "fast")
    assert left[0] <= fit.HURRY
