"""A table of metrics that are a mean over samples: one pass over blocks of rows, a sum of products.

Takes a source and a question, gives scores. For each block the losses are multiplied with the counts and with "absent"
of all resamples; the sums of the blocks are all that is kept, so that memory depends on neither N nor the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from ... import sources
from ...containers import Array
from ...errors import Note
from ...metrics import blocks
from ...metrics.base import Part
from ...metrics.pointwise import Pointwise
from ...predictions import Predictions
from ...threads import one_blas_thread
from ..question import Question
from ..resample import Bootstrap, DrawsOfBlock, Replayed
from .base import ERRORS, Resamples, spread
from .inputs import Inputs
from .reading import Reading
from .streamed import StreamedTable

WIDTH = 64  # configurations multiplied together
STEP = 1 << 13  # samples multiplied together: their counts as floats stay near the core
_BYTES = 1 << 29  # of predictions and losses that all threads hold together


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over the samples of some blocks.

    Attributes
    ----------
    values : list of array [2 B + S + 1, M W + 1]
        One for each W = 64 configurations. Rows: present in each resample, absent from it, the resamples for standard
        errors, all samples. Columns: the losses of every configuration by each metric, and the weight.
    kinds : set of str
        The responses that blocks were read as.
    """

    values: list[Array]
    kinds: frozenset[str]

    def __add__(self, other: Sums) -> Sums:
        values = [ours + theirs for ours, theirs in zip(self.values, other.values, strict=True)]
        return Sums(values, self.kinds | other.kinds)


@dataclass(frozen=True, eq=False)
class Parcel:
    """What a block needs beside its predictions."""

    start: int
    y: Array
    weight: Array | None
    draws: DrawsOfBlock
    errors: DrawsOfBlock | None


@dataclass(frozen=True, eq=False)
class Work:
    """Predictions and parcel of a block in, sums out; picklable, because it may be done elsewhere."""

    reading: Reading
    metrics: tuple[Pointwise, ...]
    n_resamples: int
    small: bool  # no sample is drawn more than 255 times

    def __call__(self, values: Array, parcel: Parcel) -> Sums:
        """Add up the losses of one block."""
        with one_blas_thread():
            table = self.reading.table(np.asarray(values), parcel.y, parcel.weight, parcel.start)
            responses = [metric.response_of(table)[:, :, 0] for metric in self.metrics]
            firsts, starts = range(0, table.n_configurations, WIDTH), range(0, len(table.y), STEP)
            groups = [[self._losses(table, responses, first, at) for at in starts] for first in firsts]
            rows = [_products(parcel.draws, self.n_resamples, groups, True)]
            if parcel.errors is not None:
                rows.append(_products(parcel.errors, ERRORS, groups, False))
            rows.append([np.sum([p.sum(axis=1, dtype=np.float64) for p in g], axis=0)[None] for g in groups])
        sums = [np.concatenate(parts) for parts in zip(*rows, strict=True)]
        return Sums(sums, frozenset(table.responses))

    def _losses(self, table: Predictions, responses: list[Array], first: int, at: int) -> Array:
        """Losses of some configurations and samples by each metric, and the weight: [M W + 1, STEP]."""
        here, these = slice(at, at + STEP), slice(first, first + WIDTH)
        y, weight = table.y[here], None if table.sample_weight is None else table.sample_weight[here]
        rows: list[Array] = []
        for metric, values in zip(self.metrics, responses, strict=True):
            part = Part(y, values[here, these], weight, np.zeros(len(y), np.int64), table.classes)
            losses = metric.losses(part)
            rows.append(losses if weight is None else losses * weight)
        rows.append(np.ones((1, len(y))) if weight is None else weight[None])
        # Losses of 0 and 1 are multiplied in float32: 8,192 samples, drawn 255 times each, stay far below 2^24.
        exact = self.small and weight is None and all(metric._exact for metric in self.metrics)
        return np.concatenate(rows, dtype=np.float32 if exact else np.float64)


def _products(draws: DrawsOfBlock, n_resamples: int, groups: list[list[Array]], absent: bool) -> list[Array]:
    """For each group the sums over the samples present in each resample and, where asked, over those absent from it."""
    kinds = 1 + absent
    out = [np.zeros((kinds, n_resamples, len(pieces[0]))) for pieces in groups]
    room = np.empty((kinds, blocks.UNIT, STEP), groups[0][0].dtype)
    for b in range(0, n_resamples, blocks.UNIT):
        counts = draws.counts(b, min(b + blocks.UNIT, n_resamples))
        for k in range(len(groups[0])):
            here = counts[:, k * STEP : (k + 1) * STEP]
            left = room[:, : len(here), : here.shape[1]]
            left[0] = here
            if absent:
                np.equal(here, 0, out=left[1], casting="unsafe")
            for sums, pieces in zip(out, groups, strict=True):
                products = left.reshape(-1, here.shape[1]) @ pieces[k].T
                sums[:, b : b + len(here)] += products.reshape(kinds, len(here), -1)
    return [sums.reshape(kinds * n_resamples, -1) for sums in out]


class RowTable(StreamedTable):
    """Means over samples: all that is ever asked for is gathered in one pass over the rows."""

    @classmethod
    def suits(cls, inputs: Inputs, question: Question) -> bool:
        """Sums over blocks are means only if nothing but means is asked for."""
        return not question.needs_folds and all(isinstance(metric, Pointwise) for metric in question.metrics)

    def whole(self) -> list[Array]:
        """Give the row of all samples."""
        return [scores[-1] for scores in self._scores]

    def standard_errors(self) -> Array:
        """Take the spread over the resamples that were drawn for it."""
        return spread(self._scores[0][2 * self.n_resamples : -1])

    def resamples(self, start: int, stop: int) -> RowResamples:
        """Cut them out of what was gathered."""
        b = self.n_resamples
        present, absent = ([s[at + start : at + stop] for s in self._scores] for at in (0, b))
        return RowResamples(present, absent)

    def notes(self, winner: int, chosen: Array) -> list[Note]:
        """What is special about the samples, and how blocks were read."""
        return self.common_notes(self._gathered[1])

    @property
    def _scores(self) -> list[Array]:
        """For each metric the scores on [present in B, absent from B, resamples for standard errors, all] by C."""
        return self._gathered[0]

    @cached_property
    def _gathered(self) -> tuple[list[Array], frozenset[str]]:
        n, metrics = self.n_samples, cast(tuple[Pointwise, ...], self.question.metrics)
        draws = self.draws.by_rows(self.n_resamples)
        errors = None
        if self.question.needs_standard_errors:
            errors = Bootstrap(n, self.question.seed, "standard error", groups=self.groups).by_rows(ERRORS)

        def parcel(start: int, stop: int) -> Parcel:
            weight = None if self.weight is None else self.weight[start:stop]
            error = None if errors is None else errors.block(start, stop)
            return Parcel(start, self.target.values[start:stop], weight, draws.block(start, stop), error)

        small = not isinstance(draws, Replayed) or draws.table.dtype == np.uint8
        work = Work(self.reading, metrics, self.n_resamples, small)
        n_threads = self.question.n_threads
        means: list[list[Array]] = []
        kinds: frozenset[str] = frozenset()
        # One pass over the table, unless a block of all configurations is too much to hold.
        width = WIDTH * max(1, _BYTES // (n_threads * WIDTH * sources.ROWS * 16))
        for first in range(0, self.n_configurations, width):
            total: Sums | None = None
            with one_blas_thread():
                for part in self.source.map(work, parcel, slice(first, first + width), n_threads):
                    total = part if total is None else total + part
            assert total is not None
            kinds |= total.kinds
            means += [_means(values, len(metrics)) for values in total.values]
        scores = [_signed(metric, np.concatenate([m[k] for m in means], axis=1)) for k, metric in enumerate(metrics)]
        self.reading.check_kinds(kinds)
        return scores, kinds


class RowResamples(Resamples):
    """Scores of every configuration on what is present and on what is absent, gathered before."""

    def __init__(self, present: list[Array], absent: list[Array]) -> None:
        self._present, self._absent = present, absent

    def in_bag(self) -> Array:
        """Give all [B, C]."""
        return self._present[0]

    def in_bag_of(self, winner: int) -> list[Array]:
        """Give that of one configuration."""
        return [scores[:, winner] for scores in self._present[1:]]

    def out_of_bag(self, winners: Array) -> list[Array]:
        """Give those of the winners."""
        row = np.arange(len(winners))
        return [np.where(winners < 0, np.nan, scores[row, winners]) for scores in self._absent]


def _means(sums: Array, n_metrics: int) -> list[Array]:
    weight = np.where(sums[:, -1:] > 0, sums[:, -1:], np.nan)
    return np.split(sums[:, :-1] / weight, n_metrics, axis=1)


def _signed(metric: Pointwise, means: Array) -> Array:
    linked = means if metric._link is None else metric._link(means)
    return np.asarray(linked if metric.greater_is_better else -linked)
