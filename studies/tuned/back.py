"""How far an estimate of what was tuned should go back towards the naive score: chosen on real data, judged on other.

Takes what was claimed of real tables (see `real`), gives bias and error for each share of the way, and for each data
set the share that the others choose; computes nothing anew, since a claim at one share tells that at every other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sobercv.inference.bootstrap import BACK

from ..intervals.tables import Place
from .real import SIZES, standard_error
from .simulated import TUNED

KINDS = ("threshold", "threshold, F1", "greedy ensemble")
SHARES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25)
Claims = Mapping[Place, np.ndarray]


def errors(found: Claims, kind: str, size: str, but: str = "") -> tuple[np.ndarray, np.ndarray]:
    """Estimate less truth at each share [tables, shares], and the data set of each table; one set may be left out."""
    least, most = SIZES[size]
    here = {place: rows for place, rows in found.items() if least <= place.n <= most and place.name != but}
    naive, value, _, _, truth = np.array([rows[list(TUNED).index(kind)] for rows in here.values()]).T[:, :, None]
    plain = (value - BACK * naive) / (1.0 - BACK)
    return plain + np.array(SHARES) * (naive - plain) - truth, np.array([place.name for place in here])


def by_share(found: Claims) -> list[dict[str, Any]]:
    """Bias and root mean square of the error, for each kind of tuning, size and share."""
    rows = []
    for kind in KINDS:
        for size in SIZES:
            off, names = errors(found, kind, size)
            for k, share in enumerate(SHARES):
                e = off[:, k]
                bias = {"bias": e.mean(), "bias_error": standard_error(e, names), "rmse": np.sqrt((e**2).mean())}
                rows.append({"tuned": kind, "n": size, "share": share, "tables": len(e), **bias})
    return rows


def _mean_error(found: Claims, but: str = "") -> np.ndarray:
    """Root mean square of the error [shares], the mean over kinds of tuning and sizes."""
    each = [errors(found, kind, size, but)[0] for kind in KINDS for size in SIZES]
    return np.asarray(np.mean([np.sqrt((off**2).mean(axis=0)) for off in each], axis=0))


def by_set(found: Claims) -> list[dict[str, Any]]:
    """For each data set the share of the smallest error on the others, and what it does to this one."""
    rows = []
    for name in sorted({place.name for place in found}):
        chosen = int(_mean_error(found, but=name).argmin())
        own = {place: rows for place, rows in found.items() if place.name == name}
        parts = [errors(own, kind, s)[0] for kind in KINDS for s in SIZES if any(_is_of(p, s) for p in own)]
        off = np.concatenate(parts)
        told = {
            f"{what} {when}": value(off[:, k])
            for when, k in (("at 0", 0), ("chosen", chosen))
            for what, value in (("bias", np.mean), ("rmse", lambda e: np.sqrt((e**2).mean())))
        }
        rows.append({"data": name, "tables": len(own), "chosen": SHARES[chosen], **told})
    return rows


def _is_of(place: Place, size: str) -> bool:
    least, most = SIZES[size]
    return least <= place.n <= most
