"""Problem: the data of one search, kept as the user gave them, and safe ways to take rows of them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags, indexable

from ...containers import Array, check_order, codes_of, weights_of
from ...errors import SoberError
from ...targets import Target, TaskName, has_several_outputs, is_survival


@dataclass(eq=False)
class Problem:
    """The data of a search. Use `Problem.build`; the constructor trusts what it is given."""

    X: Any  # as given: numpy, pandas, polars, scipy sparse or a list; sparse formats without rows become CSR
    y: Any  # as given, or None; estimators see it unchanged
    target: Target  # `y`, read: the task, the encoded values, the classes
    groups: Any = None  # as given, for splitters
    group_codes: Array | None = None  # numbered
    sample_weight: Array | None = None  # travels with the predictions; also goes to `fit`, as `weight_name`
    fit_params: Mapping[str, Any] = field(default_factory=dict)  # more arguments of `fit`
    weight_name: str | None = "sample_weight"  # None where `fit` receives no weights beside `fit_params`

    def __post_init__(self) -> None:
        self.n_samples, self.task, self.classes = len(self.target.values), self.target.task, self.target.classes
        shape: tuple[int, ...] = getattr(self.X, "shape", ())
        self.is_square = len(shape) == 2 and shape[0] == shape[1]  # only then X may be a matrix between samples

    @classmethod
    def build(
        cls,
        X: Any,
        y: Any,
        *,
        task: TaskName,
        pos_label: Any = None,
        groups: Any = None,
        sample_weight: Any = None,
        fit_params: Mapping[str, Any] | None = None,
        weight_name: str | None = "sample_weight",
    ) -> Problem:
        """Check and wrap the data of a search; `pos_label` names the positive one of two classes."""
        beside = {"groups": groups, "sample_weight": sample_weight, **(fit_params or {})}
        check_order(X, "X", {"y": y, **beside})
        check_order(y, "y", beside)
        try:
            X = indexable(X)[0]
            n = int(X.shape[0]) if hasattr(X, "shape") else len(X)
        except TypeError:
            raise SoberError(
                "E112", f"X must have one row per sample; got {type(X).__name__}. Pass an array or a data frame."
            ) from None
        # Several outputs per sample, or none, are for models and their scorers alone to read.
        of_models = pos_label is None and task != "survival" and (y is None or has_several_outputs(y))
        target = Target.of_models(y, task, n) if of_models else Target.read(y, task, pos_label=pos_label)
        classes = target.classes
        if classes is not None and classes.dtype.kind == "f" and not np.array_equal(classes, np.round(classes)):
            raise SoberError(
                "E112",
                f"Unknown label type: `y` is continuous ({len(classes)} distinct numbers), but the estimator is a "
                "classifier; use a regressor, or turn the numbers into classes.",
            )
        if n != len(target.values):
            raise SoberError("E101", f"X has {n} samples but y has {len(target.values)}; both need one row per sample.")
        codes = None if groups is None else codes_of(groups, n, "groups")
        weights, params = weights_of(sample_weight, n), dict(fit_params or {})
        return cls(X, indexable(y)[0], target, groups, codes, weights, params, weight_name)

    def fit_arguments(self, rows: Array, step: str = "") -> dict[str, Any]:
        """Cut `sample_weight` and `fit_params` to the rows that a fit sees: all, or those of one step of a pipeline."""
        given, start = dict(self.fit_params), f"{step}__" if step else ""
        if self.sample_weight is not None and self.weight_name is not None:
            given.setdefault(self.weight_name, self.sample_weight)
        meant = {name.removeprefix(start): value for name, value in given.items() if name.startswith(start)}
        return self.cut(meant, rows)

    def cut(self, given: Mapping[str, Any], rows: Array) -> dict[str, Any]:
        """Cut what has one entry per sample to some rows; all else stays as it is."""
        return {name: take(v, rows) if _is_column(v, self.n_samples) else v for name, v in given.items()}

    def is_pairwise_for(self, estimator: Any) -> bool:
        """Whether X is a square matrix between samples in the eyes of this estimator."""
        if not self.is_square:  # asking for tags is slow, so ask only where it can matter
            return False
        try:
            return bool(get_tags(estimator).input_tags.pairwise)
        except Exception:  # not derived from BaseEstimator, or with steps that no fit would accept
            return False


def weight_name_for(estimator: Any) -> str:
    """Return the argument of `fit` that takes the weights of samples: of a pipeline, that of its last step."""
    # With metadata routing a pipeline passes on by itself what its steps requested.
    if isinstance(estimator, Pipeline) and not get_config()["enable_metadata_routing"]:
        return f"{estimator.steps[-1][0]}__sample_weight"
    return "sample_weight"


def infer_task(estimator: Any, y: Any) -> TaskName | None:
    """Tell what kind of problem it is: a structured `y` is survival, otherwise the estimator says it, or nothing."""
    if is_survival(y):
        return "survival"
    with suppress(AttributeError):  # an estimator without tags
        if is_classifier(estimator):
            return "classification"
        if is_regressor(estimator):
            return "regression"
    return None


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
    if isinstance(X, (list, tuple)):
        picked = [X[i] for i in rows.tolist()]
        return picked if columns is None else [[row[j] for j in columns.tolist()] for row in picked]
    return X[rows] if columns is None else X[rows][:, columns]


def _is_column(value: Any, n: int) -> bool:
    """Whether a value has one entry per sample (a text or a dict never has)."""
    if isinstance(value, (str, bytes, Mapping)):
        return False
    shape = getattr(value, "shape", None)
    return shape[:1] == (n,) if shape is not None else hasattr(value, "__len__") and len(value) == n
