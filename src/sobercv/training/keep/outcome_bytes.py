"""Outcomes as rows of bytes, and back; a row that was damaged or forged is told from a good one.

Takes outcomes and keys, gives rows of bytes and numbers; never opens files. Arrays are raw bytes with their dtype and
shape beside them. Nothing in a row can be anything but numbers and text: no pickle, no code.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np

from ...containers import Array
from ..fit.task import Failure, Outcome

#: configuration, split, fit_seconds, predict_seconds, form, data, checksum
Row = tuple[bytes, bytes, float, float, bytes, bytes, bytes]
#: Whether arrays [rows, n, ...] and answers [rows] are what the problem asks for on a split, which is given by its key.
Check = Callable[[bytes, Mapping[str, Array]], bool]
_CHECKSUM_SIZE = 8
_NUMBERS = re.compile(r"[<>|][biuf][1248]")
#: Comes before the name of an answer: a number of the fitted model, which may be called like a response.
_ANSWER = "?"
_FAILURE = ("kind", "message", "error", "traceback")


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


def decode(row: Row, configuration: int, repeat: int, fold: int) -> Outcome:
    """Turn a good row back into an outcome.

    Parameters
    ----------
    row : tuple
        One that `separate` gave.
    configuration, repeat, fold : int
        Its place in today's search.
    """
    _, _, fit_seconds, predict_seconds, form, data, _ = row
    described = _described(form)
    if isinstance(described, dict):
        failure = Failure(**described, repeat=repeat, fold=fold)
        return Outcome(configuration, repeat, fold, {}, fit_seconds, predict_seconds, failure)
    responses, answers = parted(_arrays(described, [data]))
    return Outcome(
        configuration,
        repeat,
        fold,
        {name: values[0] for name, values in responses.items()},
        fit_seconds,
        predict_seconds,
        answers={name: float(values[0]) for name, values in answers.items()},
    )


def parted(arrays: Mapping[str, Array]) -> tuple[dict[str, Array], dict[str, Array]]:
    """Part the responses of rows, [rows, n, ...], from the answers of their models, [rows].

    Parameters
    ----------
    arrays : mapping of str to array
        As a `Check` receives them.
    """
    answers = {name.removeprefix(_ANSWER): values for name, values in arrays.items() if name.startswith(_ANSWER)}
    return {name: values for name, values in arrays.items() if not name.startswith(_ANSWER)}, answers


def separate(rows: Iterable[tuple[int, Any]], key: bytes, is_usable: Check) -> tuple[list[Row], list[int]]:
    """Separate good rows from those that are damaged or belong to another run.

    Parameters
    ----------
    rows : iterable of (number, row)
        As a file gave them, so of any type and content.
    key : bytes
    is_usable : callable

    Returns
    -------
    good : list of rows
    bad : list of int
        Numbers.
    """
    good: list[Row] = []
    bad: list[int] = []
    alike: dict[tuple[bytes, bytes], list[tuple[int, Row]]] = {}
    for number, row in rows:
        if _is_whole(row, key):
            alike.setdefault((row[1], row[4]), []).append((number, row))
        else:
            bad.append(number)
    for (split, form), members in alike.items():
        # All rows of one form are looked at together; only where that fails, one by one.
        whole = _fit([row for _, row in members], split, form, is_usable)
        for number, row in members:
            if whole or _fit([row], split, form, is_usable):
                good.append(row)
            else:
                bad.append(number)
    return good, bad


def _is_whole(row: Any, key: bytes) -> bool:
    try:
        *body, checksum = row
        return bool(checksum == _checksum(key, *body))
    except (TypeError, ValueError, struct.error):  # not even of the right types
        return False


def _fit(rows: list[Row], split: bytes, form: bytes, is_usable: Check) -> bool:
    try:
        described = _described(form)
        data = [row[5] for row in rows]
        if isinstance(described, dict):
            return not any(data)
        size = sum(n for *_, n in described)
        return all(len(d) == size for d in data) and is_usable(split, _arrays(described, data))
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError, RecursionError):
        return False


def _arrays(described: list[tuple[str, Any, tuple[int, ...], int]], data: list[bytes]) -> dict[str, Array]:
    """Give the arrays of rows of one form, [rows, n, ...]."""
    block = np.frombuffer(data[0] if len(data) == 1 else b"".join(data), np.uint8).reshape(len(data), -1)
    arrays, start = {}, 0
    for name, dtype, shape, size in described:
        part = np.ascontiguousarray(block[:, start : start + size])
        arrays[name] = part.view(dtype).reshape(len(data), *shape)
        start += size
    return arrays


@lru_cache(maxsize=4096)
def _described(form: bytes) -> Any:
    """Read a form: a failure as a dict, else (name, dtype, shape, bytes) of each array. Few forms are different."""
    held = json.loads(form)
    if isinstance(held, dict):
        return {name: str(held[name]) for name in _FAILURE}
    return list(_checked(held))


def _checked(held: Any) -> Iterator[tuple[str, Any, tuple[int, ...], int]]:
    for name, text, shape in held:
        if not _NUMBERS.fullmatch(text) or not all(type(n) is int and 0 < n < 2**40 for n in shape):
            raise ValueError("not an array of numbers")
        dtype = np.dtype(text)
        size = dtype.itemsize
        for n in shape:
            size *= n
        yield str(name), dtype, tuple(shape), size


def _checksum(
    key: bytes, configuration: bytes, split: bytes, fit_seconds: float, predict_seconds: float, form: bytes, data: bytes
) -> bytes:
    head = _HEAD.pack(fit_seconds, predict_seconds, len(configuration), len(split), len(form))
    checksum = blake2b(b"".join((head, configuration, split, form, data)), key=key, digest_size=_CHECKSUM_SIZE)
    return checksum.digest()


_HEAD = struct.Struct("<ddQQQ")
