"""Memory of a search on 1 GB of data with two jobs beside GridSearchCV: all processes together, at their peak."""

from __future__ import annotations

import subprocess
import sys
import time

from .report import Section, number

_SEARCH = """
import sys
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

class Mean(ClassifierMixin, BaseEstimator):
    def __init__(self, k=0):
        self.k = k
    def fit(self, X, y):
        self.classes_, self.mean_ = np.unique(y), X[:, self.k].mean()
        return self
    def predict(self, X):
        return self.classes_[(X[:, self.k] > self.mean_).astype(int)]

n = int(sys.argv[2])
X, y = np.random.default_rng(0).normal(size=(n, 500)), np.arange(n) % 2
options = {"scoring": "accuracy", "cv": 3, "n_jobs": 2, "refit": False}
if sys.argv[1] == "sober":
    import sobercv
    sobercv.BBCSearchCV(Mean(), {"k": list(range(6))}, drop=None, n_bootstraps=20, **options).fit(X, y)
else:
    from sklearn.model_selection import GridSearchCV
    GridSearchCV(Mean(), {"k": list(range(6))}, **options).fit(X, y)
"""


def run(quick: bool = False) -> list[Section]:
    n = 25_000 if quick else 250_000
    peaks = {name: _peak(name, n) for name in ("GridSearchCV", "sober")}
    rows = [[name, number(peak), number(peak / (n * 500 * 8 / 1e9))] for name, peak in peaks.items()]
    notes = [
        "The sum of the proportional set sizes of the program and all its workers (a page that several share counts "
        "once), looked at 20 times per second.",
        "Workers map one file of the data; each fit takes its training rows, then the rows held out.",
    ]
    heads = ["6 configurations, 3 folds", "peak, GB", "copies of the data"]
    return [Section("Memory of a search with two jobs", heads, rows, notes)]


def _peak(name: str, n: int) -> float:
    """Run a search in a process of its own; return the most memory that all its processes had together, in GB."""
    with subprocess.Popen([sys.executable, "-c", _SEARCH, name, str(n)]) as program:
        peak = 0.0
        while program.poll() is None:
            peak = max(peak, sum(map(_size, _family(program.pid))))
            time.sleep(0.05)
    assert program.returncode == 0
    return peak


def _family(pid: int) -> list[int]:
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = [tuple(map(int, line.split())) for line in listed.splitlines()]
    found = [pid]
    for parent in found:  # grows on the way
        found += [child for child, other in parents if other == parent]
    return found


def _size(pid: int) -> float:
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            return next(int(line.split()[1]) / 1e6 for line in file if line.startswith("Pss:"))
    except (OSError, StopIteration):  # it has ended
        return 0.0
