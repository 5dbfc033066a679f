"""Run several protocols on the same splits of one data set; what several of them need is trained once."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from .. import seeds
from ..errors import SoberError, also
from ..inference import Estimate
from ..inference.bootstrap import corrected
from ..inference.tables import Table, open_table
from ..search.bbc_search_cv import BBCSearchCV
from ..search.design import design, known_task
from ..search.metadata import plainly_routed
from ..search.scoring import metrics_of
from ..targets import has_several_outputs
from .comparison import Comparison, ProtocolRow
from .from_predictions import naive_scores, tibshirani_scores
from .nested_cv import check_partition, nested_cv
from .power_law import power_law_score
from .weighted_means import weighted_scores

#: Every protocol, in the order in which it is shown.
PROTOCOLS = {
    "naive": "plain CV of the winner (optimistic)",
    "tt": "Tibshirani and Tibshirani's correction",
    "ncv": "nested cross-validation",
    "bbc": "bootstrap bias corrected CV",
    "bbc-f": "bootstrap over folds",
    "632+": "between plain CV and BBC-CV",
    "wmc": "mean of all, by their chance to win",
    "wmcs": "the same of shrunken scores",
    "wmcs-raw": "chances from shrunken scores only",
    "ipl": "power law of winners on fewer samples",
    "bced": "BBC-CV with early dropping",
    "bbc-repeated": "BBC-CV over repeated partitions",
}

#: Options of a search that all protocols can follow.
SEARCH_OPTIONS = (
    "scoring", "pos_label", "cv", "select", "aggregate", "within_folds", "stratify", "interval",
    "n_bootstraps", "confidence_level", "n_jobs", "random_state",
)  # fmt: skip


def compare(
    estimator: Any,
    param_grid: Any,
    X: Any,
    y: Any,
    *,
    protocols: Sequence[str] = ("naive", "tt", "ncv", "bbc", "bced"),
    drop: Any = "bced",
    n_repeats: int = 10,
    groups: Any = None,
    sample_weight: Any = None,
    **search_options: Any,
) -> Comparison:
    """Run several protocols on the same splits of one data set.

    Parameters
    ----------
    estimator, param_grid, X, y, groups, sample_weight
        As for `BBCSearchCV` and its `fit`.
    protocols : sequence of str
        Any of "naive", "tt", "ncv", "bbc", "bbc-f", "632+", "wmc", "wmcs", "wmcs-raw", "ipl", "bced" and
        "bbc-repeated".
    drop : "auto" or rule, default="bced"
        Drop rule of "bced". The paper's is followed by the paper's correction, of survivors alone; any other counts the
        dropped configurations.
    n_repeats : int, default=10
        Partitions of "bbc-repeated"; needs `cv` to be a number.
    **search_options
        `scoring` (one metric), `pos_label`, `cv`, `select`, `aggregate`, `within_folds`, `stratify`,
        `interval`, `n_bootstraps`, `confidence_level`, `n_jobs` and `random_state`, as for `BBCSearchCV`.

    Returns
    -------
    Comparison
    """
    unknown = [p for p in protocols if p not in PROTOCOLS]
    if unknown or not protocols:
        given = repr(unknown[0]) if unknown else "none"
        raise SoberError("E122", f"`protocols` must be among {', '.join(PROTOCOLS)}; got {given}.")
    options = {**_checked(search_options), "refit": False}
    options["random_state"] = seeds.root(options.get("random_state", 0))
    data = {"groups": groups, "sample_weight": sample_weight}
    with warnings.catch_warnings():  # the search itself warns
        warnings.simplefilter("ignore")
        options["scoring"] = _one_metric(BBCSearchCV(estimator, param_grid, **options), y)
        plain = BBCSearchCV(estimator, param_grid, drop=None, **options)
        repeated = BBCSearchCV(estimator, param_grid, drop=None, n_repeats=n_repeats, **options)
        routed = plainly_routed(estimator, groups, sample_weight, {})
        if "bbc-repeated" in protocols and not isinstance(plain.cv, Integral):
            # refuses, before any fit, splits that cannot be repeated
            design(repeated, X, y, routed, plain.random_state)
        made = design(plain, X, y, routed, plain.random_state)
    made.question.rule_for(np.arange(1))  # refuses a threshold or an ensemble, which the others cannot judge
    if "ncv" in protocols:
        check_partition(made.plan)
    splits = [(split.train, split.test) for split in made.plan.splits]
    if not isinstance(plain.cv, Integral):  # split once: a splitter without a seed gives other folds each time
        plain.set_params(cv=splits)
    plain.fit(X, y, **data)
    rows: list[ProtocolRow] = []
    for protocol in (known for known in PROTOCOLS if known in protocols):
        start = time.perf_counter()
        models, models_paper, shared = plain.race_.n_fits + 1, None, plain.race_.seconds
        if protocol == "ncv":
            estimate, n_inner = nested_cv(plain, X, y, groups, sample_weight)
            k, c = plain.n_splits_, len(plain.race_.status)
            models, models_paper = models + n_inner, k * k * c + k + 1
        elif protocol in ("bced", "bbc-repeated"):
            search = repeated
            if protocol == "bced":
                papers = isinstance(drop, str) and drop == "bced"
                again = {**options, "cv": splits, "drop": drop, "count_dropped": not papers}
                search = BBCSearchCV(estimator, param_grid, **again)
            estimate = search.fit(X, y, **data).estimate_
            models, shared = search.race_.n_fits + 1, 0.0
        else:
            estimate = _on_predictions(protocol, plain)
            shared += plain.judge_time_ if protocol == "bbc" else 0.0  # its bootstrap is that of the search
        seconds = time.perf_counter() - start + shared
        claim = (protocol, estimate.value, estimate.interval, estimate.winner)
        rows.append(ProtocolRow(*claim, models_paper or models, models, seconds))
    return Comparison(
        rows=tuple(rows),
        metric=plain.question_.first.name,
        n_samples=plain.predictions_.n_samples,
        n_configurations=len(plain.race_.status),
        n_folds=plain.n_splits_,
        confidence_level=plain.confidence_level,
        interval_method=plain.interval,
        notes=plain.estimate_.notes,
        positive=plain.estimate_.positive,
    )


def _checked(search_options: dict[str, Any]) -> dict[str, Any]:
    """Refuse options that not all protocols can follow."""
    unknown = [name for name in search_options if name not in SEARCH_OPTIONS]
    if unknown:
        raise also(TypeError)(
            "E122", f"`compare` has no option {unknown[0]!r}; options of the search are {', '.join(SEARCH_OPTIONS)}."
        )
    return search_options


def _one_metric(search: BBCSearchCV, y: Any) -> Any:
    """Return the metric that all protocols score predictions by; refuse several, and what needs the model."""
    found = metrics_of(search.scoring, known_task(search, y), estimator=search.estimator)
    if y is None or has_several_outputs(y):
        raise SoberError(
            "E112", "`compare` scores predictions, so `y` must have one entry per sample; got several or none."
        )
    if len(found) > 1:
        raise SoberError("E114", f"`compare` judges by one metric; got {', '.join(found)} in `scoring`. Name one.")
    (metric,) = found.values()
    return search.scoring if search.scoring is None or isinstance(search.scoring, str) else metric


def _on_predictions(protocol: str, search: BBCSearchCV) -> Estimate:
    """Judge the predictions of plain cross-validation, which is all that these protocols need."""
    predictions, question = search.predictions_, search.question_
    if protocol == "bbc":
        estimate: Estimate = search.estimate_
        return estimate
    if protocol == "bbc-f":  # folds are drawn as they are, so there are no strata
        found = corrected(open_table(predictions, replace(question, by="fold", stratify=False)))
    elif protocol == "632+":
        return search.estimate_.as_632plus()
    else:
        table = Table(predictions, question)
        if protocol == "ipl":
            return power_law_score(table)
        if protocol not in ("naive", "tt"):
            return weighted_scores(table, protocol)
        found = naive_scores(table) if protocol == "naive" else tibshirani_scores(table)
    return next(iter(found.values()))
