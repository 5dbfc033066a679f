"""Predictions: the table of out-of-sample predictions that carries data from training to inference.

Takes arrays (from training or from outside), gives one checked, immutable table; never fits and never scores.
Axes, always in this order: N samples, C configurations, R repeats, K classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from .containers import (
    Array,
    as_array,
    as_numbers,
    as_survival,
    blocks,
    codes_of,
    encode_classes,
    encode_labels,
    in_range,
    is_finite,
)
from .errors import SoberError

Task = Literal["classification", "regression", "survival"]
RESPONSES = ("predict", "predict_proba", "decision_function")


def survival_at(time: float) -> str:
    """Name of the response that holds the probability to survive beyond a time."""
    return f"survival_at({time:.12g})"


def _is_survival(name: str) -> bool:
    return name.startswith("survival_at(")


@dataclass(frozen=True, eq=False)
class Predictions:
    """Every configuration's out-of-sample predictions, and all that is needed to score them.

    Use `Predictions.build` for arrays from outside; the constructor trusts what it is given.

    Attributes
    ----------
    y : array [N]
        Class indices, numbers, or (event, time) records, by `task`.
    responses : mapping of str to array [N, C, R] or [N, C, R, K]
        By the name of the scikit-learn method that gave them. Labels are class indices. With two classes a
        probability is that of the second class; with more, the last axis holds one for each class.
    task : {"classification", "regression", "survival"}
    seen : bool array [N, R]
        Which samples have predictions. What is not seen is never read.
    fold_of : int array [N, R]
        The fold in which a sample was held out; meaningless where not seen.
    classes : array [K] or None
        The labels, sorted; class index k stands for `classes[k]`.
    groups : int array [N] or None
        Samples of one group are resampled together.
    sample_weight : float array [N] or None
    configurations : int array [C]
        Each configuration's index for life.
    folds_known : bool
        False when no folds were given: then all samples count as one fold.
    n_left_out : int
        Configurations of the input that were left out because they lack predictions that others have.
    n_dropped : int
        Configurations that left a race before its end, dropped or failed, and are not in the table.
    labels_from_probabilities : bool
        True when labels were asked for and probabilities were given, so that the likeliest class is taken.
    """

    y: Array
    responses: Mapping[str, Array]
    task: Task
    seen: Array
    fold_of: Array
    classes: Array | None = None
    groups: Array | None = None
    sample_weight: Array | None = None
    configurations: Array = field(default_factory=lambda: np.empty(0, np.int64))
    folds_known: bool = True
    n_left_out: int = 0
    n_dropped: int = 0
    labels_from_probabilities: bool = False

    def __post_init__(self) -> None:
        if len(self.configurations) != self.n_configurations:
            object.__setattr__(self, "configurations", np.arange(self.n_configurations))

    # ---- what is in the table ------------------------------------------------------------------------------------
    @property
    def n_samples(self) -> int:
        """Number of rows, seen or not."""
        return len(self.y)

    @property
    def n_configurations(self) -> int:
        """Number of configurations in the table."""
        return int(next(iter(self.responses.values())).shape[1])

    @property
    def n_repeats(self) -> int:
        """Number of repeats of the cross-validation."""
        return int(self.seen.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 where the target is not a class."""
        return 0 if self.classes is None else len(self.classes)

    @cached_property
    def rows(self) -> Array:
        """Indices of the samples that have a prediction in any repeat."""
        return np.flatnonzero(self.seen.any(axis=1))

    @property
    def is_complete(self) -> bool:
        """Whether every sample has been predicted in every repeat."""
        return bool(self.seen.all())

    def labels(self) -> Array:
        """Predicted class indices [N, C, R]: as given, else the likeliest class."""
        if "predict" in self.responses:
            return self.responses["predict"]
        probabilities = self.responses["predict_proba"]
        if probabilities.ndim == 4:
            return probabilities.argmax(axis=3).astype(np.int8 if self.n_classes < 128 else np.int32)
        return (probabilities > 0.5).astype(np.int8)

    # ---- parts of the table --------------------------------------------------------------------------------------
    def take_rows(self, rows: Array) -> Predictions:
        """Keep these samples (indices or a mask)."""
        cut = {name: array[rows] for name, array in self.responses.items()}
        return replace(
            self,
            y=self.y[rows],
            responses=cut,
            seen=self.seen[rows],
            fold_of=self.fold_of[rows],
            groups=None if self.groups is None else self.groups[rows],
            sample_weight=None if self.sample_weight is None else self.sample_weight[rows],
        )

    def take_configurations(self, keep: Array) -> Predictions:
        """Keep these configurations (positions or a mask); they keep their index for life."""
        cut = {name: array[:, keep] for name, array in self.responses.items()}
        return replace(self, responses=cut, configurations=self.configurations[keep])

    def take_repeat(self, repeat: int) -> Predictions:
        """Keep one repeat."""
        one = slice(repeat, repeat + 1)
        cut = {name: array[:, :, one] for name, array in self.responses.items()}
        return replace(self, responses=cut, seen=self.seen[:, one], fold_of=self.fold_of[:, one])

    def only_seen(self) -> Predictions:
        """Leave out the samples that no repeat has predicted yet: they are not in the table."""
        return self if len(self.rows) == self.n_samples else self.take_rows(self.rows)

    def __repr__(self) -> str:
        axes = f"{self.n_samples} samples, {self.n_configurations} configurations, {self.n_repeats} repeats"
        return f"Predictions({axes}, {self.task}, {', '.join(self.responses)})"

    # ---- from outside --------------------------------------------------------------------------------------------
    @classmethod
    def build(
        cls,
        y: Any,
        predictions: Any,
        *,
        task: Task,
        responses: Sequence[str] = ("predict",),
        folds: Any = None,
        groups: Any = None,
        seen: Any = None,
        sample_weight: Any = None,
        dtype: Any = None,
    ) -> Predictions:
        """Check and convert arrays from any tool.

        Parameters
        ----------
        y : array-like [N]
            The truth: labels of any type, numbers, or a survival target.
        predictions : array-like [N], [N, C], [N, C, R] or [N, C, R, K], or a dict of those by response
            Out-of-sample predictions; numpy, pandas, polars, or a masked array where predictions are missing.
            With more than two classes [N, C, K] is understood as well.
        task : {"classification", "regression", "survival"}
        responses : sequence of str
            What the metric accepts, best first; decides how a bare array is read.
        folds : array-like [N] or [N, R], optional
        groups : array-like [N], optional
        seen : bool array-like [N] or [N, R], optional
            Which samples have predictions, for all configurations alike.
        sample_weight : array-like [N], optional
        dtype : float32 or float64, optional
            Convert scores to this type; float32 halves the memory.
        """
        target, classes = _target(y, task)
        given = predictions if isinstance(predictions, Mapping) else {"": predictions}
        if not given:
            raise SoberError("E101", "`predictions` is an empty dict. Pass at least one array of predictions.")
        tensors: dict[str, Array] = {}
        present: Array | None = None
        by_class = False
        for name, values in given.items():
            if name and name not in RESPONSES and not (task == "survival" and _is_survival(name)):
                raise SoberError("E116", f"`predictions` has the key {name!r}; allowed are {', '.join(RESPONSES)}.")
            array, here = as_array(values, "predictions")
            array, here = _axes(array, len(target), classes, here)
            present = here if present is None else present if here is None else present & here
            label, tensor, by_class = _read(name, array, here, task, classes, responses)
            tensors[label] = tensor if dtype is None or tensor.dtype.kind != "f" else tensor.astype(dtype, copy=False)
        shapes = {t.shape[:3] for t in tensors.values()}
        if len(shapes) > 1:
            raise SoberError("E101", f"The arrays in `predictions` have different shapes: {sorted(shapes)}.")
        n, n_configurations, n_repeats = shapes.pop()
        if n_configurations == 0 or n_repeats == 0:
            raise SoberError("E101", "`predictions` holds no configuration. Pass at least one column.")

        mask = (
            _by_repeat(seen, n, n_repeats, "seen").astype(bool) if seen is not None else np.ones((n, n_repeats), bool)
        )
        keep = np.ones(n_configurations, bool)
        if present is not None:
            mask &= present.any(axis=1)
            keep = (present | ~mask[:, None, :]).all(axis=(0, 2))
            if not keep.any():
                raise SoberError(
                    "E111",
                    "No configuration has all the predictions that the others have. Keep the samples or the "
                    "configurations that are complete.",
                )
        table = cls(
            y=target,
            responses=tensors,
            task=task,
            seen=mask,
            fold_of=_folds(folds, n, n_repeats),
            classes=classes,
            groups=None if groups is None else codes_of(groups, n, "groups"),
            sample_weight=_weights(sample_weight, n),
            folds_known=folds is not None,
            n_left_out=int(np.sum(~keep)),
            labels_from_probabilities=by_class and responses[0] == "predict",
        )
        table = table if keep.all() else table.take_configurations(np.flatnonzero(keep))
        table._check_values()
        return table

    def _check_values(self) -> None:
        """Refuse NaN, infinities and impossible probabilities among what has been seen."""
        if not self.seen.any():
            raise SoberError("E106", "No sample has a prediction. Pass predictions for at least some samples.")
        for name, tensor in self.responses.items():
            if tensor.dtype.kind != "f":
                continue
            looked_at = tensor if self.is_complete else np.moveaxis(tensor, 2, 1)[self.seen]
            if not is_finite(looked_at):
                bad = sum(int((~np.isfinite(block)).sum()) for block in blocks(looked_at))
                raise SoberError(
                    "E102",
                    f"`predictions` holds {bad} values that are NaN or infinite. Mark what is missing with a masked "
                    "array or `seen=`; leave out configurations that failed.",
                )
            if (name == "predict_proba" or _is_survival(name)) and not in_range(looked_at, 0.0, 1.0):
                low, high = float(looked_at.min()), float(looked_at.max())
                raise SoberError(
                    "E104",
                    f"Probabilities must lie between 0 and 1; got values from {low:.4g} to {high:.4g}. "
                    "Pass probabilities, or choose a metric that takes scores, such as roc_auc.",
                )
            several = name == "predict_proba" and tensor.ndim == 4
            if several and not all(np.allclose(b.sum(axis=-1), 1, atol=1e-3) for b in blocks(looked_at)):
                raise SoberError("E104", "The probabilities of the classes must add up to 1 for each prediction.")


def _target(y: Any, task: Task) -> tuple[Array, Array | None]:
    if task == "survival":
        return as_survival(y), None
    if task == "classification":
        return encode_classes(y)
    values, present = as_array(y, "y")
    values = as_numbers(values.reshape(-1) if values.ndim == 2 and values.shape[1] == 1 else values, "y", "E112")
    if values.ndim != 1:
        raise SoberError("E112", f"`y` must have one number a sample; got shape {values.shape}.")
    if present is not None or not np.isfinite(values).all():
        raise SoberError("E112", "`y` holds missing or infinite values. Leave those samples out.")
    return values.astype(np.float64, copy=False), None


def _axes(array: Array, n: int, classes: Array | None, here: Array | None) -> tuple[Array, Array | None]:
    """Bring [N], [N, C], [N, C, R] and [N, C, K] to [N, C, R(, K)], and the mask of what is present to [N, C, R]."""
    if array.ndim == 0 or array.ndim > 4:
        raise SoberError("E101", f"`predictions` must be [N, C], [N, C, R] or [N, C, R, K]; got {array.ndim} axes.")
    if array.shape[0] != n:
        turned = " It looks transposed: pass predictions.T." if array.ndim == 2 and array.shape[1] == n else ""
        raise SoberError(
            "E101",
            f"`predictions` has {array.shape[0]} rows but `y` has {n}. Both need one row a sample.{turned}",
        )
    k = 0 if classes is None else len(classes)
    if array.ndim == 3 and array.dtype.kind == "f":
        if k > 2 and array.shape[2] == k and np.allclose(array[0].sum(axis=-1), 1, atol=1e-3):
            array, here = array[:, :, None, :], None if here is None else here[:, :, None, :]
        elif k == 2 and array.shape[2] == 2 and np.allclose(array.sum(axis=2), 1, atol=1e-6):
            raise SoberError(
                "E101",
                "`predictions` [N, C, 2] adds up to 1 along the last axis, so it looks like probabilities of two "
                "classes, but the third axis is for repeats. Pass predictions[:, :, 1], or predictions[:, :, None, :].",
            )
    while array.ndim < 3:
        array, here = array[..., None], None if here is None else here[..., None]
    if array.ndim == 4 and array.shape[3] != k:
        raise SoberError(
            "E101",
            f"The last axis of `predictions` must have one entry for each of the {k} classes; got {array.shape[3]}.",
        )
    if here is not None and here.ndim == 4:
        here = np.asarray(here.all(axis=3))
    return array, here


def _read(
    name: str, array: Array, here: Array | None, task: Task, classes: Array | None, responses: Sequence[str]
) -> tuple[str, Array, bool]:
    """Decide which response an array is; give its name, its tensor, and whether it is probabilities."""
    if task != "classification" or classes is None:
        return name or "predict", as_numbers(array, "predictions"), False
    if array.ndim == 4:
        tensor = as_numbers(array, "predictions")
        if name == "decision_function" and len(classes) > 2:
            return name, tensor, False
        return "predict_proba", tensor[..., 1] if len(classes) == 2 else tensor, True
    wants_labels = name == "predict" or (not name and responses[0] == "predict")
    if wants_labels:
        # Masked entries may hold anything, also no label at all: let the first class stand in for what is not read.
        codes = encode_labels(array if here is None else np.where(here, array, classes[0]), classes)
        if codes is not None:
            return "predict", codes, False
        if name == "predict" or array.dtype.kind != "f" or len(classes) != 2 or not in_range(array, 0, 1):
            shown = ", ".join(repr(c) for c in classes[:5].tolist())
            raise SoberError(
                "E110",
                f"`predictions` must hold labels that occur in `y` ({shown}{', ...' if len(classes) > 5 else ''}), or "
                "probabilities between 0 and 1; got something else. Check the encoding of the labels.",
            )
        return "predict_proba", array, True
    tensor = as_numbers(array, "predictions")
    if name:
        return name, tensor, name == "predict_proba"
    looks_like = in_range(tensor if here is None else tensor[here], 0, 1)
    if "predict_proba" in responses and (looks_like or "decision_function" not in responses):
        return "predict_proba", tensor, True
    return "decision_function", tensor, False


def _by_repeat(values: Any, n: int, n_repeats: int, name: str) -> Array:
    array, _ = as_array(values, name)
    if array.ndim == 1:
        array = np.repeat(array[:, None], n_repeats, axis=1)
    if array.shape != (n, n_repeats):
        raise SoberError(
            "E107", f"`{name}` must be [{n}] or [{n}, {n_repeats}] (samples, repeats); got shape {array.shape}."
        )
    return array


def _folds(folds: Any, n: int, n_repeats: int) -> Array:
    if folds is None:
        return np.zeros((n, n_repeats), np.int64)
    array = _by_repeat(folds, n, n_repeats, "folds")
    return np.stack([codes_of(array[:, r], n, "folds") for r in range(n_repeats)], axis=1)


def _weights(sample_weight: Any, n: int) -> Array | None:
    if sample_weight is None:
        return None
    array, present = as_array(sample_weight, "sample_weight")
    weights = as_numbers(array, "sample_weight", "E107").astype(np.float64, copy=False)
    if weights.shape != (n,):
        raise SoberError(
            "E107", f"`sample_weight` must have one entry for each of the {n} samples; got {weights.shape}."
        )
    if present is not None or not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise SoberError("E107", "`sample_weight` must be finite, not negative and not all zero.")
    return weights
