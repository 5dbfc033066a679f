"""Signals at random moments of `sober fit`, in all its phases: `sober resume` ends with the same files, nobody is left."""

import json
import os
import signal
from collections import Counter
from hashlib import sha256

import numpy as np
import pytest

pytest.importorskip("typer")
parquet = pytest.importorskip("pyarrow.parquet")

SOAK = bool(os.environ.get("SOBER_SOAK"))
#: By signal and by the number of jobs.
CASES = {
    (signal.SIGKILL, 1): 120 if SOAK else 1,
    (signal.SIGKILL, 2): 30 if SOAK else 1,
    (signal.SIGTERM, 1): 55 if SOAK else 1,
    (signal.SIGTERM, 2): 15 if SOAK else 1,
}
#: Every so many runs are those of a new interpreter; the others are forked from one that has imported everything.
REAL = 10 if SOAK else 3
OPTIONS = ("--target", "y", "--preset", "quick", "--configurations", "4", "--cv", "3", "--repeats", "2")
#: What the command says when a phase begins.
PHASES = {
    "round": "race", "judging": "race", "training the final model": "refit", "drawing": "report",
    "training the winner": "report", "shuffling": "report", "writing": "report",
}  # fmt: skip
RESULTS = (
    "score",
    "others",
    "winner",
    "n_configurations",
    "n_finished",
    "n_dropped",
    "n_failed",
    "stopped",
)


def write_table(path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    y = (X[:, 0] + rng.normal(size=90) > 0).astype(int)
    rows = [",".join([*(f"{v:.6f}" for v in x), str(label)]) for x, label in zip(X, y, strict=True)]
    path.write_text("\n".join(["a,b,c,d,y", *rows]) + "\n")


def outcome(folder):
    """What must be the same whatever happened on the way."""
    results = json.loads((folder / "run" / "results.json").read_text())
    table = parquet.read_table(folder / "run" / "predictions.parquet").to_pydict()
    assert (folder / "run" / "report.html").stat().st_size > 1000
    assert (folder / "run" / "model.skops").stat().st_size > 100
    return {name: results[name] for name in RESULTS}, sha256(repr(table).encode()).hexdigest()


def said_in(folder):
    """What the command said; nothing where it was ended before it could."""
    path = folder / "said.txt"
    return path.read_text(errors="replace") if path.exists() else ""


def phase(folder):
    """Which phase the command was in, by the last that it said."""
    said = [line for line in said_in(folder).splitlines() if line.strip()]
    for line in reversed(said):
        for start, name in PHASES.items():
            if line.startswith(start):
                return name
    return "start"


@pytest.fixture(scope="module")
def whole(zygote, tmp_path_factory):
    """A run that nobody disturbs, and how long it takes."""
    folder = tmp_path_factory.mktemp("whole")
    write_table(folder / "data.csv")
    seconds = {}
    for n_jobs in (1, 2):
        for turn in range(2 if SOAK or n_jobs == 1 else 1):  # the first one compiles
            answer = zygote.run(
                folder, command=["fit", "data.csv", *OPTIONS, "--jobs", str(n_jobs), "--overwrite", "-o", "run"]
            )
            assert answer["exit"] == 0, (folder / "said.txt").read_text()
            seconds[n_jobs] = answer["seconds"]
            assert answer["left"] == [], turn
    return outcome(folder), seconds


@pytest.mark.parametrize(("number", "n_jobs"), CASES, ids=lambda value: getattr(value, "name", f"{value} jobs"))
def test_a_command_that_is_ended_goes_on_with_the_same_bits(zygote, whole, tmp_path, number, n_jobs, record_property):
    truth, seconds = whole
    rng = np.random.default_rng([number, n_jobs])
    ended, case = Counter(), -1
    while ended.total() < CASES[number, n_jobs]:  # a command that had ended before its signal came is none of them
        case += 1
        folder = tmp_path / str(case)
        folder.mkdir()
        write_table(folder / "data.csv")
        fit = ["fit", "data.csv", *OPTIONS, "--jobs", str(n_jobs), "-o", "run"]
        real = case % REAL == REAL - 1
        kill = rng.uniform(0, seconds[n_jobs]) * (2 if real else 1)  # which imports first
        stopped = zygote.run(folder, command=fit, kill=kill, signal=int(number), real=real)
        said = said_in(folder)
        assert stopped["left"] == [], said
        assert "Traceback" not in said, said
        assert stopped["exit"] in ({-9, 0} if number == signal.SIGKILL else {143, 0, -15}), said
        if stopped["exit"] != 0:
            ended[phase(folder)] += 1
        begun = (folder / "run" / "settings.json").exists()
        again = zygote.run(folder, command=["resume", "run", "--jobs", "1"] if begun else [*fit, "--overwrite"])
        assert again["exit"] == 0, (folder / "said.txt").read_text()
        assert outcome(folder) == truth, (case, kill)
    for name, n in ended.items():
        record_property(f"ended by {number.name}, commands with {n_jobs} jobs in phase {name}", n)
