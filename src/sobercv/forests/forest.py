"""Random forests, grown faster: the predictions of scikit-learn's forest, bit for bit, without fitting it.

`Forests.grown` takes an unfitted `RandomForestClassifier`, the training rows and the rows to predict. It returns the
predictions for those rows, or None where scikit-learn must fit the forest: settings that `tree_kernels` does not grow,
rows with gaps, sparse rows, processors on which compilers round differently. scikit-learn grows two trees of every
forest as well: the first, from the very objects that it would be given, so that it checks and warns as usual, and one
more, drawn at random for each forest. Unless both are equal to the last bit, it grows them all. Inputs are never
changed; numpy's global generator moves on as scikit-learn would have moved it.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array, check_random_state

from .. import seeds
from ..containers import Array

#: Parameters that a forest may have values of its own for; all others must have their defaults.
FREE = {
    "bootstrap", "max_depth", "max_features", "min_impurity_decrease", "min_samples_leaf", "min_samples_split",
    "n_estimators", "n_jobs", "random_state",
}  # fmt: skip
#: Ranks have 16 bits, classes 8; sorted columns take 8 bytes a cell.
MOST_ROWS, MOST_CLASSES, MOST_CELLS = 1 << 16, 256, 1 << 24
#: Compilers of other processors join a product and a sum into one instruction, which rounds once instead of twice.
MACHINES = ("x86_64", "amd64")
#: Seconds of compiling, once per installation.
COMPILING = 8.0
#: scikit-learn's seconds for a tree, and for each sample and column tried; measured roughly, and only to choose by.
TREE, CELL = 9e-4, 4e-7
#: Seconds to sort a cell of a table: a few trees of a wide one are not worth it.
SORT = 1.5e-7
#: Times faster than scikit-learn's, at the least of what was measured; only to tell how long a search may take.
FASTER = 4.0
#: A call into compiled loops lasts about so long, so that Ctrl-C is heard.
CALL_SECONDS = 0.1
#: Cells that are sorted at a time, so that what is written down on the way takes little memory.
BLOCK = 1 << 18
#: Resamples of a forest are kept for the next one up to this size in total.
MOST_COUNTS = 1 << 24


def faster_seconds(seconds: float) -> float:
    """Return what remains of the seconds that scikit-learn would take where a search grows forests; rather too much."""
    return min(seconds, COMPILING + seconds / FASTER)


@dataclass(frozen=True, eq=False)
class GrownForest:
    """What a forest says of the rows that it was grown for, whichever rows it is asked about."""

    classes_: Array  # [K]
    probabilities: Array  # [M, K]

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class."""
        return self.probabilities

    def predict(self, X: Any) -> Array:
        """Return the most probable class, the first of equals."""
        return self.classes_.take(np.argmax(self.probabilities, axis=1), axis=0)


class SortedColumns(NamedTuple):
    """Training rows, each column sorted once."""

    rows: Array  #: float32 [N, P]
    ranks: Array  #: uint16 [P, N]: the place of each sample's value among the different ones of its column
    values: Array  #: float32 [P, N]: those, ascending
    n_ranks: Array  #: int64 [P]: their number
    order: Array  #: uint16 [P, N]: samples by value

    @classmethod
    def of(cls, rows: Array) -> SortedColumns:
        """Sort every column."""
        shape, wide = rows.T.shape, max(1, BLOCK // len(rows))
        ranks, values, n_ranks = np.empty(shape, np.uint16), np.zeros(shape, np.float32), np.empty(shape[0], np.int64)
        orders = np.empty(shape, np.uint16)
        for start in range(0, shape[0], wide):
            part = slice(start, start + wide)
            columns = np.ascontiguousarray(rows.T[part])
            order = np.argsort(columns, axis=1)
            ascending = np.take_along_axis(columns, order, axis=1)
            rank = np.zeros(columns.shape, np.int64)
            np.cumsum(ascending[:, 1:] != ascending[:, :-1], axis=1, out=rank[:, 1:])
            np.put_along_axis(ranks[part], order, rank.astype(np.uint16), axis=1)
            np.put_along_axis(values[part], rank, ascending, axis=1)
            orders[part], n_ranks[part] = order, rank[:, -1] + 1
        return cls(rows, ranks, values, n_ranks, orders)


def resample(generator: Any, seed: int, n_rows: int, bootstrap: bool) -> tuple[Array, int]:
    """Return how often a tree sees each sample, and the state that its generator starts with, from its seed."""
    generator.seed(seed)
    state = generator.randint(0, np.iinfo(np.int32).max)
    if not bootstrap:
        return np.ones(n_rows, np.uint8), state
    generator.seed(seed)
    drawn = np.bincount(generator.randint(0, n_rows, n_rows), minlength=n_rows)
    return np.minimum(drawn, 255).astype(np.uint8), state  # of 65,536 samples none comes up 255 times


@dataclass(eq=False)
class Forests:
    """Forests of one split, one after the other; what several of them need is made once."""

    _sorted: SortedColumns | None = None
    _resample: Any = None  # `resample`, with a memory

    def grown(self, model: Any, X: Any, y: Any, rows: Callable[[], Any]) -> GrownForest | None:
        """Return a forest that answers for the rows that `rows` returns; None where scikit-learn must fit the model.

        The method `plain_forest(X)` of its class, if there is one, gives the `RandomForestClassifier` that it is on X.
        """
        kind = type(model)
        try:
            if "plain_forest" in vars(kind):  # its own: a subclass may fit in another way
                plain = model.plain_forest(X)
            # By name, so that searches without forests do not wait for the import of forests.
            elif kind.__name__ == "RandomForestClassifier" and kind.__module__.startswith("sklearn.ensemble."):
                plain = model
            else:
                return None
            n_rows, n_columns = np.shape(X)
            if n_rows > MOST_ROWS or n_rows * n_columns > MOST_CELLS or np.ndim(y) != 1 or not _is_known(plain):
                return None
            return self._grown(plain, X, y, rows())
        except TimeoutError:  # a clock of the user's, which is not to be stopped here
            raise
        except Exception:
            return None  # scikit-learn's own message is the better one

    def _grown(self, plain: Any, X: Any, y: Any, rows: Any) -> GrownForest | None:
        from . import tree_kernels

        # Without a seed every forest is another one; trees are compared for some seed.
        seed = 0 if plain.random_state is None else plain.random_state
        first = clone(plain).set_params(n_estimators=1, random_state=seed).fit(X, y)
        said, classes = first.predict_proba(rows), first.classes_
        # Copies: what is kept for the next forest must not be written into.
        options = {"dtype": np.float32, "order": "C", "copy": True, "ensure_all_finite": False}
        train, new = check_array(X, **options), check_array(rows, **options)
        if not (np.isfinite(train).all() and np.isfinite(new).all()):  # scikit-learn may be told to look away
            return None
        n_trees, tried = int(plain.n_estimators), first.estimators_[0].max_features_
        if n_trees * (TREE + CELL * len(train) * tried) < 2 * SORT * train.size:
            return None
        codes = np.searchsorted(classes, y).astype(np.uint8)
        if len(classes) > MOST_CLASSES or not np.array_equal(classes.take(codes, mode="clip"), np.asarray(y)):
            return None
        if self._sorted is None or not np.array_equal(self._sorted.rows, train):
            self._sorted = SortedColumns.of(train)
        columns = self._sorted
        if self._resample is None:
            self._resample = lru_cache(MOST_COUNTS // len(train))(partial(resample, seeds.old_generator(0)))
        leaf = int(plain.min_samples_leaf)
        deepest = np.iinfo(np.int32).max if plain.max_depth is None else plain.max_depth
        limits = np.array([tried, leaf, max(plain.min_samples_split, 2 * leaf), deepest], np.int64)
        nodes, chances = np.empty((4, 2 * len(train))), np.empty((2 * len(train), len(classes)))
        generator = seeds.old_generator(seed)
        tree_seeds = generator.randint(np.iinfo(np.int32).max, size=n_trees)

        def vote(tree_seeds: Array, votes: Array) -> int:
            drawn = [self._resample(each, len(train), plain.bootstrap) for each in tree_seeds.tolist()]
            counts, states = map(np.array, zip(*drawn, strict=True))
            return tree_kernels.vote(
                columns, _same_value(), codes, counts, states, limits, float(plain.min_impurity_decrease), new, votes,
                nodes, chances,
            )  # fmt: skip

        def is_same(theirs: Any, said: Array, index: int) -> bool:
            """Whether the only tree of scikit-learn's forest is the one grown here, to the last bit."""
            votes, tree = np.zeros_like(said), theirs.estimators_[0].tree_
            n = vote(tree_seeds[index : index + 1], votes)
            expected = (tree.feature, tree.threshold, tree.children_left, tree.children_right)
            grown_as = np.array_equal(nodes[:, :n], expected) and np.array_equal(chances[:n], tree.value[:, 0])
            return grown_as and np.array_equal(votes, said)

        if not is_same(first, said, 0):
            return None
        if n_trees > 1:
            n_nodes = first.estimators_[0].tree_.node_count
            index = int(seeds.generator(int(seed), "compared tree", n_nodes).integers(1, n_trees))
            generator.seed(seed)
            generator.randint(np.iinfo(np.int32).max, size=index)  # the seeds of the trees before it
            another = clone(plain).set_params(n_estimators=1, random_state=generator).fit(train, codes)
            if not is_same(another, another.predict_proba(new), index):
                return None
        votes, start, step = said.copy(), 1, 1
        if plain.random_state is None:  # as many numbers of the global generator as scikit-learn's forest takes
            tree_seeds = check_random_state(None).randint(np.iinfo(np.int32).max, size=n_trees)
            votes, start = np.zeros_like(said), 0
        while start < n_trees:
            begun = perf_counter()
            vote(tree_seeds[start : start + step], votes)
            start += step
            if perf_counter() - begun < CALL_SECONDS:
                step *= 2
        return GrownForest(classes, votes / n_trees)


def _is_known(plain: Any) -> bool:
    """Whether a forest has settings that the compiled loops know."""
    params, usual = plain.get_params(deep=False), type(plain)().get_params(deep=False)
    whole = ("n_estimators", "min_samples_leaf", "min_samples_split", "max_depth", "random_state")
    numbers = [params[name] for name in whole if params[name] is not None]
    return (
        platform.machine().lower() in MACHINES
        and usual["criterion"] == "gini"
        and all(value is usual[name] or value == usual[name] for name, value in params.items() if name not in FREE)
        and all(isinstance(value, (int, np.signedinteger)) and not isinstance(value, bool) for value in numbers)
        and params["n_estimators"] >= 1
        and params["n_jobs"] in (None, 1)
    )


@lru_cache(maxsize=1)
def _same_value() -> np.float32:
    """Return how far apart two values may be that count as one: it was meant to be 1e-7, and 0 in some versions."""
    from sklearn.tree import DecisionTreeClassifier

    stump = DecisionTreeClassifier(random_state=0).fit([[0.0], [5e-8]], [0, 1])
    return np.float32(0.0 if stump.tree_.node_count > 1 else 1e-7)
