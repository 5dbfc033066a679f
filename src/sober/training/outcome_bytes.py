"""Outcomes as rows of bytes, and back; a row that was damaged or forged is told from a good one.

Takes outcomes and keys, gives rows of bytes and numbers; never opens files. Arrays are raw bytes with their dtype and
shape beside them. Nothing in a row can be anything but numbers and text: no pickle, no code.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np

from ..containers import Array
from .task import Failure, Outcome

#: configuration, split, fit_seconds, predict_seconds, form, data, seal
Row = tuple[bytes, bytes, float, float, bytes, bytes, bytes]
_SEAL = 8
_NUMBERS = re.compile(r"[<>|][biuf][1248]")


@dataclass(frozen=True, eq=False)
class Stored:
    """An outcome as a file holds it: without the place that its configuration has in today's grid."""

    responses: Mapping[str, Array]
    fit_seconds: float
    predict_seconds: float
    failure: Mapping[str, str] | None

    def as_outcome(self, configuration: int, repeat: int, fold: int) -> Outcome:
        """Give it its place."""
        failure = None if self.failure is None else Failure(**self.failure, repeat=repeat, fold=fold)
        return Outcome(
            configuration, repeat, fold, self.responses, self.fit_seconds, self.predict_seconds, failure
        )  # fmt: skip


def encode(outcome: Outcome, configuration: bytes, split: bytes, key: bytes) -> Row:
    """Turn an outcome into a row.

    Parameters
    ----------
    outcome : Outcome
    configuration, split : bytes
        Its keys.
    key : bytes
        Of the run; a row opens only with the key that it was sealed with.
    """
    if outcome.failure is not None:
        told = asdict(outcome.failure)
        form, data = json.dumps({name: told[name] for name in _FAILURE}), b""
    else:
        # Rows of one file are read by any machine, so the order of the bytes is written down with them.
        arrays = {name: np.ascontiguousarray(values) for name, values in outcome.responses.items()}
        form = json.dumps([[name, a.dtype.str, a.shape] for name, a in arrays.items()], separators=(",", ":"))
        data = b"".join(a.tobytes() for a in arrays.values())
    body = (configuration, split, outcome.fit_seconds, outcome.predict_seconds, form.encode(), data)
    return (*body, _seal(key, *body))


def decode(row: Row, key: bytes, is_usable: Callable[[bytes, Mapping[str, Array]], bool]) -> Stored | None:
    """Turn a row back into an outcome; None where it is damaged or belongs to another run.

    Parameters
    ----------
    row : tuple
        As a file gave it, so of any type and content.
    key : bytes
    is_usable : callable
        ``is_usable(split, responses)``: whether the arrays are what the split and the problem ask for.
    """
    try:
        *body, seal = row
        if seal != _seal(key, *body):  # type: ignore[arg-type]
            return None
        _, split, fit_seconds, predict_seconds, form, data = row[:6]
        described = _described(form)
        if isinstance(described, dict):
            return Stored({}, fit_seconds, predict_seconds, described)
        responses, start = {}, 0
        for name, dtype, shape, n in described:
            responses[name] = np.frombuffer(data, dtype, n, start).reshape(shape)
            start += n * dtype.itemsize
        if start != len(data) or not is_usable(split, responses):
            return None
        return Stored(responses, fit_seconds, predict_seconds, None)
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError, struct.error):
        return None


_FAILURE = ("kind", "message", "error", "traceback")


@lru_cache(maxsize=4096)
def _described(form: bytes) -> Any:
    """Read a form: a failure as a dict, else (name, dtype, shape, size) of each array. Few forms are different."""
    held = json.loads(form)
    if isinstance(held, dict):
        return {name: str(held[name]) for name in _FAILURE}
    arrays = []
    for name, dtype, shape in held:
        if not _NUMBERS.fullmatch(dtype) or not all(type(n) is int and n >= 0 for n in shape):
            raise ValueError("not an array of numbers")
        arrays.append((str(name), np.dtype(dtype), tuple(shape), int(np.prod(shape, dtype=np.int64))))
    return arrays


def _seal(
    key: bytes, configuration: bytes, split: bytes, fit_seconds: float, predict_seconds: float, form: bytes, data: bytes
) -> bytes:
    head = struct.pack("<ddQ", fit_seconds, predict_seconds, len(form))
    seal = blake2b(b"".join((configuration, split, head, form, data)), key=key, digest_size=_SEAL)
    return seal.digest()
