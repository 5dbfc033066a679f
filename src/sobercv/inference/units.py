"""Units: what is resampled, and the only maker of counts.

A resample is a row of counts: how often each sample (or each fold) is present. Units are the samples, whole groups of
them, or folds; within strata if asked. `n` is the number of units, the only size that guards and degrees of freedom may
look at. Every resample has random numbers of its own, so that any block of them can be drawn alone with the same bits.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ..containers import Array, as_array
from ..errors import SoberError
from ..metrics.contract import as_counts
from ..seeds import generator, key

CHUNK = 1 << 16  # units drawn together; a longer table splits its draws over chunks first


@dataclass(frozen=True, eq=False)
class Units:
    """What is drawn with replacement: samples, whole groups, or folds."""

    length: int  # of a row of counts: the number of samples, or of folds
    seed: int  # root seed of the run
    purpose: str = "bootstrap"  # what the draws are for; other purposes draw independently
    index: tuple[int, ...] = ()  # which of that purpose's draws, such as the round of a race
    groups: Array | None = None  # members of a group share one count [N]
    #: Each stratum keeps its number of units [N]. A group belongs to the stratum of most of its members.
    strata: Array | None = None
    drawn: Array | None = None  # counts that are there already: folds, or another tool's draws [B, length]
    kind: Literal["samples", "folds"] = "samples"  # what an entry of a row of counts stands for
    n: int = field(init=False)  # number of units: groups where there are groups, else samples or folds
    names: str = field(init=False)  # what the units are called: samples, groups or folds
    clustered: bool = field(init=False)  # whether a unit holds several samples, which may be more or less alike
    of_entry: Array = field(init=False)  # the unit of each entry of a row of counts, numbered without gaps [length]
    members: list[Array] = field(init=False)  # the units of each stratum

    @classmethod
    def of_folds(cls, n_folds: int, n_resamples: int, seed: int, drawn: Array | None = None) -> Units:
        """Draw folds; a draw that leaves no fold out is drawn again, because nothing could be judged."""
        if drawn is not None:
            return cls(n_folds, seed, drawn=drawn, kind="folds")
        if n_folds < 2:
            raise SoberError("E113", f'`by="fold"` needs at least 2 folds; got {n_folds}. Pass `folds`.')
        rng = generator(seed, "folds")
        counts = np.zeros((n_resamples, n_folds), np.uint8)
        todo = np.arange(n_resamples)
        while len(todo):
            place = rng.integers(0, n_folds, (len(todo), n_folds)) + n_folds * np.arange(len(todo))[:, None]
            counts[todo] = np.bincount(place.ravel(), minlength=place.size).reshape(place.shape)
            todo = todo[(counts[todo] > 0).all(axis=1)]
        return cls(n_folds, seed, drawn=counts, kind="folds")

    def __post_init__(self) -> None:
        of_entry, n, names = np.arange(self.length), self.length, str(self.kind)
        if self.groups is not None:
            of_entry, names = np.unique(self.groups, return_inverse=True)[1].reshape(-1), "groups"
            n = int(of_entry.max()) + 1
        strata = self.strata
        if strata is not None and self.groups is not None:
            table = np.zeros((n, int(strata.max()) + 1), np.int64)
            np.add.at(table, (of_entry, strata), 1)
            strata = table.argmax(axis=1)
        members = [np.arange(n)] if strata is None else [np.flatnonzero(strata == s) for s in np.unique(strata)]
        self.__dict__.update(of_entry=of_entry, n=n, names=names, clustered=names != "samples", members=members)

    def counts(self, start: int, stop: int) -> Array:
        """Counts of resamples start to stop - 1 [stop - start, length]."""
        if self.drawn is not None:
            return self.drawn[start:stop]
        from ..metrics.kernels.draws import draw  # numba takes a while to import

        counts = np.zeros((stop - start, self.n), np.uint8)
        for s, members in enumerate(self.members):
            n = len(members)  # so many units are drawn for each resample
            some = counts if self.strata is None else np.zeros((stop - start, n), np.uint8)
            chunks = [(at, min(at + CHUNK, n)) for at in range(0, n, CHUNK)]
            in_chunk = np.full((stop - start, 1), n)  # how many of the n draws of each resample fall into each chunk
            if len(chunks) > 1:
                share = np.array([(last - first) / n for first, last in chunks])
                rngs = (generator(self.seed, self.purpose, *self.index, s, b) for b in range(start, stop))
                in_chunk = np.stack([rng.multinomial(n, share) for rng in rngs])
            for c, (first, last) in enumerate(chunks):
                own = key(self.seed, self.purpose, *self.index, s, c)
                draw(own, start, np.ascontiguousarray(in_chunk[:, c]), some[:, first:last])
            if some is not counts:
                counts[:, members] = some
        return counts if self.groups is None else counts[:, self.of_entry]


def checked_counts(counts: Any, length: int) -> Array:
    """Check counts [B, length] that were drawn elsewhere."""
    counts, present = as_array(counts, "counts")
    if counts.ndim != 2 or counts.shape[1] != length or len(counts) == 0:
        raise SoberError("E101", f"`counts` must be [B, {length}]; got shape {counts.shape}.")
    if counts.dtype == object and all(isinstance(v, (int, np.integer)) for v in counts.ravel().tolist()):
        with suppress(OverflowError):  # refused below
            counts = counts.astype(np.int64)
    if counts.dtype.kind not in "iub" or counts.min() < 0 or present is not None:
        raise SoberError("E108", "`counts` must be whole numbers of 0 or more: how often each sample was drawn.")
    return as_counts(counts)
