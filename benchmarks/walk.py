"""What a call walks: the distinct functions of sober that run in it, their files, and the kinds of objects they act on.

A function counts once however often it runs, in whatever thread; bodies of modules and classes and comprehensions do
not count, nor do loops that numba compiled. Every call runs in a process of its own in which all modules are imported
and nothing is cached.
"""

from __future__ import annotations

import inspect
import io
import multiprocessing
import os
import pkgutil
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sobercv

from .report import Table

ROOT = os.path.join(os.path.dirname(sobercv.__file__), "")
COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


@dataclass
class Walk:
    """What ran: functions as (file, line, name), and the classes of sober whose methods did."""

    functions: set[tuple[str, int, str]] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)

    def __call__(self, frame: Any, event: str, _: Any) -> None:
        """Note a call: the hook of `sys.setprofile`."""
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(ROOT):
            return
        if not code.co_flags & inspect.CO_OPTIMIZED or code.co_name in COMPREHENSIONS:
            return
        self.functions.add((code.co_filename.removeprefix(ROOT), code.co_firstlineno, code.co_qualname))
        kind = type(frame.f_locals.get("self"))
        if kind.__module__.startswith("sobercv"):
            self.kinds.add(kind.__qualname__)

    def counts(self) -> dict[str, int]:
        """Functions, files and kinds of objects, then the functions of each package, most first."""
        files = {file for file, *_ in self.functions}
        packages = Counter(f"in {file.split(os.sep)[0].removesuffix('.py')}" for file, *_ in self.functions)
        told = {"functions": len(self.functions), "files": len(files), "kinds of objects": len(self.kinds)}
        return told | dict(packages.most_common())


def bbc() -> Callable[[], Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    predictions = rng.random((200, 20)) + 0.3 * y[:, None]
    return lambda: sobercv.bbc(y, predictions, metric="roc_auc")


def fit() -> Callable[[], Any]:
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    grid = {"logisticregression__C": [0.01, 0.1, 1, 10]}
    search = sobercv.BBCSearchCV(pipeline, grid, scoring="roc_auc", cv=5, n_jobs=1)
    return partial(search.fit, X[:200], y[:200])


def command() -> Callable[[], Any]:
    """`sober fit` of a small table, in an empty folder."""
    from sobercv.cli.app import run

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    table = X.iloc[:120, :6].assign(diagnosis=y.map({0: "malignant", 1: "benign"}))
    table.to_csv("table.csv", index=False)
    said = "fit table.csv --target diagnosis --preset quick --cv 5 --configurations 4 --jobs 1 -o run --seed 0"

    def call() -> None:
        assert run(said.split()) == 0

    return call


CALLS = {"bbc": bbc, "BBCSearchCV.fit": fit, "sober fit": command}


def walked(name: str) -> dict[str, int]:
    """Count what one call walks; only the first call of a process has nothing cached."""
    for module in pkgutil.walk_packages(sobercv.__path__, "sobercv."):
        if not module.name.endswith("__main__"):
            with suppress(ImportError):  # of an extra that is not installed
                import_module(module.name)
    walk, said = Walk(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder, chdir(folder), redirect_stdout(said), redirect_stderr(said):
        call = CALLS[name]()
        threading.setprofile(walk)  # of threads that the call starts
        sys.setprofile(walk)
        try:
            call()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return walk.counts()


def run(quick: bool = False) -> list[Table]:
    """Walk every call in a process of its own."""
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=fresh, max_tasks_per_child=1) as pool:
        return [table(dict(zip(CALLS, pool.map(walked, CALLS), strict=True)))]


def table(counts: dict[str, dict[str, int]]) -> Table:
    """One line per count, in the order of the last call, which walks most; and one column per call."""
    lines = dict.fromkeys(name for one in reversed(counts.values()) for name in one)
    return [["count", *counts], *([name, *(f"{one.get(name, 0)}" for one in counts.values())] for name in lines)]
