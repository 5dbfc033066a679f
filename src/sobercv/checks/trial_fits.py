"""seconds_needed: how long a planned search would take, measured on one fit of each family on a part of the rows."""

from __future__ import annotations

from collections import Counter
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from .. import seeds, threads
from ..forests import faster_seconds
from ..tables import Dataset
from .planned_search import PlannedSearch

#: Rows that a trial fit sees, and seconds after which no more are made.
TRIAL_ROWS, TRIAL_SECONDS = 400, 6.0
#: How a fit's time grows with rows, between linear models (1) and kernels (2).
GROWTH = 1.3


def seconds_needed(planned: PlannedSearch, data: Dataset, jobs: int | None = None) -> float:
    """Estimate the seconds that a search takes without dropping, from one fit of each family.

    Steps that configurations share are counted once per fold, as the search fits them once. Families for which no time
    is left count as the mean of those that were tried; the first is always tried. `jobs`: workers, as in scikit-learn.
    """
    n = min(data.n_rows, TRIAL_ROWS)
    rows = np.sort(seeds.generator(seeds.root(planned.seed), "trial").permutation(data.n_rows)[:n])
    X, y = data.X.iloc[rows], data.y[rows]
    sizes, first = Counter[tuple[str, str]](), dict[tuple[str, str], Any]()
    for configuration in planned.preset.configurations:
        model = clone(planned.preset.estimator).set_params(**clone(dict(configuration.params), safe=False))
        key = repr(model[1]), type(model[-1]).__name__
        sizes[key] += 1
        first.setdefault(key, model)
    start = perf_counter()
    cleaned = clone(planned.preset.estimator[0]).fit_transform(X, y)
    seconds, forests, tried = perf_counter() - start, 0.0, dict[str, float]()
    selections = {key[0]: model[1] for key, model in first.items() if model[1] != "passthrough"}
    seconds += sum(_timed(step, cleaned, y) for step in selections.values())
    for (_, name), model in first.items():
        if name not in tried and (not tried or perf_counter() - start < TRIAL_SECONDS):
            tried[name] = _timed(model[-1], cleaned, y)
    usual = float(np.mean(list(tried.values())))
    for key, size in sizes.items():
        taken = size * tried.get(key[1], usual)
        if hasattr(first[key][-1], "plain_forest"):
            forests += taken
        else:
            seconds += taken
    growth = max(1.0, data.n_rows * (planned.cv - 1) / planned.cv / n) ** GROWTH
    times = growth * planned.cv * planned.repeats / threads.count(jobs)
    return seconds * times + faster_seconds(forests * times)


def _timed(step: Any, X: Any, y: Any) -> float:
    start = perf_counter()
    try:
        clone(step).fit(X, y)
    except Exception:  # a part of the rows may lack what the whole has; the search itself will tell
        return 0.1
    return perf_counter() - start
