"""What each preset tries, in numbers that mean the same for every task."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any

from ..errors import SoberError


@dataclass(frozen=True)
class Level:
    """How much a preset tries; an empty tuple leaves a kind of model out."""

    summary: str
    selections: tuple[tuple[float, int] | None, ...]  #: None for all columns, or (alpha, k) for SES
    baseline: bool = True  #: whether a model that ignores the columns takes part
    ridge: tuple[float, ...] = ()  #: weights of the data against a squared penalty: scikit-learn's C
    l1_ratios: tuple[float, ...] = ()
    penalties: tuple[int, ...] = tuple(range(10))  #: which of the 10 penalties of glmnet's path, largest first
    linear: tuple[float, ...] = ()  #: costs of the linear SVM
    kernels: tuple[tuple[str, int], ...] = (("rbf", 3),)  #: of the other SVMs, with their degrees
    costs: tuple[float, ...] = ()
    gammas: tuple[Any, ...] = ()
    trees: int = 100
    leaves: tuple[int, ...] = (1, 3, 5)  #: least samples in a leaf of a forest
    roots: tuple[float, ...] = ()  #: columns tried at a split, in multiples of the root of their number
    rounds: int = 50  #: of gradient boosting
    rates: tuple[float, ...] = ()  #: its learning rates
    sizes: tuple[int, ...] = (4, 16)  #: leaves of its trees
    neighbours: tuple[int, ...] = ()
    bayes: bool = True  #: whether naive Bayes takes part (classes only)


_PAPER_GRID = (0.01, 0.1, 1.0, 10.0, 100.0)

LEVELS = {
    "quick": Level(
        "a first honest answer, in under a minute on 500 rows",
        selections=(None, (0.05, 2)),
        ridge=(0.01, 0.1, 1.0, 10.0),
        l1_ratios=(0.5,),
        penalties=(2, 4, 6),
        costs=(1.0, 10.0),
        gammas=("scale",),
        leaves=(1, 5),
        roots=(1.0,),
        rates=(0.1,),
        neighbours=(5, 15),
    ),
    "standard": Level(
        "a sensible default for a paper",
        selections=(None, (0.05, 3), (0.01, 2)),
        ridge=(0.001, 0.01, 0.1, 1.0, 10.0),
        l1_ratios=(0.5, 1.0),
        penalties=(1, 3, 5, 7, 9),
        linear=(0.01, 0.1, 1.0),
        costs=(0.1, 1.0, 10.0),
        gammas=("scale", 0.01, 0.1),
        trees=300,
        roots=(1.0, 2.0),
        rounds=100,
        rates=(0.05, 0.1),
        neighbours=(5, 15, 31),
    ),
    "thorough": Level(
        "for overnight runs or small tables",
        selections=(None, (0.05, 2), (0.05, 3), (0.01, 2), (0.01, 3)),
        ridge=(0.0001, 0.001, 0.01, 0.1, 1.0, 10.0),
        l1_ratios=(0.1, 0.5, 1.0),
        penalties=tuple(range(1, 9)),
        linear=(0.001, 0.01, 0.1, 1.0),
        costs=(0.1, 1.0, 10.0, 100.0),
        gammas=("scale", 0.001, 0.01, 0.1),
        trees=500,
        roots=(0.5, 1.0, 2.0),
        rounds=200,
        rates=(0.02, 0.05, 0.1),
        neighbours=(3, 7, 15, 31),
    ),
    # Section 6.2 of the paper: 5 selections times 12 forests, 80 SVMs and 30 elastic nets.
    "paper": Level(
        "the 610 configurations of the paper",
        selections=(None, (0.05, 2), (0.05, 3), (0.01, 2), (0.01, 3)),
        baseline=False,
        bayes=False,
        l1_ratios=(0.001, 0.5, 1.0),
        linear=_PAPER_GRID,
        kernels=(("poly", 2), ("poly", 3), ("rbf", 3)),
        costs=_PAPER_GRID,
        gammas=_PAPER_GRID,
        trees=1000,
        roots=(0.5, 1.0, 1.5, 2.0),
    ),
}


def check_name(name: Any, known: tuple[str, ...] = tuple(LEVELS), what: str = "preset") -> None:
    """Refuse what is no preset or no task, and name the nearest one."""
    if name not in known:
        close = difflib.get_close_matches(str(name), known, 1, cutoff=0.4)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise SoberError("E122", f"There is no {what} {name!r}; choose one of {', '.join(known)}.{hint}")
