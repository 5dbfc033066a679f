"""All cuts of all configurations: the best score over them in every resample, and where the best one lies.

Takes scores [C, N], the truth and a formula of true and false positives, gives scores [B, C] and thresholds [B]; never
selects.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...containers import Array
from ...errors import SoberError
from ...metrics.cuts import AtCuts
from ..selection import TIE

_VECTOR = 64  # resamples are scanned in whole vectors
_WEIGHTED = 64  # resamples at a time where counts are numbers with a point, which take eight times the memory


@dataclass(frozen=True)
class Floors:
    """What must hold at a cut; None for nothing."""

    min_precision: float | None = None
    at_sensitivity: float | None = None
    at_specificity: float | None = None

    def __post_init__(self) -> None:
        for name, value in self.given().items():
            number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
            if value is not None and (not number or not 0 < value <= 1):
                hint = f" Write {value / 100:g} for {value:g} %." if number and 1 < value < 100 else ""
                raise SoberError("E108", f"`{name}` must lie above 0 and not above 1; got {value!r}.{hint}")

    def given(self) -> dict[str, float | None]:
        """By name."""
        return {name: self.named(name) for name in ("min_precision", "at_sensitivity", "at_specificity")}

    def named(self, name: str) -> float | None:
        """Return the floor of this name."""
        value: float | None = getattr(self, name)
        return value

    @property
    def any(self) -> bool:
        """Whether there is one."""
        return any(value is not None for value in self.given().values())

    def bounds(self, positives: Array, negatives: Array) -> Array:
        """The least weight of true positives and the most of false ones, for each resample [2, B]."""
        least = (self.at_sensitivity or 0.0) * positives * (1.0 - 1e-12)  # rounding must not cost a sample
        most = (1.0 - (self.at_specificity or 0.0)) * negatives + 1e-12 * negatives
        return np.stack([least, most])


class Cuts:
    """The samples of every configuration, sorted once.

    Parameters
    ----------
    scores : float array [C, N]
        More speaks for the positive class.
    positive : bool array [N]
    weight : float array [N] or None
    formula : AtCuts
    floors : Floors
    """

    def __init__(self, scores: Array, positive: Array, weight: Array | None, formula: AtCuts, floors: Floors) -> None:
        from ...metrics.kernels.cuts import make_cuts  # numba takes a while to import

        self._scores, self._positive, self._weight = scores, positive, weight
        self._formula, self._floors = formula, floors
        self._samples = np.empty(scores.shape, np.int32)
        self._actions = np.empty(scores.shape, np.int8)
        # Equal scores are taken together, so that their order changes no count; sums of weights it may round.
        order = np.argsort(scores, axis=1, kind=None if weight is None else "stable")
        make_cuts(order, scores, positive, self._samples, self._actions)

    def best(self, counts: Array) -> Array:
        """The best score over all cuts, of every configuration in every resample [B, C]; NaN where there is none."""
        if self._weight is None:
            return self._best(counts)
        cut = range(0, len(counts), _WEIGHTED)
        return np.concatenate([self._best(counts[at : at + _WEIGHTED]) for at in cut])

    def _best(self, counts: Array) -> Array:
        from ...metrics.kernels.cuts import best_cuts

        n_resamples, n = counts.shape
        wide = -(-n_resamples // _VECTOR) * _VECTOR
        numbers, floors, total = self._numbers(counts, wide)
        kind = np.float64 if self._weight is not None else np.uint16 if total < 2**16 else np.uint32
        turned = np.zeros((n, wide), counts.dtype if self._weight is None else np.float64)
        turned[:, :n_resamples] = counts.T if self._weight is None else counts.T * self._weight[:, None]
        out = np.empty((len(self._scores), n_resamples))
        best_cuts(
            self._formula.kind, self._samples, self._actions, turned, turned.ctypes.data, numbers, floors,
            self._floors.min_precision or 0.0, self._floors.any, np.empty(wide, kind), np.empty(wide, kind), out,
        )  # fmt: skip
        return out.T

    def place(self, counts: Array, picked: Array) -> Array:
        """The threshold of configuration picked[b] in resample b [B]; infinite where no sample parts from another."""
        from ...metrics.kernels.cuts import place_cuts

        numbers, floors, _ = self._numbers(counts, len(counts))
        weight = np.ones(counts.shape[1]) if self._weight is None else self._weight
        out = np.empty(len(counts))
        place_cuts(
            self._formula.kind, self._samples, self._actions, self._scores, counts, weight, numbers, floors,
            self._floors.min_precision or 0.0, picked.astype(np.int64), TIE, np.array([-np.inf, np.inf]), out,
        )  # fmt: skip
        return out

    def _numbers(self, counts: Array, wide: int) -> tuple[Array, Array, float]:
        """What the formula and the floors come to in each resample, and the weight of the largest."""
        sides = np.zeros((2, wide))
        for side, here in zip(sides, (self._positive, ~self._positive), strict=True):
            side[: len(counts)] = _sums(counts[:, here], None if self._weight is None else self._weight[here])
        return self._formula.coefficients(*sides), self._floors.bounds(*sides), float(sides.sum(axis=0).max(initial=0))


def _sums(counts: Array, weight: Array | None) -> Array:
    """Weight of the samples present [B]; row by row, because a product of all rounds by the number of rows."""
    if weight is None:
        return counts.sum(axis=1, dtype=np.float64)
    return np.array([float(row.astype(np.float64) @ weight) for row in counts])
