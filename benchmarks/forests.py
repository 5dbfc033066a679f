"""Random forests of scikit-learn, grown by compiled loops: milliseconds a tree, from rows to probabilities.

Takes nothing, gives both times side by side for small, wide, discrete and large tables, and whether every probability
has the same bits. Ours includes sorting the table, drawing resamples and the tree of scikit-learn that it is compared
with; the next forest on the same rows shares the first two.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV

import sobercv
from sobercv.forests import forest as forests

from .report import Table, race, ratio
from .sharing import wide_table

TREES, QUICK_TREES = 300, 30


def _tables(quick: bool) -> dict[str, tuple[Any, Any]]:
    wide = wide_table()
    found = {
        "500 x 5 (as selected)": (wide[0][:, :5], wide[1]),
        "569 x 30 (breast cancer)": load_breast_cancer(return_X_y=True),
        "500 x 500": wide,
        "1,797 x 64, 10 classes (digits)": load_digits(return_X_y=True),
        "5,000 x 20": make_classification(5_000, 20, random_state=0),
    }
    return found if quick else found | {"50,000 x 20": make_classification(50_000, 20, random_state=0)}


def run(quick: bool = False) -> list[Table]:
    """Grow one forest of every table both ways."""
    rows = []
    for name, (X, y) in _tables(quick).items():
        trees = QUICK_TREES if quick or len(y) > 10_000 else TREES
        train = np.arange(len(y)) % 10 != 0
        for leaf in (1, 5):
            taken, same = _both(RandomForestClassifier(trees, min_samples_leaf=leaf, random_state=0), X, y, train)
            faster = taken["scikit-learn"] / taken["sober"]
            told = [f"{1e3 * taken[way] / trees:.3g}" for way in ("scikit-learn", "sober")]
            rows.append([name, f"{trees}", f"{leaf}", *told, ratio(faster), "yes" if same else "NO"])
    heads = ["table", "trees", "least leaf", "scikit-learn, ms a tree", "sober, ms a tree", "times faster", "same bits"]
    return [[heads, *rows], _search(quick)]


def _search(quick: bool) -> Table:
    """Tune a forest: GridSearchCV, the same fits by BBCSearchCV, and its race."""
    X, y = make_classification(600, 30, flip_y=0.2, random_state=0)
    forest = RandomForestClassifier(QUICK_TREES if quick else TREES, random_state=0)
    grid = {"min_samples_leaf": [1, 3, 5, 10], "max_features": [2, 5, 10]}
    options: dict[str, Any] = {"scoring": "roc_auc", "cv": 5, "n_jobs": 2, "refit": False}
    searches = {
        "GridSearchCV": GridSearchCV(forest, grid, **options),
        "BBCSearchCV(drop=None)": sobercv.BBCSearchCV(forest, grid, drop=None, aggregate="fold", **options),
        "BBCSearchCV()": sobercv.BBCSearchCV(forest, grid, **options),
    }
    taken = race({name: partial(s.fit, X, y) for name, s in searches.items()}, 2, 60.0)
    base = taken["GridSearchCV"]
    rows = [[name, f"{seconds:.2f}", ratio(base / seconds)] for name, seconds in taken.items()]
    theirs, ours = (search.cv_results_["mean_test_score"] for search in list(searches.values())[:2])
    assert np.abs(theirs - ours).max() < 1e-12  # an area is summed in another order
    return [["search", "seconds", "times faster"], *rows]


def _both(model: RandomForestClassifier, X: Any, y: Any, train: Any) -> tuple[dict[str, float], bool]:
    """Give seconds of both ways, and whether they agree."""
    found: dict[str, Any] = {}

    def theirs() -> None:
        found["scikit-learn"] = model.fit(X[train], y[train]).predict_proba(X[~train])

    def ours() -> None:
        grown = forests.Forests().grown(model, X[train], y[train], lambda: X[~train])
        assert grown is not None
        found["sober"] = grown.predict_proba(X[~train])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        small = clone(model).set_params(n_estimators=10)
        forests.Forests().grown(small, X[train], y[train], lambda: X[~train])  # loads the loops
        taken = race({"scikit-learn": theirs, "sober": ours}, 3, 20.0)
    return taken, bool(np.array_equal(found["scikit-learn"], found["sober"]))
