"""presets.get: from a name, a task and a table to a pipeline and its search space, listed once; nothing is trained."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.validation import has_fit_parameter

from .. import seeds
from ..containers import whole_number
from ..errors import SoberError, needs
from ..targets import TABLE_TASKS, Target, task_name
from ..training import Configuration, expand
from .levels import LEVELS, check_name
from .spaces import Grid, search_space

NAMES, TASKS = tuple(LEVELS), TABLE_TASKS
#: Text columns with at least so many different values are cut into pieces of text instead of one column per value.
MANY_CATEGORIES = 40


@dataclass(frozen=True, eq=False)
class Preset:
    """A pipeline and the space in which to tune it.

    Attributes
    ----------
    name : str
    estimator : Pipeline
        Steps "clean", "select" and "model".
    param_grid : list of dicts
        For `BBCSearchCV`, or any search of scikit-learn.
    configurations : list of Configuration
        The same space, listed; `BBCSearchCV` takes it in place of `param_grid` and does not list it again.
    description : str
        One sentence for people.
    """

    name: str
    estimator: Pipeline
    param_grid: list[Grid]
    configurations: list[Configuration]
    description: str

    @property
    def n_configurations(self) -> int:
        """Number of configurations."""
        return len(self.configurations)

    def drawn(self, n: int, seed: int) -> Preset:
        """Draw so many configurations at random; where there are no more than that, keep all."""
        if n >= self.n_configurations:
            return self
        chosen = expand(self.param_grid, n, seeds.root(seed))
        grids = [{name: [value] for name, value in c.params.items()} for c in chosen]
        text = f"{self.name}: {n} of {self.n_configurations} configurations, drawn at random."
        return replace(self, param_grid=grids, configurations=chosen, description=text)


def get(
    name: str,
    task: str,
    X: Any,
    y: Any,
    *,
    seed: int = 0,
    n_trees: int | None = None,
    probabilities: bool = False,
    weighted: bool = False,
) -> Preset:
    """Make the pipeline and the search space of a preset for a table.

    Parameters
    ----------
    name : {"quick", "standard", "thorough", "paper"}
    task : {"binary", "multiclass", "regression", "survival"}
    X : numpy array, pandas or polars frame [N, P]
        Any types of columns, with or without gaps.
    y : array-like [N]
    seed : int, default=0
        For everything random in models and encoders.
    n_trees : int, optional
        Trees in a forest, instead of the preset's number (the paper's is 1000).
    probabilities : bool, default=False
        Whether every model must give probabilities, as log loss, the Brier score and the AUC of several classes want:
        then SVMs are calibrated, which takes four fits instead of one. Of survival, Brier scores want them: then SVMs
        are left out, and forests keep whole survival curves.
    weighted : bool, default=False
        Whether every model must take `sample_weight`: then nearest neighbours and survival SVMs, which do not, are left
        out.

    Returns
    -------
    Preset

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sobercv import presets
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> presets.get("paper", "binary", X, y).n_configurations
    610
    """
    check_name(name)
    check_name(task, TASKS, "task")
    level = LEVELS[name]
    n_trees = level.trees if n_trees is None else whole_number("n_trees", n_trees)
    rows = check_table(X)
    if y is None:
        raise SoberError("E112", "A preset needs y: pass the true values.")
    target = Target.read(y, task_name(task))
    n, k = len(target.values), target.n_classes
    if (task == "binary" and k != 2) or (task == "multiclass" and k < 2):
        raise SoberError("E112", f"The task {task!r} does not fit a target with {k} classes; choose another task.")
    if rows != n:
        raise SoberError("E101", f"X has {rows} samples but y has {n}; both need one row per sample.")
    model_seed = seeds.integer(seeds.root(seed), "presets")
    cleaner = make_cleaner(X, model_seed)
    fresh = clone(cleaner)
    try:
        cleaned = fresh.fit_transform(X)  # the whole table, only to learn the scale of penalties from it
    except ValueError as error:
        if "variance threshold" in str(error):
            raise SoberError("E818", "Every column of X is constant or empty, so nothing can be learned.") from None
        if "infinity" in str(error):
            numbers = fresh["types"].transform(X) if "types" in fresh.named_steps else X
            bad = int(np.isinf(np.asarray(numbers, float)).any(axis=0).argmax())
            name = list(getattr(numbers, "columns", range(bad + 1)))[bad]
            raise SoberError(
                "E102", f"Column {name!r} holds infinite values. Replace them with numbers, or with NaN for missing."
            ) from None
        raise
    default, grids = search_space(
        level, task, cleaned, y, seed=model_seed, n_trees=n_trees, probabilities=probabilities
    )
    if weighted:  # around a regressor, what it is around says whether it takes weights
        models = [getattr(grid["model"][0], "regressor", grid["model"][0]) for grid in grids]
        grids = [grid for grid, model in zip(grids, models, strict=True) if has_fit_parameter(model, "sample_weight")]
    estimator = Pipeline([("clean", cleaner), ("select", "passthrough"), ("model", clone(default))])
    listed = expand(grids)
    text = f"{name}: {len(listed)} configurations for {task} targets, {level.summary}."
    return Preset(name, estimator, grids, listed, text)


def check_table(X: Any) -> int:
    """Return the number of rows; refuse what no preset can use: sparse, no rows or columns, names that are no names."""
    if sparse.issparse(X):
        raise SoberError("E123", "Presets are for dense tables; got a sparse matrix. Write X.toarray().")
    shape = getattr(X, "shape", None) or np.asarray(X).shape
    if len(shape) != 2 or 0 in shape:
        raise SoberError("E101", f"X must have at least one row and one column; got shape {tuple(shape)}.")
    names = list(getattr(X, "columns", ()))
    twice = next((name for name, n in Counter(names).items() if n > 1), None)
    if twice is not None or len({isinstance(name, str) for name in names}) > 1:
        got = "text and numbers" if twice is None else f"{twice!r} more than once"
        raise SoberError("E101", f"The column names of X must be distinct and all text; got {got}. Rename them.")
    return int(shape[0])


def make_cleaner(X: Any, seed: int = 0) -> Pipeline:
    """Make the cleaning step that suits a table.

    Mixed tables go through skrub: text becomes categories, numbers or dates, categories become 0/1 columns (many
    different values: 10 columns that summarise the text), dates become year, month, day and seconds. Then, as for plain
    numbers: fill gaps by the median and mark them, scale, leave constant columns out.
    """
    dtypes = list(X.dtypes) if hasattr(X, "dtypes") else [np.asarray(X).dtype]
    steps: list[tuple[str, Any]] = [
        # Empty columns become constant ones: the scaler would warn about them, and a fold can make one any time.
        ("fill", SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)),
        ("scale", StandardScaler()),
        # Scaled columns have variance 1, so that this is only rounding noise.
        ("vary", VarianceThreshold(1e-12)),
    ]
    plain = [
        # Only polars' types tell it themselves; those that pandas adds to numpy's are left to skrub.
        dtype.is_numeric() if hasattr(dtype, "is_numeric") else isinstance(dtype, np.dtype) and dtype.kind in "biuf"
        for dtype in dtypes
    ]
    if all(plain):
        return Pipeline(steps)
    with needs("Tables with text, dates or categories need skrub", "'sobercv[cli]'"):
        from skrub import StringEncoder, TableVectorizer  # type: ignore[import-untyped,import-not-found,unused-ignore]
    vectorizer = TableVectorizer(
        cardinality_threshold=MANY_CATEGORIES,
        # Without drop=: it would warn whenever a fold meets a category that its training rows lack.
        low_cardinality=OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype="float32"),
        high_cardinality=StringEncoder(n_components=10, random_state=seed),
        n_jobs=1,
    )
    return Pipeline([("types", vectorizer), *steps])
