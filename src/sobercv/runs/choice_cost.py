"""What choosing cost: a word where the gap between plain cross-validation and the honest score is large, or nothing.

Takes an `Estimate`, gives a note or none; never computes a score.
"""

from __future__ import annotations

from ..errors import Note
from ..inference import Estimate
from ..report.words import count, digits_for, number

#: Shares of half the width of the interval: a gap below the first is nothing, one above the second is a lot.
NOTHING, A_LOT = 0.02, 1.0


def choice_noted(estimate: Estimate, ended_early: bool = False) -> Note | None:
    """Say so where choosing cost a lot, or hardly anything.

    Parameters
    ----------
    estimate : Estimate
    ended_early : bool
        Then the few samples that were predicted tell nothing of what choosing costs.
    """
    if estimate.interval is None or estimate.n_configurations < 2 or ended_early:
        return None
    low, high = estimate.interval
    half, cost = (high - low) / 2, estimate.naive - estimate.value
    gap = number(cost, digits_for([estimate.value, estimate.naive, low, high]))
    best = f"Choosing the best of {count(estimate.n_configurations, 'configuration')}"
    if cost > A_LOT * half > 0:
        text = (
            f"{best} cost {gap}, more than half the width of the interval: what plain cross-validation claims would "
            "mislead. Report the honest score; fewer configurations or more rows make the gap smaller."
        )
        return Note("W833", text)
    if abs(cost) <= NOTHING * half:
        text = f"{best} cost hardly anything here ({gap}): one is clearly the best, or all are alike on so many rows."
        return Note("S805", text)
    return None
