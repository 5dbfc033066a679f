"""Experiment: what all fits of a search have in common; made once, passed whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from ...containers import Array
from .plan import Split
from .problem import Problem, take
from .response import Wanted
from .space import Configuration


@dataclass(frozen=True, eq=False)
class Rows:
    """One side of a split, as the user holds it.

    Attributes
    ----------
    X, y : array-like
        `y` is None where the problem has none.
    problem : Problem
    numbers : int array
        Which rows of the problem these are.
    """

    X: Any
    y: Any
    problem: Problem
    numbers: Array

    def cut(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Cut what has one entry per sample of the problem to these rows."""
        return self.problem.cut(given, self.numbers)


@dataclass(frozen=True, eq=False)
class Sides:
    """Both sides of a split, taken afresh whenever they are asked for: an estimator may write into what it is given.

    Attributes
    ----------
    problem : Problem
    split : Split
    columns : int array or None
        For matrices between samples: the columns too.
    """

    problem: Problem
    split: Split
    columns: Array | None = None

    def test(self) -> Rows:
        """Return the rows held out."""
        return self._rows(self.split.test)

    def train(self) -> Rows:
        """Return the rows that the model was trained on."""
        return self._rows(self.split.train)

    def _rows(self, numbers: Array) -> Rows:
        X, y = take(self.problem.X, numbers, self.columns), take(self.problem.y, numbers)
        return Rows(X, y, self.problem, numbers)


#: (fitted, both sides of the split) -> numbers by name.
Asks = Callable[[Any, Sides], Mapping[str, float]]


#: (estimator to fit, configuration, split, training rows, arguments of `fit`) -> context of the fit.
Around = Callable[[Any, Configuration, Split, Rows, Mapping[str, Any]], AbstractContextManager[None]]


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
        What else is asked of each fitted model, with the rows of its split: (fitted, sides) -> numbers by name.
    around : callable, optional
        What is wrapped around each fit, such as callbacks; see `Around`.
    """

    problem: Problem
    estimator: Any
    wanted: Wanted
    raise_errors: bool = False
    asks: Asks | None = None
    around: Around | None = None
