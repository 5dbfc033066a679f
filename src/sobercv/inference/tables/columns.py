"""A table of any metric, exactly: one block of configurations at a time, with all their samples.

Takes a source and a question, gives scores. A score depends on its own configuration only, so that the scores `[B, C]`
can be gathered block by block; out of bag the winners' columns alone are read again.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...containers import Array
from ...errors import Note, SoberError
from ...metrics import blocks
from .base import Resamples
from .memory import MemoryTable
from .streamed import StreamedTable

_BYTES = 1 << 29  # of predictions, sorted orders and walks that are held at a time
_COUNTS = 1 << 27  # bytes of counts that a thread holds
_A_SAMPLE = {"survival": 800}  # bytes that a sample takes with one configuration; survival has log2(N) levels
_A_SAMPLE_ELSE = 120


@dataclass(frozen=True, eq=False)
class Gathered:
    """What one pass over the columns gives.

    Attributes
    ----------
    wholes : list of array [C]
        A metric each.
    scores : list of array
        By the metric that selects, in bag [B, C]; or, where folds are resampled, for each metric by fold [K, C].
    errors : array [C] or None
    kinds : set of str
        The responses that blocks were read as.
    complaints : list of str
        What each metric's function said when it refused.
    """

    wholes: list[Array]
    scores: list[Array]
    errors: Array | None
    kinds: frozenset[str]
    complaints: list[str]


class ColumnTable(StreamedTable):
    """Any metric; as many columns at a time as there is room for."""

    def whole(self) -> list[Array]:
        """Give what the pass gathered."""
        return self._gathered.wholes

    def standard_errors(self) -> Array:
        """Give what the pass gathered."""
        assert self._gathered.errors is not None
        return self._gathered.errors

    def fold_scores(self) -> list[Array]:
        """Give what the pass gathered."""
        return self._gathered.scores

    def resamples(self, start: int, stop: int) -> ColumnResamples:
        """Give some of what the pass gathered; the winners' columns are read again."""
        return ColumnResamples(self, start, self._gathered.scores[0][start:stop])

    def notes(self, winner: int, chosen: Array) -> list[Note]:
        """What is special about the samples, and whether the folds of the winner live on different scales."""
        found = self.common_notes(self._gathered.kinds)
        scales = None if self.folds is None else self.bind(np.array([winner])).scales(0)
        return found if scales is None else [*found, scales]

    def complaint(self, metric: int) -> str:
        """Quote the user's function."""
        return self._gathered.complaints[metric]

    def spans(self) -> list[tuple[int, int]]:
        """Resamples that are scored together; fewer than a unit where their counts would not fit."""
        if blocks.UNIT * self.n_samples <= _COUNTS:
            return blocks.ranges(self.n_resamples, self.n_samples, self.question.n_threads)
        return blocks.cut(self.n_resamples, max(8, _COUNTS // self.n_samples // 8 * 8))

    @cached_property
    def _gathered(self) -> Gathered:
        _check_memory(self)
        wholes: list[list[Array]] = []
        scores: list[list[Array]] = []
        errors: list[Array] = []
        kinds: set[str] = set()
        complaints = [""] * len(self.question.metrics)
        for at in _blocks(np.arange(self.n_configurations), self.n_samples):
            some = self.bind(at)
            kinds |= set(some.predictions.responses)
            wholes.append(some.whole())
            scores.append(some.fold_scores() if self.question.by == "fold" else [self._in_bag(some)])
            if self.question.needs_standard_errors:
                errors.append(some.standard_errors())
            complaints = [known or some.complaint(k) for k, known in enumerate(complaints)]
        self.reading.check_kinds(kinds)
        return Gathered(
            [np.concatenate(parts) for parts in zip(*wholes, strict=True)],
            [np.concatenate(parts, axis=1) for parts in zip(*scores, strict=True)],
            np.concatenate(errors) if errors else None,
            frozenset(kinds),
            complaints,
        )

    def _in_bag(self, some: MemoryTable) -> Array:
        def score(start: int, stop: int) -> Array:
            return some.scorers[0].scores(self.draws.counts(start, stop))

        return np.concatenate(blocks.run(score, list(self.spans()), self.question.n_threads))


class ColumnResamples(Resamples):
    """In-bag scores that were gathered before; who wins is read again to be judged."""

    def __init__(self, table: ColumnTable, start: int, present: Array) -> None:
        self._table, self._start, self._present = table, start, present

    def in_bag(self) -> Array:
        """Give all [B, C]."""
        return self._present

    def in_bag_of(self, winner: int) -> list[Array]:
        """Read the column of one configuration, and score what is present."""
        table, some = self._table, self._table.bind(np.array([winner]))

        def judge(start: int, stop: int) -> list[Array]:
            counts = table.draws.counts(self._start + start, self._start + stop)
            return [scorer.picked(counts, np.zeros(len(counts), np.int64)) for scorer in some.scorers[1:]]

        n = len(self._present)
        cut = [(start, min(stop, n)) for start, stop in table.spans() if start < n]
        done = blocks.run(judge, cut, table.question.n_threads)
        return [np.concatenate(of_metric) for of_metric in zip(*done, strict=True)]

    def out_of_bag(self, winners: Array) -> list[Array]:
        """Read the columns of the winners, block by block, and score what is absent."""
        table = self._table
        out = [np.full(len(winners), np.nan) for _ in table.question.metrics]
        for at in _blocks(np.unique(winners[winners >= 0]), table.n_samples):
            some = table.bind(at)

            def judge(start: int, stop: int, some: MemoryTable = some, at: Array = at) -> list[Array]:
                here = winners[start:stop]
                mine = np.isin(here, at)
                absent = (table.draws.counts(self._start + start, self._start + stop)[mine] == 0).view(np.uint8)
                return [scorer.picked(absent, np.searchsorted(at, here[mine])) for scorer in some.scorers]

            cut = [(start, min(stop, len(winners))) for start, stop in table.spans() if start < len(winners)]
            done = blocks.run(judge, cut, table.question.n_threads)
            for k, values in enumerate(out):
                values[np.isin(winners, at)] = np.concatenate([part[k] for part in done])
        return out


def _blocks(configurations: Array, n_samples: int) -> list[Array]:
    width = max(1, _BYTES // (40 * n_samples))
    return [configurations[at : at + width] for at in range(0, len(configurations), width)]


def _check_memory(table: StreamedTable) -> None:
    """Refuse what would need more memory than the machine has, before it is tried."""
    n_threads = table.question.n_threads
    each = _A_SAMPLE.get(table.question.first.task, _A_SAMPLE_ELSE) + 16 * n_threads  # 8 resamples, twice, a thread
    needed = table.n_samples * each
    machine = _memory()
    if machine and needed > machine:
        name = table.question.first.name
        instead = "Pass approximate=True for histograms with a known error" if name == "roc_auc" else "Take fewer rows"
        raise SoberError(
            "E119",
            f"An exact {name} of {table.n_samples:,} samples needs some {needed / 2**30:.0f} GiB; this machine has "
            f"{machine / 2**30:.0f}. {instead}, or choose a metric that is a mean over samples.",
        )


def _memory() -> int:
    """Bytes of the machine; 0 where it does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0
