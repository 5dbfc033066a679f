"""The search space: grids and distributions in, numbered configurations out, in scikit-learn's order."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, ParameterSampler

from ... import seeds
from ...containers import whole_number
from ...errors import SoberError, also


@dataclass(frozen=True, eq=False)
class Configuration:
    """One setting of an estimator's parameters."""

    index: int  # its row in scikit-learn's `cv_results_`
    params: Mapping[str, Any] = field(default_factory=dict)  # what goes to `set_params`


def expand(
    space: Mapping[str, Any] | Iterable[Mapping[str, Any]] | list[Configuration],
    n_iter: int | None = None,
    seed: int = 0,
    estimator: Any = None,
) -> list[Configuration]:
    """List the configurations of a search space; every parameter name is checked against the estimator, if given.

    A space maps names to sequences of values or, with `n_iter`, to distributions; a list unites several. Whole steps
    are values too: ``{"model": [SVC()], "model__C": [1, 10]}``. Configurations that were listed before are taken as
    they are, numbered anew. `n_iter` of them are drawn at random, as scikit-learn's `RandomizedSearchCV` does with
    this seed.
    """
    if n_iter is None and isinstance(space, list) and space and all(isinstance(c, Configuration) for c in space):
        chosen: Iterable[Mapping[str, Any]] = [configuration.params for configuration in space]
    elif n_iter is None:
        chosen = ParameterGrid(_as_grids(space, n_iter))
    else:
        state = seed if seed < 2**32 else seeds.integer(seed, "space")
        chosen = ParameterSampler(_as_grids(space, n_iter), whole_number("n_iter", n_iter), random_state=state)
    configurations = [Configuration(i, params) for i, params in enumerate(chosen)]
    if estimator is not None:
        check_names(estimator, configurations)
    return configurations


def check_names(estimator: Any, configurations: Sequence[Configuration]) -> None:
    """Refuse parameters that the estimator does not have, and name the closest one that it has.

    Parameters of a step that the same configuration replaces are checked against the replacement.
    """
    checked: set[tuple[Any, ...]] = set()
    for configuration in configurations:
        params = configuration.params
        names = sorted(params)  # "model" comes before "model__C"
        parents = {name for name in names if any(other.startswith(name + "__") for other in names)}
        kind = (*names, *(id(params[name]) for name in sorted(parents)))
        if kind not in checked:
            checked.add(kind)
            trial = clone(estimator)
            for name in names:
                known = trial.get_params(deep=True)
                if name in known and name not in parents:
                    continue
                try:  # some estimators set more than they list, so only a refusal counts
                    trial.set_params(**{name: clone(params[name], safe=False)})
                except (ValueError, AttributeError, TypeError):
                    raise SoberError("E122", _unknown(name, params, known, trial)) from None


def _unknown(name: str, params: Mapping[str, Any], known: Mapping[str, Any], estimator: Any) -> str:
    parent = name.rpartition("__")[0]
    if parent in params and not hasattr(params[parent], "get_params"):
        return (
            f"{name!r} is set while {parent!r} is {params[parent]!r}, which has no parameters; put the two in separate "
            "grids of a list."
        )
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
    # A name without its step ("C" for "model__C"), or in other case, is the commonest slip.
    same = sorted((full for full in known if f"__{full}".lower().endswith(f"__{name}".lower())), key=len)
    near = (same or close or [""])[0]
    return f"{type(estimator).__name__} has no parameter {name!r}; the closest is {near!r}, see get_params() for all."


def _as_grids(space: Any, n_iter: int | None) -> list[dict[str, Any]]:
    """Return the grids of a space, checked by scikit-learn's `ParameterGrid`."""
    grids = [space] if isinstance(space, Mapping) else list(space) if isinstance(space, Iterable) else []
    if not grids or not all(isinstance(grid, Mapping) and all(isinstance(k, str) for k in grid) for grid in grids):
        raise SoberError(
            "E303",
            "The search space must be a dict from parameter names to values, or a non-empty list of such dicts; "
            f"got {space!r}. Write {{'C': [1, 10]}}.",
        )
    for name, values in ((name, values) for grid in grids for name, values in grid.items()):
        if hasattr(values, "rvs"):
            if n_iter is None:
                raise SoberError(
                    "E303",
                    f"{name!r} is a distribution; draw from it with BBCRandomizedSearchCV(n_iter=), or list values.",
                )
            continue
        try:
            ParameterGrid({name: values})
        except (TypeError, ValueError) as error:
            is_one = isinstance(values, str) or not isinstance(values, Iterable)
            hint = f"[{values!r}]" if is_one else f"list({name}_values), with at least one value"
            raise also(type(error))("E303", f"{str(error).rstrip('.')}. Write {hint}.") from None
    return [dict(grid) for grid in grids]
