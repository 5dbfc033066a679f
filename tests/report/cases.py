"""Small searches, one for each kind of task, and a summary made by hand for golden texts."""

import warnings
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

import sobercv
from sobercv.errors import Note
from sobercv.report import summarize
from sobercv.report.model_charts import Bar, importance_chart
from sobercv.report.records import (
    Box,
    Chart,
    ConfigurationRow,
    Line,
    Race,
    Score,
    Section,
    Summary,
    Table,
)
from sobercv.report.words import number

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "'; alert(3); //",
    "two\nlines\r\nand\ttabs",
    "</script><script>alert(4)</script>",
    "<!--<script>",
    "{{ 7 * 7 }}{% raw %}",
    "$\\frac{1}$ &amp; & % _",
    "\U0001f600 \u202ertl \u2028\u2029 \x00\x1b[31m",
    "x" * 500,
)


def table(n, columns, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.normal(size=(n, len(columns))), columns=list(columns))


@lru_cache
def binary():
    X = table(150, [f"gene {i}" for i in range(6)])
    y = np.where(X["gene 0"] + np.random.default_rng(1).normal(size=150) > 0, "case", "control")
    grid = [{"C": [1e-4, 1e-2, 1.0, 100.0]}, {"C": [1.0], "solver": ["nonsense"]}]
    return fitted(LogisticRegression(), grid, X, y, scoring=["roc_auc", "accuracy", "neg_log_loss"]), X, y


@lru_cache
def labels_only():
    X, y = binary()[1:]
    return fitted(LogisticRegression(), {"C": [0.1, 1.0]}, X, y, scoring="accuracy"), X, y


@lru_cache
def several():
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(150, 4)), rng.integers(0, 3, 150)
    X[:, 0] += y
    return (
        fitted(GaussianNB(), {"var_smoothing": [1e-9, 0.1, 1.0]}, X, y, scoring="roc_auc_ovr", n_repeats=2, drop=None),
        X,
        y,
    )


@lru_cache
def many():
    """Seven classes, one with a long name, by a model that gives no probabilities and hardly ever errs."""
    rng = np.random.default_rng(6)
    y = np.repeat(np.arange(7), 20)
    X = pd.DataFrame(
        6 * np.eye(7)[y] + rng.normal(size=(140, 7)), columns=[f"a column with a long name, {i}" for i in range(7)]
    )
    names = np.array(["zero", "one", "two", "three", "four", "five", "six of which much can be said"])
    return fitted(LinearSVC(), {"C": [0.01, 1.0]}, X, names[y], scoring="balanced_accuracy", keep="all"), X, names[y]


@lru_cache
def regression():
    X = table(160, "abcde", 3)
    y = (2 * X["a"] + X["b"] ** 2 + np.random.default_rng(3).normal(size=160)).to_numpy()
    return fitted(Ridge(), {"alpha": [0.1, 10.0, 1000.0]}, X, y, scoring="neg_mean_absolute_error"), X, y


@lru_cache
def survival():
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    rng = np.random.default_rng(4)
    X = table(120, "abc", 4)
    time, censored = rng.exponential(np.exp(-X["a"])), rng.exponential(2.0, 120)
    y = np.array(
        list(zip(time <= censored, np.minimum(time, censored), strict=True)), dtype=[("e", bool), ("t", float)]
    )
    return fitted(CoxPHSurvivalAnalysis(), {"alpha": [0.1, 10.0]}, X, y), X, y


@lru_cache
def hostile():
    X = table(80, HOSTILE, 5)
    X.columns = list(HOSTILE)
    y = np.array([HOSTILE[0], HOSTILE[4]], object)[(X.iloc[:, 0] > 0).astype(int)]
    grid = [{"C": [0.1, 1.0]}, {"C": [1.0], "solver": ["</script><script>alert(5)</script>"]}]
    return fitted(LogisticRegression(), grid, X, y, scoring=["roc_auc", "neg_log_loss"]), X, y


def fitted(estimator, grid, X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sobercv.BBCSearchCV(estimator, grid, **{"cv": 5, "n_bootstraps": 200, **options}).fit(X, y)


@lru_cache
def summary(name):
    search, X, y = CASES[name]()
    return replace(summarize(search, X, y, n_permutations=1), created="now")


CASES = {case.__name__: case for case in (binary, labels_only, several, many, regression, survival, hostile)}


def by_hand():
    """A summary whose every number is written here, so that a golden text changes only with its writer."""
    line = Line(
        "case", (0.0, 0.5, 1.0), (0.0, 0.8, 1.0), (0.0, 0.6, 1.0), (0.0, None, 1.0), "AUC 0.800, 0.700 to 0.900"
    )
    roc = Chart("roc", "ROC", "false positive rate", "true positive rate", (0.0, 1.0), (0.0, 1.0), (line,), "A curve.")
    draws = Chart("draws", "Draws", "ROC AUC", "resamples", (0.7, 0.9), (0.0, 6.0), boxes=(Box(0.7, 0.0, 0.8, 3.0),))
    failed = Table("failures", "Failures", (("No.", "Parameters", "Where", "Cause"), ("9", "C=-1", "fold 1", "C < 0")))
    found = (Bar("lactate", 0.2, 0.01), Bar("age", -0.01, 0.02))
    return Summary(
        title="Sepsis by day 3",
        task="classification",
        created="2026-01-02 03:04 UTC",
        headline="ROC AUC: 0.812, 95 % interval 0.701 to 0.893.",
        why="Plain cross-validation quotes the best of 12 scores, so part of its 0.861 is luck; choosing again in "
        "1,000 resamples and scoring each choice on the samples it had not seen gives 0.812.",
        scores=(
            Score("roc_auc", "ROC AUC", 0.8123, (0.7011, 0.8934), 0.95, 0.8611, 0.0488, 1000, 3, 3),
            Score("neg_log_loss", "Negative log loss", -0.51, (-0.6, -0.4), 0.95, -0.45, 0.06, 1000, 0, 3),
        ),
        race=Race(12, 17, 7, "BootstrapDrop(threshold=0.99)", "were worse", True),
        configurations=(
            ConfigurationRow(4, "C=1", "finished", True, 1, 0.8611, 0.87, 0.05, 0.64, 0.0042, None, None),
            ConfigurationRow(7, "C=10, kernel='rbf'", "dropped", False, 7, 0.71, 0.72, 0.0, None, 1.5, 2, 0.9951),
            ConfigurationRow(9, "C=-1", "failed", False, 12, None, None, None, None, 75.0, None, None),
        ),
        winner="C=1",
        about_winner="Configuration 4. It won 64 % of the resamples; 3 configurations won at least once.",
        sections=(
            Section("selection", "How the number was obtained", (draws,)),
            Section("curves", "What the winner predicts", (roc,), sentence="Drawn from predictions."),
            importance(found),
            Section("failures", "Failures", tables=(failed,)),
        ),
        notes=(Note("W204", "1 of 12 configurations failed."), Note("W999", "A note of a later release.")),
        data={"Task": "classification, 2 classes", "Samples": "20", "Configurations": "12"},
        timing={"Models trained": "18"},
        versions={"sober": "0.1.0"},
        method="BBC-CV: bootstrap bias corrected.",
        citation="Tsamardinos, Greasidou, Borboudakis (2018).",
        seed=7,
        command="sober fit sepsis.csv --target sepsis --seed 7",
    )


def chart(summary, name):
    """The chart of this name; None where there is none."""
    return next((one for one in summary.charts if one.name == name), None)


def importance(bars):
    """A section with these bars."""
    rows = (("Column", "Score falls by", "SD"), *((b.label, number(b.value, 4), number(b.spread, 4)) for b in bars))
    tables = (Table("importance", "Importance", rows, "Shuffled."),)
    return Section("importance", "What the final model relies on", (importance_chart(bars, "Shuffled."),), tables)


def with_importance(summary, *bars):
    """The same summary with another importance of columns."""
    made = importance(bars)
    return replace(summary, sections=tuple(made if s.name == "importance" else s for s in summary.sections))
