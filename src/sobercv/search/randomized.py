"""BBCRandomizedSearchCV: the same search over configurations drawn at random, under the names of scikit-learn.

Takes what `RandomizedSearchCV` takes and all options of `BBCSearchCV`; adds no behaviour.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from typing import Any

import numpy as np

from .bbc_search_cv import BBCSearchCV


class BBCRandomizedSearchCV(BBCSearchCV):
    """`BBCSearchCV` over configurations that are drawn at random; a drop-in for scikit-learn's `RandomizedSearchCV`.

    Parameters
    ----------
    estimator : estimator
    param_distributions : dict or list of dicts
        Names to lists of values or to distributions with a method `rvs`.
    n_iter : int, default=10
        How many configurations are drawn.
    scoring, pos_label, cv, n_repeats, proposer, drop, count_dropped, select, tune_threshold, aggregate, within_folds, \
method, interval, n_bootstraps, confidence_level, stratify, refit, n_jobs, random_state, store, max_seconds, \
fit_timeout, half_width, error_score, verbose, on_event, pre_dispatch, return_train_score, keep
        See `BBCSearchCV`. `random_state` seeds the drawing too.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> import sobercv
    >>> search = sobercv.BBCRandomizedSearchCV(GaussianNB(), {"var_smoothing": loguniform(1e-9, 1)}, n_iter=4, cv=5)
    >>> len(search.fit(*load_breast_cancer(return_X_y=True)).cv_results_["params"])
    4
    """

    def __init__(
        self,
        estimator: Any,
        param_distributions: Any,
        *,
        n_iter: int = 10,
        scoring: Any = None,
        pos_label: Any = None,
        cv: Any = 10,
        n_repeats: int = 1,
        proposer: str | None = None,
        drop: Any = "auto",
        count_dropped: bool = True,
        select: Any = "best",
        tune_threshold: bool = False,
        aggregate: str = "pooled",
        within_folds: bool = False,
        method: str = "bbc",
        interval: str = "wilson",
        n_bootstraps: int = 1000,
        confidence_level: float = 0.95,
        stratify: bool = False,
        refit: bool | str | Callable[[dict[str, Any]], int] = True,
        n_jobs: int | None = None,
        random_state: Any = 0,
        store: Any = None,
        max_seconds: float | None = None,
        fit_timeout: float | None = None,
        half_width: float | None = None,
        error_score: Any = np.nan,
        verbose: int = 0,
        on_event: Any = None,
        pre_dispatch: Any = "2*n_jobs",
        return_train_score: bool = False,
        keep: str = "scored",
    ) -> None:
        self.estimator = estimator
        self.param_distributions = param_distributions
        self.n_iter = n_iter
        self.scoring = scoring
        self.pos_label = pos_label
        self.cv = cv
        self.n_repeats = n_repeats
        self.proposer = proposer
        self.drop = drop
        self.count_dropped = count_dropped
        self.select = select
        self.tune_threshold = tune_threshold
        self.aggregate = aggregate
        self.within_folds = within_folds
        self.method = method
        self.interval = interval
        self.n_bootstraps = n_bootstraps
        self.confidence_level = confidence_level
        self.stratify = stratify
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.store = store
        self.max_seconds = max_seconds
        self.fit_timeout = fit_timeout
        self.half_width = half_width
        self.error_score = error_score
        self.verbose = verbose
        self.on_event = on_event
        self.pre_dispatch = pre_dispatch
        self.return_train_score = return_train_score
        self.keep = keep

    def _space(self) -> Any:
        return self.param_distributions


def _attributes() -> str:
    """Give what is written on the attributes of `BBCSearchCV`: they are the same."""
    return cleandoc(BBCSearchCV.__doc__ or "").partition("Attributes\n")[2].partition("Examples\n")[0].rstrip()


_first, _, _last = cleandoc(BBCRandomizedSearchCV.__doc__ or "").partition("Examples\n")
BBCRandomizedSearchCV.__doc__ = f"{_first}Attributes\n{_attributes()}\n\nExamples\n{_last}\n"
