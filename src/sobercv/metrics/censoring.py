"""Who was lost from sight when: the chance to be still observed, by Kaplan and Meier, in every resample.

Takes (event, time) and counts, gives G(t-) of every sample or G(t) at a time: what samples are weighted by (inverse
probability of censoring weighting, IPCW). Of an event and a censoring at the same time the event came first. Whoever is
observed at a time had a chance to be, so that no weight is ever infinite.
"""

from __future__ import annotations

import numpy as np

from ..containers import Array
from .part import Part


class Censoring:
    """The distribution of the censoring times.

    Parameters
    ----------
    part : Part
    """

    def __init__(self, part: Part) -> None:
        time, event = part.y["time"], part.y["event"]
        self.times, self._code = np.unique(time, return_inverse=True)
        self._code = self._code.reshape(-1)
        self._order = np.argsort(self._code, kind="stable")
        self._starts = np.searchsorted(self._code[self._order], np.arange(len(self.times)))
        self._event = event[self._order].astype(np.float64)

    def before(self, mass: Array) -> Array:
        """Chance to be observed until just before one's own time: weights of samples [B, N] -> [B, N]."""
        chance = self._chance(mass)
        return np.concatenate([np.ones((len(mass), 1)), chance], axis=1)[:, self._code]

    def at(self, mass: Array, time: float) -> Array:
        """Chance to be observed beyond a time: [B, N] -> [B]."""
        passed = int(np.searchsorted(self.times, time, side="right"))
        return self._chance(mass)[:, passed - 1] if passed else np.ones(len(mass))

    def _chance(self, mass: Array) -> Array:
        """G at every distinct time [B, U]."""
        by_time = mass[:, self._order]
        events = np.add.reduceat(by_time * self._event, self._starts, axis=1)
        lost = np.add.reduceat(by_time * (1.0 - self._event), self._starts, axis=1)
        at_risk = np.cumsum((events + lost)[:, ::-1], axis=1)[:, ::-1] - events
        share = np.divide(lost, at_risk, out=np.zeros_like(lost), where=lost > 0)
        return np.cumprod(np.maximum(1.0 - share, 0.0), axis=1)
