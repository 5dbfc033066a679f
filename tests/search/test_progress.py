"""Everybody who listens hears the same story, and nobody can change it."""

import io
import json
import pickle
import sys

import pytest
from rich.console import Console
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

import sobercv
from sobercv.errors import SoberError, SoberWarning
from sobercv.search import progress
from sobercv.training import Dropped, Failed, Fitted, RoundEnded, RoundStarted, SearchEnded, SearchStarted

X, Y = (a[::3] for a in load_breast_cancer(return_X_y=True))
GRID = {"max_depth": [1, 2, 3, -1], "random_state": [0, 1]}  # -1 fails
RULE = sobercv.BootstrapDrop(threshold=0.6, min_predictions=20, n_bootstraps=100)


def search(**options):
    shared = {"scoring": "accuracy", "cv": 5, "drop": RULE, "n_bootstraps": 100}
    return sobercv.BBCSearchCV(DecisionTreeClassifier(), GRID, **{**shared, **options})


def quietly(found):
    with pytest.warns(SoberWarning) as caught:
        found.fit(X, Y)
    return found, [w.message.code for w in caught if isinstance(w.message, SoberWarning)]


def parts(found):
    return found.estimate_.draws.tolist(), found.best_index_, found.race_.status.tolist(), found.race_.n_fits


def test_the_story():
    events = []
    found, _ = quietly(search(on_event=events.append))
    log = found.race_
    assert events[0] == SearchStarted(8, 5)
    assert events[-1] == SearchEnded("finished", log.n_fits, log.n_fits_saved, log.seconds)
    kinds = [type(e) for e in events]
    assert kinds.count(RoundStarted) == kinds.count(RoundEnded) == 5
    assert kinds.count(Fitted) == log.n_fits
    assert kinds.count(Failed) == len(log.failures) == 2
    assert kinds.count(Dropped) == int((log.status == "dropped").sum()) > 0
    ends = [e for e in events if isinstance(e, RoundEnded)]
    assert [e.n_alive for e in ends] == log.alive_by_round.tolist()
    assert (ends[-1].n_fits, ends[-1].n_saved) == (log.n_fits, log.n_fits_saved)


def test_the_tally_agrees_with_the_log():
    tally = progress.Lines(io.StringIO())
    found, _ = quietly(search(on_event=tally))
    log = found.race_
    assert (tally.n_fits, tally.n_saved, tally.n_expected) == (log.n_fits, log.n_fits_saved, log.n_fits)
    assert (tally.n_alive, tally.n_dropped) == tuple(int((log.status == s).sum()) for s in ("finished", "dropped"))
    assert tally.n_failed == 2


def raises(event):
    raise RuntimeError("I do not like this")


class Breaks:
    def __call__(self, event):
        pass

    def close(self):
        raise OSError("no room")


def test_listening_never_changes_a_result():
    alone, codes = quietly(search())
    heard = []
    other, more = quietly(search(on_event=[raises, heard.append, Breaks()], verbose=1))
    assert parts(other) == parts(alone)
    assert sorted(set(more) - set(codes)) == ["W602"]
    assert more.count("W602") == 2  # one that raised, once; one that could not be closed
    assert isinstance(heard[-1], SearchEnded)  # the others hear everything


def test_json_lines(tmp_path):
    path = tmp_path / "log.jsonl"
    found, _ = quietly(search(on_event=progress.JsonLines(path)))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[0]["event"] == "search_started"
    assert lines[-1]["event"] == "search_ended"
    assert lines[-1]["n_fits"] == found.race_.n_fits
    failed = next(line for line in lines if line["event"] == "failed")
    assert failed["failure"]["error"] == "InvalidParameterError"
    assert [line["time"] for line in lines] == sorted(line["time"] for line in lines)
    n = len(lines)
    quietly(found)  # appends
    assert len(path.read_text().splitlines()) == 2 * n


def test_a_search_with_a_log_can_be_cloned_and_pickled(tmp_path):
    log = progress.JsonLines(tmp_path / "log.jsonl")
    found, _ = quietly(search(on_event=[log]))
    again = pickle.loads(pickle.dumps(found))
    assert parts(again) == parts(found)
    assert clone(found).on_event[0].path == again.on_event[0].path == log.path


@pytest.mark.parametrize("wrong", [3, ["log"], [print, None]])
def test_listeners_must_be_callable(wrong):
    with pytest.raises(SoberError, match="on_event") as error:
        search(on_event=wrong).fit(X, Y)
    assert error.value.code == "E123"
    with pytest.raises(SoberError, match="path"):
        progress.JsonLines(3)


def test_lines_where_there_is_no_terminal(capsys):
    quietly(search(verbose=1))
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert len(lines) == 5
    assert lines[0].startswith("round 1 of 5: 4 configurations in the race, 2 dropped, 2 failed, 8 fits, 16 saved, ")
    assert "\x1b" not in out + err
    quietly(search())
    assert capsys.readouterr() == ("", "")


def test_lines_tell_of_an_early_end(capsys):
    lines = progress.Lines()
    lines(SearchEnded("max_seconds", 9, 0, 1.0))
    assert capsys.readouterr().out == "stopped (max_seconds): 9 fits, 1.0 s\n"


def test_the_first_line_of_a_bar_has_no_holes():
    screen = io.StringIO()
    bar = progress.Bars(Console(file=screen, force_terminal=True, width=120, color_system=None))
    bar(SearchStarted(33, 10))
    bar.close()
    assert "0/330 fits, 33 alive, 0 dropped" in screen.getvalue()
    for hole in (", ,", "-:--", "/?", "None"):
        assert hole not in screen.getvalue()


def test_one_configuration_is_no_plural(capsys):
    progress.Lines()(RoundEnded(0, 2, 1, 1, 0.5))
    assert capsys.readouterr().out.startswith("round 1 of 2: 1 configuration in the race, 0 dropped, 0 failed, 1 fit, ")


def test_a_listener_of_two_searches_counts_each_alone():
    lines, screen = io.StringIO(), io.StringIO()
    bar = progress.Bars(Console(file=screen, force_terminal=True, width=120, color_system=None))
    found = search(on_event=[progress.Lines(lines), bar])
    for _ in range(2):
        for shown in (lines, screen):
            shown.seek(shown.truncate(0))
        quietly(found)
        gone = int((found.race_.status == "dropped").sum())
        assert f"{gone} dropped, 2 failed" in lines.getvalue().splitlines()[-1]
        assert f"{found.race_.n_fits}/{found.race_.n_fits} fits" in screen.getvalue()


def test_a_bar_in_a_terminal(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(progress, "_console", lambda: Console(file=screen, force_terminal=True, width=120))
    assert [type(progress.display(verbose)) for verbose in (1, 2)] == [progress.Bars, progress.Lines]
    found, codes = quietly(search(verbose=1))
    assert "W602" not in codes
    shown = screen.getvalue()
    n = found.race_.n_fits
    assert f"{n}/{n}" in shown
    assert "round 5/5" in shown
    assert "2 failed" in shown
    assert "fits saved" in shown
    assert "left" in shown


def test_without_rich_there_are_lines(monkeypatch):
    for name in [m for m in sys.modules if m == "rich" or m.startswith("rich.")]:
        monkeypatch.setitem(sys.modules, name, None)
    assert type(progress.display(1)) is progress.Lines


def test_the_bar_is_closed_when_the_search_fails(monkeypatch):
    closed = []
    monkeypatch.setattr(progress.Lines, "close", lambda self: closed.append(True), raising=False)
    with pytest.raises(SoberError):
        sobercv.BBCSearchCV(DecisionTreeClassifier(), {"max_depth": [-1]}, verbose=1).fit(X, Y)
    assert closed == [True]


def test_rounds_are_counted_from_a_file_too(tmp_path):
    first, _ = quietly(search(store=tmp_path / "run.sqlite"))
    tally = progress.Lines(io.StringIO())
    again, _ = quietly(search(store=tmp_path / "run.sqlite", on_event=tally))
    assert parts(again) == parts(first)
    assert tally.n_fits == again.race_.n_fits


@pytest.mark.parametrize("has_widgets", [True, False])
def test_a_notebook_without_ipywidgets_has_lines(monkeypatch, has_widgets):
    """rich would draw nothing there and warn at every step."""
    monkeypatch.setattr(progress, "_console", lambda: Console(file=io.StringIO(), force_jupyter=True))
    monkeypatch.setattr(progress, "find_spec", lambda name: object() if has_widgets else None)
    assert type(progress.display(1)) is (progress.Bars if has_widgets else progress.Lines)
