"""AUC by histograms, for more samples than an exact one has room for, with a bound on its error.

Takes a `Request`, gives what was drawn. One pass finds bins for each configuration, the next counts the positives and
the negatives in every bin, for all resamples. Pairs in different bins are decided exactly; a pair within one bin counts
one half, which is at most one half wrong. So the error of an AUC is at most half the share of pairs that meet in one
bin, and that share is counted too.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ...containers import Array
from ...errors import SoberError
from ...metrics import blocks
from ..claims import Drawn, notes_on_size
from ..resample import BlockDraws
from ..selection import apply
from .request import Request

_SAMPLE = 1 << 16  # rows that the bins are read off, evenly spread over the table
_BYTES = 1 << 30  # of histograms that are held at a time; more configurations take more passes


def draw(request: Request, n_bins: int) -> Drawn:
    """Score by histograms, select, judge; say how far off each number can be."""
    refused = {
        "sample_weight": request.weight is not None,
        "within_folds": request.within_folds,
        'aggregate="fold"': request.aggregate == "fold",
        "simplest_within(standard_errors=...)": request.needs_standard_errors,
    }
    for name, given in refused.items():
        if given:
            raise SoberError("E118", f"An approximate AUC takes no `{name}`. Leave it out, or leave out `approximate`.")
    found = histogram_auc(request, n_bins)
    chosen = apply(request.rule, found.present[0])
    winner = int(apply(request.rule, found.whole[0][None])[0])
    row = np.arange(len(chosen))
    judged, off = (np.where(chosen < 0, np.nan, a[row, chosen]) for a in found.absent)
    notes = notes_on_size(request.n_configurations, 0, request.n_samples, request.n_groups)
    if not np.isnan(off).all():
        notes.append(
            f"AUC by histograms of {n_bins} bins: each draw lies within {np.nanmax(off):.2g} of the exact AUC of its "
            f"winner, their mean within {np.nanmean(off):.2g}, plain CV within {found.whole[1][winner]:.2g}. "
            f"Configurations closer than {2 * np.nanmax(found.present[1]):.2g} may have swapped places."
        )
    return Drawn(
        metrics=request.metrics,
        wholes=[found.whole[0]],
        winner=winner,
        chosen=chosen,
        draws=[judged],
        configurations=np.arange(request.n_configurations),
        n_samples=request.n_samples,
        n_groups=request.n_groups,
        notes=tuple(notes),
    )


class Found:
    """AUC and the bound on its error, each as a pair of arrays: in bag and out of bag [B, C], on all samples [C]."""

    def __init__(self, n_resamples: int, n_configurations: int) -> None:
        self.present = np.empty((2, n_resamples, n_configurations))
        self.absent = np.empty((2, n_resamples, n_configurations))
        self.whole = np.empty((2, n_configurations))


def histogram_auc(request: Request, n_bins: int) -> Found:
    """Score all configurations, as many at a time as there is room for."""
    found = Found(request.n_bootstraps, request.n_configurations)
    a_configuration = 2 * 2 * n_bins * 4 * -(-request.n_bootstraps // blocks.UNIT) * blocks.UNIT
    width = max(1, _BYTES // a_configuration)
    for first in range(0, request.n_configurations, width):
        here = slice(first, min(first + width, request.n_configurations))
        edges = _edges(request, here, n_bins)
        _count(request, here, edges, n_bins, found)
    return found


def _edges(request: Request, columns: slice, n_bins: int) -> list[Array]:
    """Edges of bins that hold about as many samples each; few distinct values get a bin each, and are exact."""
    step = max(1, request.n_samples // _SAMPLE)
    reading, y = request.reading(), request.target.values
    taken = []
    for start, values in request.source.blocks(columns):
        table = reading.table(values, y[start : start + len(values)], None, start)  # all rows are checked here
        scores = request.metrics[0].response_of(table)[:, :, 0]
        taken.append(np.asarray(scores[-start % step :: step], np.float64))
    sample = np.concatenate(taken)
    places = (np.arange(1, n_bins) * len(sample)) // n_bins
    sample.sort(axis=0)
    edges = []
    for column in sample.T:
        distinct = column[1:][np.diff(column) > 0]  # all but the smallest
        edges.append(distinct if len(distinct) < n_bins else np.unique(column[places]))
    return edges


def _count(request: Request, columns: slice, edges: list[Array], n_bins: int, found: Found) -> None:
    from .kernels import add_to_bins

    y = request.target.values
    n_resamples = request.n_bootstraps
    draws = request.bootstrap().by_rows(n_resamples)
    batches = [(b, min(b + blocks.UNIT, n_resamples)) for b in range(0, n_resamples, blocks.UNIT)]
    shape = (len(edges), 2 * n_bins)
    # A thread works on its own batches, so that no two ever write to the same place.
    present = [np.zeros((*shape, stop - start), np.int32) for start, stop in batches]
    absent = [np.zeros_like(p) for p in present]
    whole = np.zeros(shape, np.int64)
    with ThreadPoolExecutor(blocks.threads(request.n_jobs)) as pool:
        for start, values in request.source.blocks(columns):
            positive = y[start : start + len(values)] == 1
            cells = np.empty((len(edges), len(values)), np.int32)

            def place(c: int, values: Array = values, positive: Array = positive, cells: Array = cells) -> None:
                bins = np.searchsorted(edges[c], np.asarray(values[:, c], np.float64), side="right")
                cells[c] = 2 * bins + positive
                whole[c] += np.bincount(cells[c], minlength=shape[1])

            list(pool.map(place, range(len(edges))))
            block = draws.block(start, start + len(values))

            def add(k: int, block: BlockDraws = block, cells: Array = cells) -> None:
                counts = np.ascontiguousarray(block.counts(*batches[k]).T)
                add_to_bins(cells, counts, present[k], absent[k])

            list(pool.map(add, range(len(batches))))
    found.whole[:, columns] = _auc(whole[:, :, None])[:, :, 0]
    for (start, stop), here, gone in zip(batches, present, absent, strict=True):
        found.present[:, start:stop, columns] = _auc(here).transpose(0, 2, 1)
        found.absent[:, start:stop, columns] = _auc(gone).transpose(0, 2, 1)


def _auc(cells: Array) -> Array:
    """AUC and the bound on its error from counts [C, 2 bins, B]: two arrays [C, B]."""
    losers, winners = cells[:, 0::2].astype(np.float64), cells[:, 1::2].astype(np.float64)
    below = np.cumsum(losers, axis=1) - losers
    pairs = losers.sum(axis=1) * winners.sum(axis=1)
    pairs = np.where(pairs > 0, pairs, np.nan)
    same = 0.5 * (losers * winners).sum(axis=1)
    return np.stack([((winners * below).sum(axis=1) + same) / pairs, same / pairs])
