"""Problem: the data of one search, kept as the user gave them, and safe ways to take rows of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import get_tags

from ...containers import Array, codes_of, weights_of
from ...errors import SoberError
from ...targets import Target, TaskName, has_several_outputs, is_survival


@dataclass(frozen=True, eq=False)
class Problem:
    """The data of a search. Use `Problem.build`; the constructor trusts what it is given.

    Attributes
    ----------
    X : array-like [N, ...]
        As given: numpy, pandas, polars, scipy sparse or a list. (Sparse formats without rows become CSR.)
    y : array-like [N], or None
        As given; estimators see it unchanged.
    target : Target
        `y`, read: the task, the encoded values, the classes.
    groups : array-like [N] or None
        As given, for splitters.
    group_codes : int array [N] or None
        The groups, numbered.
    sample_weight : float array [N] or None
        Travels with the predictions; also goes to `fit` where `weighted_fit` says so.
    fit_params : dict
        More arguments for `fit`. Those with one entry per sample are cut to the training rows.
    weighted_fit : bool
        Whether `fit` receives `sample_weight`.
    """

    X: Any
    y: Any
    target: Target
    groups: Any = None
    group_codes: Array | None = None
    sample_weight: Array | None = None
    fit_params: Mapping[str, Any] = field(default_factory=dict)
    weighted_fit: bool = True

    @property
    def n_samples(self) -> int:
        """Number of samples, N."""
        return len(self.target)

    @property
    def task(self) -> TaskName:
        """What is predicted."""
        return self.target.task

    @property
    def classes(self) -> Array | None:
        """The labels of a classification."""
        return self.target.classes

    @classmethod
    def build(
        cls,
        X: Any,
        y: Any,
        *,
        estimator: Any = None,
        task: TaskName | None = None,
        groups: Any = None,
        sample_weight: Any = None,
        fit_params: Mapping[str, Any] | None = None,
        weighted_fit: bool = True,
    ) -> Problem:
        """Check and wrap the data of a search; the estimator tells the task where `task` is not given.

        `y` may have several outputs per sample, or be None.
        """
        task = infer_task(estimator, y) if task is None else task
        X = _with_rows(X)
        n = _n_rows(X)
        # Several outputs per sample, or none, are for models and their scorers alone to read.
        of_models = task != "survival" and (y is None or has_several_outputs(y))
        target = Target.of_models(y, task, n) if of_models else Target.read(y, task)
        classes = target.classes
        if classes is not None and classes.dtype.kind == "f" and not np.array_equal(classes, np.round(classes)):
            raise SoberError(
                "E112",
                f"Unknown label type: `y` is continuous ({len(classes)} distinct numbers), but the estimator is a "
                "classifier; use a regressor, or turn the numbers into classes.",
            )
        y = None if y is None else _with_rows(y)
        if n != len(target):
            raise SoberError("E101", f"X has {n} samples but y has {len(target)}; both need one row per sample.")
        return cls(
            X=X,
            y=y,
            target=target,
            groups=groups,
            group_codes=None if groups is None else codes_of(groups, n, "groups"),
            sample_weight=weights_of(sample_weight, n),
            fit_params=dict(fit_params or {}),
            weighted_fit=weighted_fit,
        )

    def with_positive(self, pos_label: Any) -> Problem:
        """Name the positive one of two classes; None leaves it to the labels."""
        if pos_label is None:
            return self
        return replace(self, target=Target.read(self.y, self.task, pos_label=pos_label))

    def fit_arguments(self, rows: Array) -> dict[str, Any]:
        """Cut `sample_weight` and `fit_params` to the rows that a fit sees."""
        given = dict(self.fit_params)
        if self.sample_weight is not None and self.weighted_fit:
            given.setdefault("sample_weight", self.sample_weight)
        return self.cut(given, rows)

    def cut(self, given: Mapping[str, Any], rows: Array) -> dict[str, Any]:
        """Cut what has one entry per sample to some rows; all else stays as it is."""
        return {name: take(v, rows) if _is_column(v, self.n_samples) else v for name, v in given.items()}

    @property
    def has_fit_arguments(self) -> bool:
        """Whether `fit` receives anything beyond X and y."""
        return bool(self.fit_params) or (self.sample_weight is not None and self.weighted_fit)

    @property
    def is_square(self) -> bool:
        """Whether X has as many columns as rows: only then it may be a matrix between samples."""
        shape: tuple[int, ...] = getattr(self.X, "shape", ())
        return len(shape) == 2 and shape[0] == shape[1]

    def is_pairwise_for(self, estimator: Any) -> bool:
        """Whether X is a square matrix between samples in the eyes of this estimator."""
        if not self.is_square:  # asking for tags is slow, so ask only where it can matter
            return False
        try:
            return bool(get_tags(estimator).input_tags.pairwise)
        except Exception:  # not derived from BaseEstimator, or with steps that no fit would accept
            return False


def infer_task(estimator: Any, y: Any) -> TaskName:
    """Tell what kind of problem it is: a structured `y` is survival, otherwise the estimator says it."""
    if is_survival(y):
        return "survival"
    try:
        if is_classifier(estimator):
            return "classification"
        if is_regressor(estimator):
            return "regression"
    except AttributeError:  # an estimator without tags
        pass
    raise SoberError(
        "E112",
        f"{type(estimator).__name__} is neither a classifier nor a regressor, and `y` is no survival target; use an "
        "estimator that derives from ClassifierMixin or RegressorMixin, or pass scoring=.",
    )


def take(X: Any, rows: Array, columns: Array | None = None) -> Any:
    """Take rows of any container, in the order given; always a fresh object that may be written to.

    Of matrices between samples the columns are taken, too. None stays None.
    """
    if X is None:
        return None
    if hasattr(X, "iloc"):  # pandas
        return X.iloc[rows] if columns is None else X.iloc[rows, columns]
    if type(X).__module__.partition(".")[0] == "pyarrow":
        return (X if columns is None else X.select(columns.tolist())).take(rows)
    if type(X).__module__.partition(".")[0] == "polars":
        return X[rows] if columns is None else X[rows][:, columns.tolist()]
    if isinstance(X, (list, tuple)):
        picked = [X[i] for i in rows.tolist()]
        return picked if columns is None else [[row[j] for j in columns.tolist()] for row in picked]
    return X[rows] if columns is None else X[rows][:, columns]


def _with_rows(X: Any) -> Any:
    """Return a container whose rows can be taken: X itself wherever that is possible."""
    if sparse.issparse(X):
        return X if X.format == "csr" else X.tocsr()
    if hasattr(X, "iloc") or hasattr(X, "__getitem__"):
        return X
    array = np.asarray(X)
    return array if array.ndim else X


def _n_rows(X: Any) -> int:
    shape = getattr(X, "shape", None)
    if shape is not None and len(shape) > 0:
        return int(shape[0])
    try:
        return len(X)
    except TypeError:
        raise SoberError(
            "E112",
            f"X must be a table with one row per sample; got {type(X).__name__}, so pass an array or a data frame.",
        ) from None


def _is_column(value: Any, n: int) -> bool:
    """Whether a value has one entry per sample (a text or a dict never has)."""
    if isinstance(value, (str, bytes, Mapping)):
        return False
    shape = getattr(value, "shape", None)
    if shape is not None:
        return len(shape) > 0 and shape[0] == n
    return hasattr(value, "__len__") and len(value) == n
