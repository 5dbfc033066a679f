"""Compiled loops of this folder, the only ones outside of `metrics.kernels`: counts into bins."""

from __future__ import annotations

import numba as nb

_options = {"cache": True, "nogil": True, "boundscheck": False, "error_model": "numpy"}


@nb.njit(**_options)
def add_to_bins(cells, counts, present, absent):
    """Add the counts of each sample to its cell, for several configurations and all resamples of a batch.

    cells [C, rows]: the cell of each sample. counts [rows, B]. present, absent [C, cells, B]: how often samples of a
    cell are present in each resample, and how many of them are absent from it.
    """
    n_resamples = counts.shape[1]
    for c in range(cells.shape[0]):
        inside, outside = present[c], absent[c]
        for i in range(cells.shape[1]):
            row = counts[i]
            here, gone = inside[cells[c, i]], outside[cells[c, i]]
            for b in range(n_resamples):
                here[b] += row[b]
                gone[b] += row[b] == 0
