"""Sums of 0/1 values over resamples, exactly: a sample is a bit.

Takes flags `[C, N]` and counts `[B, N]`, gives how often flagged samples are present `[B, C]`. Write the counts in
binary: their sum over the flagged samples is 1 x (how many of them have the last digit) + 2 x (the digit before) + ...,
and counting bits is the cheapest thing a processor does. That is half the work of a product in float32 and a
thirty-second of its memory; as nothing rounds, blocks of any size give the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..containers import Array

_TOGETHER = 1 << 20  # counts turned into digits at a time: their words stay in the cache of a core


def pack(flags: Array) -> Array:
    """Turn 0/1 values [C, N] into words of 64 bits [C, W]; anything but 0 is a 1."""
    n = flags.shape[1]
    out = np.zeros((len(flags), -(-n // 64) * 8), np.uint8)
    out[:, : -(-n // 8)] = np.packbits(flags, axis=1)
    return out.view(np.uint64)


def tallies(counts: Array, bits: Array) -> Array:
    """Sum counts [B, N] over the samples whose bit is set in bits [C, W], giving [B, C]."""
    out = np.zeros((len(bits), len(counts)))
    for words, place, shift in _digits(counts):
        _kernels().tally(words, place, shift, bits, out)
    return out.T


def picked_tallies(counts: Array, bits: Array, winners: Array) -> Array:
    """The same for the one row of bits that each resample picked, giving [B]."""
    out = np.zeros(len(counts))
    for words, place, shift in _digits(counts):
        _kernels().tally_picked(words, place, shift, bits, winners, out)
    return out


def _digits(counts: Array) -> Iterator[tuple[Array, Array, Array]]:
    """Write the counts of some samples at a time in binary.

    Yields words [M, B], and for each row the place [M] of its word among those of all samples and the power of two [M]
    that it stands for. Rows without any 1 are left out: large counts are rare.
    """
    n_resamples, n = counts.shape
    step = max(64, _TOGETHER // max(1, n_resamples) // 64 * 64)
    for at in range(0, n, step):
        piece = counts[:, at : at + step]
        rows: list[tuple[Array, Array, Array]] = []
        for power in range(int(piece.max(initial=0)).bit_length()):
            digit = pack(piece & piece.dtype.type(1 << power)).T
            place = np.flatnonzero(digit.any(axis=1))
            rows.append((digit[place], at // 64 + place, np.full(len(place), power, np.uint64)))
        if rows:
            words, place, shift = (np.concatenate(part) for part in zip(*rows, strict=True))
            yield np.ascontiguousarray(words), place, shift


def _kernels() -> Any:
    from . import kernels  # numba takes a while to import

    return kernels
