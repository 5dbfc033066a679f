"""The calibrated interval as literal loops: sums over configurations one by one, bounds by halving an interval.

The twin of `sobercv.inference.intervals.Calibrated`: slow, obvious, and ignorant of roots and of arrays.
"""

from __future__ import annotations

import math

from scipy import stats


def shape(x: float, low: float, high: float) -> float:
    """How the variance of a score depends on the score."""
    two, one = math.isfinite(low) and math.isfinite(high), math.isfinite(high)
    return (high - x) * (x - low) if two else (high - x) ** 2 if one else (x - low) ** 2 if math.isfinite(low) else 1.0


def parts(scores, variances, winner, value, own, ends, assumed, excess) -> tuple[float, float | None, float]:
    """Centre, size and doubt."""
    naive = scores[winner]
    corrected = min(max(value - (own - naive), ends[0]), naive)
    known = [c for c in range(len(scores)) if not math.isnan(scores[c])]
    ends_known = [end for end in ends if math.isfinite(end)]
    unit = ends[1] - ends[0] if len(ends_known) == 2 else abs(naive - ends_known[0]) if ends_known else abs(naive)
    room = naive - sum(scores[c] for c in known) / len(known)
    share = min(max((naive - corrected) / room, 0), 1) if room > 1e-12 * unit else 0
    weight = 0.632 / (1 - 0.368 * share)
    compromise = (1 - weight) * naive + weight * corrected
    width = math.sqrt(max(variances[winner], sum(variances[c] for c in known) / len(known)))
    sizes = []
    if width > 1e-12 * unit:
        above = below = 0.0
        for c in known:
            near = math.exp(-(((scores[c] - compromise) / width) ** 2) / 2)
            above += near * shape(scores[c], *ends)
            below += near * variances[c]
        if above > 0 and below > 0:
            sizes.append(above / below)
        if shape(naive, *ends) > 0 and variances[winner] > 0:
            sizes.append(shape(naive, *ends) / variances[winner])
    size = min(sizes) if sizes else assumed if math.isfinite(ends[0]) and math.isfinite(ends[1]) else None
    return (corrected + compromise) / 2, size and size / excess, (0.5 * (naive - corrected)) ** 2


def bound(centre, size, doubt, ends, freedom, trained, share, side) -> float:
    """The furthest score on this side; above, what the winner may learn from the other rows is added."""
    found = furthest(centre, size, doubt, ends, freedom, share, side)
    if side > 0 and math.isfinite(ends[1]):
        lost = ends[1] - found
        found = ends[1] - lost * math.sqrt(trained)
    return found


def furthest(centre, size, doubt, ends, freedom, share, side) -> float:
    """The score furthest from the centre, on this side, that still explains it."""
    z = stats.norm.ppf(share) if math.isinf(freedom) else stats.t.ppf(share, freedom)
    low, high = ends
    if math.isfinite(low) == math.isfinite(high):

        def explains(x):
            return (centre - x) ** 2 <= z**2 * (shape(x, *ends) / size + doubt)

        inner, outer = centre, (low if side < 0 else high)
        if not math.isfinite(outer):
            outer = centre + side * 10 * z * math.sqrt(1 / size + doubt)
    else:
        end = high if math.isfinite(high) else low
        far = abs(end - centre)

        def explains(x):
            return abs(math.log(abs(end - x) / far)) <= z * math.sqrt(1 / size + doubt / far**2)

        towards_the_end = (side > 0) == math.isfinite(high)
        inner = centre
        outer = end - (end - centre) * 1e-12 if towards_the_end else end + (centre - end) * 1e12
        if explains(outer):
            return outer
        # On a scale of logarithms halving is fast, however far the bound.
        a, b = math.log(abs(end - inner)), math.log(abs(end - outer))
        for _ in range(200):
            middle = (a + b) / 2
            x = end + math.copysign(math.exp(middle), centre - end)
            a, b = (middle, b) if explains(x) else (a, middle)
        return end + math.copysign(math.exp(a), centre - end)
    if explains(outer):
        return outer
    for _ in range(200):
        middle = (inner + outer) / 2
        inner, outer = (middle, outer) if explains(middle) else (inner, middle)
    return inner
