"""From what a fitted estimator answers to arrays of one fixed form, or to a named failure.

Labels become class indices, columns are aligned with the problem's classes, curves become survival probabilities at
times (1 before the first time of a curve, flat after its last).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...containers import Array, as_numbers
from ...errors import SoberError
from ...responses import time_of, why_impossible, why_too_large
from ...targets import codes_among
from .problem import Problem

METHOD = "predict_survival_function"


def gives_curves(fitted: Any) -> bool:
    """Whether an estimator can be asked for survival curves; a pipeline is as its last step."""
    return hasattr(fitted, METHOD) or (hasattr(fitted, "steps") and gives_curves(fitted.steps[-1][1]))


def survival_chances(fitted: Any, X: Any, times: Sequence[float]) -> Array:
    """Return the probability of each row to survive beyond each time [n, T]."""
    if not hasattr(fitted, METHOD):  # scikit-learn's own pipeline, where scikit-survival was never imported
        for _, step in fitted.steps[:-1]:
            X = X if step is None or isinstance(step, str) else step.transform(X)
        return survival_chances(fitted.steps[-1][1], X, times)
    return np.array([_at(curve, np.asarray(times, np.float64)) for curve in getattr(fitted, METHOD)(X)])


def _at(curve: Any, times: Array) -> Array:
    """Read a curve: its steps where it has some (their law at the ends is ours), else by calling it."""
    if not (hasattr(curve, "x") and hasattr(curve, "y")):
        return np.asarray([float(curve(time)) for time in times])
    values = getattr(curve, "a", 1.0) * np.asarray(curve.y, np.float64) + getattr(curve, "b", 0.0)
    return np.asarray(np.append(1.0, values)[np.searchsorted(curve.x, times, side="right")])


#: For each response wanted, the methods that can give it, best first. The first names the response.
Wanted = tuple[tuple[str, ...], ...]
#: Stands last among the methods of a response that is kept where a model has it, and that other models may lack.
NOTHING = "nothing"


class Unusable(Exception):
    """An answer that cannot be used: the kind of failure that it becomes, and what is wrong."""


def responses_of(problem: Problem, fitted: Any, X: Any, n: int, wanted: Wanted) -> Mapping[str, Array]:
    """Ask a fitted estimator for every response wanted of the n rows X: arrays [n] or [n, K]; raises `Unusable`."""
    answers: dict[str, Array] = {}
    asked: dict[str, Array] = {}  # a method that serves two responses is called once
    for alternatives in wanted:
        method = method_of(fitted, alternatives)
        # Of what is only kept, decisions say no more than probabilities: both rank alike.
        is_spare = method == "decision_function" and hasattr(fitted, "predict_proba")
        if NOTHING in alternatives and (method is None or is_spare):
            continue
        if method is None:
            lacks = f"has none of {', '.join(alternatives)}."
            if alternatives == ("predict_proba",):
                lacks = "predicts no probabilities (predict_proba); wrap it in CalibratedClassifierCV, or choose a "
                lacks += "metric that needs none, such as roc_auc."
            raise Unusable("no method", f"{type(fitted).__name__} {lacks}")
        if time_of(method) is not None:
            answers[method] = np.empty(n)  # all times are asked together, below
            continue
        if method not in asked:
            asked[method] = _formed(problem, fitted, method, np.asarray(getattr(fitted, method)(X)), n)
        answers[alternatives[0]] = asked[method]
    names = [name for name in answers if time_of(name) is not None]
    if not names:
        return answers
    found = survival_chances(fitted, X, [float(time_of(name) or 0.0) for name in names])  # [n, T]
    if found.shape != (n, len(names)):
        raise Unusable("wrong shape", f"predict_survival_function gave {len(found)} curves for {n} samples.")
    if not np.isfinite(found).all():
        raise Unusable("not finite", "predict_survival_function gave values that are NaN or infinite.")
    reason = why_impossible(found, False)
    if reason is not None:
        raise Unusable("impossible probabilities", f"predict_survival_function: {reason}")
    return answers | {name: found[:, k] for k, name in enumerate(names)}


def method_of(estimator: Any, alternatives: Sequence[str]) -> str | None:
    """Name the method that gives a response: the first of the alternatives that the estimator has."""
    for name in alternatives:
        if hasattr(estimator, name) if time_of(name) is None else gives_curves(estimator):
            return name
    return None


def _formed(problem: Problem, fitted: Any, method: str, raw: Array, n: int) -> Array:
    if raw.ndim == 0 or len(raw) != n or raw.ndim > 2:
        raise Unusable("wrong shape", f"{method} gave shape {raw.shape} for {n} samples.")
    given = raw.shape
    if raw.ndim == 2 and raw.shape[1] == 1:
        raw = raw[:, 0]
    if problem.classes is not None and method == "predict":
        return _labels(raw, problem.classes)
    try:
        numbers = as_numbers(raw, method).astype(np.float64, copy=False)
    except SoberError:
        raise Unusable("not finite", f"{method} gave values of type {raw.dtype}, not numbers.") from None
    if not np.isfinite(numbers).all():
        bad = int((~np.isfinite(numbers)).sum())
        raise Unusable("not finite", f"{method} gave {bad} values that are NaN or infinite.")
    if problem.classes is None:
        if numbers.ndim != 1:
            raise Unusable("wrong shape", f"{method} gave shape {raw.shape} for {n} samples.")
        reason = why_too_large(numbers) if problem.task == "regression" else None
        if reason is not None:
            raise Unusable("not finite", f"{method} gave {reason}")
        return numbers
    aligned = _aligned(fitted, numbers, problem.classes, method == "predict_proba")
    if aligned is None:
        raise Unusable("wrong shape", f"{method} gave shape {given} for {n} samples of {len(problem.classes)} classes.")
    if method == "predict_proba":
        reason = why_impossible(aligned, aligned.ndim == 2)
        if reason is not None:
            raise Unusable("impossible probabilities", f"{method}: {reason}")
        return aligned[:, 1] if aligned.shape[1:] == (2,) else aligned
    return aligned


def _labels(raw: Array, classes: Array) -> Array:
    codes = codes_among(raw, classes) if raw.ndim == 1 else None
    if codes is not None:
        return codes
    if raw.ndim != 1:
        raise Unusable("wrong shape", f"predict gave shape {raw.shape}, not one label per sample.")
    if raw.dtype.kind == "f" and not np.isfinite(raw).all():
        raise Unusable("not finite", "predict gave labels that are NaN or infinite.")
    # Some are equal to a class and yet of another type, such as dates of numpy and of Python.
    strange = next((label for label in raw.tolist() if label not in classes.tolist()), raw.tolist()[0])
    raise Unusable("unknown label", f"predict gave the label {strange!r}, which is not among the classes.")


def _aligned(fitted: Any, numbers: Array, classes: Array, are_probabilities: bool) -> Array | None:
    """Return numbers in the order of the target's classes; None where they cannot be placed.

    An estimator that does not name its classes, or has names of its own, is taken to keep them sorted. Probabilities
    are [n, K] ([n] for a single class), 0 for a class without training rows. Decisions are [n] for two classes and
    [n, K] for more; a class without training rows cannot be placed.
    """
    columns, n_classes = np.arange(len(classes)), len(classes)  # where the estimator's classes stand among these
    for known in (np.asarray(getattr(fitted, "classes_", None)), np.sort(classes)):
        places = codes_among(known, classes) if known.ndim == 1 else None
        if places is not None:
            columns = places
            break
    if are_probabilities and n_classes == 1:
        return numbers if numbers.ndim == 1 else None
    if not are_probabilities:
        if len(columns) != n_classes:
            return None
        if n_classes <= 2:
            return None if numbers.ndim != 1 else -numbers if columns[0] > 0 else numbers
    numbers = numbers[:, None] if numbers.ndim == 1 else numbers
    if numbers.shape[1] != len(columns):
        return None
    aligned = np.zeros((len(numbers), n_classes))
    aligned[:, columns] = numbers
    return aligned
