"""Random forests, grown faster: what scikit-learn's forest would answer, bit for bit, without fitting it.

Takes an unfitted `RandomForestClassifier`, the training rows and the rows to predict; gives a forest that answers for
those rows, or None where scikit-learn must fit it: other settings than the ones that `tree_kernels` grows, rows with
gaps, sparse rows, processors on which compilers round differently. scikit-learn grows the first tree of every forest,
too, on the very objects that it would be given, so that it checks and warns as ever; unless both trees are the same to
the last bit, it grows them all. Only that tree is compared: whatever may differ in a later one must be left out
beforehand. Never changes what it is given; draws from numpy's global generator what scikit-learn would have drawn.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from functools import lru_cache
from numbers import Integral, Real
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array, check_random_state

from ...compiled import Allowance
from ...containers import Array
from ...seeds import old_generator
from .response import Wanted, method_of
from .tree_inputs import Resamples, SortedColumns

#: Parameters that a forest may have values of its own for; all others must have their defaults.
FREE = {
    "bootstrap", "max_depth", "max_features", "min_impurity_decrease", "min_samples_leaf", "min_samples_split",
    "n_estimators", "n_jobs", "random_state",
}  # fmt: skip
#: Ranks have 16 bits, classes 8; sorted columns take 8 bytes a cell.
MOST_ROWS, MOST_CLASSES, MOST_CELLS = 1 << 16, 256, 1 << 24
#: Compilers of other processors join a product and a sum into one instruction, which rounds once instead of twice.
MACHINES = ("x86_64", "amd64")
#: Seconds that scikit-learn's forests may take in a process before ours are loaded, or compiled if nobody has yet.
LOADING, COMPILING = 0.6, 8.0
#: scikit-learn's seconds for a tree, and for each sample and column tried; measured roughly, and only to choose by.
TREE, CELL = 9e-4, 4e-7
#: Seconds to sort a cell of a table: a few trees of a wide one are not worth it.
SORT = 1.5e-7
#: Times faster than scikit-learn's, at the least of what was measured; only to tell how long a search may take.
FASTER = 4.0
#: A call into compiled loops lasts about so long, so that Ctrl-C is heard.
CALL_SECONDS = 0.1
#: The seed of the tree that is compared where a forest has none.
COMPARED = 0


def faster_seconds(seconds: float) -> float:
    """Give what is left of scikit-learn's seconds for forests where a search grows them: roughly, and rather too much.

    Parameters
    ----------
    seconds : float
        Of one worker.
    """
    return min(seconds, COMPILING + seconds / FASTER)


#: What scikit-learn may still grow in this process: a short search should not wait for compiled loops.
allowance = Allowance(LOADING, COMPILING, __file__, "tree_kernels.vote")


@dataclass(frozen=True, eq=False)
class GrownForest:
    """What a forest says of the rows that it was grown for, whichever rows it is asked about.

    Attributes
    ----------
    classes_ : array [K]
    probabilities : float array [M, K]
    """

    classes_: Array
    probabilities: Array

    def predict_proba(self, X: Any) -> Array:
        """Give the probability of each class."""
        return self.probabilities

    def predict(self, X: Any) -> Array:
        """Give the most probable class, the first of equals."""
        return self.classes_.take(np.argmax(self.probabilities, axis=1), axis=0)


class Forests:
    """Forests of one split, one after the other; what several of them need is made once.

    Parameters
    ----------
    wanted : tuple of tuples of str
        What is asked of fitted models, see `Experiment.wanted`. What no forest answers is scikit-learn's to refuse.
    """

    def __init__(self, wanted: Wanted = ()) -> None:
        self._is_asked = all(method_of(GrownForest, alternatives) is not None for alternatives in wanted)
        self._sorted: SortedColumns | None = None
        self._resamples: tuple[tuple[int, ...], Resamples] | None = None  # with what it was drawn for

    def grown(self, model: Any, X: Any, y: Any, rows: Any) -> GrownForest | None:
        """Give a forest that answers for `rows`; None where scikit-learn must fit the model.

        Parameters
        ----------
        model : estimator
            Unfitted. The method `plain_forest(X)` of its class, if there is one, gives the `RandomForestClassifier`
            that it is on these rows.
        X : array-like [N, P]
        y : array-like [N]
        rows : array-like [M, P]
            To predict.
        """
        try:
            plain = model.plain_forest(X) if "plain_forest" in vars(type(model)) else model  # not a subclass of it
            if not self._is_asked or not _is_known(plain) or np.ndim(y) != 1:
                return None
            shape = X.shape if hasattr(X, "shape") else (len(X), len(X[0]))
            seconds, cells = _guess(plain, *shape), shape[0] * shape[1]
            if shape[0] > MOST_ROWS or cells > MOST_CELLS or seconds < 2 * SORT * cells:
                return None
            if allowance.covers(seconds):
                return None
            return self._grown(plain, X, y, rows)
        except TimeoutError:  # a clock of the user's, which is not to be stopped here
            raise
        except Exception:
            return None  # scikit-learn's own message is the better one

    def _grown(self, plain: Any, X: Any, y: Any, rows: Any) -> GrownForest | None:
        from . import tree_kernels

        allowance.end()
        # Without a seed every forest is another one; trees are compared for some seed.
        seed = COMPARED if plain.random_state is None else plain.random_state
        first = clone(plain).set_params(n_estimators=1, random_state=seed).fit(X, y)
        said = first.predict_proba(rows)
        # Copies, so that nobody can write into what is kept for the next forest.
        options = {"dtype": np.float32, "order": "C", "copy": True, "ensure_all_finite": False}
        train, new = check_array(X, **options), check_array(rows, **options)
        codes = _codes(first.classes_, np.asarray(y))
        is_whole = np.isfinite(train).all() and np.isfinite(new).all()  # check_array may be told to look away
        if codes is None or not is_whole:
            return None
        columns, resamples = self._columns(train), self._drawn(seed, plain, len(train))
        votes, n_trees, limits = np.zeros_like(said), int(plain.n_estimators), _limits(first)
        nodes, chances = np.empty((4, 2 * len(train))), np.empty((2 * len(train), len(first.classes_)))

        def vote(resamples: Resamples, start: int, stop: int) -> int:
            counts, states = resamples.part(start, stop)
            grown: int = tree_kernels.vote(
                columns.ranks, columns.values, columns.n_ranks, columns.order, _same_value(), codes, counts, states,
                limits, float(plain.min_impurity_decrease), new, votes, nodes, chances,
            )  # fmt: skip
            return grown

        n_nodes = vote(resamples, 0, 1)
        if not _is_same(first, nodes[:, :n_nodes], chances[:n_nodes]) or not np.array_equal(votes, said):
            return None
        start, step = 1, 1
        if plain.random_state is None:  # as many numbers of the global generator as scikit-learn's forest takes
            resamples = Resamples(check_random_state(None), n_trees, len(train), bool(plain.bootstrap))
            votes[:], start = 0, 0
        while start < n_trees:
            begun, stop = perf_counter(), min(start + step, n_trees)
            vote(resamples, start, stop)
            if perf_counter() - begun < CALL_SECONDS:
                step *= 2
            start = stop
        return GrownForest(first.classes_, votes / n_trees)

    def _columns(self, train: Array) -> SortedColumns:
        if self._sorted is None or not np.array_equal(self._sorted.rows, train):
            self._sorted = SortedColumns.of(train)
        return self._sorted

    def _drawn(self, seed: int, plain: Any, n_rows: int) -> Resamples:
        given = int(plain.n_estimators), n_rows, bool(plain.bootstrap)
        if self._resamples is None or self._resamples[0] != (seed, *given):
            self._resamples = (seed, *given), Resamples(old_generator(seed), *given)
        return self._resamples[1]


def _is_known(plain: Any) -> bool:
    """Whether a model is a forest with settings that the compiled loops know."""
    # By name, so that nobody waits for the import of forests who has none.
    kind = type(plain)
    if kind.__name__ != "RandomForestClassifier" or kind.__module__.split(".")[:2] != ["sklearn", "ensemble"]:
        return False
    params, usual = plain.get_params(deep=False), kind().get_params(deep=False)
    is_usual = all(value is usual[name] or value == usual[name] for name, value in params.items() if name not in FREE)
    if not is_usual or usual["criterion"] != "gini" or platform.machine().lower() not in MACHINES:
        return False
    whole = [params[k] for k in ("n_estimators", "min_samples_leaf", "min_samples_split")]
    whole += [params[k] for k in ("max_depth", "random_state") if params[k] is not None]
    return (
        all(isinstance(value, (int, np.signedinteger)) and not isinstance(value, bool) for value in whole)
        and params["n_estimators"] >= 1
        and isinstance(params["bootstrap"], bool)
        and isinstance(params["min_impurity_decrease"], Real)
        and params["n_jobs"] in (None, 1)
    )


def _guess(plain: Any, n_rows: int, n_columns: int) -> float:
    """Guess scikit-learn's seconds for a forest."""
    tried = n_columns if plain.max_features is None else plain.max_features
    if isinstance(tried, str):
        tried = n_columns**0.5
    elif not isinstance(tried, Integral):  # a share
        tried = tried * n_columns
    return int(plain.n_estimators) * (TREE + CELL * n_rows * float(tried))


def _codes(classes: Array, y: Array) -> Array | None:
    """Give the place of each label among the classes that scikit-learn found; None where that is not plain."""
    codes = np.searchsorted(classes, y)
    is_plain = len(classes) <= MOST_CLASSES and bool((codes < len(classes)).all()) and bool((classes[codes] == y).all())
    return codes.astype(np.uint8) if is_plain else None


def _limits(first: Any) -> Array:
    """Give the numbers that keep a tree from growing, as scikit-learn reads them."""
    least, most = int(first.min_samples_leaf), first.max_depth
    tried = first.estimators_[0].max_features_
    split, deepest = max(first.min_samples_split, 2 * least), np.iinfo(np.int32).max if most is None else most
    return np.array([tried, least, split, deepest], np.int64)


@lru_cache(maxsize=1)
def _same_value() -> np.float32:
    """Give how far apart two values may be that count as one: it was meant to be 1e-7, and 0 in some versions."""
    from sklearn.tree import DecisionTreeClassifier

    stump = DecisionTreeClassifier(random_state=0).fit([[0.0], [5e-8]], [0, 1])
    return np.float32(0.0 if stump.tree_.node_count > 1 else 1e-7)


def _is_same(first: Any, nodes: Array, chances: Array) -> bool:
    """Whether scikit-learn's first tree is the one grown here, to the last bit."""
    tree = first.estimators_[0].tree_
    column, threshold, left, right = nodes
    inner = tree.children_left >= 0
    return (
        tree.node_count == len(column)
        and np.array_equal(tree.children_left, left)
        and np.array_equal(tree.children_right, right)
        and np.array_equal(tree.feature[inner], column[inner])
        and np.array_equal(tree.threshold[inner], threshold[inner])
        and np.array_equal(tree.value[:, 0, :], chances)
    )
