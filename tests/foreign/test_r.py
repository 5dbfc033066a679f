"""The page about R, run by a real R where there is one: a file and reticulate give the same number."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from sobercv.correction import judge_predictions, recognise

PAGE = Path(__file__).parents[2] / "docs" / "other-tools.md"
pytestmark = [pytest.mark.soak, pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")]


def run(code, folder):
    (folder / "page.R").write_text(code)
    told = {**os.environ, "RETICULATE_PYTHON": sys.executable}
    return subprocess.run(["Rscript", "page.R"], cwd=folder, env=told, capture_output=True, text=True, timeout=600)


@pytest.fixture
def blocks():
    return re.findall(r"^```r\n(.*?)^```", PAGE.read_text(), flags=re.M | re.S)


def test_a_file(blocks, tmp_path):
    done = run(blocks[0], tmp_path)
    assert done.returncode == 0, done.stderr
    found = judge_predictions(recognise(pd.read_csv(tmp_path / "oof.csv"), target="y"), "roc_auc")["roc_auc"]
    shown = re.search(r"honest score +([\d.]+) +95 % interval ([\d.]+) to ([\d.]+)", PAGE.read_text()).groups()
    assert shown == tuple(f"{number:.3f}" for number in (found.value, *found.interval))


def test_reticulate(blocks, tmp_path):
    done = run("\n".join(blocks), tmp_path)
    if done.returncode and ("no package called" in done.stderr or "NumPy binary version" in done.stderr):
        pytest.skip(done.stderr.strip().splitlines()[0])
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(tmp_path / "oof.csv")
    here = judge_predictions(recognise(table, target="y"), "roc_auc")["roc_auc"].value
    assert float(done.stdout.split()[-1]) == pytest.approx(here, abs=1e-12)
