"""Experiment: what all fits of a search have in common; made once, passed whole.

Takes the data, the estimator and what is asked of it; holds them, checks nothing, never fits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .problem import Problem
from .response import Wanted

#: (fitted, X, y of the test rows) -> numbers by name.
Asks = Callable[[Any, Any, Any], Mapping[str, float]]


@dataclass(frozen=True, eq=False)
class Experiment:
    """What all fits of a search have in common. A fit adds a configuration and a split.

    Attributes
    ----------
    problem : Problem
        The data.
    estimator : estimator
        Never fitted itself: each configuration is set on a clone.
    wanted : tuple of tuples of str
        For each response the methods that can give it, best first; empty where no predictions are needed.
    raise_errors : bool
        Let the first exception of a fit out instead of turning it into a failure.
    asks : callable, optional
        What else is asked of each fitted model, with its test rows: (fitted, X, y) -> numbers by name.
    """

    problem: Problem
    estimator: Any
    wanted: Wanted
    raise_errors: bool = False
    asks: Asks | None = None
