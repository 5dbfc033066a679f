"""What a configuration answered, made ready: labels as class indices, probabilities, scores, numbers.

An array from any tool, with the target that it answers, becomes a tensor [N, C, R] or [N, C, R, K] under the name of
its response; what cannot be a prediction is refused. Axes as in `predictions`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .containers import Array, as_numbers, bounds
from .errors import SoberError
from .targets import LARGEST, Target, codes_among

#: By the name of the scikit-learn method that gives them.
RESPONSES = ("predict", "predict_proba", "decision_function")
_SURVIVAL_AT = "survival_at("
#: How far a probability may lie outside of [0, 1]: what single precision rounds away.
OUTSIDE = 1e-6
#: How far the probabilities of all classes may be from adding up to 1: what people round away when they save them.
OFF = 1e-3


def survival_at(time: float) -> str:
    """Name of the response that holds the probability to survive beyond a time, in the unit of the target."""
    return f"{_SURVIVAL_AT}{time:.12g})"


def time_of(name: str) -> float | None:
    """The time of a response that holds survival probabilities; None of any other."""
    return float(name[len(_SURVIVAL_AT) : -1]) if name.startswith(_SURVIVAL_AT) else None


def is_response(name: str, target: Target) -> bool:
    """Whether predictions may be given under this name."""
    return name in RESPONSES or (target.task == "survival" and name.startswith(_SURVIVAL_AT))


def with_axes(array: Array, here: Array | None, target: Target) -> tuple[Array, Array | None]:
    """Bring [N], [N, C], [N, C, R] and [N, C, K] to [N, C, R(, K)], and a mask of what is present to [N, C, R]."""
    n, k, shape = len(target.values), target.n_classes, array.shape
    if array.ndim == 0 or array.ndim > 4:
        raise SoberError("E101", f"`predictions` must be [N, C], [N, C, R] or [N, C, R, K]; got {array.ndim} axes.")
    if shape[0] != n:
        turned = " It looks transposed: pass predictions.T." if array.ndim == 2 and shape[1] == n else ""
        problem = f"`predictions` has {shape[0]} rows but `y` has {n}. Both need one row per sample.{turned}"
        raise SoberError("E101", problem)
    if array.ndim == 3 and array.dtype.kind == "f":
        if k > 2 and shape[2] == k and np.allclose(array[0].sum(axis=-1), 1, atol=1e-3):
            shape = (*shape[:2], 1, k)
        elif k == 2 and shape[2] == 2 and np.allclose(array.sum(axis=2), 1, atol=1e-6):
            raise SoberError(
                "E101",
                "`predictions` [N, C, 2] adds up to 1 along the last axis, so it looks like probabilities of two "
                "classes, but the third axis is for repeats. Pass predictions[:, :, 1], or predictions[:, :, None, :].",
            )
    shape = (*shape, 1, 1)[: max(3, len(shape))]
    if len(shape) == 4 and shape[3] != k:
        raise SoberError("E101", f"The last axis of `predictions` is for the {k} classes; got {shape[3]} entries.")
    if here is not None:
        here = here.reshape(shape) if len(shape) == 3 else np.asarray(here.reshape(shape).all(axis=3))
    return array.reshape(shape), here


def read_response(name: str, array: Array, seen: Array, target: Target, responses: Sequence[str]) -> tuple[str, Array]:
    """Tell which response an array [N, C, R(, K)] is, check it, and return its name and its one form.

    The K classes come in sorted order; what is not `seen` [N, R] is never read, and may hold anything; `name` is ""
    where the user named none: then `responses`, what is wanted, best first, decides how the array is read. With two
    classes, scores and probabilities are those of the second [N, C, R].
    """
    if target.classes is not None and array.ndim < 4:
        if name == "predict" or (not name and responses[0] == "predict"):
            codes = _codes(array, seen, target.classes)
            if codes is not None:
                return "predict", codes
            low, high = bounds(_seen(array, seen)) if array.dtype.kind == "f" else (-1.0, -1.0)
            if name or not 0.0 <= low <= high <= 1.0:
                shown = ", ".join(repr(c) for c in target.classes[:5].tolist()) + ", ..." * (target.n_classes > 5)
                allowed, advice = ", or probabilities between 0 and 1", "Check the encoding of the labels."
                if name:
                    allowed, advice = "", 'Name what else they are: method="predict_proba", or by that key in a dict.'
                raise SoberError(
                    "E110", f"`predictions` must hold labels of `y` ({shown}){allowed}; got something else. {advice}"
                )
            name = "predict_proba"
        if (k := target.n_classes) > 2:
            said = f"Scores of {k} classes need an axis of classes: [N, C, {k}]; of a single model, P[:, None, :]."
            if array.shape[2] == k:
                said = (
                    f"The last axis of `predictions` was read as {k} repeats, since its values do not add up to 1. "
                    f"Pass probabilities; scores of {k} classes as [N, C, 1, {k}]."
                )
            elif not name:
                said += " If they are labels, name a metric of labels, such as balanced_accuracy."
            raise SoberError("E101", said)
    flags = target.classes is not None and array.dtype.kind == "b"  # such as P > 0.5
    tensor = array.astype(np.float64) if flags else as_numbers(array, "predictions")
    looked_at = _seen(tensor, seen)
    low, high = bounds(looked_at)
    if target.classes is None:
        name = name or "predict"
    elif array.ndim == 4:
        name = "decision_function" if name == "decision_function" and target.n_classes > 2 else "predict_proba"
    elif not name:
        may_be, must_be = "predict_proba" in responses, "decision_function" not in responses
        name = "predict_proba" if may_be and (must_be or 0.0 <= low <= high <= 1.0) else "decision_function"
    if not np.isfinite((low, high)).all():
        raise SoberError(
            "E102",
            f"`predictions` holds NaN or infinite values ({int((~np.isfinite(looked_at)).sum())} in all). Leave out "
            "those samples, or the configurations that failed. Where whole repeats are missing, pass a masked array; "
            "for pruned trials, pass `folds=`.",
        )
    if name == "predict_proba" or name.startswith(_SURVIVAL_AT):
        problem = why_impossible(looked_at, tensor.ndim == 4)
        if problem is not None:
            advice = "Pass probabilities, or choose a metric that takes scores, such as roc_auc."
            raise SoberError("E102", f"{problem} {advice}")
    problem = why_too_large(looked_at) if target.task == "regression" else None
    if problem is not None:
        raise SoberError("E102", f"`predictions` holds {problem} Scale it down, or leave the configuration out.")
    if target.classes is not None and array.ndim == 4 and target.n_classes == 2:
        tensor = tensor[..., int(np.argsort(target.classes)[1])]
    return name, tensor


def why_too_large(numbers: Array) -> str | None:
    """Say why predicted numbers, all finite, cannot be scored: their squares overflow; None where they can."""
    largest = max(map(abs, bounds(numbers)))
    return None if largest <= LARGEST else f"{largest:.4g}, and squares of numbers beyond {LARGEST:g} overflow."


def why_impossible(probabilities: Array, by_class: bool) -> str | None:
    """Say why finite numbers (`by_class`: one per class on the last axis) cannot be probabilities, else None."""
    low, high = bounds(probabilities)
    if low < -OUTSIDE or high > 1.0 + OUTSIDE:
        return f"Probabilities must lie between 0 and 1; got values from {low:.4g} to {high:.4g}."
    if by_class and probabilities.size:
        low, high = bounds(probabilities.sum(axis=-1))
        if low < 1.0 - OFF or high > 1.0 + OFF:
            return f"The probabilities of all classes must add up to 1; got sums from {low:.4g} to {high:.4g}."
    return None


def _seen(tensor: Array, seen: Array) -> Array:
    """What has been seen: the tensor itself, or its rows [seen, C(, K)]."""
    return tensor if seen.all() else np.moveaxis(tensor, 2, 1)[seen]


def _codes(array: Array, seen: Array, classes: Array) -> Array | None:
    """Class indices of labels, 0 where not seen; None where any of them is no class."""
    codes = codes_among(_seen(array, seen), classes)
    if codes is None or seen.all():
        return codes
    out = np.zeros(array.shape, codes.dtype)
    np.moveaxis(out, 2, 1)[seen] = codes
    return out
