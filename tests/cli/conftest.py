"""A command in this process: its exit code, what it printed, what it said; and small tables to run it on."""

import contextlib
import io
import os
import runpy
import shutil
import subprocess
import sys
import time
import unittest.mock
import warnings
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest

from sobercv.cli import fitting
from sobercv.cli.app import run
from sobercv.runs.folder import RunFolder
from sobercv.runs.record import Begun

#: Options that make a run small: a few configurations, few folds, no other process.
SMALL = ("--preset", "quick", "--configurations", "3", "--cv", "3", "--jobs", "1")


@dataclass
class Ended:
    code: int
    out: str
    err: str


class _Stream(io.StringIO):
    encoding = "utf-8"

    @property
    def buffer(self):
        return self._buffer


@pytest.fixture
def sober(tmp_path, monkeypatch):
    """Run a command in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def go(*arguments, stdin=None):
        out, err = io.StringIO(), io.StringIO()
        if stdin is not None:
            fake = _Stream()
            fake._buffer = io.BytesIO(stdin)
            monkeypatch.setattr(sys, "stdin", fake)
        # A command is a process of its own; this one may be as old as all tests.
        monkeypatch.setattr(fitting, "BEGAN", time.monotonic())
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run([str(a) for a in arguments])
        return Ended(code, out.getvalue(), err.getvalue())

    return go


def refitted(folder, name="data.csv", as_process=False):
    """Train the winner again with the script of a run, and return what it predicts for its table."""
    command = ["run/refit.py", name, "p.csv"]
    if as_process:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", *command], capture_output=True, text=True, cwd=folder, check=False
        )
        assert done.returncode == 0, done.stderr
    else:  # where it is the current folder, in this process
        assert os.path.samefile(folder, ".")
        with unittest.mock.patch.object(sys, "argv", command), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            runpy.run_path("run/refit.py", run_name="__main__")
    return pd.read_csv(folder / "p.csv")["prediction"]


def table(task="binary", n=60, seed=0, text=False):
    """Give a small table with one good column, a useless one and, on request, a category."""
    rng = np.random.default_rng(seed)
    good = rng.normal(size=n)
    noisy = good + rng.normal(size=n)
    frame = pd.DataFrame({"good": good, "useless": rng.normal(size=n)})
    if text:
        frame["site"] = rng.choice(["north", "south"], n)
    if task == "binary":
        frame["y"] = np.where(noisy > 0, "ill", "well")
    elif task == "multiclass":
        frame["y"] = np.array(["low", "middle", "high"])[np.digitize(noisy, np.quantile(noisy, [1 / 3, 2 / 3]))]
    elif task == "regression":
        frame["y"] = noisy
    else:
        frame["months"] = np.round(np.exp(-noisy) * 10 + 0.1, 2)
        frame["died"] = (rng.random(n) < 0.7).astype(int)
    return frame


@pytest.fixture
def data(tmp_path):
    """Write data.csv: two classes."""
    path = tmp_path / "data.csv"
    table().to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """Run `sober fit` once for everybody who needs a folder of a run."""
    home = tmp_path_factory.mktemp("finished")
    table().to_csv(home / "data.csv", index=False)
    place = os.getcwd()
    os.chdir(home)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            assert run(["fit", "data.csv", "--target", "y", *SMALL, "-o", "run", "-q"]) == 0
    finally:
        os.chdir(place)
    return home


@pytest.fixture
def run_folder(finished, tmp_path):
    """A copy of a finished run in this test's folder, with its data."""
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    folder = RunFolder(tmp_path / "run")
    begun = folder.read_record("settings.json", Begun)
    folder.write_record(
        "settings.json", replace(begun, settings=replace(begun.settings, data=str(tmp_path / "data.csv")))
    )
    return folder.path
