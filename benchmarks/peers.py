"""The peers: what a user would write instead of `BBCSearchCV`, each as its own documentation shows it.

Takes one `Task` (training rows, hold-out rows, pipeline, grid, folds), gives a `Result`: seconds, models trained, what
the tool reports, and what its model scores on the rows held out. All get the same folds and the same cores.
"""

from __future__ import annotations

import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, ParameterGrid, cross_val_score

import sobercv
from sobercv.search import bbc_search_cv

from .report import of_all_processes

N_JOBS = 2


@dataclass(frozen=True, eq=False)
class Task:
    """One sub-sample of one data set."""

    name: str
    X: np.ndarray
    y: np.ndarray
    X_rest: np.ndarray
    y_rest: np.ndarray
    pipeline: Any
    grid: list[dict[str, list[Any]]]
    scoring: str
    splitter: Any  # with a seed: the same folds for every tool
    seed: int

    @property
    def configurations(self) -> list[dict[str, Any]]:
        return list(ParameterGrid(self.grid))

    @property
    def splits(self) -> list[Any]:
        return list(self.splitter.split(self.X, self.y))


@dataclass(frozen=True)
class Result:
    """What a peer made of a task."""

    seconds: float
    cpu: float  # seconds on all cores together, which other programs on the machine disturb less
    models: int
    reported: float
    held_out: float
    scaled: bool = False  # the seconds are those of a part, multiplied
    tests: float = 0.0  # seconds of drop tests, among the others
    estimate: float = 0.0  # and of the estimate
    bootstrap_cpu: float = 0.0  # CPU seconds of both

    @property
    def gap(self) -> float:
        """How much better the report is than the truth."""
        return self.reported - self.held_out


def grid_search(task: Task) -> Result:
    """Every configuration on every fold; the mean of the best is reported."""
    search = GridSearchCV(task.pipeline, task.grid, scoring=task.scoring, cv=task.splits, n_jobs=N_JOBS)
    return _searched(task, search, lambda: len(task.configurations))


def halving(task: Task) -> Result:
    """Successive halving over the number of samples, with scikit-learn's defaults."""
    search = HalvingGridSearchCV(
        task.pipeline, task.grid, scoring=task.scoring, cv=task.splitter, n_jobs=N_JOBS, random_state=task.seed
    )
    return _searched(task, search, lambda: sum(search.n_candidates_))


def _searched(task: Task, search: Any, candidates: Callable[[], int]) -> Result:
    seconds, cpu = _timed(lambda: search.fit(task.X, task.y))
    models = candidates() * task.splitter.n_splits + 1
    return Result(seconds, cpu, models, float(search.best_score_), _held_out(task, search.best_estimator_))


def nested(task: Task, plain: Result, n_outer: int | None = None) -> Result:
    """Nested cross-validation: a grid search in each outer fold for the score, one on all rows for the model.

    The grid search on all rows is `plain`, measured just before. With `n_outer`, only so many outer folds are run and
    their time is scaled up; then there is no score.
    """
    splits = task.splits[:n_outer]
    inner = GridSearchCV(task.pipeline, task.grid, scoring=task.scoring, cv=task.splitter)
    scores: list[Any] = []
    # The outer folds are what is run in parallel: few large pieces of work, so that little is lost between them.
    seconds, cpu = _timed(
        lambda: scores.extend(
            cross_val_score(inner, task.X, task.y, scoring=task.scoring, cv=splits, n_jobs=min(N_JOBS, len(splits)))
        )
    )
    n = task.splitter.n_splits
    times, scaled = n / len(splits), len(splits) < n
    reported = float("nan") if scaled else float(np.mean(scores))
    models = n * plain.models + plain.models
    return Result(seconds * times + plain.seconds, cpu * times + plain.cpu, models, reported, plain.held_out, scaled)


def bbc_search(task: Task) -> Result:
    """sober's search as it comes: with dropping and shared first steps."""
    search = sobercv.BBCSearchCV(task.pipeline, task.grid, scoring=task.scoring, cv=task.splits, n_jobs=N_JOBS)
    with _inference_clock() as bootstrap:
        seconds, cpu = _timed(lambda: search.fit(task.X, task.y))
    held_out = _held_out(task, search.best_estimator_)
    return Result(seconds, cpu, search.n_fits_, search.estimate_.value, held_out, **bootstrap)


def wilcoxon(task: Task) -> Result:
    """Optuna over the same grid, every configuration once; a trial ends when Wilcoxon's test over folds says so.

    As the pruner's page advises: folds in another order in each trial, reported by number, and a pruned trial returns
    the mean of what it has. Processes share the study through a journal file, in memory where that is possible: threads
    would wait for each other in every fit that is short.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    results: list[Any] = []

    def search() -> None:
        with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
            journal = str(Path(folder) / "journal.log")
            study = optuna.create_study(direction="maximize", storage=_storage(journal), study_name="grid")
            Parallel(N_JOBS)(delayed(_optimize)(task, journal, worker) for worker in range(N_JOBS))
            best = study.best_trial
            chosen = task.configurations[best.params["configuration"]]
            model = clone(task.pipeline).set_params(**clone(chosen, safe=False)).fit(task.X, task.y)
            results.extend([model, best.value, sum(len(trial.intermediate_values) for trial in study.trials)])

    seconds, cpu = _timed(search)
    model, value, n_fits = results
    return Result(seconds, cpu, n_fits + 1, float(value), _held_out(task, model))


def has_optuna() -> bool:
    return find_spec("optuna") is not None


def _storage(journal: str) -> Any:
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    return JournalStorage(JournalFileBackend(journal))


def _optimize(task: Task, journal: str, worker: int) -> None:
    """One of Optuna's worker processes."""
    import optuna

    warnings.simplefilter("ignore")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    configurations, splits, scorer = task.configurations, task.splits, get_scorer(task.scoring)
    rng = np.random.default_rng([task.seed, worker])

    def objective(trial: Any) -> float:
        chosen = configurations[trial.suggest_int("configuration", 0, len(configurations) - 1)]
        scores: list[float] = []
        for fold in rng.permutation(len(splits)):
            train, test = splits[fold]
            model = clone(task.pipeline).set_params(**clone(chosen, safe=False)).fit(task.X[train], task.y[train])
            scores.append(float(scorer(model, task.X[test], task.y[test])))
            trial.report(scores[-1], int(fold))
            if trial.should_prune():
                break
        return float(np.mean(scores))

    study = optuna.load_study(
        study_name="grid",
        storage=_storage(journal),
        sampler=optuna.samplers.GridSampler({"configuration": list(range(len(configurations)))}, seed=task.seed),
        pruner=optuna.pruners.WilcoxonPruner(p_threshold=0.1),
    )
    study.optimize(objective)  # the sampler ends it when the grid is done


def _timed(function: Callable[[], Any]) -> tuple[float, float]:
    """Seconds by the clock on the wall, and of work on all cores."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constant columns, fits that did not converge
        start, work = time.perf_counter(), _cpu_seconds()
        function()
        return time.perf_counter() - start, _cpu_seconds() - work


def _cpu_seconds() -> float:
    """Seconds of work of this process and all below it, so far: their own, and those of children that have ended."""
    return of_all_processes(lambda process: sum(process.cpu_times()[:4]))


def _held_out(task: Task, model: Any) -> float:
    return float(get_scorer(task.scoring)(model, task.X_rest, task.y_rest))


@contextmanager
def _inference_clock() -> Iterator[dict[str, float]]:
    """Collect the seconds that a search spends in `sobercv.inference`; its fits run in other processes."""
    spent = {"tests": 0.0, "estimate": 0.0, "bootstrap_cpu": 0.0}

    def clocked(what: str, function: Any) -> Any:
        @wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            start, cpu = time.perf_counter(), time.process_time()
            try:
                return function(*arguments, **options)
            finally:
                spent[what] += time.perf_counter() - start
                spent["bootstrap_cpu"] += time.process_time() - cpu

        return call

    rule = sobercv.PredictiveDrop  # the default
    with (
        patch.object(rule, "__call__", clocked("tests", rule.__call__)),
        patch.object(bbc_search_cv, "corrected", clocked("estimate", bbc_search_cv.corrected)),
    ):
        yield spent
