"""BBCSearchCV and BBCRandomizedSearchCV: scikit-learn's API of sober, where training and inference are connected.

The only thing that flows back from inference to training is a mask: which configurations are still in the race.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.metadata_routing import UNUSED

from .. import seeds
from ..errors import Note, SoberError, also
from ..inference import Estimate, Estimates
from ..inference.bootstrap import corrected
from ..inference.instability import missed, widened
from ..inference.intervals import Calibrated
from ..inference.procedures import Mix
from ..training import Configuration, Experiment, MemoryStore, OutcomeCache, Stop, expand, make_pool, stored_seed
from ..training.events import SearchEnded, SearchStarted
from ..training.fit.task import build
from ..training.race import RaceLog, race
from . import results
from .design import Design, check, design, drop_rule
from .fitted import FittedSearch
from .pairs import PairModels, pairs_pay, tournament
from .progress import listening
from .scoring import wanted_of, with_names


class Search(FittedSearch):
    """What both searches do; they differ in where their configurations come from."""

    best_score_: float
    _space: ClassVar[str]  # the parameter that holds the configurations

    # As with GridSearchCV, estimator, splitter and scorers say what they want; the search itself requests nothing.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"groups": UNUSED}

    def fit(self, X: Any, y: Any = None, *, groups: Any = None, **params: Any) -> Self:
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
            estimator's `fit`. Where metadata routing is enabled, each goes to what requested it: the estimator, the
            splitter, and every scorer for itself.
        """
        check(self)
        seed = seeds.root(stored_seed(self.store) if self.random_state is None else self.random_state)
        configurations = expand(getattr(self, self._space), getattr(self, "n_iter", None), seed, self.estimator)
        made = design(self, X, y, {"groups": groups, **params}, seed)
        problem, plan, question = made.problem, made.plan, made.question
        wanted, raises = wanted_of(question, self.keep, problem.task), isinstance(self.error_score, str)
        asks = made.scoring.asks(problem.target, self.return_train_score)
        experiment = Experiment(problem, self.estimator, wanted, raises, asks)
        store = MemoryStore(problem, plan, len(configurations))
        can_drop = question.by == "sample" and question.procedure is None and made.beside is None
        self.drop_rule_ = rule = drop_rule(self.drop, store.nothing_yet(), question, can_drop)
        with listening(self.on_event, self.verbose) as tell:
            tell(SearchStarted(len(configurations), plan.n_splits))
            log = race(
                experiment, configurations, plan, store=store, on_event=tell,
                cache=None if self.store is None else OutcomeCache(self.store, experiment, configurations, plan, seed),
                rule=None if rule is None else lambda predictions, index: rule(predictions, question, index),
                pool=make_pool(self.n_jobs, self.fit_timeout, self.max_seconds is not None),
                stop=Stop(self.max_seconds),
            )  # fmt: skip
            tell(SearchEnded(log.stopped, log.n_fits, log.n_fits_saved, log.seconds))
        if log.failures:
            results.report_failures(log, configurations)
        estimates = self._judge(made, store, log, configurations)
        self.pair_models_ = self._train_pairs(made, experiment, store, estimates)
        self.estimate_ = Estimates(estimates) if self.question_.several else next(iter(estimates.values()))
        if self.refit:
            self.train_final_model(problem.X, problem.y, **problem.fit_arguments(np.arange(problem.n_samples)))
        return self

    def _judge(
        self, made: Design, store: MemoryStore, log: RaceLog, configurations: list[Configuration]
    ) -> dict[str, Estimate]:
        """Return honest estimates by metric, from predictions or scores of models; set what users read beside them."""
        for name in ("best_score_", "best_estimator_", "feature_names_in_", "refit_time_"):  # not set by every `fit`
            self.__dict__.pop(name, None)
        notes = [] if log.stopped == "finished" else [results.incomplete(log, store)]
        question, beside = made.question, made.beside
        if question.by == "fold":
            question = with_names(question, store, log.finishers, self.refit)
        dropped = (log.status == "dropped") & bool(self.count_dropped)
        predictions = results.predictions_of(store, log.finishers, dropped)
        metrics = question.metrics if beside is None else question.metrics + beside.metrics[1:]
        scored = {metric: results.split_scores(store, log, metric, question) for metric in metrics}
        splits = [(split.train, split.test) for split in made.plan.splits]
        scores = {metric.name: by_split[log.finishers] for metric, (by_split, _) in scored.items()}
        start = time.perf_counter()
        table = results.table_of(predictions, question, splits, scores)
        estimates = corrected(table)
        if beside is not None:
            by_fold = results.table_of(predictions, beside, splits, scores)
            by_fold.final = table.winner()
            found = {**corrected(by_fold), **estimates}
            estimates = {name: found[name] for name in made.scoring.scorers}
        self.judge_time_ = time.perf_counter() - start
        shown = results.cv_results(configurations, store, log, question, scored, estimates, self.error_score)
        first = estimates[question.first.name]
        best = first.winner
        if callable(self.refit):  # as in scikit-learn, its pick has no score
            best = _chosen_by(self.refit, shown)
            problem = (
                "`refit` picked the configuration that was trained. The bootstrap re-runs `select` only, so this "
                "estimate is of the configuration that `select` picks; pass the rule as select= to have it judged."
            )
            notes.append(Note("W212", problem))
        else:
            tail = question.first.name if question.several else "score"
            self.best_score_ = float(shown[f"mean_test_{tail}"][best])
        self.best_index_, self.best_params_ = best, dict(configurations[best].params)
        self.cv_results_, self.predictions_, self.race_ = shown, predictions, log
        self.winner_predictions_ = results.winner_predictions(store, predictions, best, first.decision)
        self.question_, self.multimetric_, self.seed_ = question, question.several, question.seed
        called = made.scoring.as_called(predictions.target)
        several = made.scoring.several
        self.scorer_ = {n: called[n] for n in made.scoring.given} if several else next(iter(called.values()))
        self.stopped_, self.signal_, self.is_complete_ = log.stopped, log.signal, log.stopped == "finished"
        self.splits_, self.n_splits_ = splits, len(splits)
        self.n_fits_, self.n_recalled_ = log.n_fits - log.n_recalled, log.n_recalled
        params, codes = dict(configurations[first.winner].params), {note.code for note in notes}
        return {  # a note takes the place of one of the same code
            name: replace(e, winner_params=params, notes=(*(n for n in e.notes if n.code not in codes), *notes))
            for name, e in estimates.items()
        }

    def _train_pairs(
        self, made: Design, experiment: Experiment, raced: MemoryStore, estimates: dict[str, Estimate]
    ) -> PairModels | None:
        """Train the winner without each two folds, and widen the intervals where that shows that it is unstable."""
        question = self.question_
        winner = estimates[question.first.name].winner
        left = None if self.max_seconds is None else self.max_seconds - self.race_.seconds
        if not pairs_pay(self.pair_models, question, raced, winner, left):
            return None
        plan, partner = tournament(made.plan)
        store, seed = MemoryStore(made.problem, plan, 1), question.seed
        alone = [Configuration(0, self.cv_results_["params"][winner])]
        experiment = replace(experiment, asks=None, raise_errors=False)
        cache = None if self.store is None else OutcomeCache(f"{self.store}.pairs", experiment, alone, plan, seed)
        pool = make_pool(self.n_jobs, self.fit_timeout, self.max_seconds is not None)
        try:
            log = race(experiment, alone, plan, pool=pool, store=store, cache=cache, stop=Stop(left))
        except SoberError as error:
            if error.code != "E315":
                raise
            return None  # some cannot be trained on so few rows; the estimate stands without them
        self.n_fits_ += log.n_fits - log.n_recalled
        self.n_recalled_ += log.n_recalled
        if log.stopped != "finished":
            return None
        own, paired = raced.predictions(np.arange(len(raced.done)) == winner), store.predictions()
        factors: dict[str, float] = {}
        for metric in question.metrics:
            estimate = estimates[metric.name]
            if isinstance(estimate.bounds, Calibrated):
                bounds = widened(estimate.bounds, missed(question, metric, own, paired, partner))
                estimates[metric.name], factors[metric.name] = replace(estimate, bounds=bounds), bounds.excess
        return PairModels(log.n_fits, factors)

    def train_final_model(
        self, X: Any, y: Any = None, *, train: Callable[..., Any] = results.trained, **fit_params: Any
    ) -> Self:
        """Train what was selected on all data; `fit` does it, except with `refit=False`.

        Parameters
        ----------
        X, y : array-like
            The data given to `fit`.
        train : callable, optional
            ``train(model, X, y, **fit_params)`` returns the fitted model (default: trained by its own `fit`).
        **fit_params
            Arguments of the estimator's `fit`.
        """
        start, decision = time.perf_counter(), results.estimate_of(self).decision
        models = []
        for index in decision.configurations if isinstance(decision, Mix) else [self.best_index_]:
            models.append(train(build(self.estimator, self.cv_results_["params"][index]), X, y, **fit_params))
        self.best_estimator_ = best = models[0] if decision is None else results.as_decided(decision, models, X, y)
        self.refit_time_ = time.perf_counter() - start
        self.n_fits_ += len(models)
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_
        return self


def _chosen_by(refit: Callable[[dict[str, Any]], Any], results: dict[str, Any]) -> int:
    """Ask a user's callable of `cv_results_` which configuration to train; return its index."""
    index, n = refit(results), len(results["params"])
    if not isinstance(index, Integral):
        problem = f"`refit` must return a whole number; the best_index_ returned is not an integer, but {index!r}."
        raise also(TypeError)("E117", problem)
    if not 0 <= int(index) < n:
        problem = f"`refit` returned {index}, a best_index_ index out of range: there are {n} configurations, from 0."
        raise also(IndexError)("E117", problem)
    return int(index)


@dataclass(eq=False, repr=False)
class BBCSearchCV(Search):
    """Tune by cross-validation, drop hopeless configurations early, and say honestly how good the winner is.

    A drop-in for scikit-learn's `GridSearchCV` and `RandomizedSearchCV`. The number to report is `estimate_`: the
    bootstrap bias corrected score (BBC-CV) with its interval. With dropping it is BCED-CV, which the journal version of
    the paper calls BBCD-CV.

    Parameters
    ----------
    estimator : estimator
        A scikit-learn classifier or regressor, a pipeline, or a scikit-survival estimator.
    param_grid : dict or list of dicts
        Names to lists of values. Whole steps can be values: ``{"model": [SVC()], "model__C": [1, 10]}``. The listed
        configurations of a preset are taken as they are. `BBCRandomizedSearchCV` draws from distributions.
    scoring : str, callable, Metric, list or dict, optional
        Default: the estimator's `score`. With several, the first selects (or the one named by `refit`), and all are
        judged at the same winner. A scorer that needs the fitted model, (estimator, X, y) -> number or dict, is
        called on every model; then all scores are by fold, folds are resampled, and no configuration is dropped.
    pos_label : label, optional
        The positive one of two classes, for precision, recall, F1 and the like (default: the label 1, as in
        scikit-learn).
    cv : int, splitter or iterable, default=10
        As in scikit-learn. A number gives stratified folds for classes and survival, and keeps groups together.
    n_repeats : int, default=1
        Repeat the cross-validation with other folds; needs `cv` to be a number.
    drop : {"auto", "bced", None} or rule, default="auto"
        After each fold, stop training configurations that will not win. "auto" is `PredictiveDrop()`, which looks at
        what can still happen (where another rule than the highest score selects, the paper's); "bced" the paper's
        `BootstrapDrop()`. A rule of one's own is called with (predictions, question, round); see
        `sobercv.inference.DropRule`. docs/evidence/racing.md compares them.
    count_dropped : bool, default=True
        Let dropped configurations take part in the correction with the predictions that they have. The paper leaves
        them out, which turns optimistic when much is dropped.
    select : {"best"}, simplest_within(...), best_with_threshold(...), an ensemble or callable, default="best"
        How the winner is picked from scores [B, C]; the bootstrap re-runs the same rule. What selects more than one
        configuration as it is (`best_with_threshold`, which tunes the decision threshold, `greedy_ensemble`,
        `stacked_ensemble`, `average_of_best`) drops none, and `best_estimator_` is what was selected: a model with its
        threshold, or a voting model.
    aggregate : {"pooled", "fold", "within_folds"}, default="pooled"
        Select by the score of all out-of-sample predictions together, or by the mean over folds as scikit-learn does.
        With "within_folds" ranking metrics compare only samples of the same fold.
    interval : {"calibrated", "percentile"}, default="calibrated"
        As in `sobercv.bbc`.
    pair_models : {"auto", True, False}, default="auto"
        Train the winner again without each two folds (45 more fits for ten folds), to learn how much more its score
        errs than resampled predictions show; the interval is wider for unstable models. "auto": where these are no more
        than a tenth of all fits. Without them a factor of 1.2 is assumed, which knows nothing of the model. For one
        repeat of at least four folds and the calibrated interval. See docs/evidence/excess.md.
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
        A file that keeps every fit as soon as it is done. The same call with the same file continues where it stopped;
        with more repeats or more configurations it fits only what is new.
    max_seconds : float, optional
        Stop training after this time, and judge by what is complete then. Later folds begin with quick configurations.
        Fits under way are ended; for that, one job runs in a process of its own too. (Threads and clusters look at the
        clock when something comes back.)
    fit_timeout : float, optional
        End a fit that takes longer than so many seconds; its configuration counts as failed. Needs processes.
    error_score : {"raise"} or number, default=NaN
        Configurations that fail are set aside with the reason, or raise. A number stands in `cv_results_` as their
        score; they are never judged.
    verbose : int, default=0
        1 shows a bar in a terminal or a notebook (with rich) and a line for each round elsewhere; 2 always shows lines.
    on_event : callable or list of callables, optional
        Receive the events of the search, such as `sobercv.progress.JsonLines("log.jsonl")`. They change no result.
    return_train_score : bool, default=False
        Score every model on the rows that it was trained on, too: `mean_train_score` and its like in `cv_results_`.
    keep : {"scored", "all"}, default="scored"
        What is kept of each model: what the metrics are computed from, or also predictions and probabilities where the
        model has them, so that a report has all its charts. "all" takes more time and memory.

    Attributes
    ----------
    estimate_ : Estimate, or Estimates, a dict of them by name
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
        Predictions of the winner alone, with all that was kept of it; other finishers may lack some. Its labels are
        those of a tuned threshold.
    drop_rule_ : rule or None
        The rule that dropped; None where nothing could be dropped.
    race_ : RaceLog
        Which configurations were dropped when, with which p, and which failed why.
    stopped_ : {"finished", "interrupted", "terminated", "max_seconds"}
        What ended the training. Ctrl-C once gives the estimate from what is complete; twice ends at once. SIGTERM and
        SIGHUP end the process when what is done is stored; only the command line writes a result first.
    signal_ : int or None
        The number of the signal that ended it.
    is_complete_ : bool
        Whether every split was run; if not, the notes of `estimate_` say how many were.
    n_fits_ : int
        Models trained by this call, the final one included; not those that a `store` remembered.
    n_recalled_ : int
        Models that a `store` remembered.
    pair_models_ : PairModels or None
        What pair models told: `n_fits`, and `factors` by metric; None where there are none.
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

    param_grid: Any
    _space: ClassVar[str] = "param_grid"


@dataclass(eq=False, repr=False)
class BBCRandomizedSearchCV(Search):
    """`BBCSearchCV` over configurations that are drawn at random; a drop-in for scikit-learn's `RandomizedSearchCV`.

    Parameters
    ----------
    estimator : estimator
    param_distributions : dict or list of dicts
        Names to lists of values or to distributions with a method `rvs`.
    n_iter : int, default=10
        How many configurations are drawn.
    **options
        All other parameters are those of `BBCSearchCV`, and so are the attributes. `random_state` seeds the drawing
        too.

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

    param_distributions: Any
    n_iter: int = field(default=10, kw_only=True)
    _space: ClassVar[str] = "param_distributions"
