"""A run that continues and is stopped early never takes away what an earlier result of it knew."""

import json

import pytest

from sobercv.training.stopping import Stop

from .conftest import SMALL, table


@pytest.fixture
def complete(sober, tmp_path):
    table("binary").to_csv(tmp_path / "data.csv", index=False)
    assert sober("fit", "data.csv", "--target", "y", *SMALL, "-o", "run", "--fast").code == 0
    return tmp_path / "run"


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(("run.sq", "settin"))}


def test_resume_without_time_for_the_final_model_keeps_the_one_there_is(sober, complete, monkeypatch):
    from sobercv.runs import fit

    def too_late(*_, **__):
        raise TimeoutError

    before = files(complete)
    monkeypatch.setattr(fit, "call_in_process", too_late)
    ended = sober("resume", "run", "--max-time", "60")
    assert ended.code == 0
    assert "earlier result, which was kept" in " ".join(ended.err.split())
    assert files(complete) == before
    assert sober("predict", "run", "data.csv").code == 0


def test_an_extension_that_ended_too_early_keeps_the_complete_result(sober, complete, monkeypatch):
    before = files(complete)
    rounds = []

    def is_time(self):
        rounds.append(self)
        self.reason = self.reason or ("max_seconds" if len(rounds) > 3 else None)
        return self.reason is not None

    with monkeypatch.context() as patched:
        patched.setattr(Stop, "is_time", is_time)
        ended = sober("extend", "run", "--repeats", "2", "--fast", "--max-time", "60")
    assert ended.code == 0, ended.err
    assert files(complete) == before
    assert sober("resume", "run", "--fast").code == 0
    results = json.loads((complete / "results.json").read_text())
    assert results["is_complete"]
    assert results["settings"]["repeats"] == 2
