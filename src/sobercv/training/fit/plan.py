"""Plan: which rows are trained on and which predicted, in which order; made once, before the first fit.

Axes: N samples, R repeats.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from ... import seeds
from ...containers import Array, whole_number
from ...errors import SoberError, warn
from .problem import Problem

Pair = tuple[Array, Array]

#: After so many rounds a repeat has been asked often enough; more splits than that share rounds.
MAX_ROUNDS = 20


@dataclass(frozen=True, eq=False)
class Split:
    """One fold of one repeat, both counted from 0, as row numbers."""

    repeat: int
    fold: int
    train: Array
    test: Array

    @property
    def name(self) -> str:
        """How people call it, counted from 1."""
        return f"fold {self.fold + 1} of repeat {self.repeat + 1}"


@dataclass(eq=False)
class Plan:
    """All splits of a search, in the order in which they are run."""

    n_samples: int
    n_repeats: int
    rounds: tuple[tuple[Split, ...], ...]  # after each the drop rule is asked; of one split, or of several where many

    def __post_init__(self) -> None:
        self.splits = tuple(split for part in self.rounds for split in part)
        self.n_splits, self.n_rounds = len(self.splits), len(self.rounds)
        self.positions = {(split.repeat, split.fold): i for i, split in enumerate(self.splits)}  # in `splits`
        # The fold in which each sample is held out [N, R]; 0 and meaningless where it never is.
        self.fold_of = np.zeros((self.n_samples, self.n_repeats), np.int64)
        for split in self.splits:
            self.fold_of[split.test, split.repeat] = split.fold

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

        `cv` is as in scikit-learn: None is 5; a number makes stratified folds for classes (and, here, for the event of
        a survival target), unshuffled. Groups, where the problem has them, are kept together. Of several repeats the
        first is scikit-learn's, the next ones are shuffled by `seed`. `split_params` is what `cv.split` receives
        instead of the problem's groups, under metadata routing.
        """
        repeats = _repeats(_pairs(problem, cv, n_repeats, seed, split_params), problem.n_samples)
        rounds: list[tuple[Split, ...]] = []
        for repeat, folds in enumerate(repeats):
            splits, size = [Split(repeat, f, *pair) for f, pair in enumerate(folds)], -(-len(folds) // MAX_ROUNDS)
            rounds += [tuple(splits[i : i + size]) for i in range(0, len(splits), size)]
        plan = cls(problem.n_samples, len(repeats), tuple(rounds))
        _check(plan, problem)
        return plan

    def seen(self, positions: Iterable[int]) -> Array:
        """Which samples the splits at these positions predict, bool [N, R]."""
        mask = np.zeros((self.n_samples, self.n_repeats), bool)
        for split in (self.splits[position] for position in positions):
            mask[split.test, split.repeat] = True
        return mask


def _repeats(pairs: list[Pair], n: int) -> list[list[Pair]]:
    """Tell repeats apart: test sets that do not overlap belong to one repeat.

    A repeat ends when it covers every sample that is ever tested, or before the first test set that overlaps it. Where
    that leaves a repeat of no more than half of these samples, the test sets are independent of each other, as those of
    ShuffleSplit, and each split is a repeat.
    """
    ever = np.zeros(n, bool)
    ever[np.concatenate([test for _, test in pairs])] = True
    repeats: list[list[Pair]] = []
    covered = ever.copy()
    for train, test in pairs:
        if covered[test].any():
            repeats.append([])
            covered[:] = False
        repeats[-1].append((train, test))
        covered[test] = True
    are_apart = any(2 * sum(len(test) for _, test in folds) <= ever.sum() for folds in repeats)
    return [[pair] for pair in pairs] if are_apart else repeats


def _check(plan: Plan, problem: Problem) -> None:
    """Refuse a fold with but one class to learn from; warn of one that lacks a class, and of groups on both sides."""
    if problem.classes is not None:
        counts = np.bincount(problem.target.values, minlength=len(problem.classes))
        for split in plan.splits:
            present = np.bincount(problem.target.values[split.train], minlength=len(counts))
            if present.all():
                continue
            absent = problem.classes.tolist()[int(np.argmin(present))]
            n_folds = sum(other.repeat == split.repeat for other in plan.splits)
            sentence = (
                f"{split.name.capitalize()} has no sample of class {absent!r} to train on. Use fewer folds (now "
                f"{n_folds}; the rarest class has {counts.min()} samples), or a stratified splitter."
            )
            if np.count_nonzero(present) <= 1:
                raise SoberError("E106", sentence)
            warn("W804", sentence)
            break
    if (codes := problem.group_codes) is None:
        return
    torn = next((split.name for split in plan.splits if np.isin(codes[split.test], codes[split.train]).any()), None)
    if torn is not None:
        warn(
            "W301",
            f"In {torn} some groups have samples both to train on and to predict, so the model has seen these groups "
            "already. Use a splitter that keeps groups together, such as GroupKFold.",
        )


def _pairs(problem: Problem, cv: Any, n_repeats: int, seed: int, split_params: Mapping[str, Any] | None) -> list[Pair]:
    """Return the (train, test) pairs, checked."""
    cv = 5 if cv is None else cv
    is_number = isinstance(cv, Integral) and not isinstance(cv, bool)
    name = type(cv).__name__ if hasattr(cv, "split") else "This list of splits"
    if cv < 2 if is_number else isinstance(cv, str) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise SoberError(
            "E307",
            "`cv` must be a number of folds (at least 2), a scikit-learn splitter or a list of (train, test) rows; got "
            f"{cv!r}. Write cv=10.",
        )
    n_repeats = whole_number("n_repeats", n_repeats)
    if is_number:
        pairs = _by_number(problem, int(cv), n_repeats, seed)
    elif n_repeats > 1:
        raise SoberError(
            "E114",
            f"`n_repeats`={n_repeats} needs `cv` to be a number of folds, but it is {name}; write cv=10, or pass a "
            "splitter that repeats, such as RepeatedStratifiedKFold.",
        )
    else:
        pairs = _from_splitter(problem, cv, name, split_params) if hasattr(cv, "split") else list(cv)
    if not pairs:
        raise SoberError(
            "E307",
            "No fits were performed. Was the CV iterator empty? Were there no candidates? `cv` gives no split at all; "
            "give at least one pair of (train, test) rows, in a list: a generator can be read only once.",
        )
    checked = [_checked(pair, i, problem.n_samples) for i, pair in enumerate(pairs)]
    starts = [int(test.min()) for _, test in checked]
    goes_on = len(checked) > 1 and all(np.diff(starts) > 0)  # the same hold-out twice is no walk through time
    if goes_on and all(train.max() < start for (train, _), start in zip(checked, starts, strict=True)):
        raise SoberError(
            "E307",
            f"{name} is for rows in time order: it predicts later rows with models trained on earlier ones. The "
            "corrected estimate resamples rows as if their order did not matter. Keep these splits with GridSearchCV, "
            "or pass blocks of time as `groups` with a number of folds.",
        )
    return checked


def _by_number(problem: Problem, n_folds: int, n_repeats: int, seed: int) -> list[Pair]:
    groups, strata = problem.group_codes, None
    if problem.classes is not None:
        strata = problem.target.values
    elif problem.task == "survival":
        event = problem.target.values["event"].astype(np.int64)
        # Too few of one kind cannot be spread over the folds; then plain folds are the best there is.
        strata = event if min(event.sum(), len(event) - event.sum()) >= n_folds else None
    kinds = (KFold, GroupKFold) if strata is None else (StratifiedKFold, StratifiedGroupKFold)
    kind, pairs = kinds[groups is not None], list[Pair]()
    for repeat in range(n_repeats):
        codes, options = groups, {}  # the first as scikit-learn's, unshuffled, to be compared split by split
        if repeat > 0 and groups is not None and strata is not None:
            # StratifiedGroupKFold before 1.8 mixes up the groups' counts when it shuffles, so renumber the groups.
            codes = seeds.generator(seed, "plan", repeat).permutation(int(groups.max()) + 1)[groups]
        elif repeat > 0:
            options = {"shuffle": True, "random_state": seeds.integer(seed, "plan", repeat)}
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="The least populated class")  # said above, with its name
                pairs += kind(n_folds, **options).split(np.zeros((problem.n_samples, 1)), strata, codes)
        except ValueError as error:  # more folds than samples, groups or members of each class
            raise SoberError("E106", f"cv={n_folds} folds cannot be made: {error} Use fewer folds.") from None
    if problem.classes is not None and (counts := np.bincount(problem.target.values)).min() < n_folds:
        warn(
            "W804",
            f"The least populated class in y has only {counts.min()} members, fewer than the {n_folds} folds, so some "
            f"folds hold no sample of class {problem.classes.tolist()[int(counts.argmin())]!r}. Use fewer folds, or "
            "collect more samples.",
        )
    return pairs


def _from_splitter(problem: Problem, cv: Any, name: str, split_params: Mapping[str, Any] | None) -> list[Pair]:
    is_stratified = problem.task == "survival" and "Stratified" in type(cv).__name__
    y = problem.target.values["event"] if is_stratified else problem.y
    if split_params is None:
        split_params = {} if problem.groups is None else {"groups": problem.groups}
    try:
        with warnings.catch_warnings():
            # The plan looks itself whether groups were torn apart, and says so only where they were.
            warnings.filterwarnings("ignore", message="The groups parameter is ignored")
            pairs = list(cv.split(problem.X, y, **split_params))
            said = cv.get_n_splits(problem.X, y, **split_params) if hasattr(cv, "get_n_splits") else len(pairs)
    except (ValueError, TypeError) as error:
        if "groups" in str(error) and split_params.get("groups") is None:
            raise SoberError(
                "E113", f"{name} needs groups; pass groups= with one entry per sample. It says: {error}"
            ) from error
        raise SoberError("E307", f"{name} cannot split these data: {error}") from error
    if said != len(pairs):
        raise SoberError(
            "E307",
            f"cv.split and cv.get_n_splits return inconsistent results. Expected {said} splits, got {len(pairs)}; fix "
            f"{name}, or pass list(cv.split(X, y)).",
        )
    return pairs


def _checked(pair: Any, i: int, n: int) -> Pair:
    """Return both parts as row numbers, or say in one sentence what is wrong with them."""
    try:
        parts = map(np.asarray, pair)
        train, test = (np.flatnonzero(part) if part.dtype == bool and len(part) == n else part for part in parts)
        if any(part.ndim != 1 or (part.dtype.kind not in "iu" and part.size) for part in (train, test)):
            raise ValueError
        train, test = train.astype(np.intp), test.astype(np.intp)
    except (TypeError, ValueError):
        raise SoberError(
            "E307", f"Split {i + 1} of `cv` must be a pair of (train, test) row numbers; got {pair!r:.80}."
        ) from None
    problem = None
    if len(train) == 0 or len(test) == 0:
        problem = f"has no row to {'train on' if len(train) == 0 else 'predict'}; give both parts at least one row"
    elif min(train.min(), test.min()) < 0 or max(train.max(), test.max()) >= n:
        problem = f"names rows outside 0 to {n - 1}; use positions, not index labels"
    elif (inside := np.bincount(test, minlength=n)).max() > 1:
        problem = f"predicts row {int(inside.argmax())} more than once; list each test row once"
    elif inside[train].any():
        problem = f"trains on rows that it predicts (row {train[inside[train] > 0][0]}); keep the two parts apart"
    if problem is not None:
        raise SoberError("E307", f"Split {i + 1} of `cv` {problem}.")
    return train, test
