"""SES: feature selection by statistically equivalent signatures, as a scikit-learn transformer without randomness.

Lagani, Athineou, Farcomeni, Tsagris, Tsamardinos (2017), "Feature selection with the R package MXM: discovering
statistically equivalent feature subsets", Journal of Statistical Software 80(7), algorithm 1. Written from the paper.
"""

from __future__ import annotations

from itertools import chain, combinations
from numbers import Integral
from typing import Any

import numpy as np
from scipy.stats import chi2
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from ..containers import Array, check_level
from ..errors import SoberError
from ..targets import guess_task
from .independence import TESTS, Columns, IndependenceTest, standardised

_BLOCK = 1 << 21  # numbers held at a time while all columns are looked at once
TASKS = ("auto", *TESTS)


class SES(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the columns that no few others make superfluous (Lagani et al. 2017).

    Columns are added one by one: always the one whose weakest association with the target, over all conditioning sets
    of at most `k` columns selected so far, is the strongest. A column that is independent of the target given one such
    set is out for good, selected or not. In a faithful Bayesian network what remains are the neighbours of the target:
    its direct causes and effects, which are the Markov blanket but for the other causes of those effects. For each,
    columns that could replace it are found.

    Parameters
    ----------
    alpha : float, default=0.05
        A p-value above it means independence.
    k : int, default=3
        The largest conditioning set. 0 keeps every column that is associated on its own. With few samples it is lowered
        to a fifth of the samples (or events) less one, because larger sets would leave nothing to test with.
    task : {"auto", "classification", "regression", "survival"}, default="auto"
        What the target is. "auto" takes records of (event, time) as survival, labels and whole numbers as classes, and
        other numbers as numbers.
    equivalences : bool, default=True
        Whether to fill `signatures_`. The selection does not depend on it, and is faster without.

    Attributes
    ----------
    selected_ : int array
        The columns selected, in order of selection. When no column is associated with the target, the one that comes
        closest is kept, so that a pipeline can go on.
    support_ : bool array [P]
    p_values_ : float array [P]
        The largest p-value of each column over the conditioning sets on which it was tested.
    signatures_ : list of int arrays
        For each selected column, itself and its equivalents. One from each is an equally good signature.
    is_significant_ : bool
        False when the one column kept is there only so that a pipeline can go on.
    n_features_in_ : int
    feature_names_in_ : array [P]
        Where X has names.

    Examples
    --------
    >>> import numpy as np
    >>> from sobercv.feature_selection import SES
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 6))
    >>> y = X[:, 2] - X[:, 4] + rng.normal(size=300)
    >>> sorted(SES().fit(X, y).selected_.tolist())
    [2, 4]
    """

    def __init__(self, alpha: float = 0.05, k: int = 3, *, task: str = "auto", equivalences: bool = True) -> None:
        self.alpha = alpha
        self.k = k
        self.task = task
        self.equivalences = equivalences

    def fit(self, X: Any, y: Any = None) -> SES:
        """Select columns.

        Parameters
        ----------
        X : array-like or sparse matrix [N, P]
            Numbers without gaps.
        y : array-like [N]
            Labels, numbers, or records of (event, time).
        """
        alpha = check_level(self.alpha, "alpha", usual=0.05)
        if not isinstance(self.k, Integral) or isinstance(self.k, bool) or self.k < 0:
            raise SoberError("E108", f"`k` must be a whole number, 0 or more; got {self.k!r}. Write 2 or 3.")
        if self.task not in TASKS:
            raise SoberError("E122", f"`task` must be one of {TASKS}; got {self.task!r}.")
        if y is None:
            raise SoberError("E112", "SES requires y to be passed, but the target y is None; pass the true values.")
        X = validate_data(self, X, accept_sparse="csc", dtype="numeric", ensure_min_samples=2)
        check_consistent_length(X, y)
        test = TESTS[guess_task(y).task if self.task == "auto" else self.task](y)
        k = min(self.k, max(0, test.size // 5 - 1))
        critical = float(chi2.isf(alpha, test.df))
        n, p = X.shape
        least, step = np.empty(p), max(1, _BLOCK // n)
        for start in range(0, p, step):
            block = np.arange(start, min(start + step, p))
            least[block] = test.statistics(standardised(X, block, test.order), np.empty((0, n)))
        candidates = np.flatnonzero(least >= critical)
        associated, lowered = standardised(X, candidates, test.order), least[candidates]
        selected, equivalents = _max_min(associated, lowered, test, critical, k, self.equivalences)
        least[candidates] = lowered
        self.is_significant_ = bool(selected)
        best = np.array([np.argmax(least)])
        self.selected_ = candidates[selected] if selected else best
        self.signatures_ = [candidates[equivalents[i]] for i in selected] or [best]
        self.p_values_ = chi2.sf(least, test.df)
        self.support_: Array = np.isin(np.arange(p), self.selected_)
        return self

    def _get_support_mask(self) -> Array:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


def _max_min(
    columns: Columns, least: Array, test: IndependenceTest, critical: float, k: int, find_equivalents: bool
) -> tuple[list[int], dict[int, list[int]]]:
    """Return the columns selected by the max-min heuristic, in order, and the equivalents of each.

    All of them are associated with the target. `least` [P], the smallest statistic of each over the conditioning sets
    on which it was tested, is lowered in place; one below `critical` means independence, and the column is out.
    """
    alive = np.ones(len(least), bool)  # remaining or selected
    selected: list[int] = []
    equivalents: dict[int, list[int]] = {i: [i] for i in range(len(least))}
    ids, working = np.arange(len(least)), columns
    while (remaining := np.setdiff1d(np.flatnonzero(alive), selected)).size:
        # Every set of at most k selected ones that holds the newest, small sets first; the others have been tested.
        newest = int(remaining[np.argmax(least[remaining])])
        older, selected = selected, [*selected, newest]
        for others in chain.from_iterable(combinations(older, size) for size in range(min(k, len(selected)))):
            given = [*others, newest]
            if not alive[given].all():  # a selected column may have been removed meanwhile
                continue
            live = alive[ids]
            if 4 * live.sum() < 3 * len(live):  # many of the columns are out: forget them
                ids, working = ids[live], Columns(*(part[live] for part in working))
            tested = alive[ids] & ~np.isin(ids, given)
            found = test.statistics(working, columns.values[given])[tested]
            least[ids[tested]] = np.minimum(least[ids[tested]], found)
            gone = ids[tested & (least[ids] < critical)]
            alive[gone] = False
            selected = [i for i in selected if alive[i]]
            for i in gone.tolist() if find_equivalents else ():
                for other in given:  # that column i, independent given the set, can replace there
                    swapped = columns.values[[i if j == other else j for j in given]]
                    alone = Columns(*(part[[other]] for part in columns))
                    if test.statistics(alone, swapped)[0] < critical:
                        equivalents[other] += equivalents.pop(i)
                        break
    return selected, equivalents
