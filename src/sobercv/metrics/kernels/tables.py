"""Sums over all tables with given margins.

Takes margins of confusion matrices, gives what chance alone would make of them.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np

from .compiling import options


@nb.njit(**options)
def expected_information(true, said, out):
    """Mutual information [M] that two labelings with these class sizes [M, K] have on average, if they are unrelated.

    The number of samples in a cell is hypergeometric; its logarithms come from one table of log(n!).
    """
    largest = 1
    for m in range(true.shape[0]):
        largest = max(largest, true[m].sum())
    logarithm = np.zeros(largest + 1)  # log(n), and 0 for 0
    factorial = np.zeros(largest + 1)  # log(n!)
    for n in range(1, largest + 1):
        logarithm[n] = np.log(n)
        factorial[n] = math.lgamma(n + 1.0)
    for m in range(true.shape[0]):
        total = true[m].sum()
        sum_ = 0.0
        for i in range(true.shape[1]):
            a = true[m, i]
            for j in range(said.shape[1]):
                b = said[m, j]
                fixed = factorial[a] + factorial[b] + factorial[total - a] + factorial[total - b] - factorial[total]
                for n in range(max(1, a + b - total), min(a, b) + 1):
                    chance = fixed - factorial[n] - factorial[a - n] - factorial[b - n] - factorial[total - a - b + n]
                    gain = logarithm[total] + logarithm[n] - logarithm[a] - logarithm[b]
                    sum_ += n / total * gain * np.exp(chance)
        out[m] = sum_
