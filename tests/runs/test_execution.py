"""execute: a run from its first fit to its last file, and what is left out when it is late or somebody ends it."""

import json
from pathlib import Path

import jsonschema
import pytest

from sobercv.errors import SoberError
from sobercv.runs import fit
from sobercv.runs.fit import Deadline, execute
from sobercv.runs.prepare import prepare
from sobercv.runs.record import RunRecord
from sobercv.tables import Settings

from ..cli.conftest import table
from .runs import begun_in, prepared, settings

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "results.schema.json").read_text())
ALWAYS = {"METHODS.md", "predictions.parquet", "results.json", "run.sqlite", "settings.json"}
MODEL = {"model.skops", "refit.py"}


def names(folder):
    return {p.name for p in folder.path.iterdir()}


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression", "survival"])
def test_results_come_back_as_they_were_written(tmp_path, task):
    ready = prepared(tmp_path, task)
    folder, ready = begun_in(tmp_path, ready)
    results = execute(ready, folder, Deadline())
    again = RunRecord.read(folder)
    assert json.dumps(again.headline()) == json.dumps(results.headline())
    assert again.summary.to_json() == results.summary.to_json()
    jsonschema.validate(json.loads((folder / "results.json").read_text()), SCHEMA)
    assert names(folder) == ALWAYS | MODEL | {"report.html"}
    assert results.model is not None
    assert results.stopped == "finished"


def test_every_phase_is_heard(tmp_path):
    ready = prepared(tmp_path)
    folder, ready = begun_in(tmp_path, ready)
    events, phases = [], []
    execute(ready, folder, Deadline(), on_event=events.append, on_phase=phases.append)
    assert type(events[-1]).__name__ == "SearchEnded"
    assert [words.split()[0] for words in phases] == ["training", "drawing", "shuffling", "writing"]


def test_a_fast_report_has_no_importance_and_none_is_not_written(tmp_path):
    ready = prepared(tmp_path)
    folder, ready = begun_in(tmp_path, ready)
    full = execute(ready, folder, Deadline())
    fast = execute(ready, folder, Deadline(), "fast")
    assert "importance" in [chart.name for chart in full.summary.charts]
    assert "importance" not in [chart.name for chart in fast.summary.charts]
    assert fast.score == full.score
    assert execute(ready, folder, Deadline(), "none").score == full.score
    assert names(folder) == ALWAYS | MODEL


def test_a_chart_that_cannot_be_drawn_does_not_cost_the_run(tmp_path, monkeypatch):
    def broken(*given):
        raise ZeroDivisionError("no width")

    monkeypatch.setattr(fit, "with_charts", broken)
    ready = prepared(tmp_path)
    folder, ready = begun_in(tmp_path, ready)
    results = execute(ready, folder, Deadline())
    noted = [note.text for note in results.summary.notes]
    assert "Charts were left out: drawing them failed with ZeroDivisionError: no width." in noted
    assert results.model is not None
    assert names(folder) == ALWAYS | MODEL | {"report.html"}


def test_who_ends_the_final_model_keeps_the_honest_number(tmp_path, monkeypatch):
    ready = prepared(tmp_path)
    folder, ready = begun_in(tmp_path, ready)
    full = execute(ready, folder, Deadline())

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("sobercv.search.bbc_search_cv.BBCSearchCV.train_final_model", interrupted)
    results = execute(ready, folder, Deadline())
    assert results.score == full.score
    assert (results.stopped, results.model) == ("interrupted", None)
    assert "W704" in {note.code for note in results.warnings}
    assert names(folder) == ALWAYS | {"report.html"}, "no model of an earlier run beside the results of this one"


def test_options_that_warnings_recommend_reach_the_search(tmp_path):
    plain = prepared(tmp_path)
    folder, plain = begun_in(tmp_path, plain)
    results = execute(plain, folder, Deadline(), "none")
    other = prepare(settings(tmp_path, stratify=True, aggregate="within_folds"))
    changed = execute(other, folder, Deadline(), "none")
    assert changed.score != results.score
    assert "--aggregate within_folds --stratify" in changed.command


def test_rows_without_a_subgroup_are_a_subgroup_of_their_own(tmp_path):
    frame = table(text=True)
    frame.loc[::5, "site"] = None
    frame.to_csv(tmp_path / "data.csv", index=False)
    given = Settings(str(tmp_path / "data.csv"), "y", preset="quick", configurations=3, cv=3, jobs=1, by=("site",))
    folder, ready = begun_in(tmp_path, prepare(given))
    summary = execute(ready, folder, Deadline()).summary
    (rows,) = [found.rows for found in summary.tables if found.name == "by-site"]
    assert [row[0] for row in rows[1:]] == ["missing", "north", "south"]


@pytest.mark.parametrize("is_complete", [True, False])
def test_a_complete_run_says_what_choosing_cost(tmp_path, monkeypatch, is_complete):
    frame = table()
    frame["good"] = (frame["y"] == "ill") + frame["good"] / 1000
    frame.to_csv(tmp_path / "data.csv", index=False)
    given = Settings(str(tmp_path / "data.csv"), "y", preset="quick", configurations=3, cv=3, jobs=1)
    folder, ready = begun_in(tmp_path, prepare(given))
    tuned = fit.tune(ready)
    tuned.is_complete_ = is_complete
    monkeypatch.setattr(fit, "tune", lambda *given: tuned)
    codes = {note.code for note in execute(ready, folder, Deadline(), "none").warnings}
    assert ("S805" in codes) == is_complete, "every model of three is right"


def test_aggregate_fold_is_said_in_the_methods(tmp_path):
    ready = prepared(tmp_path, aggregate="fold")
    folder, ready = begun_in(tmp_path, ready)
    execute(ready, folder, Deadline(), "none")
    assert "on average over folds" in (folder / "METHODS.md").read_text()


def test_a_disk_that_is_full_while_the_report_is_written_names_the_file(tmp_path):
    import resource
    import signal

    ready = prepared(tmp_path)
    folder, ready = begun_in(tmp_path, ready)
    execute(ready, folder, Deadline())
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limit = (folder / "report.html").stat().st_size - 1000  # the times in it may be shorter now
    assert max((folder / n).stat().st_size for n in ("model.skops", "predictions.parquet")) < limit
    (folder / "results.json").unlink()
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        with pytest.raises(SoberError, match=r"report\.html' cannot be written") as caught:
            execute(ready, folder, Deadline())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert caught.value.code == "E506"
    assert "results.json" not in names(folder), "it speaks of files that are there"
