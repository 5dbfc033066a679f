"""BBCSearchCV: the scikit-learn face of sober, where training and inference are wired together.

Takes an estimator, a search space and data; checks, wires and delegates. The only thing that flows back from inference
to training is a mask: who is still in the race.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.validation import check_is_fitted

from .. import seeds
from ..errors import SoberError, warn
from ..inference import BootstrapDrop, Estimate
from ..inference.bbc import bbc
from ..inference.intervals import check_level
from ..inference.selection import rule_of
from ..metrics import Metric
from ..predictions import Predictions
from ..training import (
    Experiment,
    MemoryStore,
    Plan,
    Problem,
    RaceLog,
    SearchEnded,
    SearchStarted,
    Stop,
    expand,
    infer_task,
    make_executor,
    recalling,
    stored_seed,
)
from ..training.race import race
from .callbacks import CallbackSupport, RoundCallbacks, with_callbacks
from .early_end import caveat, check_limits, marked, tight_enough
from .progress import audience, display
from .results import cv_results
from .scoring import metrics_of
from .winner import WinnerMixin


class BBCSearchCV(CallbackSupport, WinnerMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Tune by cross-validation, drop hopeless configurations early, and say honestly how good the winner is.

    A drop-in for scikit-learn's `GridSearchCV` and `RandomizedSearchCV`. The number to report is `estimate_`: the
    bootstrap bias corrected score (BBC-CV) with its interval. With dropping it is BCED-CV, which the journal version of
    the paper calls BBCD-CV.

    Parameters
    ----------
    estimator : estimator
        A scikit-learn classifier or regressor, a pipeline, or a scikit-survival estimator.
    param_grid : dict or list of dicts
        Names to lists of values; with `n_iter`, distributions too. Whole steps can be values:
        ``{"model": [SVC()], "model__C": [1, 10]}``.
    scoring : str, callable, Metric, list or dict, optional
        Unless given, what the estimator's `score` is: accuracy, R2 or the concordance index. With several, the first
        selects (or the one named by `refit`), and all are judged at the same winner.
    cv : int, splitter or iterable, default=10
        As in scikit-learn. A number gives stratified folds for classes and survival, and keeps groups together.
    n_repeats : int, default=1
        Repeat the cross-validation with other folds; needs `cv` to be a number.
    n_iter : int, optional
        Draw this many configurations at random instead of trying all.
    drop : {"auto", None} or rule, default="auto"
        "auto" is `BootstrapDrop()`: the paper's test after each fold, once 50 samples have predictions.
    select : {"best"}, simplest_within(...) or callable, default="best"
        How the winner is picked from scores [B, C]; the bootstrap re-runs the same rule.
    aggregate : {"pooled", "fold"}, default="pooled"
        Select by the score of all out-of-sample predictions together, or by the mean over folds as scikit-learn does.
    within_folds : bool, default=False
        Ranking metrics compare only samples of the same fold.
    method : {"bbc", "632+"}, default="bbc"
    n_bootstraps : int, default=1000
    confidence_level : float, default=0.95
    stratify : bool, default=False
        Bootstrap within classes, for rare ones.
    refit : bool or str, default=True
        Train the winner on all data. A string names the metric that selects.
    n_jobs : int, optional
        Workers, as in scikit-learn. Results do not depend on it.
    random_state : int, default=0
    store : path, optional
        A file that keeps every fit as soon as it is done. The same call with the same file goes on where it stopped;
        with more repeats or more configurations it fits only what is new.
    max_seconds : float, optional
        Stop training after this time, and judge by what is complete then. Cheap configurations are fitted first. Fits
        under way are ended; for that, one job runs in a process of its own too. (Threads and clusters look at the
        clock when something comes back.)
    fit_timeout : float, optional
        End a fit that takes longer than so many seconds; its configuration counts as failed. Needs processes.
    tolerance : float, optional
        Stop training when half the width of the interval is within this; looked at after each round, once 50 samples
        have predictions.
    error_score : {"raise"} or NaN, default=NaN
        Configurations that fail are set aside with the reason, or raise.
    verbose : int, default=0
        1 shows a bar in a terminal or a notebook (with rich) and a line for each round elsewhere; 2 always shows lines.
    on_event : callable or list of callables, optional
        Hear what happens, such as `sobercv.progress.JsonLines("log.jsonl")`. What they do changes no result.

    Attributes
    ----------
    estimate_ : Estimate, or dict of them
        The honest score. This is the number to report.
    best_estimator_, best_params_, best_index_ : the winner
    best_score_ : float
        scikit-learn's meaning: the winner's mean over folds. Optimistic; do not report it.
    cv_results_ : dict of arrays
        scikit-learn's columns plus `pooled_test_score`, `status` and `dropped_at`.
    predictions_ : Predictions
        Out-of-sample predictions of the finishers.
    race_ : RaceLog
        Who was dropped when, with which p, and who failed why.
    stopped_ : {"finished", "interrupted", "terminated", "max_seconds", "tolerance"}
        What ended the training. Ctrl-C, SIGTERM or SIGHUP once gives the estimate from what is complete; twice ends at
        once.
    is_complete_ : bool
        Whether every split was run; if not, the notes of `estimate_` say how many were.
    n_fits_ : int
        Models really trained, the final one included.
    n_splits_ : int
    splits_ : list of (train, test)
        The rows of every split; passed as `cv` they repeat the folds, also those of a splitter without a seed.
    scorer_ : Metric, or dict of them
    multimetric_ : bool
    refit_time_ : float
    seed_ : int
        The root seed of the run; passed as `random_state` it repeats the run.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> import sobercv
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    >>> search = sobercv.BBCSearchCV(pipeline, {"logisticregression__C": [0.01, 0.1, 1, 10]}, scoring="roc_auc", cv=5)
    >>> bool(search.fit(X, y).estimate_.value > 0.97)
    True
    """

    estimate_: Any
    scorer_: Any
    multimetric_: bool

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        scoring: Any = None,
        cv: Any = 10,
        n_repeats: int = 1,
        n_iter: int | None = None,
        drop: Any = "auto",
        select: Any = "best",
        aggregate: str = "pooled",
        within_folds: bool = False,
        method: str = "bbc",
        n_bootstraps: int = 1000,
        confidence_level: float = 0.95,
        stratify: bool = False,
        refit: bool | str = True,
        n_jobs: int | None = None,
        random_state: Any = 0,
        store: Any = None,
        max_seconds: float | None = None,
        fit_timeout: float | None = None,
        tolerance: float | None = None,
        error_score: Any = np.nan,
        verbose: int = 0,
        on_event: Any = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.scoring = scoring
        self.cv = cv
        self.n_repeats = n_repeats
        self.n_iter = n_iter
        self.drop = drop
        self.select = select
        self.aggregate = aggregate
        self.within_folds = within_folds
        self.method = method
        self.n_bootstraps = n_bootstraps
        self.confidence_level = confidence_level
        self.stratify = stratify
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.store = store
        self.max_seconds = max_seconds
        self.fit_timeout = fit_timeout
        self.tolerance = tolerance
        self.error_score = error_score
        self.verbose = verbose
        self.on_event = on_event

    # ---- the journey ---------------------------------------------------------------------------------------------
    # Not in the signature of `fit`, which says what every estimator can take: a pipeline cannot take weights.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"sample_weight": None}

    @with_callbacks
    def fit(self, X: Any, y: Any = None, *, groups: Any = None, **params: Any) -> BBCSearchCV:
        """Race all configurations, pick the winner, judge it honestly, train it on all data.

        Parameters
        ----------
        X : array-like [N, ...]
            numpy, pandas, polars, scipy sparse or a list.
        y : array-like [N]
            Labels, numbers, or scikit-survival's structured array.
        groups : array-like [N], optional
            Samples of one group stay together, in folds and in the bootstrap.
        **params
            `sample_weight`, array-like [N], goes to the estimator's `fit` (as metadata routing says where that is
            enabled) and into every metric. The others are for the estimator's `fit`; under metadata routing, for
            whoever asked for them.
        """
        sample_weight = params.pop("sample_weight", None)
        rule = self._check_options()
        seed = seeds.root(stored_seed(self.store) if self.random_state is None else self.random_state)
        problem, metrics, split_params = self._problem(X, y, groups, sample_weight, params)
        configurations = expand(self.param_grid, self.n_iter, seed, self.estimator)
        plan = Plan.build(problem, self.cv, self.n_repeats, seed, split_params)
        store = MemoryStore(problem, plan, len(configurations))
        wanted = tuple(dict.fromkeys(metric.responses for metric in metrics.values()))
        experiment = Experiment(problem, self.estimator, wanted, raise_errors=self.error_score == "raise")
        executor = make_executor(self.n_jobs, self.fit_timeout, is_limited=self.max_seconds is not None)
        callbacks = RoundCallbacks(self, X, y, len(configurations) * plan.n_splits, plan.n_rounds, rule is None)
        with audience(self.on_event, display(self.verbose), callbacks.listener) as tell:
            tell(SearchStarted(len(configurations), plan.n_splits))
            log = race(
                experiment,
                configurations,
                plan,
                executor=recalling(executor, self.store, experiment, configurations, plan, seed),
                store=store,
                rule=None if rule is None else self._drop_rule(rule, next(iter(metrics.values())), seed),
                on_event=tell,
                stop=Stop(self.max_seconds, tight_enough(self.tolerance, lambda p: self._first(p, metrics, seed))),
            )
            tell(SearchEnded(log.stopped, log.n_fits, log.n_fits_saved, log.seconds))
        self._report_failures(log)
        incomplete = caveat(log, store)
        self._judge(store.predictions(log.finishers), metrics, seed, incomplete)
        self._remember(configurations, store, log, metrics, plan, seed)
        if self.refit:
            with callbacks.refit():
                self._refit(problem)
        callbacks.close()
        return self

    def _check_options(self) -> Any:
        """Refuse bad options before any training; give the drop rule."""
        if not hasattr(self.estimator, "fit"):
            raise TypeError(f"`estimator` must have a fit method; got {self.estimator!r}.")
        if not isinstance(self.refit, (bool, np.bool_, str)):
            hint = (
                " Pass a callable as select=, a function from scores [B, C] to winners [B], so that the bootstrap can "
                "re-run it."
                if callable(self.refit)
                else ""
            )
            raise SoberError("E108", f"`refit` must be True, False or the name of a metric; got {self.refit!r}.{hint}")
        check_level(self.confidence_level)
        check_limits(max_seconds=self.max_seconds, tolerance=self.tolerance, fit_timeout=self.fit_timeout)
        rule_of(self.select)
        allowed = {"aggregate": ("pooled", "fold"), "method": ("bbc", "632+")}
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                raise SoberError("E108", f"`{name}` must be one of {values}; got {getattr(self, name)!r}.")
        if not isinstance(self.n_bootstraps, (int, np.integer)) or self.n_bootstraps < 1:
            raise SoberError("E108", f"`n_bootstraps` must be a whole number of 1 or more; got {self.n_bootstraps!r}.")
        score = self.error_score
        if not (isinstance(score, str) and score == "raise") and not (isinstance(score, float) and np.isnan(score)):
            raise SoberError("E108", f'`error_score` must be "raise" or NaN; got {self.error_score!r}.')
        if self.drop is None or isinstance(self.drop, str):
            if self.drop in (None, "auto"):
                return None if self.drop is None else BootstrapDrop()
        elif _takes_four(self.drop):
            return self.drop
        raise SoberError(
            "E108",
            f'`drop` must be "auto", None, or a rule that is called with (predictions, metric, seed, round), such as '
            f"BootstrapDrop(); got {self.drop!r}.",
        )

    def _problem(
        self, X: Any, y: Any, groups: Any, sample_weight: Any, params: dict[str, Any]
    ) -> tuple[Problem, dict[str, Metric], Any]:
        """Put the data together, and send metadata where it was asked for."""
        known = self._task(y)
        metrics = metrics_of(self.scoring, known, self.refit)
        first = next(iter(metrics.values()))
        task = first.task if known is None else known
        split_params = None
        weighted_fit = True
        if _routing_enabled():
            given = {k: v for k, v in (("groups", groups), ("sample_weight", sample_weight)) if v is not None}
            routed = process_routing(self, "fit", **params, **given)
            # What `fit` receives, weights included, is what was asked for, perhaps under another name.
            params, weighted_fit = dict(routed.estimator.fit), False
            if hasattr(routed, "splitter"):
                split_params = dict(routed.splitter.split)
                groups = split_params.get("groups") if groups is None else groups
        problem = Problem.build(
            X,
            y,
            task=task,
            groups=groups,
            sample_weight=sample_weight,
            fit_params=params,
            weighted_fit=weighted_fit,
        )
        if self.stratify and task == "regression":
            raise SoberError("E114", "`stratify=True` is for classes and survival; here the target is a number.")
        if self.within_folds and not first.pools_scores:
            raise SoberError(
                "E114", f"`within_folds` is for metrics that rank samples, such as roc_auc; {first.name} does not."
            )
        for metric in metrics.values():
            metric.check_target(problem.target)
        return problem, metrics, split_params

    def _task(self, y: Any) -> Any:
        try:
            return infer_task(self.estimator, y)
        except SoberError:
            if self.scoring is None:
                raise
            return None  # the metric knows

    def _drop_rule(self, rule: Any, metric: Metric, seed: int) -> Callable[[Predictions, int], Any]:
        """Bind a drop rule to the metric and to the meaning of "best" that this search has."""
        options = {
            "select": rule_of(self.select),
            "aggregate": self.aggregate,
            "within_folds": self.within_folds and metric.pools_scores,
            "n_jobs": self._n_threads,
        }
        accepted = inspect.signature(rule).parameters
        if not any(p.kind is p.VAR_KEYWORD for p in accepted.values()):
            options = {name: value for name, value in options.items() if name in accepted}
        return lambda predictions, index: rule(predictions, metric, seed, index, **options)

    @property
    def _n_threads(self) -> int:
        return 1 if self.n_jobs is None else self.n_jobs

    def _estimates(self, predictions: Predictions, metrics: list[Metric], seed: int) -> dict[str, Estimate]:
        """Turn predictions into the honest claim."""
        found: dict[str, Estimate] = bbc(
            None,
            predictions,
            metrics,
            select=self.select,
            aggregate=self.aggregate,
            method=self.method,
            within_folds=self.within_folds,
            n_bootstraps=self.n_bootstraps,
            confidence_level=self.confidence_level,
            stratify=self.stratify,
            random_state=seed,
            n_jobs=self._n_threads,
        )
        return found

    def _first(self, predictions: Predictions, metrics: dict[str, Metric], seed: int) -> Estimate:
        """Judge by the metric that selects."""
        return next(iter(self._estimates(predictions, list(metrics.values())[:1], seed).values()))

    def _judge(self, predictions: Predictions, metrics: dict[str, Metric], seed: int, incomplete: str | None) -> None:
        """Judge by all metrics, and remember it."""
        estimates = self._estimates(predictions, list(metrics.values()), seed)
        found = {name: marked(estimate, incomplete) for name, estimate in estimates.items()}
        self.multimetric_ = not (
            self.scoring is None or isinstance(self.scoring, (str, Metric)) or callable(self.scoring)
        )
        self.predictions_ = predictions
        self.estimate_ = found if self.multimetric_ else next(iter(found.values()))
        self.scorer_ = metrics if self.multimetric_ else next(iter(metrics.values()))
        self.best_index_ = next(iter(found.values())).winner

    def _remember(
        self,
        configurations: list[Any],
        store: MemoryStore,
        log: RaceLog,
        metrics: dict[str, Metric],
        plan: Plan,
        seed: int,
    ) -> None:
        self.cv_results_ = cv_results(
            configurations,
            store,
            log,
            metrics,
            aggregate=self.aggregate,  # type: ignore[arg-type]
            within_folds=self.within_folds,
            several=self.multimetric_,
        )
        self.race_ = log
        self.stopped_ = log.stopped
        self.is_complete_ = log.stopped == "finished"
        self.seed_ = seed
        self.n_splits_ = plan.n_splits
        self.splits_ = [(split.train, split.test) for split in plan.splits]
        self.n_fits_ = log.n_fits + bool(self.refit)
        self.best_params_ = dict(configurations[self.best_index_].params)
        tail = next(iter(metrics)) if self.multimetric_ else "score"
        self.best_score_ = float(self.cv_results_[f"mean_test_{tail}"][self.best_index_])

    def _report_failures(self, log: RaceLog) -> None:
        if log.failures:
            first, cause = next(iter(log.failures.items()))
            warn(
                "W303",
                f"{len(log.failures)} of {len(log.status)} configurations failed and were set aside; the first is "
                f"configuration {first}, {str(cause).rstrip('.')}. See race_.failures.",
            )

    def _refit(self, problem: Problem) -> None:
        start = time.perf_counter()
        best = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
        best.fit(problem.X, problem.y, **problem.fit_arguments(np.arange(problem.n_samples)))
        self.best_estimator_ = best
        self.refit_time_ = time.perf_counter() - start
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_

    # ---- for readers ---------------------------------------------------------------------------------------------
    def report(self, path: Any, X: Any = None, y: Any = None, **options: Any) -> Any:
        """Write a report: one HTML file that works offline, plain text, or JSON.

        Parameters
        ----------
        path : str or path
            Ends with `.html`, `.txt` or `.json`.
        X, y : array-like, optional
            The data given to `fit`, for the permutation importance of the winner; left out without them.
        **options
            `title`, `command`, `sample_weight`, `n_permutations` and `notes`, see `sobercv.report.summarize`.

        Returns
        -------
        Path
        """
        from ..report import summarize, write

        return write(summarize(self, X, y, **options), path)

    @property
    def plot(self) -> Any:
        """Plots of the fitted search: `search.plot.race()`, `.draws()`, `.roc()` and more, each with `ax=`."""
        from ..report.displays import Plots

        check_is_fitted(self, "estimate_")
        return Plots(self)

    # ---- a scikit-learn citizen ----------------------------------------------------------------------------------
    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_estimator_" if self.refit else "estimate_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.target_tags.required = True
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.array_api_support = False
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Say where metadata goes: to the estimator's `fit`, to the splitter, and weights into the metrics."""
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        router.add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        if hasattr(self.cv, "split") and get_routing_for_object(self.cv) is not None:
            router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        return router

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        own = super().__repr__(N_CHAR_MAX)
        return f"{self._headline()!r}\n{own}" if hasattr(self, "estimate_") else own

    def _headline(self) -> Estimate:
        estimate: Estimate = next(iter(self.estimate_.values())) if self.multimetric_ else self.estimate_
        return estimate

    @property
    def _repr_html_(self) -> Callable[[], str]:
        return self._html

    def _html(self) -> str:
        inner = super()._repr_html_()
        return self._headline()._repr_html_() + inner if hasattr(self, "estimate_") else inner

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        if "text/html" in bundle:
            bundle["text/html"] = self._html()
        return bundle


def _takes_four(rule: Any) -> bool:
    """Whether a rule can be called with predictions, metric, seed and round."""
    try:
        inspect.signature(rule).bind(*range(4))
    except (TypeError, ValueError):
        return False
    return True


def _routing_enabled() -> bool:
    from sklearn import get_config

    return bool(get_config()["enable_metadata_routing"])
