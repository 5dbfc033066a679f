"""Outcomes as rows of bytes, and back; a row that was damaged or forged is told from a good one.

Arrays are raw bytes with their dtype and shape beside them. Nothing in a row can be anything but numbers and text: no
pickle, no code.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from ...containers import Array
from ..fit.plan import Split
from ..fit.task import Failure, Outcome

#: configuration, split, fit_seconds, predict_seconds, form, data, checksum
Row = tuple[bytes, bytes, float, float, bytes, bytes, bytes]
_NUMBERS = re.compile(r"[<>|][biuf][1248]")
#: Comes before the name of an answer: a number of the fitted model, which may be called like a response.
_ANSWER = "?"
_FAILURE = ("kind", "message", "error", "traceback")
_HEAD = struct.Struct("<ddQQQ")


def encode(outcome: Outcome, configuration: bytes, split: bytes, key: bytes) -> Row:
    """Turn an outcome into a row.

    Parameters
    ----------
    outcome : Outcome
    configuration, split : bytes
        Its keys.
    key : bytes
        Of the run; a row is good only under the key that its checksum was made with.
    """
    if outcome.failure is not None:
        form, data = json.dumps({name: getattr(outcome.failure, name) for name in _FAILURE}), b""
    else:
        # Rows are read by any machine, so the order of the bytes is written down with them.
        arrays: dict[str, Any] = {name: np.ascontiguousarray(values) for name, values in outcome.responses.items()}
        arrays |= {_ANSWER + name: np.float64(value) for name, value in outcome.answers.items()}
        form = json.dumps([[name, a.dtype.str, a.shape] for name, a in arrays.items()], separators=(",", ":"))
        data = b"".join(a.tobytes() for a in arrays.values())
    body = (configuration, split, float(outcome.fit_seconds), float(outcome.predict_seconds), form.encode(), data)
    return (*body, _checksum(key, *body))


def decode(row: Sequence[Any], key: bytes, configuration: int, split: Split, n_classes: int) -> Outcome | None:
    """Turn a row back into an outcome; None where it is damaged, or not what a fit on this split would have given.

    Parameters
    ----------
    row : tuple
        As a file gave it, so of any type and content.
    key : bytes
    configuration : int
        Its place in today's search.
    split : Split
    n_classes : int
    """
    try:
        *body, checksum = row
        if checksum != _checksum(key, *body):
            return None
        _, _, fit_seconds, predict_seconds, form, data = body
        described = json.loads(form)
        seconds = (fit_seconds, predict_seconds)
        if isinstance(described, dict):
            kind, message, error, trace = (str(described[name]) for name in _FAILURE)
            failure = Failure(kind, message, error, split.repeat, split.fold, trace)
            return Outcome(configuration, split.repeat, split.fold, {}, *seconds, failure, is_recalled=True)
        responses, answers, start = {}, {}, 0
        for name, text, shape in described:
            values = _array(data, start, text, shape)
            start += values.nbytes
            if name.startswith(_ANSWER):
                answers[name.removeprefix(_ANSWER)] = float(values)
            elif len(values) != len(split.test) or not _is_possible(values, n_classes):
                return None
            else:
                responses[name] = values
        if start != len(data) or not np.isfinite(list(answers.values())).all():
            return None
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError, RecursionError, struct.error):
        return None
    return Outcome(
        configuration, split.repeat, split.fold, responses, *seconds, answers=answers, is_recalled=True
    )  # fmt: skip


def _array(data: bytes, start: int, text: str, shape: list[int]) -> Array:
    if not _NUMBERS.fullmatch(text) or not all(type(n) is int and 0 < n < 2**40 for n in shape):
        raise ValueError("not an array of numbers")
    size = 1
    for n in shape:
        size *= n
    return np.frombuffer(data, text, size, start).reshape(shape)


def _is_possible(values: Array, n_classes: int) -> bool:
    """Whether responses are finite, and labels are among the classes."""
    if values.ndim > 2 or (values.ndim == 2 and not values.shape[1] == n_classes > 2):
        return False
    if values.dtype.kind == "f":
        return bool(np.isfinite(values).all())
    return bool(values.min() >= 0 and values.max() < n_classes)


def _checksum(
    key: bytes, configuration: bytes, split: bytes, fit_seconds: float, predict_seconds: float, form: bytes, data: bytes
) -> bytes:
    head = _HEAD.pack(fit_seconds, predict_seconds, len(configuration), len(split), len(form))
    return blake2b(b"".join((head, configuration, split, form, data)), key=key, digest_size=8).digest()
