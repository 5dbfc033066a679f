"""Metrics that are a mean over samples: one pass over blocks of rows, a sum of products.

Takes a `Request`, gives what was drawn. For each block the losses are multiplied with the counts and with "absent" of
all resamples; the sums of the blocks are all that is kept, so that memory depends on neither N nor the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from ... import sources
from ...containers import Array
from ...errors import SoberError
from ...metrics import blocks
from ...metrics.base import Part
from ...metrics.pointwise import Pointwise
from ...predictions import Predictions
from ..claims import FROM_PROBABILITIES, Drawn, notes_on_size
from ..resample import BlockDraws, Bootstrap
from ..selection import apply
from .request import ERRORS, Reading, Request

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
    kinds : set of bool
        Whether blocks were read as probabilities of which labels are taken.
    """

    values: list[Array]
    kinds: frozenset[bool]

    def __add__(self, other: Sums) -> Sums:
        values = [ours + theirs for ours, theirs in zip(self.values, other.values, strict=True)]
        return Sums(values, self.kinds | other.kinds)


@dataclass(frozen=True, eq=False)
class Parcel:
    """What a block needs beside its predictions."""

    start: int
    y: Array
    weight: Array | None
    draws: BlockDraws
    errors: BlockDraws | None


@dataclass(frozen=True, eq=False)
class Work:
    """Predictions and parcel of a block in, sums out; picklable, because it may be done elsewhere."""

    reading: Reading
    metrics: list[Pointwise]
    n_bootstraps: int

    def __call__(self, values: Array, parcel: Parcel) -> Sums:
        """Add up the losses of one block."""
        with blocks.one_blas_thread():
            table = self.reading.table(np.asarray(values), parcel.y, parcel.weight, parcel.start)
            responses = [metric.response_of(table)[:, :, 0] for metric in self.metrics]
            firsts, starts = range(0, table.n_configurations, WIDTH), range(0, len(table.y), STEP)
            groups = [[self._losses(table, responses, first, at) for at in starts] for first in firsts]
            rows = [_products(parcel.draws, self.n_bootstraps, groups, True)]
            if parcel.errors is not None:
                rows.append(_products(parcel.errors, ERRORS, groups, False))
            rows.append([np.sum([p.sum(axis=1, dtype=np.float64) for p in g], axis=0)[None] for g in groups])
        sums = [np.concatenate(parts) for parts in zip(*rows, strict=True)]
        return Sums(sums, frozenset([table.labels_from_probabilities]))

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
        exact = weight is None and all(metric._exact for metric in self.metrics)
        return np.concatenate(rows, dtype=np.float32 if exact else np.float64)


def _products(draws: BlockDraws, n_resamples: int, groups: list[list[Array]], absent: bool) -> list[Array]:
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


def draw(request: Request) -> Drawn:
    """Gather sums over all blocks, then select and judge."""
    y = request.target.values
    n, n_resamples, metrics = request.n_samples, request.n_bootstraps, cast(list[Pointwise], request.metrics)
    draws = request.bootstrap().by_rows(n_resamples)
    errors = None
    if request.needs_standard_errors:
        errors = Bootstrap(n, request.seed, "standard error", groups=request.groups).by_rows(ERRORS)

    def parcel(start: int, stop: int) -> Parcel:
        weight = None if request.weight is None else request.weight[start:stop]
        error = None if errors is None else errors.block(start, stop)
        return Parcel(start, y[start:stop], weight, draws.block(start, stop), error)

    work = Work(request.reading(), metrics, n_resamples)
    n_threads = blocks.threads(request.n_jobs)
    means: list[list[Array]] = []
    kinds: frozenset[bool] = frozenset()
    # One pass over the table, unless a block of all configurations is too much to hold.
    width = WIDTH * max(1, _BYTES // (n_threads * WIDTH * sources.ROWS * 16))
    for first in range(0, request.n_configurations, width):
        total: Sums | None = None
        with blocks.one_blas_thread():
            for part in request.source.map(work, parcel, slice(first, first + width), n_threads):
                total = part if total is None else total + part
        assert total is not None
        kinds |= total.kinds
        means += [_means(values, len(metrics)) for values in total.values]
    scores = [_signed(metric, np.concatenate([m[k] for m in means], axis=1)) for k, metric in enumerate(metrics)]
    return _judge(request, scores, request.reading().settle(kinds))


def _means(sums: Array, n_metrics: int) -> list[Array]:
    weight = np.where(sums[:, -1:] > 0, sums[:, -1:], np.nan)
    return np.split(sums[:, :-1] / weight, n_metrics, axis=1)


def _signed(metric: Pointwise, means: Array) -> Array:
    linked = means if metric._link is None else metric._link(means)
    return np.asarray(linked if metric.greater_is_better else -linked)


def _judge(request: Request, scores: list[Array], from_probabilities: bool) -> Drawn:
    n_resamples = request.n_bootstraps
    errors = None
    if request.needs_standard_errors:
        with np.errstate(invalid="ignore"):
            errors = np.asarray(np.nanstd(scores[0][2 * n_resamples : -1], axis=0, ddof=1))
    chosen = apply(request.rule, scores[0][:n_resamples], errors)
    winner = int(apply(request.rule, scores[0][-1:], errors)[0])
    if winner < 0:
        name = request.metrics[0].name
        raise SoberError("E109", f"{name} is undefined on these samples, so nothing can be selected. Check `y`.")
    absent = [s[n_resamples : 2 * n_resamples][np.arange(n_resamples), chosen] for s in scores]
    notes = notes_on_size(request.n_configurations, 0, request.n_samples, request.n_groups)
    return Drawn(
        metrics=request.metrics,
        wholes=[s[-1] for s in scores],
        winner=winner,
        chosen=chosen,
        draws=[np.where(chosen < 0, np.nan, values) for values in absent],
        configurations=np.arange(request.n_configurations),
        n_samples=request.n_samples,
        n_groups=request.n_groups,
        notes=(*notes, *([FROM_PROBABILITIES] if from_probabilities else [])),
    )
