"""Selection rules: scores `[B, C]` in, the winner of each row `[B]` out (the paper's css); -1 where none is defined.

The only place that decides ties. Any callable that does this is a rule, and the rule that picks the final winner is
re-run in every resample. A rule may have `needs_standard_errors` (then it is called with those of the configurations as
well) and `for_configurations(ids)`, which returns the rule for a table that holds only these of the configurations.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError

SelectionRule = Callable[[Array], Array]

#: Scores closer than this (relative to the metric's unit + their size) are equal: products round by the shape of their
#: blocks, and a winner must not depend on that.
TIE = 1e-12


class Described:
    """Shown as it was made, by its arguments that are not None."""

    def __repr__(self) -> str:
        given = {name: getattr(self, name) for name in signature(type(self)).parameters}
        words = (f"{name}={value!r}" for name, value in given.items() if value is not None)
        return f"{type(self).__name__}({', '.join(words)})"


def margin(scores: Array, unit: float = 1.0) -> Array:
    """How far a score may lie below another and still be its equal, by a metric of this `unit`."""
    return np.asarray(TIE * (unit + np.where(np.isinf(scores), 0.0, np.abs(scores))))


def best(scores: Array, *, unit: float = 1.0) -> Array:
    """Pick the highest score; the first of equals."""
    from ..metrics.kernels.draws import first_best  # two passes where numpy would need five

    winners = np.empty(len(scores), np.int64)
    first_best(np.ascontiguousarray(scores.T, np.float64), TIE, unit, winners)
    return winners


class simplest_within(Described):
    """Pick the least complex configuration whose score is nearly the best.

    Parameters
    ----------
    tolerance : float, optional
        How far below the best a score may lie, on the scale of the metric.
    standard_errors : float, optional
        The same in bootstrap standard errors of the best configuration; 1 is Breiman's rule. Pass one of the two; with
        neither, one standard error.
    complexity : array-like [C], optional
        The complexity of each configuration. Default: they are listed from simple to complex.

    Examples
    --------
    >>> import numpy as np
    >>> from sobercv import simplest_within
    >>> simplest_within(tolerance=0.02)(np.array([[0.80, 0.90, 0.91]]))
    array([1])
    """

    def __init__(
        self, tolerance: float | None = None, standard_errors: float | None = None, complexity: Any = None
    ) -> None:
        if tolerance is not None and standard_errors is not None:
            raise SoberError("E114", "Pass `tolerance` or `standard_errors`, not both.")
        for name, value in (("tolerance", tolerance), ("standard_errors", standard_errors)):
            if value is not None and not value >= 0:
                raise SoberError("E108", f"`{name}` must be 0 or more; got {value!r}.")
        self.tolerance = tolerance
        self.standard_errors = 1.0 if tolerance is None and standard_errors is None else standard_errors
        self.complexity = complexity
        self.needs_standard_errors = tolerance is None

    def __call__(self, scores: Array, standard_error: Array | None = None, *, unit: float = 1.0) -> Array:
        """Pick a winner for each row of scores [B, C]."""
        n = scores.shape[1]
        complexity = np.asarray(np.arange(n) if self.complexity is None else self.complexity, dtype=np.float64)
        if complexity.shape != (n,):
            raise SoberError(
                "E101", f"`complexity` must have one number for each of {n} configurations; got {complexity.shape}."
            )
        top = best(scores, unit=unit)
        height, allowed = scores[np.arange(len(scores)), top], np.full(len(scores), float(self.tolerance or 0.0))
        if self.standard_errors is not None:
            if standard_error is None:
                raise SoberError("E114", "This rule is in units of standard errors, so it needs resampled scores.")
            allowed = float(self.standard_errors) * standard_error[top]
        with np.errstate(invalid="ignore"):
            near = scores >= (height - allowed - margin(height, unit))[:, None]
        # Of equally simple ones take the better; of equally good ones the first.
        lowest = np.where(near, complexity, np.inf).min(axis=1)
        winner = best(np.where(near & (complexity == lowest[:, None]), scores, np.nan), unit=unit)
        return np.where(top < 0, -1, winner)

    def for_configurations(self, configurations: Array) -> simplest_within:
        """The rule for a table that holds only these of the configurations; the others were dropped or failed."""
        known = 0 if self.complexity is None else len(self.complexity)
        if known == len(configurations) or known <= configurations.max(initial=-1):
            return self  # also where it is too short for any table, as the call will say
        given = None if self.tolerance is not None else self.standard_errors
        return simplest_within(self.tolerance, given, np.asarray(self.complexity)[configurations])


#: Selection rules by name.
RULES: dict[str, SelectionRule] = {"best": best, "simplest_within": simplest_within()}


def apply(rule: SelectionRule, scores: Array, unit: float, standard_error: Array | None = None) -> Array:
    """Run a rule on scores by a metric of this `unit`, and check what it returns."""
    if rule is best:
        return best(scores, unit=unit)
    told = (scores, standard_error) if getattr(rule, "needs_standard_errors", False) else (scores,)
    winners = np.asarray(rule(*told, unit=unit) if isinstance(rule, simplest_within) else rule(*told))
    b, c = scores.shape
    hopeless = np.isnan(scores).all(axis=1)
    valid = winners.shape == (b,) and winners.dtype.kind in "iu"
    if not valid or not (hopeless | ((winners >= 0) & (winners < c))).all():
        raise SoberError(
            "E117",
            f"The selection rule must return one index below {c} for each of the {b} rows of scores; got shape "
            f"{winners.shape} and type {winners.dtype}.",
        )
    # A configuration whose score is undefined cannot have won, whatever the rule says.
    winners = np.where(hopeless, 0, winners)
    return np.where(np.isnan(scores[np.arange(b), winners]), -1, winners).astype(np.int64)
