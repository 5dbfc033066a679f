"""A table of AUC by histograms, for more samples than an exact one has room for, with a bound on its error.

Takes a source and a question, gives scores. One pass finds bins for each configuration, the next counts the positives
and the negatives in every bin, for all resamples. Pairs in different bins are decided exactly; a pair within one bin
counts one half, which is at most one half wrong. So the error of an AUC is at most half the share of pairs that meet in
one bin, and that share is counted too.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np

from ...containers import Array
from ...errors import Note, SoberError
from ...metrics import blocks
from ...sources import Source
from ..question import Question
from ..resample import DrawsOfBlock
from .inputs import Inputs
from .rows import RowResamples
from .streamed import StreamedTable

BINS = 512

_SAMPLE = 1 << 16  # rows that the bins are read off, evenly spread over the table
_BYTES = 1 << 30  # of histograms that are held at a time; more configurations take more passes


class BinTable(StreamedTable):
    """AUC by histograms; says how far off each number can be."""

    def __init__(self, source: Source, response: str, inputs: Inputs, question: Question) -> None:
        super().__init__(source, response, inputs, question)
        self._n_bins = _n_bins(self.question, inputs.approximate)
        refused = {
            "sample_weight": self.weight is not None,
            "within_folds": self.question.within_folds,
            'by="fold"': self.question.by == "fold",
            'aggregate="fold"': self.question.aggregate == "fold",
            "simplest_within(standard_errors=...)": self.question.needs_standard_errors,
        }
        for name, given in refused.items():
            if given:
                raise SoberError(
                    "E118", f"An approximate AUC takes no `{name}`. Leave it out, or leave out `approximate`."
                )

    @classmethod
    def suits(cls, inputs: Inputs, question: Question) -> bool:
        """Only where it was asked for: it is not exact."""
        return inputs.approximate is not False

    def whole(self) -> list[Array]:
        """Give those of all samples."""
        return [self._found.whole[0]]

    def standard_errors(self) -> Array:
        """Refused at the start."""
        raise NotImplementedError

    def resamples(self, start: int, stop: int) -> RowResamples:
        """Cut them out of what was counted."""
        return RowResamples([self._found.present[0, start:stop]], [self._found.absent[0, start:stop]])

    def notes(self, winner: int, chosen: Array) -> list[Note]:
        """What is special about the samples, and how far off the numbers can be."""
        noted, found = self.common_notes(()), self._found
        off = np.where(chosen < 0, np.nan, found.absent[1][np.arange(len(chosen)), chosen])
        if not np.isnan(off).all():
            text = (
                f"AUC by histograms of {self._n_bins} bins: each draw lies within {np.nanmax(off):.2g} of the exact "
                f"AUC of its winner, their mean within {np.nanmean(off):.2g}, plain CV within "
                f"{found.whole[1][winner]:.2g}. "
                f"Configurations closer than {2 * np.nanmax(found.present[1]):.2g} may have swapped places."
            )
            noted.append(Note("W208", text))
        return noted

    @cached_property
    def _found(self) -> Found:
        return histogram_auc(self, self._n_bins)


def _n_bins(question: Question, approximate: Any) -> int:
    if [metric.name for metric in question.metrics] != ["roc_auc"]:
        raise SoberError(
            "E114",
            "`approximate` replaces the exact AUC by histograms, so it goes with metric='roc_auc' alone. Leave it out.",
        )
    n = BINS if approximate is True else approximate
    if not isinstance(n, int) or not 2 <= n <= 1 << 14:
        raise SoberError(
            "E108", f"`approximate` must be True or a number of bins from 2 to 16384; got {approximate!r}. Write True."
        )
    return n


class Found:
    """AUC and the bound on its error, each as a pair of arrays: in bag and out of bag [B, C], on all samples [C]."""

    def __init__(self, n_resamples: int, n_configurations: int) -> None:
        self.present = np.empty((2, n_resamples, n_configurations))
        self.absent = np.empty((2, n_resamples, n_configurations))
        self.whole = np.empty((2, n_configurations))


def histogram_auc(table: StreamedTable, n_bins: int) -> Found:
    """Score all configurations, as many at a time as there is room for."""
    found = Found(table.n_resamples, table.n_configurations)
    a_configuration = 2 * 2 * n_bins * 4 * -(-table.n_resamples // blocks.UNIT) * blocks.UNIT
    width = max(1, _BYTES // a_configuration)
    for first in range(0, table.n_configurations, width):
        here = slice(first, min(first + width, table.n_configurations))
        edges = _edges(table, here, n_bins)
        _count(table, here, edges, n_bins, found)
    return found


def _edges(table: StreamedTable, columns: slice, n_bins: int) -> list[Array]:
    """Edges of bins that hold about as many samples each; few distinct values get a bin each, and are exact."""
    step = max(1, table.n_samples // _SAMPLE)
    reading, y = table.reading, table.target.values
    taken = []
    for start, values in table.source.blocks(columns):
        block = reading.table(values, y[start : start + len(values)], None, start)  # all rows are checked here
        scores = table.question.first.response_of(block)[:, :, 0]
        taken.append(np.asarray(scores[-start % step :: step], np.float64))
    sample = np.concatenate(taken)
    places = (np.arange(1, n_bins) * len(sample)) // n_bins
    sample.sort(axis=0)
    edges = []
    for column in sample.T:
        distinct = column[1:][np.diff(column) > 0]  # all but the smallest
        edges.append(distinct if len(distinct) < n_bins else np.unique(column[places]))
    return edges


def _count(table: StreamedTable, columns: slice, edges: list[Array], n_bins: int, found: Found) -> None:
    from .kernels import add_to_bins

    y = table.target.values
    n_resamples = table.n_resamples
    draws = table.draws.by_rows(n_resamples)
    batches = [(b, min(b + blocks.UNIT, n_resamples)) for b in range(0, n_resamples, blocks.UNIT)]
    shape = (len(edges), 2 * n_bins)
    # A thread works on its own batches, so that no two ever write to the same place.
    present = [np.zeros((*shape, stop - start), np.int32) for start, stop in batches]
    absent = [np.zeros_like(p) for p in present]
    whole = np.zeros(shape, np.int64)
    with ThreadPoolExecutor(table.question.n_threads) as pool:
        for start, values in table.source.blocks(columns):
            positive = y[start : start + len(values)] == 1
            cells = np.empty((len(edges), len(values)), np.int32)

            def place(c: int, values: Array = values, positive: Array = positive, cells: Array = cells) -> None:
                bins = np.searchsorted(edges[c], np.asarray(values[:, c], np.float64), side="right")
                cells[c] = 2 * bins + positive
                whole[c] += np.bincount(cells[c], minlength=shape[1])

            list(pool.map(place, range(len(edges))))
            block = draws.block(start, start + len(values))

            def add(k: int, block: DrawsOfBlock = block, cells: Array = cells) -> None:
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
