"""Fold scores of a fitted search: anything with scikit-learn's `cv_results_`.

GridSearchCV, RandomizedSearchCV, the halving searches, BayesSearchCV and dask-ml's searches all keep
``split0_test_score`` and so on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from ..containers import Array
from ..errors import Note, SoberError
from ..inference.notes import adaptive
from .judging import FoldScores

SPLIT = re.compile(r"split(\d+)_test_(.+)")


def read_search(search: Any, metric: str | None = None, n_repeats: int | None = None) -> FoldScores:
    """Read the fold scores of a fitted search.

    `metric` names the one that selects, where the search has several and no `refit` names one; `n_repeats` is that of
    the splitter by default.
    """
    results = search.cv_results_
    keys = [match for match in map(SPLIT.fullmatch, results) if match]
    if not keys:
        raise SoberError(
            "E812",
            f"This {type(search).__name__} keeps no scores by fold: its cv_results_ has no split0_test_score. Pass the "
            "fold scores as a table with one row per fold and one column per configuration.",
        )
    n_splits = 1 + max(int(match[1]) for match in keys)
    names = list(dict.fromkeys(match[2] for match in keys))
    first = _selecting(search, names, metric)
    rows, notes = _last_iteration(results)
    scores = {
        title(search, name): np.array(
            [np.asarray(results[f"split{k}_test_{name}"], dtype=np.float64)[rows] for k in range(n_splits)]
        )
        for name in [first, *(name for name in names if name != first)]
    }
    params = [dict(results["params"][row]) for row in rows]
    has_rule = callable(getattr(search, "refit", None))
    is_own = metric is None if has_rule else metric in (None, first, title(search, first))
    best = getattr(search, "best_index_", None) if is_own else None
    repeats = getattr(getattr(search, "cv", None), "n_repeats", 1)  # as the splitter says
    repeats = int(repeats) if isinstance(repeats, (int, np.integer)) and repeats > 0 else 1
    test_share, dependence = _overlap(getattr(search, "cv", None))
    is_adaptive = hasattr(search, "optimizer_results_")  # BayesSearchCV proposes by earlier scores
    return FoldScores(
        scores=scores,
        params=params,
        n_repeats=(repeats if n_splits % repeats == 0 else 1) if n_repeats is None else n_repeats,
        test_share=test_share,
        winner=int(np.flatnonzero(rows == best)[0]) if best is not None and best in rows else None,
        rule=_rule(search.refit, names, results, rows) if has_rule and is_own else None,
        notes=(*notes, *dependence, *([adaptive(None, len(params))] if is_adaptive else [])),
    )


def _selecting(search: Any, names: list[str], metric: str | None) -> str:
    """Name of the metric that selects."""
    if metric is not None and metric == title(search, names[0]) and metric not in names:
        return names[0]
    refit: Any = getattr(search, "refit", True)
    if metric is None:
        metric = names[0] if len(names) == 1 or callable(refit) else refit
    if isinstance(metric, str) and metric in names:
        return metric
    given = f"got {metric!r}" if isinstance(metric, str) else "the search has several and no refit"
    code = "E122" if isinstance(metric, str) else "E113"
    raise SoberError(code, f"`metric` must name the metric that selects, one of {', '.join(names)}; {given}.")


def title(search: Any, name: str = "score") -> str:
    """Name of a metric as the user knows it: cv_results_ calls the only one "score"."""
    if name != "score":
        return name
    scoring = getattr(search, "scoring", None)
    if isinstance(scoring, str):
        return scoring
    if scoring is None and (estimator := getattr(search, "estimator", None)) is not None:
        return "accuracy" if is_classifier(estimator) else "r2" if is_regressor(estimator) else "score"
    return str(getattr(getattr(scoring, "_score_func", scoring), "__name__", "score"))


def _last_iteration(results: Mapping[str, Any]) -> tuple[Array, tuple[Note, ...]]:
    """Rows to judge: all, or those of the last iteration of a halving search."""
    if "iter" not in results:
        return np.arange(len(results["params"])), ()
    iteration = np.asarray(results["iter"])
    rows = np.flatnonzero(iteration == iteration.max())
    text = (
        f"A halving search: configurations of its last iteration alone ({len(rows)}) were judged on all its data. The "
        f"iterations before it ({len(np.unique(iteration)) - 1}) chose them on the same samples; that is not corrected."
    )
    return rows, (Note("W811", text),)


def _overlap(cv: Any) -> tuple[float | None, tuple[Note, ...]]:
    """Size of a test set over that of a training set, where test sets overlap; a note where splits are not folds."""
    from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit, TimeSeriesSplit

    if isinstance(cv, TimeSeriesSplit):
        text = "Splits of a time series share training rows and differ in size; the interval may be too narrow."
        return None, (Note("W203", text),)
    if not isinstance(cv, (ShuffleSplit, StratifiedShuffleSplit, GroupShuffleSplit)):
        return None, ()
    test, train = cv.test_size, cv.train_size
    if isinstance(test, int) and isinstance(train, int):
        share = test / train
    else:
        test = test if isinstance(test, float) else 0.2 if isinstance(cv, GroupShuffleSplit) else 0.1
        share = test / (train if isinstance(train, float) and isinstance(cv.test_size, float) else 1 - test)
    text = "Test sets overlap, so the splits are not independent: the interval is widened for it."
    return share, (Note("W203", text),)


def _rule(
    refit: Callable[[dict[str, Any]], int], names: list[str], results: Mapping[str, Any], rows: Array
) -> Callable[[Mapping[str, Array]], int]:
    """Wrap `refit=callable`: it sees the cv_results_ of the folds present in a resample."""
    scores_of = re.compile(r"(split\d+|mean|std|rank)_test_.+")
    others: dict[str, Any] = {
        key: np.ma.asarray(column)[rows] for key, column in results.items() if not scores_of.fullmatch(key)
    }
    others["params"] = [results["params"][row] for row in rows]

    def rule(present: Mapping[str, Array]) -> int:
        resampled: dict[str, Any] = dict(others)
        for name, scores in zip(names, present.values(), strict=True):
            mean = scores.mean(axis=0)
            ordered = np.sort(-mean)
            resampled |= {f"split{k}_test_{name}": row for k, row in enumerate(scores)}
            resampled |= {f"mean_test_{name}": mean, f"std_test_{name}": scores.std(axis=0)}
            resampled[f"rank_test_{name}"] = (1 + np.searchsorted(ordered, -mean)).astype(np.int32)
        return int(refit(resampled))

    return rule
