"""Resamples as rows of counts: how often each sample is present.

Takes the number of samples (with groups or strata) and a seed, gives counts `[B, N]`; never sees predictions. Every
resample has random numbers of its own, and long tables are drawn in chunks of 65,536 units, so that the counts of any
block can be drawn alone and are always the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..containers import Array
from ..errors import SoberError
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
        from ..metrics.kernels import draw

        n_resamples, n = counts.shape
        chunks = [(at, min(at + CHUNK, n)) for at in range(0, n, CHUNK)]
        draws = np.full((n_resamples, 1), n)
        if len(chunks) > 1:
            share = np.array([(stop - start) / n for start, stop in chunks])
            draws = np.empty((n_resamples, len(chunks)), np.int64)
            for b in range(n_resamples):
                rng = generator(self.seed, self.purpose, *self.index, stratum, first + b)
                draws[b] = rng.multinomial(n, share)
        for c, (start, stop) in enumerate(chunks):
            place = key(self.seed, self.purpose, *self.index, stratum, c)
            draw(place, first, np.ascontiguousarray(draws[:, c]), counts[:, start:stop])


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


def replayed(counts: Array, n_columns: int) -> Array:
    """Check counts that were drawn elsewhere."""
    counts = np.asarray(counts)
    if counts.ndim != 2 or counts.shape[1] != n_columns or len(counts) == 0:
        raise SoberError("E101", f"`counts` must be [B, {n_columns}]; got shape {counts.shape}.")
    if counts.dtype.kind not in "iub" or counts.min() < 0:
        raise SoberError("E108", "`counts` must be whole numbers of 0 or more: how often each sample was drawn.")
    return counts
