"""Survival probabilities at times, from the curves that scikit-survival's models give.

Takes a fitted estimator and rows, gives numbers; never fits. A curve is 1 before its first time and
flat after its last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...containers import Array

METHOD = "predict_survival_function"


def gives_curves(fitted: Any) -> bool:
    """Whether an estimator can be asked for survival curves; a pipeline is as its last step."""
    return hasattr(_asked(fitted), METHOD)


def survival_chances(fitted: Any, X: Any, times: Sequence[float]) -> Array:
    """Give the probability of each row to survive beyond each time [n, T].

    Parameters
    ----------
    fitted : estimator
    X : array-like [n, P]
    times : sequence of float
    """
    if not hasattr(fitted, METHOD):  # scikit-learn's own pipeline, where scikit-survival was never imported
        for _, step in fitted.steps[:-1]:
            X = X if step is None or isinstance(step, str) else step.transform(X)
        return survival_chances(fitted.steps[-1][1], X, times)
    return np.array([_at(curve, np.asarray(times, np.float64)) for curve in getattr(fitted, METHOD)(X)])


def _asked(fitted: Any) -> Any:
    has = hasattr(fitted, METHOD) or not hasattr(fitted, "steps")
    return fitted if has else _asked(fitted.steps[-1][1])


def _at(curve: Any, times: Array) -> Array:
    """Read a curve: its steps where it has some (their law at the ends is ours), else by calling it."""
    if not (hasattr(curve, "x") and hasattr(curve, "y")):
        return np.asarray([float(curve(time)) for time in times])
    values = getattr(curve, "a", 1.0) * np.asarray(curve.y, np.float64) + getattr(curve, "b", 0.0)
    return np.asarray(np.append(1.0, values)[np.searchsorted(curve.x, times, side="right")])
