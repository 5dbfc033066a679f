"""from_cross_val_predict: what scikit-learn's function returned for each model, corrected as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import SoberError
from ..inference import Estimate
from ..inference.bbc import bbc
from .correction import by_model, usual_metric

METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")


def from_cross_val_predict(
    y: Any, predictions: Mapping[str, Any], metric: Any = None, *, method: str = "predict", **options: Any
) -> Estimate | dict[str, Estimate]:
    """Correct the score of the best of several models that `sklearn.model_selection.cross_val_predict` judged.

    Parameters
    ----------
    y : array-like [N]
        The truth, as it was passed to `cross_val_predict`.
    predictions : mapping of str to array [N] or [N, K]
        What `cross_val_predict` gave for each model that was tried, by the model's name, all by the same `method`.
    metric : str, Metric, callable, or a list of them, optional
        As in `sobercv.bbc`; default: `roc_auc` (`roc_auc_ovr` for more than two classes) where there are scores or
        probabilities, `accuracy` for labels and `r2` for numbers.
    method : {"predict", "predict_proba", "predict_log_proba", "decision_function"}, default="predict"
        As it was passed to `cross_val_predict`. Columns are classes in sorted order, as scikit-learn gives them.
    **options
        Those of `sobercv.bbc`: `groups`, `folds`, `random_state`, ...

    Returns
    -------
    Estimate, or dict of str to Estimate when `metric` is a list

    Examples
    --------
    >>> import sobercv
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_predict
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> models = {f"{k} neighbours": KNeighborsClassifier(k) for k in (1, 5, 15)}
    >>> found = {name: cross_val_predict(model, X, y, method="predict_proba") for name, model in models.items()}
    >>> estimate = sobercv.correct(found, y=y, method="predict_proba")
    >>> estimate.metric, estimate.winner_name in models
    ('roc_auc_ovr', True)
    """
    if method not in METHODS:
        raise SoberError("E122", f"`method` must be one of {', '.join(METHODS)}; got {method!r}.")
    if not predictions:
        raise SoberError("E813", "There are no predictions. Pass those of every model that was tried, by its name.")
    imported = by_model("cross_val_predict", np.asarray(y), predictions, method)
    found = bbc(imported.y, imported.responses, metric or usual_metric(imported), **options)
    if isinstance(found, dict):
        return {name: replace(one, winner_name=imported.names[one.winner]) for name, one in found.items()}
    return replace(found, winner_name=imported.names[found.winner])
