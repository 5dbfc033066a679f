"""BBCSearchCV: the scikit-learn face of sober, where training and inference are wired together.

Takes an estimator, a search space and data; checks, wires and delegates. The only thing that flows back from inference
to training is a mask: who is still in the race.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils.metadata_routing import UNUSED

from .. import seeds
from ..errors import Note
from ..inference import Question
from ..inference.bbc import corrected
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
    make_executor,
    recalling,
    stored_seed,
)
from ..training.race import race
from .callbacks import CallbackSupport, SearchCallbacks, with_callbacks
from .design import design
from .early_end import caveat, marked, tight_enough
from .failures import report_failures
from .fit_lines import show_fits
from .kept import alone, kept_besides
from .metadata import CitizenMixin, route
from .model_scores import scorer_of, with_names
from .options import check_options, drop_rule
from .prediction_scorer import as_scorers
from .progress import audience, display
from .proposals import blanks, proposed
from .results import add_tuned, cv_results, raced_predictions, table_of
from .selected import also_wanted, as_decided, at_threshold, estimate_of, members, n_members
from .showing import ReaderMixin
from .winner import WinnerMixin, chosen_by


class BBCSearchCV(CallbackSupport, WinnerMixin, ReaderMixin, CitizenMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
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
        ``{"model": [SVC()], "model__C": [1, 10]}``. The listed configurations of a preset are taken as they are.
    scoring : str, callable, Metric, list or dict, optional
        Unless given, the estimator's `score`. With several, the first selects (or the one named by `refit`), and all
        are judged at the same winner. A scorer that needs the fitted model, (estimator, X, y) -> number or dict, is
        called on every model; then all scores are by fold, folds are resampled, and nobody is dropped.
    pos_label : label, optional
        The positive one of two classes, for precision, recall, F1 and the like. Unless given, the label 1, as in
        scikit-learn.
    cv : int, splitter or iterable, default=10
        As in scikit-learn. A number gives stratified folds for classes and survival, and keeps groups together.
    n_repeats : int, default=1
        Repeat the cross-validation with other folds; needs `cv` to be a number.
    n_iter : int, optional
        Draw this many configurations at random instead of trying all.
    proposer : {"tpe", None}, default=None
        Let Optuna's TPE propose `n_iter` configurations, each by the scores of those before it, and drop nobody. That
        it looked at scores is not corrected; a note (W811) says how much is left. See docs/adaptive.md.
    drop : {"auto", "bced", None} or rule, default="auto"
        After each fold, stop training configurations that will not win. "auto" is `PredictiveDrop()`, which looks at
        what can still happen (where another rule than the highest score selects, the paper's); "bced" the paper's
        `BootstrapDrop()`. A rule of one's own is called with (predictions, question, round); see
        `sobercv.inference.DropRule`. docs/racing.md compares them.
    count_dropped : bool, default=True
        Let the dropped take part in the correction with the predictions that they have. The paper leaves them out,
        which turns optimistic when much is dropped.
    select : {"best"}, simplest_within(...), best_with_threshold(...), an ensemble or callable, default="best"
        How the winner is picked from scores [B, C]; the bootstrap re-runs the same rule. What selects more than one
        configuration as it is (`best_with_threshold`, `greedy_ensemble`, `stacked_ensemble`, `average_of_best`) drops
        nobody, and `best_estimator_` is what was selected: a model with its threshold, or a voting model.
    tune_threshold : bool, default=False
        Tune the decision threshold of every configuration for the metric that selects: `best_with_threshold()`.
    aggregate : {"pooled", "fold"}, default="pooled"
        Select by the score of all out-of-sample predictions together, or by the mean over folds as scikit-learn does.
    within_folds : bool, default=False
        Ranking metrics compare only samples of the same fold.
    method : {"bbc", "632+"}, default="bbc"
    interval : {"wilson", "percentile"}, default="wilson"
        As in `sobercv.bbc`.
    n_bootstraps : int, default=1000
    confidence_level : float, default=0.95
    stratify : bool, default=False
        Bootstrap within classes, for rare ones.
    refit : bool, str or callable, default=True
        Train the winner on all data. A string names the metric that selects. A callable takes `cv_results_` and gives
        the index of the configuration to train; the bootstrap re-runs `select` only, and a note says so.
    n_jobs : int, optional
        Workers, as in scikit-learn. Results do not depend on it.
    random_state : int, numpy generator or None, default=0
        The same number gives the same bits. None draws afresh; `seed_` tells what was drawn.
    store : path, optional
        A file that keeps every fit as soon as it is done. The same call with the same file goes on where it stopped;
        with more repeats or more configurations it fits only what is new.
    max_seconds : float, optional
        Stop training after this time, and judge by what is complete then. Cheap configurations are fitted first. Fits
        under way are ended; for that, one job runs in a process of its own too. (Threads and clusters look at the
        clock when something comes back.)
    fit_timeout : float, optional
        End a fit that takes longer than so many seconds; its configuration counts as failed. Needs processes.
    half_width : float, optional
        Stop training when half the width of the interval is no more than this; looked at after each round, once 50
        samples have predictions.
    error_score : {"raise"} or number, default=NaN
        Configurations that fail are set aside with the reason, or raise. A number stands in `cv_results_` as their
        score; they are never judged.
    verbose : int, default=0
        1 shows a bar in a terminal or a notebook (with rich) and a line for each round elsewhere; 2 always shows lines,
        3 then prints the scores of every fit, as scikit-learn does.
    on_event : callable or list of callables, optional
        Hear what happens, such as `sobercv.progress.JsonLines("log.jsonl")`. What they do changes no result.
    pre_dispatch : ignored
        Taken so that calls written for scikit-learn run; sober decides itself how much work is under way.
    return_train_score : bool, default=False
        Score every model on the rows that it was trained on, too: `mean_train_score` and its like in `cv_results_`.
    keep : {"scored", "all"}, default="scored"
        What is kept of models: what the metrics are computed from, or predictions and probabilities besides, from
        whoever gives them, so that a report has all its charts. "all" asks each model more, and takes more memory.

    Attributes
    ----------
    estimate_ : Estimate, or dict of them
        The honest score. This is the number to report.
    best_estimator_ : estimator
        The winner, trained on all data.
    best_params_ : dict
    best_index_ : int
    best_score_ : float
        scikit-learn's meaning: the winner's mean over folds. Optimistic; do not report it.
    cv_results_ : dict of arrays
        scikit-learn's columns plus `pooled_test_score`, `status` and `dropped_at`; with tuned thresholds
        `tuned_test_score` too, and ranks by it.
    predictions_ : Predictions
        Out-of-sample predictions of the finishers.
    winner_predictions_ : Predictions
        Those of the winner alone, with all that was kept of it; other finishers may lack some. Its labels are those
        of a tuned threshold.
    drop_rule_ : rule or None
        That dropped; None where nobody could be.
    race_ : RaceLog
        Who was dropped when, with which p, and who failed why.
    stopped_ : {"finished", "interrupted", "terminated", "max_seconds", "half_width"}
        What ended the training. Ctrl-C, SIGTERM or SIGHUP once gives the estimate from what is complete; twice ends at
        once.
    signal_ : int or None
        The number of the signal that ended it.
    is_complete_ : bool
        Whether every split was run; if not, the notes of `estimate_` say how many were.
    n_fits_ : int
        Models really trained, the final one included.
    n_splits_ : int
    splits_ : list of (train, test)
        The rows of every split; passed as `cv` they repeat the folds, also those of a splitter without a seed.
    scorer_ : callable (estimator, X, y), or dict of them
    multimetric_ : bool
    question_ : Question
        What was asked of the predictions: metrics, rule, draws; the same for dropping, selecting and judging.
    refit_time_ : float
        Seconds of the final fit.
    judge_time_ : float
        Seconds of the bootstrap.
    families_ : list of Family
        For each kind of model the honest score of its best, and the difference to the winner; see `families`.
    seed_ : int
        The root seed of the run; passed as `random_state` it repeats the run.
    n_features_in_ : int
        Columns of X, where the winner counted them.

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
        pos_label: Any = None,
        cv: Any = 10,
        n_repeats: int = 1,
        n_iter: int | None = None,
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
        self.param_grid = param_grid
        self.scoring = scoring
        self.pos_label = pos_label
        self.cv = cv
        self.n_repeats = n_repeats
        self.n_iter = n_iter
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

    # ---- the journey ---------------------------------------------------------------------------------------------
    # As with GridSearchCV, estimator, splitter and scorers say what they want; the search itself asks for nothing.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"groups": UNUSED}

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
            `sample_weight`, array-like [N], goes to the estimator's `fit` and into every metric, the others to the
            estimator's `fit`. Where metadata routing is enabled, each goes to whoever asked for it: the estimator, the
            splitter, and every scorer for itself.
        """
        check_options(self)
        seed = seeds.root(stored_seed(self.store) if self.random_state is None else self.random_state)
        routed = route(self, groups, params)
        adaptive = self.proposer is not None
        configurations = blanks(self.n_iter) if adaptive else expand(self._space(), self.n_iter, seed, self.estimator)
        made = design(self, X, y, routed, seed)
        problem, plan, question = made.problem, made.plan, replace(made.question, adaptive=adaptive)
        store = MemoryStore(problem, plan, len(configurations))
        nobody_drops = made.by_folds or question.procedure is not None or adaptive
        rule = self.drop_rule_ = None if nobody_drops else drop_rule(self.drop, store.nothing_yet(), question)
        wanted = tuple(dict.fromkeys(each for metric in question.metrics for each in metric.wanted))
        wanted += also_wanted(question, wanted)
        wanted += kept_besides(self.keep, wanted, problem.task)
        whole = problem.fit_arguments(np.arange(problem.n_samples))
        callbacks = SearchCallbacks(self, X, y, whole, len(configurations), plan)
        raises = self.error_score == "raise"
        experiment = Experiment(problem, self.estimator, wanted, raises, made.asks, callbacks.around)
        executor = make_executor(self.n_jobs, self.fit_timeout, is_limited=self.max_seconds is not None)
        if adaptive:
            fitting = {"experiment": experiment, "plan": plan, "executor": executor}
            configurations = proposed(self._space(), fitting, configurations, store, question)
        with audience(self.on_event, display(self.verbose)) as tell, callbacks.race():
            tell(SearchStarted(len(configurations), plan.n_splits))
            log = race(
                experiment,
                configurations,
                plan,
                executor=recalling(executor, self.store, experiment, configurations, plan, seed),
                store=store,
                rule=None if rule is None else lambda predictions, index: rule(predictions, question, index),
                on_event=tell,
                stop=Stop(self.max_seconds, tight_enough(self.half_width, question)),
            )
            tell(SearchEnded(log.stopped, log.n_fits, log.n_fits_saved, log.seconds))
        report_failures(log, configurations)
        incomplete = caveat(log, store)
        question = with_names(question, store, log.finishers, self.refit)
        self._judge(store, log, question, incomplete)
        self.scorer_ = as_scorers(scorer_of(question, made.asks), self.predictions_.target)
        self._remember(configurations, store, log, plan)
        if self.refit:
            self._refit(problem, whole, callbacks)
        callbacks.close()
        return self

    def _space(self) -> Any:
        return self.param_grid

    def _judge(self, store: MemoryStore, log: RaceLog, question: Question, incomplete: Note | None) -> None:
        """Turn predictions, or scores of models, into the honest claim, by all metrics, and remember it."""
        start = time.perf_counter()
        predictions = raced_predictions(store, log, self.count_dropped and question.by == "sample")
        estimates = corrected(table_of(predictions, store, log, question))
        found = {name: marked(estimate, incomplete) for name, estimate in estimates.items()}
        self.judge_time_ = time.perf_counter() - start
        self.question_, self.predictions_ = question, predictions
        self.multimetric_ = question.several
        self.estimate_ = question.answer(found)
        self.best_index_ = next(iter(found.values())).winner

    def _remember(self, configurations: list[Any], store: MemoryStore, log: RaceLog, plan: Plan) -> None:
        self.cv_results_ = cv_results(configurations, store, log, self.question_, self.error_score)
        add_tuned(self.cv_results_, log, self.question_, self.estimate_)
        if self.verbose > 2:
            names = [metric.name for metric in self.question_.metrics] if self.multimetric_ else []
            show_fits(self.cv_results_, store, names)
        note = None
        if callable(self.refit):
            self.best_index_, note = chosen_by(self.refit, self.cv_results_)
        found = self.estimate_ if self.multimetric_ else {self.question_.first.name: self.estimate_}
        winners = {name: replace(e, winner_params=dict(configurations[e.winner].params)) for name, e in found.items()}
        self.estimate_ = self.question_.answer({name: marked(e, note) for name, e in winners.items()})
        self.race_ = log
        self.stopped_ = log.stopped
        self.signal_ = log.signal
        self.is_complete_ = log.stopped == "finished"
        self.seed_ = self.question_.seed
        self.n_splits_ = plan.n_splits
        self.splits_ = [(split.train, split.test) for split in plan.splits]
        self.n_fits_ = log.n_fits + (n_members(estimate_of(self)) if self.refit else 0)
        own = alone(store, self.predictions_, self.best_index_)
        self.winner_predictions_ = at_threshold(own, estimate_of(self).decision)
        self.best_params_ = dict(configurations[self.best_index_].params)
        tail = self.question_.first.name if self.multimetric_ else "score"
        if note is None:  # as in scikit-learn, a callable's pick has no score
            self.best_score_ = float(self.cv_results_[f"mean_test_{tail}"][self.best_index_])
        elif hasattr(self, "best_score_"):
            del self.best_score_

    def _refit(self, problem: Problem, arguments: dict[str, Any], callbacks: SearchCallbacks) -> None:
        start, decision = time.perf_counter(), estimate_of(self).decision
        truth = () if problem.y is None else (problem.y,)
        trained = members(self, decision)
        for model in trained:
            with callbacks.refit(model):
                model.fit(problem.X, *truth, **arguments)  # whatever it gives: some give nothing
        self.best_estimator_ = best = as_decided(decision, trained, problem.X, *truth)
        self.refit_time_ = time.perf_counter() - start
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_
