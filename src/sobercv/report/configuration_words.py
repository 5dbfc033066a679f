"""A configuration in words: what kind of model, its parameters, what it selects from.

Takes the parameters of a configuration, gives a line for people, the same on the screen, in the report and in
METHODS.md; never fits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..search.final_model import estimate_of
from .words import clean, parameters, short_names

#: What a model is called in a paper, by a part of its class's name; the first that fits.
FAMILIES = {
    "Dummy": "a constant baseline", "NoRisk": "a constant baseline", "Boosting": "gradient boosting",
    "SurvivalForest": "random survival forests", "Forest": "random forests", "ExtraTrees": "extremely randomised trees",
    "SurvivalSVM": "survival support vector machines", "SV": "support vector machines",
    "Calibrated": "calibrated support vector machines", "TransformedTarget": "support vector machines",
    "NB": "naive Bayes", "Neighbors": "nearest neighbours", "ElasticNetCox": "elastic-net Cox regression",
    "ElasticNetLogistic": "elastic-net logistic regression", "ElasticNet": "elastic nets",
    "Logistic": "ridge logistic regression", "Ridge": "ridge regression",
}  # fmt: skip
#: What tells two models of one family apart, by a part of their class's name, where no parameter does.
TELLING = {"kernel": "SV", "l1_ratio": "ElasticNet"}
MODEL, SELECT = "model", "select"


def family_of(model: Any) -> str:
    """Name the kind of a model."""
    kind = type(model).__name__
    return next((words for part, words in FAMILIES.items() if part in kind), kind)


def in_words(params: Mapping[str, Any], short: Mapping[str, str], default: Any = None) -> str:
    """Write a configuration for people.

    Parameters
    ----------
    params : mapping
    short : mapping of str to str
        The short name of each parameter.
    default : estimator, optional
        The model where the parameters name none.
    """
    given = dict(params)
    if not hasattr(given.get(MODEL), "get_params") and SELECT not in given:
        return parameters(given, dict(short))
    model, select = given.pop(MODEL, default), given.pop(SELECT, "passthrough")
    told = {name.rpartition("__")[2]: value for name, value in given.items()}
    inner = getattr(model, "estimator", getattr(model, "regressor", model))
    for name, kind in TELLING.items():
        if name not in told and kind in type(inner).__name__ and hasattr(inner, name):
            told[name] = getattr(inner, name)
    values = ", ".join(f"{name} {_short(value)}" for name, value in told.items())
    return f"{family_of(model)}{f' ({values})' if values else ''}, {_columns(select)}"


def winner_in_words(search: Any) -> str:
    """Write the winner of a fitted search for people."""
    steps = getattr(search.estimator, "steps", None)
    short = short_names(name for params in search.cv_results_["params"] for name in params)
    words = in_words(search.best_params_, short, steps[-1][1] if steps else search.estimator)
    decision = estimate_of(search).decision
    return words if decision is None else f"{words}; {decision.shown()}"


def _columns(select: Any) -> str:
    if select is None or isinstance(select, str):
        return "all columns"
    if hasattr(select, "alpha") and hasattr(select, "k"):
        return f"columns chosen by SES (alpha {select.alpha}, k {select.k})"
    return f"columns chosen by {type(select).__name__}"


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else clean(value, 60)
