"""correct: an honest score for a search that has already been run, by whichever tool.

`searches`, `fold_tables` and `prediction_tables` read what tools keep into `FoldScores` or `ToolPredictions`; `judging`
judges those by resampling folds (BBC-F) or samples (BBC). The package is not called `correct`: a package of that name
would hide the function `sobercv.correct`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from ..errors import SoberError
from ..inference import Estimate, Estimates
from ..tables import Settings
from ..tables.roles import check_target, find
from ..tables.tool_columns import check_no_means, holds_fold_scores, holds_wide_scores, tidied
from . import searches
from .fold_tables import read_frame
from .judging import FoldScores, ToolPredictions, judge, judge_predictions
from .prediction_tables import holds_long_predictions, read_long, read_wide, sample_of
from .searches import is_mljar, read_mljar, read_search

__all__ = [
    "Estimates",
    "FoldScores",
    "ToolPredictions",
    "correct",
    "is_mljar",
    "judge",
    "judge_predictions",
    "read_frame",
    "read_mljar",
    "read_search",
    "recognise",
]


def correct(
    thing: Any,
    metric: Any = None,
    *,
    y: Any = None,
    n_repeats: int | None = None,
    greater_is_better: bool | None = None,
    confidence_level: float = 0.95,
    random_state: Any = 0,
    **options: Any,
) -> Estimate | dict[str, Estimate]:
    """Correct the best score of a search that has already been run for having been selected as the best.

    Nothing is trained. The scores of every configuration on every fold are enough: the folds are resampled, the winner
    is selected again in each resample and judged on the folds left out (BBC-F). Where out-of-fold predictions were
    kept, samples are resampled instead (BBC), which gives a narrower interval.

    Parameters
    ----------
    thing : fitted search, study, table, predictor or folder
        - A fitted search with `cv_results_` (GridSearchCV, RandomizedSearchCV, the halving searches, BayesSearchCV,
          dask-ml's), or a pipeline that ends in one. A callable `refit` is called again on each resample.
        - An Optuna study, or OptunaSearchCV, whose trials keep their fold scores: as a list in a user attribute, or as
          intermediate values. With `y`: whose trials keep out-of-fold predictions in the user attribute "oof"
          (`predictions=` names another one, or maps trial numbers to predictions).
        - Fold scores of any tool, wide (one row per fold; one column, or one key of a dict, per configuration) or long
          (columns such as fold, model and score): tidymodels' ``collect_metrics(summarize = FALSE)``, caret's
          ``$resample``, mlr3's scores, a saved `cv_results_`.
        - With `y`: a dict of out-of-fold predictions by model, as `cross_val_predict` returns them with this `method`
          ("predict", "predict_proba" or "decision_function").
        - A data frame of predictions: tidymodels' ``collect_predictions()``, caret's ``$pred``, mlr3's.
        - An AutoGluon `TabularPredictor`, or the folder of an mljar-supervised run.
    metric : str, optional
        The metric that selected, where there are several and nothing says which; or the name of the score. For
        predictions: as in `sobercv.bbc`.
    y : array-like [N], optional
        The truth, where predictions were kept.
    n_repeats : int, optional
        How often the samples were partitioned into folds (default: what the splitter or the table says). Folds of a
        repeat follow each other. BBC-F runs within each repeat.
    greater_is_better : bool, optional
        For a table whose measure is not known by its name.
    confidence_level, random_state
        As in `sobercv.bbc`.
    **options
        `n_bootstraps`; for predictions also the other options of `sobercv.bbc`, and `force=True` to go on where the
        answer could mislead.

    Returns
    -------
    Estimate, or dict of str to Estimate for several metrics

    Raises
    ------
    SoberError
        If there are neither fold scores nor predictions, or one split only.

    Examples
    --------
    >>> import sobercv
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3, 5, 8]}, cv=10).fit(X, y)
    >>> estimate = sobercv.correct(search)
    >>> bool(estimate.value < search.best_score_)
    True
    """
    named = metric[0] if isinstance(metric, (list, tuple)) and len(metric) == 1 else metric
    if hasattr(thing, "estimate_") and hasattr(thing, "race_"):  # BBCSearchCV has done it, and not by folds alone
        selects = thing.question_.first.name
        known = (None, selects, 0.95, thing.confidence_level)
        if options or any(asked not in known for asked in (named, n_repeats, confidence_level)):
            text = f"This search is corrected already, by {selects}. Another level: search.estimate_.interval_at(0.9); "
            raise SoberError("E114", f"{text}another metric that selects: sobercv.bbc(y, search.predictions_, metric).")
        return thing.estimate_
    name = named if isinstance(named, str) else None
    settings = {"confidence_level": confidence_level, "random_state": random_state}
    if y is not None:
        found: FoldScores | ToolPredictions = _read_predictions(thing, y, options)
    else:
        found = _read(thing, name, n_repeats, greater_is_better)
    if isinstance(found, ToolPredictions):
        estimates = judge_predictions(found, metric, **settings, **options)
        if searches.is_study(study := _study_of(thing)):
            estimates = searches.with_study_winner(study, estimates)
    elif unknown := [option for option in options if option != "n_bootstraps"]:
        raise SoberError("E122", f"`correct` has no option {unknown[0]!r} for fold scores.")
    elif named is not name:
        raise SoberError("E114", "Fold scores are corrected by the metric that selected. Name one metric.")
    else:
        estimates = judge(found, **settings, **options)
    several = len(estimates) > 1 or isinstance(metric, (list, tuple))
    return Estimates(estimates) if several else next(iter(estimates.values()))


def _study_of(thing: Any) -> Any:
    """Return the study of an OptunaSearchCV, whose cv_results_ lacks the parameters; any other thing as it is."""
    return getattr(searches.taken_apart(thing)[1], "study_", thing)


def _read_predictions(thing: Any, y: Any, options: dict[str, Any]) -> ToolPredictions:
    """Read out-of-fold predictions to which the caller knows the truth."""
    if searches.is_study(study := _study_of(thing)):
        own = {name: options.pop(name) for name in ("predictions", "method") if name in options}
        return searches.read_study_predictions(study, y, **own)
    if isinstance(thing, Mapping):
        return ToolPredictions.by_model("cross_val_predict", y, thing, options.pop("method", "predict"))
    text = "`y` belongs with predictions; fold scores do not need it. If the columns are out-of-fold predictions: "
    raise SoberError("E114", f"{text}sobercv.bbc(y, predictions, metric).")


def _read(
    thing: Any, metric: str | None, n_repeats: int | None, greater_is_better: bool | None
) -> FoldScores | ToolPredictions:
    """Read scores by fold, or out-of-fold predictions beside their truth."""
    if hasattr(thing, "leaderboard") and hasattr(thing, "predict_proba_oof"):
        return searches.read_autogluon(thing)
    if isinstance(thing, (str, os.PathLike)) and os.path.isdir(thing):
        return read_mljar(thing)
    if isinstance(thing, Mapping) and "params" in thing:
        thing = SimpleNamespace(cv_results_=thing, scoring=metric)
    before, search = searches.taken_apart(thing)
    if searches.is_study(study := _study_of(thing)):
        if study is not thing:  # OptunaSearchCV maximises scores, whatever their name
            metric, greater_is_better = metric or searches.title(search), True
        found = searches.read_study(study, metric, n_repeats, greater_is_better)
        return replace(found, notes=(*found.notes, *searches.steps_before(before)))
    if isinstance(getattr(search, "cv_results_", None), Mapping):
        return read_search(search, metric, n_repeats, before)
    if hasattr(thing, "to_pandas") and hasattr(thing, "columns"):  # polars, pyarrow
        thing = thing.to_pandas()
    is_array = isinstance(thing, np.ndarray) and thing.ndim == 2 and thing.dtype.kind in "fiu"
    if is_array or isinstance(thing, Mapping):  # fold scores by configuration
        with suppress(ValueError):
            thing = pd.DataFrame(thing)
    if not (hasattr(thing, "columns") and hasattr(thing, "iloc")):
        raise searches.refusal(search)
    if holds_long_predictions(frame := tidied(thing)):
        return read_long(frame, Settings())
    found = read_frame(thing, metric, n_repeats=n_repeats, greater_is_better=greater_is_better)
    return replace(found, names=None) if is_array else found


def recognise(
    frame: Any, roles: Settings | None = None, metric: str | None = None, n_repeats: int | None = None, **given: Any
) -> FoldScores | ToolPredictions:
    """Read a table of fold scores or of predictions.

    `roles`: the column with the truth (long tables of known tools tell it themselves), or time and event in wide tables
    of risks; a group whose rows are resampled together; columns or, in long tables, configurations to leave out.
    `metric`, `n_repeats`: the measure that selected, and the number of repeats, in a table of fold scores.
    `**given`: names of `Settings`, instead of it.
    """
    roles = roles or Settings(**given)
    frame = tidied(frame)
    check_no_means(frame)
    if roles.target_names:
        check_target(roles, frame)
    elif (is_named := holds_fold_scores(frame.columns)) or holds_wide_scores(frame):
        if metric is None and not is_named:
            text = "The table holds fold scores. Say of what: --metric accuracy, or --metric rmse for errors."
            raise SoberError("E113", text)
        return read_frame(frame.drop(columns=list(roles.ignore), errors="ignore"), metric, n_repeats=n_repeats)
    for name in filter(None, [*roles.target_names, roles.group]):
        find(frame, name)
    roles.roles()  # refuses a column with two roles
    if sample_of(frame, roles) is None:
        return read_wide(frame, roles)
    if roles.time is not None:
        raise SoberError("E812", "Survival predictions are read from wide tables: one column per configuration.")
    return read_long(frame, roles)
