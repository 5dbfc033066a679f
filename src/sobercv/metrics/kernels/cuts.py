"""Cuts: samples from the highest score down, and what a metric is when all above a place are said to be positive.

Tied samples fall on one side of every cut. One scan of the samples of a configuration serves all cuts of all
resamples.
"""

import math

import numpy as np

from ...compiled import compiled, fetch, inlined

POSITIVE = 1  # bits of a step: the sample is a positive;
CUT = 2  # a cut below it may be the best: a positive ties with it, and a negative comes next
_AHEAD = 1024  # bytes of counts that are asked for before their turn


@compiled
def make_cuts(order, score, positive, samples, actions):
    """Write the steps of each configuration [C, N]: order [C, N] is by ascending score [C, N]."""
    n = order.shape[1]
    for c in range(order.shape[0]):
        at = 0
        above = False  # whether the block before this one holds a positive
        stop = n
        while stop > 0:
            first = stop - 1
            value = score[c, order[c, first]]
            while first > 0 and score[c, order[c, first - 1]] == value:
                first -= 1
            has_positive = False
            has_negative = False
            for j in range(first, stop):
                i = order[c, j]
                samples[c, at] = i
                actions[c, at] = POSITIVE if positive[i] else 0
                has_positive |= positive[i]
                has_negative |= not positive[i]
                at += 1
            if above and has_negative:
                actions[c, at - (stop - first) - 1] |= CUT
            above = has_positive
            stop = first


@inlined
def score_at(kind, gain, hits, loss, rest, tp, fp):
    """One formula at one cut, see `AtCuts`. MATTHEWS: gain and loss are the weights of the classes, hits is tiny."""
    if kind == 0:
        return gain * tp - loss * fp + rest
    if kind == 1:
        below = hits * tp + loss * fp + rest
        return gain * tp / below if below > 0.0 else 0.0
    said = (tp + fp) * (gain + loss - tp - fp)
    return (tp * loss - fp * gain) / math.sqrt(said * gain * loss) if said > hits else 0.0


@inlined
def _allowed(tp, fp, least_tp, most_fp, precision):
    """Whether a cut keeps the floors; nothing said to be positive has no precision."""
    ok = (tp >= least_tp) & (fp <= most_fp)
    return ok & ((precision <= 0.0) | ((tp > 0.0) & (tp >= precision * (tp + fp) * (1.0 - 1e-12))))


@compiled
def best_cuts(kind, samples, actions, counts, address, numbers, floors, precision, bounded, tp, fp, out):
    """The best score over all cuts, out [C, B]; NaN where no cut is allowed or the score is undefined.

    counts [N, B or more] begin at `address`. numbers [4, B], floors [2, B]: see `score_at` and `_allowed`; `bounded`
    says whether there are floors at all. `tp` and `fp` are room to work in, in as narrow a type as holds all samples.
    """
    n_resamples = counts.shape[1]
    wide = n_resamples * counts.itemsize
    ahead = max(1, _AHEAD // wide)
    n = samples.shape[1]
    gain, hits, loss, rest = numbers[0], numbers[1], numbers[2], numbers[3]
    best = np.empty(n_resamples, np.float64)
    under = np.ones(n_resamples, np.float64)  # what the best is still to be divided by
    for c in range(samples.shape[0]):
        for b in range(n_resamples):
            tp[b] = 0
            fp[b] = 0
            best[b] = -np.inf
            under[b] = 1.0
        _look(kind, gain, hits, loss, rest, floors, precision, bounded, tp, fp, best, under)
        for s in range(n):
            there = address + samples[c, min(s + ahead, n - 1)] * wide
            for line in range(0, wide, 64):
                fetch(there + line)
            row = counts[samples[c, s]]
            action = actions[c, s]
            if action & POSITIVE:
                for b in range(n_resamples):
                    tp[b] += row[b]
            else:
                for b in range(n_resamples):
                    fp[b] += row[b]
            if action & CUT:
                _look(kind, gain, hits, loss, rest, floors, precision, bounded, tp, fp, best, under)
        _look(kind, gain, hits, loss, rest, floors, precision, bounded, tp, fp, best, under)
        for b in range(out.shape[1]):
            if kind == 1 and not bounded:
                best[b] = gain[b] * best[b] / under[b]
            elif kind == 2 and not bounded:
                best[b] = math.copysign(math.sqrt(abs(best[b]) / (gain[b] * loss[b])), best[b])
            out[c, b] = best[b] if best[b] > -np.inf and not np.isnan(rest[b]) else np.nan


@inlined
def _look(kind, gain, hits, loss, rest, floors, precision, bounded, tp, fp, best, under):
    """Take the score at this cut where it is higher; one loop a formula, so that each is a loop over vectors.

    Divisions and roots are slow: ratios are compared by products, correlations by their squares, and only the best is
    divided, or its root taken, in the end.
    """
    if bounded:
        for b in range(best.shape[0]):
            t, f = float(tp[b]), float(fp[b])
            score = score_at(kind, gain[b], hits[b], loss[b], rest[b], t, f)
            if _allowed(t, f, floors[0, b], floors[1, b], precision) and score > best[b]:
                best[b] = score
    elif kind == 0:
        for b in range(best.shape[0]):
            score = gain[b] * float(tp[b]) - loss[b] * float(fp[b]) + rest[b]
            best[b] = score if score > best[b] else best[b]
    elif kind == 1:
        for b in range(best.shape[0]):
            t = float(tp[b])
            below = hits[b] * t + loss[b] * float(fp[b]) + rest[b]
            higher = t * under[b] > best[b] * below
            best[b] = t if higher else best[b]
            under[b] = below if higher else under[b]
    else:
        for b in range(best.shape[0]):  # the square with its sign
            t, f = float(tp[b]), float(fp[b])
            said, over = (t + f) * (gain[b] + loss[b] - t - f), t * loss[b] - f * gain[b]
            score = over * abs(over) / said if said > hits[b] else 0.0
            best[b] = score if score > best[b] else best[b]


@compiled
def place_cuts(kind, samples, actions, score, counts, weight, numbers, floors, precision, picked, tie, ends, out):
    """Where the best cut of configuration picked[b] lies in resample b, out [B]: midway between the scores around it.

    counts [B, N]. Only samples that are present are looked at. A cut is looked at where a positive is above it or
    nothing, and a negative is below it or nothing: every other cut finds fewer positives, or takes more negatives, than
    such a one. Of cuts whose scores are within `tie` of the best the highest is taken. `ends` is below and above all
    scores.
    """
    n = samples.shape[1]
    cut = np.empty(n + 1, np.float64)  # value, true and false positives of the cuts of one resample
    above = np.empty(n + 1, np.float64)
    below = np.empty(n + 1, np.float64)
    for b in range(counts.shape[0]):
        c = picked[b]
        out[b] = np.nan
        if c < 0:
            continue
        found = 0
        tp, fp, top = 0.0, 0.0, -np.inf
        last, was_positive = ends[1], True
        s = 0
        while True:
            while s < n and counts[b, samples[c, s]] == 0:
                s += 1
            here, has_positive, has_negative, more_tp, more_fp = ends[0], False, s >= n, 0.0, 0.0
            if s < n:
                here = score[c, samples[c, s]]
            while s < n and score[c, samples[c, s]] == here:
                i = samples[c, s]
                amount = weight[i] * counts[b, i]
                if counts[b, i] > 0 and actions[c, s] & POSITIVE:
                    more_tp += amount
                    has_positive = True
                elif counts[b, i] > 0:
                    more_fp += amount
                    has_negative = True
                s += 1
            if was_positive and has_negative and _allowed(tp, fp, floors[0, b], floors[1, b], precision):
                cut[found] = score_at(kind, numbers[0, b], numbers[1, b], numbers[2, b], numbers[3, b], tp, fp)
                above[found], below[found] = last, here
                top = max(top, cut[found])
                found += 1
            if here == ends[0]:
                break
            tp += more_tp
            fp += more_fp
            last, was_positive = here, has_positive
        for j in range(found):
            if cut[j] >= top - tie * (1.0 + abs(top)):
                if above[j] == ends[1] or below[j] == ends[0]:
                    out[b] = ends[1] if above[j] == ends[1] else ends[0]
                else:
                    middle = below[j] + (above[j] - below[j]) / 2.0
                    out[b] = middle if middle > below[j] else above[j]
                break
