"""Resamples as rows of counts: how often each sample is present.

Takes the number of samples (with groups or strata) and a seed, gives counts `[B, N]`; never sees predictions. Every
resample has random numbers of its own, and long tables are drawn in chunks of 65,536 units, so that the counts of any
block of resamples and of any range of samples can be drawn alone and are always the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..containers import Array, as_array
from ..errors import SoberError
from ..metrics import first_calls
from ..metrics.part import as_counts
from ..seeds import generator, key

CHUNK = 1 << 16  # units (samples or groups) drawn together; a longer table splits its draws over chunks first


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """Draws with replacement: of samples, of whole groups, within strata.

    Parameters
    ----------
    n_samples : int
    seed : int
        Root seed of the run.
    purpose : str
        What the draws are for; other purposes draw independently.
    index : tuple of int
        Which of that purpose's draws, such as the round of a race.
    groups : int array [N], optional
        Members of a group share one count.
    strata : int array [N], optional
        Each stratum keeps its number of units. A group belongs to the stratum of most of its members.
    """

    n_samples: int
    seed: int
    purpose: str = "bootstrap"
    index: tuple[int, ...] = ()
    groups: Array | None = None
    strata: Array | None = None

    @property
    def n_units(self) -> int:
        """Number of things drawn: groups where there are groups, else samples."""
        return self.n_samples if self._members is None else int(self._members.max()) + 1

    @cached_property
    def _members(self) -> Array | None:
        """The groups, numbered without gaps: samples that are not in the table may have left some."""
        return None if self.groups is None else np.unique(self.groups, return_inverse=True)[1].reshape(-1)

    def counts(self, start: int, stop: int) -> Array:
        """Counts of resamples start to stop - 1: uint8 [stop - start, N]."""
        drawn = np.zeros((stop - start, self.n_units), np.uint8)
        for s, members in enumerate(self._strata_of_units()):
            part = drawn if members is None else np.zeros((stop - start, len(members)), np.uint8)
            self._draw(part, start, s)
            if members is not None:
                drawn[:, members] = part
        return drawn if self._members is None else drawn[:, self._members]

    def by_rows(self, n_resamples: int) -> RowDraws:
        """Prepare to draw the same counts a range of samples at a time, for tables too long to be drawn whole."""
        return RowDraws(self, n_resamples)

    def _strata_of_units(self) -> list[Array | None]:
        if self.strata is None:
            return [None]
        of_unit = self.strata
        if self._members is not None:
            table = np.zeros((self.n_units, int(self.strata.max()) + 1), np.int64)
            np.add.at(table, (self._members, self.strata), 1)
            of_unit = table.argmax(axis=1)
        return [np.flatnonzero(of_unit == s) for s in np.unique(of_unit)]

    def _draw(self, counts: Array, first: int, stratum: int) -> None:
        """Draw as many units as there are, with replacement, for each row of counts."""
        n_resamples, n = counts.shape
        draws = self._shares(first, n_resamples, n, stratum)
        for c, (start, stop) in enumerate(_chunks(n)):
            _draw(self._key(stratum, c), first, np.ascontiguousarray(draws[:, c]), counts[:, start:stop])

    def _shares(self, first: int, n_resamples: int, n: int, stratum: int) -> Array:
        """How many of the n draws of each resample fall into each chunk [B, chunks]."""
        chunks = _chunks(n)
        if len(chunks) == 1:
            return np.full((n_resamples, 1), n)
        share = np.array([(stop - start) / n for start, stop in chunks])
        draws = np.empty((n_resamples, len(chunks)), np.int64)
        for b in range(n_resamples):
            rng = generator(self.seed, self.purpose, *self.index, stratum, first + b)
            draws[b] = rng.multinomial(n, share)
        return draws

    def _key(self, stratum: int, chunk: int) -> np.uint64:
        return key(self.seed, self.purpose, *self.index, stratum, chunk)


def _draw(key: np.uint64, first: int, n_draws: Array, counts: Array) -> None:
    """Draw n_draws[b] units for each row of counts."""
    if first_calls.allowance.covers(first_calls.DRAW * float(n_draws.sum())):
        first_calls.draw(key, first, n_draws, counts)
    else:
        from ..metrics.kernels import draw  # numba takes a while to import

        draw(key, first, n_draws, counts)


def _chunks(n: int) -> list[tuple[int, int]]:
    return [(at, min(at + CHUNK, n)) for at in range(0, n, CHUNK)]


class RowDraws:
    """The draws of a bootstrap, handed out by ranges of samples.

    Parameters
    ----------
    bootstrap : Bootstrap
    n_resamples : int
    """

    def __init__(self, bootstrap: Bootstrap, n_resamples: int) -> None:
        self._bootstrap = bootstrap
        strata = bootstrap._strata_of_units()
        sizes = [bootstrap.n_units if members is None else len(members) for members in strata]
        self._sizes = sizes
        self._shares = [bootstrap._shares(0, n_resamples, n, s) for s, n in enumerate(sizes)]
        # Where each unit stands: its stratum, and its place among the units of that stratum.
        self._stratum: Array | None = None
        self._place: Array | None = None
        if bootstrap.strata is not None:
            self._stratum = np.empty(bootstrap.n_units, np.int32)
            self._place = np.empty(bootstrap.n_units, np.int64)
            for s, members in enumerate(strata):
                self._stratum[members] = s
                self._place[members] = np.arange(len(members))  # type: ignore[arg-type]

    def block(self, start: int, stop: int) -> BlockDraws:
        """Give all that is needed to draw the counts of samples start to stop - 1, and no more: it may be sent away."""
        bootstrap = self._bootstrap
        if bootstrap._members is None and self._place is None and start // CHUNK == (stop - 1) // CHUNK:
            at = start // CHUNK * CHUNK
            return BlockDraws(stop - start, (self._chunk(0, start // CHUNK, None, slice(start - at, stop - at)),))
        units = np.arange(start, stop) if bootstrap._members is None else bootstrap._members[start:stop]
        stratum = np.zeros(len(units), np.int32) if self._stratum is None else self._stratum[units]
        place = units if self._place is None else self._place[units]
        chunks = []
        for s in np.unique(stratum):
            for c in np.unique(place[stratum == s] // CHUNK):
                here = np.flatnonzero((stratum == s) & (place // CHUNK == c))
                chunks.append(self._chunk(int(s), int(c), here, place[here] - c * CHUNK))
        return BlockDraws(stop - start, tuple(chunks))

    def _chunk(self, stratum: int, chunk: int, into: Array | None, taken: Any) -> ChunkDraws:
        size = min(CHUNK, self._sizes[stratum] - chunk * CHUNK)
        draws = np.ascontiguousarray(self._shares[stratum][:, chunk])
        return ChunkDraws(self._bootstrap._key(stratum, chunk), draws, size, into, taken)


@dataclass(frozen=True, eq=False)
class ChunkDraws:
    """The draws of one chunk of units, and which of its units are samples of the block."""

    key: np.uint64
    n_draws: Array  # [B]
    n_units: int
    into: Array | None  # samples of the block; None for all of them
    taken: Any  # their units, counted from the start of the chunk


@dataclass(frozen=True, eq=False)
class BlockDraws:
    """The draws of a range of samples: small, and able to travel to where the samples are."""

    n_rows: int
    chunks: tuple[ChunkDraws, ...]

    def counts(self, start: int, stop: int) -> Array:
        """Counts of resamples start to stop - 1 for the samples of this block: uint8 [stop - start, rows]."""
        out = np.empty((stop - start, self.n_rows), np.uint8)
        for chunk in self.chunks:
            drawn = np.zeros((stop - start, chunk.n_units), np.uint8)
            _draw(chunk.key, start, chunk.n_draws[start:stop], drawn)
            if chunk.into is None:
                if drawn.shape == out.shape:
                    return drawn
                return drawn[:, chunk.taken]
            out[:, chunk.into] = drawn[:, chunk.taken]
        return out


def _whole_numbers(counts: Array) -> Array:
    """Give Python's whole numbers as those of numpy, where they fit."""
    try:
        return counts.astype(np.int64)
    except OverflowError:
        return counts


def fold_draws(n_folds: int, n_resamples: int, seed: int) -> Array:
    """Draw folds with replacement [B, K]; a draw that leaves no fold out is drawn again: nothing could be judged."""
    if n_folds < 2:
        raise SoberError(
            "E113", f'`by="fold"` resamples folds and needs at least 2 of them; got {n_folds}. Pass `folds`.'
        )
    rng = generator(seed, "folds")
    out = np.zeros((n_resamples, n_folds), np.uint8)
    todo = np.arange(n_resamples)
    while len(todo):
        drawn = rng.integers(0, n_folds, (len(todo), n_folds))
        out[todo] = (drawn[:, :, None] == np.arange(n_folds)).sum(axis=1)
        todo = todo[(out[todo] > 0).all(axis=1)]
    return out


@dataclass(frozen=True, eq=False)
class Replayed:
    """Draws that were made elsewhere, handed out as a `Bootstrap` hands out its own: by resamples and by samples.

    Attributes
    ----------
    table : int array [B, N]
        How often each sample was drawn.
    """

    table: Array

    @classmethod
    def of(cls, counts: Any, n_columns: int) -> Replayed:
        """Check counts from outside."""
        counts, present = as_array(counts, "counts")
        if counts.ndim != 2 or counts.shape[1] != n_columns or len(counts) == 0:
            raise SoberError("E101", f"`counts` must be [B, {n_columns}]; got shape {counts.shape}.")
        if counts.dtype == object and all(isinstance(v, (int, np.integer)) for v in counts.ravel().tolist()):
            counts = _whole_numbers(counts)
        if counts.dtype.kind not in "iub" or counts.min() < 0 or present is not None:
            raise SoberError("E108", "`counts` must be whole numbers of 0 or more: how often each sample was drawn.")
        return cls(as_counts(counts))

    @property
    def n_resamples(self) -> int:
        """Number of resamples."""
        return len(self.table)

    def at(self, samples: Array | slice) -> Replayed:
        """Keep the draws of some of the samples."""
        return Replayed(self.table[:, samples])

    def counts(self, start: int, stop: int) -> Array:
        """Counts of resamples start to stop - 1 [stop - start, N]."""
        return self.table[start:stop]

    def by_rows(self, n_resamples: int) -> Replayed:
        """Prepare to hand out ranges of samples; there is nothing to prepare."""
        return self

    def block(self, start: int, stop: int) -> Replayed:
        """Give the draws of samples start to stop - 1."""
        return self.at(slice(start, stop))


#: All draws of a run, and those of a range of samples.
Draws = Bootstrap | Replayed
DrawsOfBlock = BlockDraws | Replayed
