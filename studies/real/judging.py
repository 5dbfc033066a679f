"""How claims about the real data are judged: on which side of a number a mean lies, within its error.

Takes numbers of sub-data sets, gives whether a claim holds, and the words for them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .measures import Rows, at, bias, mean_and_error, sizes


def side(values: np.ndarray, above: bool, of: float = 0.0) -> bool | None:
    """Whether the mean lies on this side; None where it does not, but two standard errors would carry it there."""
    mean, error = mean_and_error(values)
    if (mean > of) == above:
        return True
    return None if not abs(mean - of) > 2 * error else False


def all_of(answers: Sequence[bool | None]) -> bool | None:
    """Whether all agree; None where none disagrees but some cannot be told."""
    return False if False in answers else None if None in answers else True


def pm(values: np.ndarray) -> str:
    """Write a mean with two standard errors; one number has none."""
    mean, error = mean_and_error(values)
    return f"{mean:+.3f} ± {2 * error:.3f}" if len(values) > 1 else f"{mean:+.3f}"


def by_n(rows: Rows, protocol: str) -> str:
    """Write the mean bias at every size."""
    return ", ".join(f"{bias(at(rows, (n,)), protocol).mean():+.3f} (N = {n})" for n in sizes(rows))
