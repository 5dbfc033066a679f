"""Compiled loops: the same as plain numpy, and as fast in the second call of a process as in the fortieth."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import sobercv
from sobercv.inference import selection
from sobercv.metrics.kernels import draws

from ..oracles import loops


@settings(max_examples=40)
@given(key=st.integers(0, 2**64 - 1), first=st.integers(0, 10**6), n=st.integers(1, 300), data=st.data())
def test_draws_are_those_of_numpy(key, first, n, data):
    n_draws = np.array(data.draw(st.lists(st.integers(0, 700), min_size=1, max_size=5)))
    found = np.zeros((len(n_draws), n), np.uint8)
    draws.draw(np.uint64(key), first, n_draws, found)
    np.testing.assert_array_equal(found, loops.draw(np.uint64(key), first, n_draws, n))


@given(
    st.lists(
        st.lists(st.sampled_from([0.5, 0.5 + 1e-13, 0.7, -0.2, np.nan, np.inf, -np.inf]), min_size=3, max_size=3),
        min_size=1,
        max_size=6,
    )
)
def test_the_best_is_that_of_numpy(rows):
    scores = np.array(rows)
    expected = loops.first_best(scores, selection.TIE, 1.0)
    np.testing.assert_array_equal(selection.best(scores), expected)
    np.testing.assert_array_equal(selection.best(np.asfortranarray(scores)), expected)


CALLS = """
import json, time
import sobercv
from sobercv.testing import simulate
data = simulate.binormal_auc(400, 300, seed=1)
taken = []
for _ in range(25):
    start = time.process_time()
    sobercv.bbc(data.y, data.predictions, "roc_auc", n_bootstraps=500)
    taken.append(time.process_time() - start)
print(json.dumps(taken))
"""


def test_early_calls_of_a_process_are_as_fast_as_late_ones():
    """CPU seconds, medians of five calls: other programs hardly disturb them."""
    done = subprocess.run([sys.executable, "-c", CALLS], capture_output=True, text=True, check=True)
    taken = json.loads(done.stdout)
    assert np.median(taken[1:6]) < 1.7 * np.median(taken[-5:])


ONCE = """
import sobercv, warnings
from sobercv.testing import simulate
data = simulate.binormal_auc(60, 4, seed=1)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    estimate = sobercv.bbc(data.y, data.predictions, "roc_auc", n_bootstraps=50)
print(repr(estimate.value), *[w.message.code for w in caught if isinstance(w.message, sobercv.SoberWarning)])
"""


def test_without_a_folder_to_write_to_loops_are_compiled_all_the_same(tmp_path):
    """Files stand where numba would make its folders: this holds for root, too, whom no permission stops."""
    shutil.copytree(Path(sobercv.__file__).parent, tmp_path / "sobercv", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in {path.parent for path in (tmp_path / "sobercv").rglob("*.py")}:
        (folder / "__pycache__").touch()
    nowhere = {"HOME": os.devnull, "XDG_CACHE_HOME": os.devnull, "PYTHONPATH": str(tmp_path)}
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"} | nowhere
    done = subprocess.run([sys.executable, "-c", ONCE], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    again = subprocess.run([sys.executable, "-c", ONCE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [*again.stdout.split(), "W240"]
