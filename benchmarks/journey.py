"""The whole journey against its peers: the same data, grid, folds and cores for every tool.

On real data (three sets that ship with scikit-learn, three more from `--data FOLDER`), for each tool: the time, the
models trained, the score of its model on rows held out, and how far its own report is from that.
"""

from __future__ import annotations

import math
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import SelectPercentile, f_classif, f_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

from . import peers
from .peers import Result, Task
from .report import Table, number, race, ratio

FOLDS = 10
QUICK_N = 500

Grid = list[dict[str, list[Any]]]
SOBER, PLAIN, NESTED, HALVING, OPTUNA = "BBCSearchCV", "GridSearchCV", "nested CV", "HalvingGridSearchCV", "Optuna"
ORDER = (PLAIN, NESTED, HALVING, OPTUNA, SOBER)
Rows = pd.DataFrame


def _steps(f: Any) -> dict[str, list[Any]]:
    return {
        "reduce": ["passthrough", PCA(0.95), SelectPercentile(f, percentile=50), SelectPercentile(f, percentile=20)]
    }


_SOME = _steps(f_classif)
_ALL = {"reduce": ["passthrough"]}
_LINEAR = {**_SOME, "model": [LogisticRegression(max_iter=1000)], "model__C": [0.001, 0.01, 0.1, 1.0, 10.0, 100.0]}
_NEIGHBOURS = {**_SOME, "model": [KNeighborsClassifier()], "model__n_neighbors": [3, 7, 15, 31]}
_WIDTHS = {"model__gamma": ["scale", 0.001, 0.01, 0.1]}

CLASSES: Grid = [
    _LINEAR,
    {**_SOME, "model": [SVC()], "model__C": [0.1, 1.0, 10.0, 100.0], **_WIDTHS},
    _NEIGHBOURS,
    {**_ALL, "model": [RandomForestClassifier(50, random_state=0)], "model__min_samples_leaf": [1, 2, 5, 10]},
]
#: For thousands of rows: boosted trees take the place of kernel machines, whose time grows with the square of N.
MANY_ROWS: Grid = [
    _LINEAR,
    _NEIGHBOURS,
    {
        **_SOME,
        "model": [DecisionTreeClassifier(random_state=0)],
        "model__min_samples_leaf": [1, 5, 20, 50],
        "model__max_features": [None, "sqrt"],
    },
    {**_SOME, "model": [GaussianNB()], "model__var_smoothing": [1e-9, 0.01, 0.1]},
    {
        **_SOME,
        "model": [HistGradientBoostingClassifier(max_iter=50, random_state=0)],
        "model__learning_rate": [0.05, 0.1, 0.3],
        "model__max_leaf_nodes": [7, 15],
    },
]
NUMBERS: Grid = [
    {**_steps(f_regression), "model": [Ridge()], "model__alpha": [0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0]},
    {**_steps(f_regression), "model": [SVR()], "model__C": [1.0, 10.0, 100.0, 1000.0], **_WIDTHS},
    {**_steps(f_regression), "model": [KNeighborsRegressor()], "model__n_neighbors": [3, 7, 15, 31]},
    {**_ALL, "model": [RandomForestRegressor(50, random_state=0)], "model__min_samples_leaf": [1, 2, 5, 10]},
]
#: Only models that take their time, to see what the bootstrap adds to them.
FORESTS: Grid = [
    {
        **_SOME,
        "model": [RandomForestClassifier(30, random_state=0)],
        "model__min_samples_leaf": [1, 2, 5, 10, 20],
        "model__max_features": [1, "sqrt", 0.3, 0.5, 0.8],
    }
]


@dataclass(frozen=True)
class Data:
    """A data set, and what is done with it."""

    name: str
    n: int  # rows to tune on; the others are held out
    scoring: str
    grid: Grid
    n_samples: int  # sub-samples
    n_outer: int | None = None  # outer folds of the nested cross-validation that are run (default: all)
    load: Callable[..., tuple[Any, Any]] | None = None  # else from a file

    def tasks(self, folder: Path | None, quick: bool) -> Iterator[Task]:
        if self.load is not None:
            X, y = self.load(return_X_y=True)
        else:
            assert folder is not None
            with np.load(folder / f"{self.name}.npz", allow_pickle=False) as file:
                X, y = file["X"].astype(np.float64), file["y"].astype(int)
        numbers, n = self.scoring == "r2", min(self.n, QUICK_N) if quick else self.n
        pipeline = Pipeline([("scale", StandardScaler()), ("reduce", PCA()), ("model", Ridge() if numbers else SVC())])
        for seed in range(1 if quick else self.n_samples):
            some, rest, y_some, y_rest = train_test_split(
                X, y, train_size=n, stratify=None if numbers else y, random_state=seed
            )
            splitter = (KFold if numbers else StratifiedKFold)(FOLDS, shuffle=True, random_state=seed)
            step = 2 if quick else 1  # every second value of what is tuned
            grid = [{name: values[::step] for name, values in part.items()} for part in self.grid]
            name = f"{self.name}, N = {n:,}"
            yield Task(name, some, y_some, rest, y_rest, pipeline, grid, self.scoring, splitter, seed)


SHIPPED = (
    Data("breast cancer", 100, "accuracy", CLASSES, 2, load=load_breast_cancer),
    Data("diabetes", 200, "r2", NUMBERS, 2, load=load_diabetes),
    Data("digits", 500, "accuracy", CLASSES, 1, n_outer=2, load=load_digits),
)
FROM_FILES = (
    Data("madeline", 500, "roc_auc", CLASSES, 2, n_outer=2),
    Data("jasmine", 1000, "roc_auc", CLASSES, 1, n_outer=2),
    Data("sylvine", 4000, "roc_auc", MANY_ROWS, 1, n_outer=2),
)


def run(quick: bool = False, data: Path | None = None) -> list[Table]:
    """Run every tool on every task; the last table holds the share of sober's time that the bootstrap takes."""
    rows = compete(quick, data, {
        PLAIN: peers.grid_search, HALVING: peers.halving, SOBER: peers.bbc_search,
        **({OPTUNA: peers.wilcoxon} if peers.has_optuna() else {}),
    })  # fmt: skip
    forests = next(replace(SHIPPED[0], n=400, scoring="roc_auc", grid=FORESTS).tasks(None, quick))
    alone = pd.DataFrame(
        [{"task": "breast cancer, N = 400, forests", **vars(after_warm_up(peers.bbc_search, forests))}]
    )
    return [by_task(rows), summary(rows), share(pd.concat([rows[rows.tool == SOBER], alone]))]


def compete(quick: bool, data: Path | None, contest: dict[str, Callable[[Task], Result]]) -> Rows:
    """Run all tools on all tasks: one row per result; the tool that begins changes from sub-sample to sub-sample."""
    rows: list[dict[str, Any]] = []
    for each in (*SHIPPED, *(FROM_FILES if data is not None else ())):
        for task in each.tasks(data, quick):
            names = list(contest)[task.seed % len(contest) :] + list(contest)[: task.seed % len(contest)]
            found = {name: after_warm_up(contest[name], task) for name in names}
            if task.seed == 0 and HALVING in contest:
                found[NESTED] = peers.nested(task, found[PLAIN], 2 if quick else each.n_outer)
            told = ", ".join(f"{name} {r.seconds:.1f} s {r.held_out:.4f} ({r.gap:+.4f})" for name, r in found.items())
            print(f"{task.name}, sub-sample {task.seed}: {told}", flush=True)
            for name, result in found.items():
                rows.append({"task": task.name, "seed": task.seed, "tool": name, **vars(result), "gap": result.gap})
    if data is None:
        print(f"Left out, because no `--data FOLDER` was given: {', '.join(each.name for each in FROM_FILES)}.")
    return pd.DataFrame(rows)


def after_warm_up(peer: Callable[[Task], Result], task: Task) -> Result:
    """Start workers, import what they need, load kernels; then do the task.

    Directly before, because joblib restarts its workers when the settings differ from those of the call before.
    """
    peer(replace(task, grid=[{name: values[:1] for name, values in part.items()} for part in task.grid]))
    return peer(task)


def beside(rows: Rows, tool: str, other: str) -> Rows:
    """Two tools on the sub-samples that both did, with "_x" and "_y"."""
    return rows[rows.tool == tool].merge(rows[rows.tool == other], on=["task", "seed"])


def by_task(rows: Rows) -> Table:
    """Means over sub-samples."""
    lines: Table = [
        ["data", "tool", "seconds", "GridSearchCV/it", "CPU s", "models", "hold-out", "reported", "reported - hold-out"]
    ]
    for task in rows.task.unique():
        for tool in ORDER:
            both = beside(rows[rows.task == task], tool, PLAIN).mean(numeric_only=True)
            if both.isna().all():
                continue
            mark = "~" if both.scaled_x else ""
            told = ["-", "-"] if both.scaled_x else [f"{both.reported_x:.4f}", f"{both.gap_x:+.4f}"]
            lines.append([
                task, tool, mark + number(both.seconds_x), mark + ratio(both.seconds_y / both.seconds_x),
                mark + number(both.cpu_x), f"{both.models_x:,.0f}", f"{both.held_out_x:.4f}", *told,
            ])  # fmt: skip
    return lines


def summary(rows: Rows) -> Table:
    """All sub-samples together; times are medians over data sets, so that each has one vote."""
    lines: Table = [[
        "tool", "runs", "its seconds / BBCSearchCV's", "its CPU / BBCSearchCV's", "BBCSearchCV's hold-out - its",
        "standard error", "mean |reported - hold-out|", "mean of reported - hold-out", "reports",
    ]]  # fmt: skip
    for tool in (tool for tool in ORDER if tool in set(rows.tool)):
        both = beside(rows, tool, SOBER)
        means, better = both.groupby("task").mean(numeric_only=True), both.held_out_y - both.held_out_x
        times = [ratio((means[f"{what}_x"] / means[f"{what}_y"]).median()) for what in ("seconds", "cpu")]
        gaps = both.gap_x[~both.scaled_x & np.isfinite(both.gap_x)]
        told = [f"{gaps.abs().mean():.4f}", f"{gaps.mean():+.4f}"] if len(gaps) else ["-", "-"]
        error = better.sem() if len(better) > 1 else 0.0
        lines.append([tool, str(len(both)), *times, f"{better.mean():+.4f}", f"{error:.4f}", *told, str(len(gaps))])
    return lines


def speed(quick: bool = False, data: Path | None = None) -> list[Table]:
    """The journey without the other tools, in a few minutes.

    CPU seconds are judged: both use the same cores, and other programs on the machine disturb them less than the clock.
    """
    rows = compete(quick, data, {PLAIN: peers.grid_search, SOBER: peers.bbc_search})
    lines: Table = [[
        "data", f"{PLAIN}, s", f"{SOBER}, s", f"{PLAIN}, CPU s", f"{SOBER}, CPU s", "models", "times faster",
        "times less CPU", "times fewer models", "hold-out gained",
    ]]  # fmt: skip
    for task, both in beside(rows, PLAIN, SOBER).groupby("task", sort=False):
        means = both.mean(numeric_only=True)
        taken = [number(means[f"{what}_{who}"]) for what in ("seconds", "cpu") for who in "xy"]
        times = [ratio(means[f"{what}_x"] / means[f"{what}_y"]) for what in ("seconds", "cpu", "models")]
        lines.append([task, *taken, f"{means.models_y:,.0f}", *times, f"{means.held_out_y - means.held_out_x:+.4f}"])
    return [lines, share(rows[rows.tool == SOBER])]


#: A script with one search in it: starts workers, imports what they need, loads kernels.
_SCRIPT = """
import sys
import joblib
if sys.argv[1] == "BBCSearchCV":
    from sobercv import BBCSearchCV as Search
else:
    from sklearn.model_selection import GridSearchCV as Search
X, y, pipeline, grid, scoring, splits = joblib.load(sys.argv[2])
Search(pipeline, grid, scoring=scoring, cv=splits, n_jobs=2).fit(X, y)
"""


def cold(quick: bool = False, data: Path | None = None) -> list[Table]:
    """The same searches, each in a process of its own; the shorter of two turns."""
    lines: Table = [["data", f"{PLAIN}, s", f"{SOBER}, s", "times faster"]]
    for each in (*SHIPPED, *(FROM_FILES if data is not None else ())):
        task = next(each.tasks(data, quick))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "task"
            joblib.dump((task.X, task.y, task.pipeline, task.grid, task.scoring, task.splits), path)
            script = [sys.executable, "-W", "ignore", "-c", _SCRIPT]
            run = {tool: partial(subprocess.run, [*script, tool, str(path)], check=True) for tool in (PLAIN, SOBER)}
            taken = race(run, 2, math.inf)
        print(f"{task.name}: {PLAIN} {taken[PLAIN]:.1f} s, {SOBER} {taken[SOBER]:.1f} s", flush=True)
        lines.append([task.name, *map(number, taken.values()), ratio(taken[PLAIN] / taken[SOBER])])
    return [lines]


def share(rows: Rows) -> Table:
    """Return how much of sober's time is drop tests and the estimate, and why it is not less."""
    heads = ["a fit, ms", "search, s", "drop tests, s", "estimate, s", "share of the time", "share of the work"]
    lines: Table = [["data", *heads]]
    for task, some in rows.groupby("task", sort=False):
        total = some.sum(numeric_only=True)
        # Work, not waiting: a busy machine must not turn short fits into long ones.
        part, of_work = (total.tests + total.estimate) / total.seconds, total.bootstrap_cpu / total.cpu
        seconds = [
            number(value) for value in (1e3 * total.cpu / total.models, *total[["seconds", "tests", "estimate"]])
        ]
        lines.append([task, *seconds, f"{100 * part:.2f} %", f"{100 * of_work:.2f} %"])
    return lines
