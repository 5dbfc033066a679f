"""The whole journey against its peers: the same data, grid, folds and cores for everybody.

Takes real data (three sets that ship with scikit-learn, three more from `--data FOLDER`), gives for each tool the time,
the models trained, the score of its model on rows held out, and how far its own report is from that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import SelectPercentile, f_classif, f_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, ParameterGrid, StratifiedKFold, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

from . import peers
from .peers import Result, Task
from .report import Section, number, ratio

FOLDS = 10
QUICK_N = 500

Grid = list[dict[str, list[Any]]]
SOBER, PLAIN, NESTED, HALVING, OPTUNA = "BBCSearchCV", "GridSearchCV", "nested CV", "HalvingGridSearchCV", "Optuna"


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
    n_outer: int | None = None  # outer folds of the nested cross-validation that are run; all unless given
    load: Callable[..., tuple[Any, Any]] | None = None  # else from a file

    def tasks(self, folder: Path | None, quick: bool) -> Iterator[Task]:
        X, y = self._rows(folder)
        numbers = self.scoring == "r2"
        for seed in range(1 if quick else self.n_samples):
            n = min(self.n, QUICK_N) if quick else self.n
            X_some, X_rest, y_some, y_rest = train_test_split(
                X, y, train_size=n, stratify=None if numbers else y, random_state=seed
            )
            yield Task(
                f"{self.name}, N = {n:,}", X_some, y_some, X_rest, y_rest,
                Pipeline([
                    ("scale", StandardScaler()), ("reduce", PCA()), ("model", Ridge() if numbers else SVC()),
                ]),
                thinned(self.grid) if quick else self.grid,
                self.scoring,
                (KFold if numbers else StratifiedKFold)(FOLDS, shuffle=True, random_state=seed),
                seed,
            )  # fmt: skip

    def _rows(self, folder: Path | None) -> tuple[Any, Any]:
        if self.load is not None:
            return self.load(return_X_y=True)
        assert folder is not None
        with np.load(folder / f"{self.name}.npz", allow_pickle=False) as file:
            return file["X"].astype(np.float64), file["y"].astype(int)


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


def thinned(grid: Grid) -> Grid:
    """Every second value of what is tuned."""
    return [{name: values[::2] for name, values in part.items()} for part in grid]


def run(quick: bool = False, data: Path | None = None) -> list[Section]:
    sets = (*SHIPPED, *(FROM_FILES if data is not None else ()))
    runs: dict[str, list[dict[str, Result]]] = {}
    for each in sets:
        for task in each.tasks(data, quick):
            found = _compete(task, 2 if quick else each.n_outer)
            runs.setdefault(task.name, []).append(found)
            print(_line(task, found), flush=True)
    forests = next(replace(SHIPPED[0], n=400, scoring="roc_auc", grid=FORESTS).tasks(None, quick))
    bootstrap = {name: [r[SOBER] for r in found] for name, found in runs.items()}
    bootstrap["breast cancer, N = 400, forests"] = [after_warm_up(peers.bbc_search, forests)]
    left_out = [] if data is not None else [each.name for each in FROM_FILES]
    return [_table(runs, sets, left_out), _summary(runs, left_out), share(bootstrap)]


def _compete(task: Task, n_outer: int | None) -> dict[str, Result]:
    """Let everybody do the task; who begins changes from sub-sample to sub-sample."""
    contest = {PLAIN: peers.grid_search, HALVING: peers.halving, SOBER: peers.bbc_search}
    contest |= {OPTUNA: peers.wilcoxon} if peers.has_optuna() else {}
    names = list(contest)
    first = task.seed % len(names)
    found = {name: after_warm_up(contest[name], task) for name in names[first:] + names[:first]}
    if task.seed == 0:
        found[NESTED] = peers.nested(task, found[PLAIN], n_outer)
    return found


def after_warm_up(peer: Callable[[Task], Result], task: Task) -> Result:
    """Start workers, import what they need, load kernels; then do the task.

    Directly before, because joblib starts its workers anew for whoever has other settings than the one before.
    """
    peer(replace(task, grid=[{name: values[:1] for name, values in part.items()} for part in task.grid]))
    return peer(task)


def _line(task: Task, found: dict[str, Result]) -> str:
    each = ", ".join(f"{name} {r.seconds:.1f} s {r.held_out:.4f} ({r.gap:+.4f})" for name, r in found.items())
    return f"{task.name}, sub-sample {task.seed}: {each}"


ORDER = (PLAIN, NESTED, HALVING, OPTUNA, SOBER)


def _table(runs: dict[str, list[dict[str, Result]]], sets: tuple[Data, ...], left_out: list[str]) -> Section:
    rows = []
    for name, found in runs.items():
        for peer in ORDER:
            some = [r[peer] for r in found if peer in r]
            if not some:
                continue
            plain = [r[PLAIN] for r in found if peer in r]
            mark = "~" if some[0].scaled else ""
            seconds = mean(some, "seconds")
            rows.append([
                name, peer, mark + number(seconds), mark + ratio(mean(plain, "seconds") / seconds),
                mark + number(mean(some, "cpu")),
                f"{mean(some, 'models'):,.0f}", f"{mean(some, 'held_out'):.4f}",
                *(["-", "-"] if some[0].scaled else [f"{mean(some, 'reported'):.4f}", f"{mean(some, 'gap'):+.4f}"]),
            ])  # fmt: skip
    sizes = sorted({len(ParameterGrid(each.grid)) for each in sets})
    how_many = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    return Section(
        f"Journey: searches of {how_many} configurations, {FOLDS} folds, {peers.N_JOBS} cores",
        [
            "data",
            "tool",
            "seconds",
            "GridSearchCV/it",
            "CPU s",
            "models",
            "hold-out",
            "reported",
            "reported - hold-out",
        ],
        rows,
        [
            "All tune the same pipeline (scale; all columns, PCA or a univariate choice; model) over the same "
            "grid on the same rows, with the same folds (halving and the inner loops take theirs from the same "
            "splitter) and the same cores; the rows left over are the hold-out. Means over "
            + ", ".join(f"{each.n_samples} ({each.name})" for each in sets)
            + " sub-samples (one with --quick, of every second value). Scores: "
            + ", ".join(f"{each.scoring} ({each.name})" for each in sets)
            + ". CPU: work on all cores together, which other programs on the machine disturb less. Models: fits, "
            "the final one included.",
            "nested CV: `cross_val_score` around `GridSearchCV`, outer folds in parallel, and a grid search on all "
            "rows for the model (that of the first line); on the first sub-sample. ~: two of the ten outer folds were "
            "run and their seconds multiplied by five, so there is no score.",
            "Optuna: `GridSampler` and `WilcoxonPruner(p_threshold=0.1)` over folds, two processes with a journal in "
            "memory. "
            + ("" if peers.has_optuna() else "Not installed here (pip install optuna), so left out. ")
            + "Halving: scikit-learn's defaults, over the number of samples.",
            *absent(left_out),
        ],
    )


def _summary(runs: dict[str, list[dict[str, Result]]], left_out: list[str]) -> Section:
    """What all sub-samples say together."""
    every = [r for found in runs.values() for r in found]
    rows, faster, better = [], {}, {}

    def times(peer: str, what: str) -> float:
        """How much more a peer takes: the median over data sets, since one with many sub-samples has one vote too."""
        pairs = [[(r[peer], r[SOBER]) for r in found if peer in r] for found in runs.values()]
        return median(mean([a for a, _ in some], what) / mean([b for _, b in some], what) for some in pairs)

    for peer in ORDER:
        some = [r for r in every if peer in r]
        if not some:
            continue
        faster[peer] = times(peer, "seconds")
        better[peer] = paired([r[SOBER].held_out - r[peer].held_out for r in some])
        told = [r[peer].gap for r in some if not r[peer].scaled and np.isfinite(r[peer].gap)]
        rows.append([
            peer, str(len(some)), ratio(faster[peer]), ratio(times(peer, "cpu")),
            f"{better[peer][0]:+.4f}", f"{better[peer][1]:.4f}",
            f"{np.mean(np.abs(told)):.4f}" if told else "-", f"{np.mean(told):+.4f}" if told else "-", str(len(told)),
        ])  # fmt: skip
    return Section(
        f"Journey: all {len(runs)} data sets, {len(every)} sub-samples",
        [
            "tool", "runs", "its seconds / BBCSearchCV's", "its CPU / BBCSearchCV's",
            "BBCSearchCV's hold-out - its", "standard error",
            "mean |reported - hold-out|", "mean of reported - hold-out", "reports",
        ],
        rows,

        [
            "Seconds and CPU: the median over data sets. Hold-out: the mean of the paired differences over all "
            "sub-samples and its standard error (sub-samples of one set share rows, so the true one is larger).",
            *(_sentence(peer, faster[peer], better[peer]) for peer in (HALVING, OPTUNA) if peer in faster),
            "Small tables gain least: with 100 or 200 rows few can be dropped on the predictions of one or two folds.",
            *absent(left_out),
        ],
    )  # fmt: skip


def speed(quick: bool = False, data: Path | None = None) -> list[Section]:
    """The journey without the other tools, in a few minutes.

    CPU seconds are judged: both use the same cores, and other programs on the machine disturb them less than the clock.
    """
    rows, searches = [], {}
    for each in (*SHIPPED, *(FROM_FILES if data is not None else ())):
        found: list[tuple[Result, Result]] = []
        for task in each.tasks(data, quick):
            found.append((after_warm_up(peers.grid_search, task), after_warm_up(peers.bbc_search, task)))
            print(
                f"{task.name}, sub-sample {task.seed}: CPU {found[-1][0].cpu:.1f} s, {found[-1][1].cpu:.1f} s",
                flush=True,
            )
        searches[task.name] = [own for _, own in found]
        plain, own = ([pair[i] for pair in found] for i in (0, 1))
        times = {what: mean(plain, what) / mean(own, what) for what in ("seconds", "cpu", "models")}
        rows.append([
            task.name, *(number(mean(some, what)) for what in ("seconds", "cpu") for some in (plain, own)),
            f"{mean(own, 'models'):,.0f}", *(ratio(times[what]) for what in ("seconds", "cpu", "models")),
            f"{mean(own, 'held_out') - mean(plain, 'held_out'):+.4f}",
        ])  # fmt: skip
    heads = [
        "data", f"{PLAIN}, s", f"{SOBER}, s", f"{PLAIN}, CPU s", f"{SOBER}, CPU s", "models", "times faster",
        "times less CPU", "times fewer models", "hold-out gained",
    ]  # fmt: skip
    left_out = [] if data is not None else [each.name for each in FROM_FILES]
    words = "As in the journey, the same data, grids, folds and cores; means over sub-samples."
    return [
        Section(f"Speed: {SOBER} against {PLAIN}, {peers.N_JOBS} cores", heads, rows, [words, *absent(left_out)]),
        share(searches, "Speed"),
    ]


def absent(left_out: list[str]) -> list[str]:
    return [f"Left out, because no `--data FOLDER` was given: {', '.join(left_out)}."] if left_out else []


def _sentence(peer: str, faster: float, better: tuple[float, float]) -> str:
    """Say plainly how a peer compares."""
    gain, error = better
    score = "better" if gain > error else "worse" if gain < -error else "the same within a standard error"
    speed = f"{faster:.1f} times faster" if faster >= 1 else f"{1 / faster:.1f} times slower"
    return f"Against {peer}, BBCSearchCV is {speed}, and its model on the hold-out is {score} ({gain:+.4f})."


def share(found: dict[str, list[Result]], journey: str = "Journey") -> Section:
    """Tell how much of sober's time is drop tests and the estimate, and why it is not less."""
    rows = []
    for name, results in found.items():
        total = {
            what: sum(getattr(r, what) for r in results)
            for what in ("seconds", "tests", "estimate", "cpu", "bootstrap_cpu", "models")
        }
        # Work, not waiting, where the system tells it: a busy machine must not turn short fits into long ones.
        work = total["cpu"] if np.isfinite(total["cpu"]) else peers.N_JOBS * total["seconds"]
        fit, part = work / total["models"], (total["tests"] + total["estimate"]) / total["seconds"]
        seconds = [number(total[what]) for what in ("seconds", "tests", "estimate")]
        of_work = total["bootstrap_cpu"] / work
        rows.append([name, number(1e3 * fit), *seconds, f"{100 * part:.2f} %", f"{100 * of_work:.2f} %"])
    return Section(
        f"{journey}: what the bootstrap takes of BBCSearchCV's time",
        ["data", "a fit, ms", "search, s", "drop tests, s", "estimate, s", "share of the time", "share of the work"],
        rows,
        [
            "Bootstrap: the drop tests after every round (200 resamples each) and the estimate (1,000). A fit: work of "
            "the whole search divided by its models. Work: CPU seconds of all processes.",
            "Where the share is large, the search is short because of the drop tests: they leave an eighth to a third "
            "of the models to train. Tests take 3 to 7 ms per round; meanwhile the workers fit for later rounds.",
        ],
    )


def mean(results: list[Result], what: str) -> float:
    return float(np.mean([getattr(result, what) for result in results]))


def paired(differences: list[float]) -> tuple[float, float]:
    """Mean and standard error."""
    error = np.std(differences, ddof=1) / np.sqrt(len(differences)) if len(differences) > 1 else 0.0
    return float(np.mean(differences)), float(error)
