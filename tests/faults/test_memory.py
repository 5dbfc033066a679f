"""The kernel kills a worker for its memory while a process that its fit forked lives: the others are as ever."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

GROUPS = Path("/sys/fs/cgroup/memory")
pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not os.access(GROUPS, os.W_OK), reason="needs a memory cgroup of its own"),
]
SCRIPT = """
import os, sys, time, warnings
from pathlib import Path
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
import sobercv

class Hungry(ClassifierMixin, BaseEstimator):
    def __init__(self, column=0, eats=False):
        self.column = column
        self.eats = eats
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if self.eats:
            child = os.fork()
            if child == 0:
                time.sleep(600)
            Path("forked", str(child)).touch()
            self.kept = [np.ones(50_000_000) for _ in range(100)]
        return self
    def predict(self, X):
        return self.classes_[(X[:, self.column] > 0).astype(int)]

if __name__ == "__main__":
    group = Path(sys.argv[1])
    (group / "memory.limit_in_bytes").write_text("1500000000")
    (group / "cgroup.procs").write_text(str(os.getpid()))
    warnings.simplefilter("ignore")
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    options = {"scoring": "accuracy", "cv": 2, "n_bootstraps": 50, "drop": None}
    alone = sobercv.BBCSearchCV(Hungry(), {"column": [0, 1, 2]}, **options).fit(X, y)
    grid = [{"column": [0, 1, 2]}, {"eats": [True]}]
    found = sobercv.BBCSearchCV(Hungry(), grid, n_jobs=2, **options).fit(X, y)
    print({index: failure.kind for index, failure in found.race_.failures.items()})
    print(np.array_equal(*(each.predictions_.responses["predict"] for each in (alone, found))))
    end = time.monotonic() + 10
    def is_there(pid):
        try:
            return "Z" not in Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return False
    forked = os.listdir("forked")
    while any(map(is_there, forked)) and time.monotonic() < end:
        time.sleep(0.1)
    print(len(forked) > 0, list(filter(is_there, forked)))
"""


def test_a_worker_out_of_memory_with_a_forked_child_alive(tmp_path):
    group = GROUPS / f"sober-{os.getpid()}"
    group.mkdir()
    (tmp_path / "forked").mkdir()
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(script), str(group)]
    try:
        found = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=600)
        kills = (group / "memory.oom_control").read_text().split()
    finally:
        group.rmdir()
    assert int(kills[-1]) >= 2  # it is tried again, alone
    assert found.stdout.splitlines() == ["{3: 'worker died'}", "True", "True []"], found.stdout + found.stderr
