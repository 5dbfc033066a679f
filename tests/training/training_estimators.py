"""Estimators that misbehave on request, and one way to run a whole search."""

import time

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin, clone

from sobercv.training import Experiment, MemoryStore, Plan, Problem, expand, infer_task, make_pool
from sobercv.training.fit.problem import take
from sobercv.training.fit.response import responses_of
from sobercv.training.fit.task import Outcome, Task, failed
from sobercv.training.race import race

LABELS = (("predict",),)
RANKS = (("decision_function", "predict_proba"),)
PROBABILITIES = (("predict_proba",),)


class Troubled(ClassifierMixin, BaseEstimator):
    """Predicts the commonest class, or does what `trouble` says."""

    def __init__(self, trouble="none", size=0):
        self.trouble = trouble
        self.size = size

    def fit(self, X, y):
        if self.trouble == "raise":
            raise RuntimeError("no luck today")
        if self.trouble == "interrupt":
            raise KeyboardInterrupt
        if self.trouble == "raise late" and 0 not in np.asarray(X)[:, 0]:
            raise RuntimeError("row 0 is missing")
        self.classes_, counts = np.unique(y, return_counts=True)
        self.common_ = self.classes_[counts.argmax()]
        return self

    def predict(self, X):
        if self.trouble == "predict":
            raise OSError("the disk is full")
        if self.trouble == "length":
            return np.repeat(self.common_, len(X) + 1)
        if self.trouble == "strange":
            return np.repeat(99, len(X))
        return np.repeat(self.common_, len(X))

    def predict_proba(self, X):
        shares = np.full((len(X), len(self.classes_)), 1 / len(self.classes_))
        if self.trouble == "nan":
            shares[0, 0] = np.nan
        if self.trouble == "columns":
            return shares[:, :1]
        if self.trouble == "thrice":
            shares *= 3
        if self.trouble == "below zero":
            shares += np.array([-1, *[1 / (len(self.classes_) - 1)] * (len(self.classes_) - 1)])
        if self.trouble == "a third":
            shares /= 3
        return shares


class Writer(TransformerMixin, BaseEstimator):
    """Changes its input in place, as copy=False transformers do."""

    def __init__(self, shift=1.0):
        self.shift = shift

    def fit(self, X, y=None):
        self.mean_ = X.mean()
        return self

    def transform(self, X):
        X += self.shift * self.mean_
        return X


class WritingRegressor(RegressorMixin, BaseEstimator):
    """Ruins the rows that it is given, after use."""

    def __init__(self, power=1):
        self.power = power

    def fit(self, X, y):
        self.mean_ = float((X**self.power).sum() + np.sum(y))
        X[:] = 0
        return self

    def predict(self, X):
        answer = X.sum(axis=1) + self.mean_
        X[:] = 0
        return answer


class Counting(TransformerMixin, BaseEstimator):
    """Counts its fits in a class attribute; may be slow, or fail."""

    fits = 0

    def __init__(self, k=1.0, fail=False, seconds=0.0):
        self.k = k
        self.fail = fail
        self.seconds = seconds

    def fit(self, X, y=None):
        Counting.fits += 1
        time.sleep(self.seconds)
        if self.fail:
            raise ValueError(f"k={self.k} is not for me")
        return self

    def transform(self, X):
        return X * self.k


def tasks_of(split, configurations):
    return [Task(split, configuration) for configuration in configurations]


def fit_whole(experiment, tasks):
    """Fit each configuration by the `fit` of the whole estimator: what `fit_predict` must equal to the last bit."""
    problem = experiment.problem
    for task in tasks:
        split, configuration = task
        try:
            model = clone(experiment.estimator).set_params(**clone(configuration.params, safe=False))
            columns = split.train if problem.is_pairwise_for(model) else None
            y, arguments = take(problem.y, split.train), problem.fit_arguments(split.train)
            model.fit(take(problem.X, split.train, columns), y, **arguments)
            held_out = take(problem.X, split.test, columns)
            responses = responses_of(problem, model, held_out, len(split.test), experiment.wanted)
        except Exception as error:
            yield failed(experiment, task, error)
        else:
            yield Outcome(configuration.index, split.repeat, split.fold, responses)


def search(
    estimator,
    grid,
    X,
    y,
    *,
    cv=3,
    wanted=LABELS,
    n_jobs=None,
    rule=None,
    on_event=None,
    n_repeats=1,
    pool=None,
    raise_errors=False,
    **data,
):
    """Run a race; give the store, the log and the plan."""
    problem = Problem.build(X, y, task=infer_task(estimator, y), **data)
    configurations = expand(grid, estimator=estimator)
    plan = Plan.build(problem, cv, n_repeats)
    store = MemoryStore(problem, plan, len(configurations))
    pool = make_pool(n_jobs) if pool is None else pool
    experiment = Experiment(problem, estimator, wanted, raise_errors)
    log = race(experiment, configurations, plan, pool=pool, store=store, rule=rule, on_event=on_event)
    return store, log, plan
