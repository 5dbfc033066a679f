"""Groups of configurations: by kind of model, by a parameter, or as the user says.

Takes a fitted search and a wish, gives a label for every configuration; never scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..containers import as_array
from ..errors import SoberError
from .configuration_words import family_of


def labels_of(search: Any, by: Any) -> dict[int, str]:
    """Name the group of every configuration.

    Parameters
    ----------
    search : BBCSearchCV
        Fitted.
    by : None, str, callable or array-like [C]
        See `BBCSearchCV.families`.
    """
    listed: list[Mapping[str, Any]] = search.cv_results_["params"]
    if by is None:
        return {i: family_of(_model(search.estimator, params)) for i, params in enumerate(listed)}
    if callable(by):
        return {i: str(by(params)) for i, params in enumerate(listed)}
    if isinstance(by, str):
        if not any(by in params for params in listed):
            known = ", ".join(sorted({name for params in listed for name in params}))
            raise SoberError("E306", f"`by` must be a parameter of the search, one of {known}; got {by!r}.")
        return {i: f"{by}={params[by]!r}" if by in params else f"no {by}" for i, params in enumerate(listed)}
    labels = as_array(by, "by")[0]
    if labels.shape != (len(listed),):
        raise SoberError(
            "E101", f"`by` must have a label for each of the {len(listed)} configurations; got shape {labels.shape}."
        )
    return {i: str(label) for i, label in enumerate(labels.tolist())}


def _model(estimator: Any, params: Mapping[str, Any]) -> Any:
    """Give the model of a configuration: the last step of a pipeline, or what a parameter puts in its place."""
    if hasattr(estimator, "steps"):
        name, last = estimator.steps[-1]
        return _model(params.get(name, last), {})
    given = [value for name, value in params.items() if "__" not in name and hasattr(value, "fit")]
    return given[0] if given else estimator
