"""Tallies: samples are bits, and a processor counts 64 of them in one instruction.

Takes binary digits of counts and flags, gives how often flagged samples are present.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from .compiling import ones, options


@nb.njit(**options)
def tally(words, place, shift, bits, out):
    """Add to out [C, B] the counts of the samples whose bit is set in bits [C, W].

    words [M, B] holds one binary digit of the counts of 64 samples a row: those of word place[m], worth 2^shift[m].
    """
    n_resamples = words.shape[1]
    total = np.empty(n_resamples, np.uint64)
    for c in range(bits.shape[0]):
        for b in range(n_resamples):
            total[b] = 0
        for m in range(words.shape[0]):
            flags = bits[c, place[m]]
            row = words[m]
            for b in range(n_resamples):
                total[b] += ones(row[b] & flags) << shift[m]
        for b in range(n_resamples):
            out[c, b] += total[b]


@nb.njit(**options)
def tally_picked(words, place, shift, bits, picked, out):
    """The same as `tally` for configuration picked[b] in resample b alone: out [B]."""
    for m in range(words.shape[0]):
        for b in range(words.shape[1]):
            out[b] += ones(words[m, b] & bits[picked[b], place[m]]) << shift[m]
