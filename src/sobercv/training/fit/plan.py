"""Plan: who is trained on what, in which order; made once, before the first fit.

Takes a problem and `cv`, gives checked splits in rounds; never fits. Axes: N samples, R repeats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np

from ...containers import Array
from ...errors import SoberError, warn
from .problem import Problem
from .splitting import Pair, pairs_of

#: After so many rounds a repeat has been asked often enough; more splits than that share rounds.
MAX_ROUNDS = 20


@dataclass(frozen=True, eq=False)
class Split:
    """One fold of one repeat.

    Attributes
    ----------
    repeat, fold : int
        Counted from 0.
    train, test : int array
        Row numbers.
    """

    repeat: int
    fold: int
    train: Array
    test: Array

    @property
    def place(self) -> str:
        """How people call it, counted from 1."""
        return f"fold {self.fold + 1} of repeat {self.repeat + 1}"


@dataclass(frozen=True, eq=False)
class Plan:
    """All splits of a search, in the order in which they are run.

    Attributes
    ----------
    n_samples, n_repeats : int
    rounds : tuple of tuples of Split
        After each round the drop rule is asked. Usually one split; several where a repeat has very many.
    """

    n_samples: int
    n_repeats: int
    rounds: tuple[tuple[Split, ...], ...]

    @classmethod
    def build(
        cls,
        problem: Problem,
        cv: Any = None,
        n_repeats: int = 1,
        seed: int = 0,
        split_params: Mapping[str, Any] | None = None,
    ) -> Plan:
        """Make the splits of a search.

        Parameters
        ----------
        problem : Problem
        cv : None, int, splitter or iterable of (train, test)
            As in scikit-learn: None is 5; a number makes stratified folds for classes (and, here, for the event of a
            survival target), unshuffled. Groups, where the problem has them, are kept together.
        n_repeats : int
            For a number of folds: the first repeat is scikit-learn's, the next ones are shuffled by `seed`.
        seed : int
        split_params : mapping, optional
            What `cv.split` receives instead of the problem's groups, under metadata routing.
        """
        pairs, by_number = pairs_of(problem, cv, n_repeats, seed, split_params)
        splits = _number(pairs, problem.n_samples)
        plan = cls(problem.n_samples, splits[-1].repeat + 1, _rounds(splits))
        _check_classes(plan, problem, by_number)
        _check_groups(plan, problem)
        return plan

    @cached_property
    def splits(self) -> tuple[Split, ...]:
        """Every split, in scikit-learn's order."""
        return tuple(split for part in self.rounds for split in part)

    @property
    def n_splits(self) -> int:
        """Number of splits over all repeats."""
        return len(self.splits)

    @property
    def n_rounds(self) -> int:
        """Number of times that the drop rule can be asked."""
        return len(self.rounds)

    @cached_property
    def positions(self) -> Mapping[tuple[int, int], int]:
        """From (repeat, fold) to the place in `splits`."""
        return {(split.repeat, split.fold): i for i, split in enumerate(self.splits)}

    @cached_property
    def fold_of(self) -> Array:
        """The fold in which each sample is held out [N, R]; 0 and meaningless where it never is."""
        folds = np.zeros((self.n_samples, self.n_repeats), np.int64)
        for split in self.splits:
            folds[split.test, split.repeat] = split.fold
        return folds

    def seen(self, positions: Sequence[int] | Array) -> Array:
        """Which samples the splits at these positions predict, bool [N, R]."""
        mask = np.zeros((self.n_samples, self.n_repeats), bool)
        for position in positions:
            split = self.splits[position]
            mask[split.test, split.repeat] = True
        return mask


def _number(pairs: list[Pair], n: int) -> list[Split]:
    """Turn consecutive test sets that cover all samples into repeats; if that fails, each split is a repeat."""
    repeat, fold, covered = 0, 0, np.zeros(n, bool)
    splits: list[Split] = []
    for train, test in pairs:
        if covered[test].any():
            break
        splits.append(Split(repeat, fold, train, test))
        covered[test] = True
        fold += 1
        if covered.all():
            repeat, fold, covered = repeat + 1, 0, np.zeros(n, bool)
    if len(splits) == len(pairs) and fold == 0:
        return splits
    return [Split(i, 0, train, test) for i, (train, test) in enumerate(pairs)]


def _rounds(splits: list[Split]) -> tuple[tuple[Split, ...], ...]:
    rounds: list[tuple[Split, ...]] = []
    for _, part in groupby(splits, key=lambda split: split.repeat):
        folds = list(part)
        size = -(-len(folds) // MAX_ROUNDS)
        rounds += [tuple(folds[i : i + size]) for i in range(0, len(folds), size)]
    return tuple(rounds)


def _check_classes(plan: Plan, problem: Problem, by_number: bool) -> None:
    """Refuse a fold that has but one class to learn from; warn of one that lacks a class among several."""
    if problem.classes is None:
        return
    counts = np.bincount(problem.target.values, minlength=len(problem.classes))
    for split in plan.splits:
        present = np.bincount(problem.target.values[split.train], minlength=len(counts))
        if present.all():
            continue
        absent = problem.classes.tolist()[int(np.argmin(present))]
        n_folds = sum(other.repeat == split.repeat for other in plan.splits)
        remedy = (
            f"Use fewer folds (now {n_folds}; the rarest class has {counts.min()} samples)."
            if by_number or n_folds > counts.min()
            else "Use a stratified splitter, or one that shuffles."
        )
        sentence = f"{split.place.capitalize()} has no sample of class {absent!r} to train on. {remedy}"
        if np.count_nonzero(present) > 1:
            warn("W304", sentence)
            return
        raise SoberError("E310", sentence)


def _check_groups(plan: Plan, problem: Problem) -> None:
    """Warn where samples of one group stand on both sides of a split."""
    codes = problem.group_codes
    if codes is None:
        return
    for split in plan.splits:
        inside = np.zeros(int(codes.max()) + 1, bool)
        inside[codes[split.train]] = True
        if inside[codes[split.test]].any():
            warn(
                "W301",
                f"In {split.place} some groups have samples both to train on and to predict, so the predictions know "
                "their group already. Use a splitter that keeps groups together, such as GroupKFold.",
            )
            return
