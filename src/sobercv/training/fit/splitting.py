"""From `cv`, in any of its forms, to checked pairs of (train, test) row numbers.

Takes a problem and what a user calls `cv`, gives integer arrays; never fits and never decides what a repeat is.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, TimeSeriesSplit

from ... import seeds
from ...containers import Array
from ...errors import SoberError, warn
from .problem import Problem

Pair = tuple[Array, Array]


def pairs_of(
    problem: Problem, cv: Any, n_repeats: int, seed: int, split_params: Mapping[str, Any] | None
) -> tuple[list[Pair], bool]:
    """Give the checked (train, test) pairs, and whether they were made from a number of folds.

    Parameters
    ----------
    problem : Problem
    cv : None, int, splitter or iterable of (train, test)
    n_repeats, seed : int
    split_params : mapping or None
    """
    n_folds = 5 if cv is None else _as_int(cv)
    if isinstance(n_repeats, bool) or not isinstance(n_repeats, (int, np.integer)) or n_repeats < 1:
        raise SoberError("E313", f"`n_repeats` must be a whole number of at least 1; got {n_repeats!r}.")
    if n_folds is not None:
        pairs = _by_number(problem, n_folds, int(n_repeats), seed)
    elif n_repeats > 1:
        raise SoberError(
            "E313",
            f"`n_repeats`={n_repeats} needs a number of folds, but `cv` is {_name(cv)}; write cv=10, or pass a "
            "splitter that repeats, such as RepeatedStratifiedKFold.",
        )
    elif isinstance(cv, TimeSeriesSplit):
        raise _time_series(cv)
    else:
        pairs = _from_object(problem, cv, split_params)
    if not pairs:
        raise SoberError(
            "E311",
            "No fits were performed. Was the CV iterator empty? Were there no candidates? `cv` gives no split at all; "
            "give at least one pair of (train, test) rows, in a list: a generator can be read only once.",
        )
    checked = [_checked(pair, i, problem.n_samples) for i, pair in enumerate(pairs)]
    starts = [int(test.min()) for _, test in checked]
    goes_on = len(checked) > 1 and all(np.diff(starts) > 0)  # the same hold-out twice is no walk through time
    if goes_on and all(train.max() < start for (train, _), start in zip(checked, starts, strict=True)):
        raise _time_series(cv)
    return checked, n_folds is not None


def _time_series(cv: Any) -> SoberError:
    return SoberError(
        "E309",
        f"{_name(cv)} is for rows in time order: it predicts later rows by models trained on earlier ones. The "
        "corrected estimate resamples rows as if any order were as likely. Keep these splits with GridSearchCV, or "
        "pass blocks of time as `groups` with a number of folds.",
    )


def _as_int(cv: Any) -> int | None:
    if isinstance(cv, (bool, np.bool_, str, float)) or (
        not hasattr(cv, "split") and not hasattr(cv, "__index__") and not isinstance(cv, Iterable)
    ):
        raise SoberError(
            "E307",
            f"`cv` must be a number of folds, a scikit-learn splitter or a list of (train, test) rows; got {cv!r}, so "
            "write cv=10.",
        )
    if hasattr(cv, "split") or not hasattr(cv, "__index__") or getattr(cv, "ndim", 0) > 0:
        return None
    n_folds = operator.index(cv)
    if n_folds < 2:
        raise SoberError("E307", f"`cv` must be at least 2 folds; got {n_folds}, so write cv=10.")
    return n_folds


def _by_number(problem: Problem, n_folds: int, n_repeats: int, seed: int) -> list[Pair]:
    _check_number(problem, n_folds)
    strata = _strata(problem, n_folds)
    grouped = problem.group_codes is not None
    kind = {
        (False, False): KFold,
        (True, False): StratifiedKFold,
        (False, True): GroupKFold,
        (True, True): StratifiedGroupKFold,
    }[strata is not None, grouped]
    pairs: list[Pair] = []
    rows = np.zeros((problem.n_samples, 1))
    for repeat in range(n_repeats):
        codes, options = problem.group_codes, {}
        if repeat == 0:
            pass  # unshuffled, as scikit-learn's, so that results can be compared split by split
        elif codes is not None and strata is not None:
            # StratifiedGroupKFold before 1.8 mixes up the groups' counts when it shuffles, so renumber the groups.
            codes = seeds.generator(seed, "plan", repeat).permutation(int(codes.max()) + 1)[codes]
        else:
            options = {"shuffle": True, "random_state": seeds.integer(seed, "plan", repeat)}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class")  # said above, with its name
            pairs += kind(n_folds, **options).split(rows, strata, codes)
    return pairs


def _strata(problem: Problem, n_folds: int) -> Array | None:
    if problem.classes is not None:
        return problem.target.values
    if problem.task == "survival":
        event = problem.target.values["event"].astype(np.int64)
        # Too few of one kind cannot be spread over the folds; then plain folds are the best there is.
        return event if min(event.sum(), len(event) - event.sum()) >= n_folds else None
    return None


def _check_number(problem: Problem, n_folds: int) -> None:
    if n_folds > problem.n_samples:
        raise SoberError(
            "E308",
            f"cv={n_folds} folds cannot be made of n_samples={problem.n_samples}; use fewer folds or more samples.",
        )
    if problem.group_codes is not None and n_folds > (n_groups := int(problem.group_codes.max()) + 1):
        raise SoberError("E308", f"cv={n_folds} folds cannot be made of {n_groups} groups; use fewer folds.")
    if problem.classes is not None:
        counts = np.bincount(problem.target.values)
        if n_folds > counts.max():
            raise SoberError(
                "E308",
                f"n_splits={n_folds} cannot be greater than the number of members in each class; use fewer folds (the "
                f"commonest class has {counts.max()} samples).",
            )
        if n_folds > counts.min():
            rarest = problem.classes.tolist()[int(counts.argmin())]
            warn(
                "W304",
                f"The least populated class in y has only {counts.min()} members, fewer than the {n_folds} folds, so "
                f"some folds hold no sample of class {rarest!r}. Use fewer folds, or collect more samples.",
            )


def _from_object(problem: Problem, cv: Any, split_params: Mapping[str, Any] | None) -> list[Pair]:
    if not hasattr(cv, "split"):
        return list(cv)
    y = problem.y
    if problem.task == "survival" and "Stratified" in type(cv).__name__:
        y = problem.target.values["event"]
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
                "E312", f"{_name(cv)} needs groups; pass groups= with one entry a sample. It says: {error}"
            ) from error
        raise SoberError("E311", f"{_name(cv)} cannot split these data: {error}") from error
    if said != len(pairs):
        raise SoberError(
            "E311",
            f"cv.split and cv.get_n_splits return inconsistent results. Expected {said} splits, got {len(pairs)}; mend "
            f"{_name(cv)}, or pass list(cv.split(X, y)).",
        )
    return pairs


def _checked(pair: Any, i: int, n: int) -> Pair:
    """Give both parts as row numbers, or say in one sentence what is wrong with them."""
    try:
        train, test = (_rows(part, n) for part in pair)
    except (TypeError, ValueError):
        raise SoberError(
            "E311", f"Split {i + 1} of `cv` must be a pair of (train, test) row numbers; got {pair!r:.80}."
        ) from None
    problem = None
    if len(train) == 0 or len(test) == 0:
        problem = f"has no row to {'train on' if len(train) == 0 else 'predict'}; give both parts at least one row"
    elif min(train.min(), test.min()) < 0 or max(train.max(), test.max()) >= n:
        problem = f"names rows outside 0 to {n - 1}; use positions, not labels of an index"
    else:
        inside = np.bincount(test, minlength=n)
        if inside.max() > 1:
            problem = f"predicts row {int(inside.argmax())} more than once; list each test row once"
        elif inside[train].any():
            both = int(train[inside[train] > 0][0])
            problem = f"trains on rows that it predicts (row {both}); keep the two parts apart"
    if problem is not None:
        raise SoberError("E311", f"Split {i + 1} of `cv` {problem}.")
    return train, test


def _rows(part: Any, n: int) -> Array:
    rows = np.asarray(part)
    if rows.dtype == bool and rows.shape == (n,):
        return np.flatnonzero(rows)
    if rows.ndim != 1 or (rows.dtype.kind not in "iu" and rows.size):
        raise ValueError("not row numbers")
    return rows.astype(np.intp)


def _name(cv: Any) -> str:
    return type(cv).__name__ if hasattr(cv, "split") else "This list of splits"
