"""Compiled loops: the only home of numba.

Takes plain arrays, gives plain arrays; knows nothing of metrics, tables or signs. Counts are `[N, B]` where a walk
over the samples does the same thing for all resamples at once (vectors over b), and `[B, N]` where every resample
walks on its own. All kernels release the GIL, so that threads over blocks of resamples use all cores.

A ranking metric is a **walk**: for each configuration a list of steps, each a sample and what to do with its count.
Sorting makes the steps once; every resample then only adds and multiplies.
"""

from __future__ import annotations

import numba as nb
import numpy as np

# What a step does with the count of its sample. `below` counts the losers met so far in the present contest.
FIRST = 0  # below = count            the first loser of a contest
LOSER = 1  # below += count
WINNER = 2  # full += count * below
TIED = 3  # half += count * below     taken before and after the losers that it ties with

_options = {"cache": True, "nogil": True, "boundscheck": False, "error_model": "numpy"}


@nb.njit(**_options)
def _mix(z):
    """Scatter 64 bits (the finalizer of SplitMix64, Steele, Lea and Flood 2014)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@nb.njit(**_options)
def draw(key, first, n_draws, counts):
    """Draw n_draws[b] units with replacement for each resample b and count them: counts [B, units].

    Every resample has a SplitMix64 stream of its own, started from (key, its number), so that any block of resamples
    can be drawn alone, by any thread, and is always the same.
    """
    step = np.uint64(0x9E3779B97F4A7C15)
    n = np.float64(counts.shape[1])
    for b in range(counts.shape[0]):
        row = counts[b]
        state = _mix(key + _mix(np.uint64(first + b + 1) * step))
        for _ in range(n_draws[b]):
            state += step
            row[np.int64(np.float64(_mix(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0) * n)] += 1


@nb.njit(**_options)
def first_best(scores, tie, out):
    """The first of the highest scores of each row, equal meaning within tie * (1 + size); -1 where all are NaN."""
    for b in range(scores.shape[0]):
        top = -np.inf
        for c in range(scores.shape[1]):
            if scores[b, c] > top:  # never true for NaN
                top = scores[b, c]
        out[b] = -1
        if top > -np.inf:
            least = top - tie * (1.0 + abs(top))
            for c in range(scores.shape[1]):
                if scores[b, c] >= least:
                    out[b] = c
                    break


@nb.njit(**_options)
def make_walks(order, score, node, role, starts, samples, actions, ends):
    """Write the steps of several configurations, one after the other; `ends` [C + 1] says where each stops.

    order [C, N]: samples by ascending score [C, N]. node [L, N], role [L, N]: for each level the contest that a sample
    takes part in, and as what (1 winner-to-be, 0 loser-to-be, -1 neither). starts [L, M + 1]: where each contest begins
    when the samples of a level are laid out by contest. Pairs count when both are in the same contest.
    """
    n_levels, n = node.shape
    n_nodes = starts.shape[1] - 1
    laid = np.empty(n, np.int32)
    cursor = np.empty(n_nodes + 1, np.int64)
    length = 0
    for c in range(order.shape[0]):
        for level in range(n_levels):
            for m in range(n_nodes + 1):
                cursor[m] = starts[level, m]
            for j in range(n):  # a stable counting sort: within each contest the samples stay in order of score
                i = order[c, j]
                m = node[level, i]
                if m >= 0 and role[level, i] >= 0:
                    laid[cursor[m]] = i
                    cursor[m] += 1
            for m in range(n_nodes):
                stop = cursor[m]
                any_loser = False
                last_winner = length
                at = starts[level, m]
                while at < stop:
                    value = score[c, laid[at]]
                    end = at
                    n_winners = 0
                    while end < stop and score[c, laid[end]] == value:
                        n_winners += role[level, laid[end]]
                        end += 1
                    losers = n_winners < end - at
                    # Winners that tie with losers are taken before them (where any loser came before) and after them.
                    for turn in range(3):
                        if turn == 1 or (n_winners > 0 and any_loser and (turn == 0 or losers)):
                            wanted = 0 if turn == 1 else 1
                            for j in range(at, end):
                                if role[level, laid[j]] == wanted:
                                    samples[length] = laid[j]
                                    if turn == 1:
                                        actions[length] = LOSER if any_loser else FIRST
                                        any_loser = True
                                    else:
                                        actions[length] = TIED if losers else WINNER
                                    length += 1
                    if n_winners > 0 and any_loser:
                        last_winner = length
                    at = end
                length = last_winner  # losers that nobody outranks change nothing
        ends[c + 1] = length


@nb.njit(**_options)
def walk_int(samples, actions, starts, counts, patience, out):
    """Twice the pairs won, for all configurations [C, B], exactly.

    Sums are kept in int32, which vectors are fast with, and moved to float64 before they can overflow: after every
    `patience` steps that win.
    """
    n_resamples = counts.shape[1]
    below = np.zeros(n_resamples, np.int32)
    full = np.zeros(n_resamples, np.int32)
    half = np.zeros(n_resamples, np.int32)
    for c in range(starts.shape[0] - 1):
        for b in range(n_resamples):
            out[c, b] = 0.0
        left = patience
        last = starts[c + 1] - 1
        for s in range(starts[c], starts[c + 1]):
            row = counts[samples[s]]
            action = actions[s]
            if action == LOSER:
                for b in range(n_resamples):
                    below[b] += np.int32(row[b])
            elif action == FIRST:
                for b in range(n_resamples):
                    below[b] = np.int32(row[b])
            else:
                left -= 1
                if action == WINNER:
                    for b in range(n_resamples):
                        full[b] += np.int32(row[b]) * below[b]
                else:
                    for b in range(n_resamples):
                        half[b] += np.int32(row[b]) * below[b]
            if left == 0 or s == last:
                left = patience
                for b in range(n_resamples):
                    out[c, b] += 2.0 * full[b] + half[b]
                    full[b] = 0
                    half[b] = 0


@nb.njit(**_options)
def walk_float(samples, actions, starts, counts, weight, out):
    """Twice the pairs won, as `walk_int`, with a weight for each sample."""
    n_resamples = counts.shape[1]
    below = np.zeros(n_resamples, np.float64)
    full = np.zeros(n_resamples, np.float64)
    half = np.zeros(n_resamples, np.float64)
    for c in range(starts.shape[0] - 1):
        for b in range(n_resamples):
            full[b] = 0.0
            half[b] = 0.0
        for s in range(starts[c], starts[c + 1]):
            row = counts[samples[s]]
            w = weight[samples[s]]
            action = actions[s]
            if action == LOSER:
                for b in range(n_resamples):
                    below[b] += w * row[b]
            elif action == WINNER:
                for b in range(n_resamples):
                    full[b] += w * row[b] * below[b]
            elif action == FIRST:
                for b in range(n_resamples):
                    below[b] = w * row[b]
            else:
                for b in range(n_resamples):
                    half[b] += w * row[b] * below[b]
        for b in range(n_resamples):
            out[c, b] = 2.0 * full[b] + half[b]


@nb.njit(**_options)
def walk_picked(samples, actions, starts, counts, weight, picked, out):
    """Twice the pairs won by configuration picked[b] in resample b; counts [B, N]."""
    for b in range(counts.shape[0]):
        row = counts[b]
        c = picked[b]
        below = 0.0
        full = 0.0
        half = 0.0
        for s in range(starts[c], starts[c + 1]):
            count = weight[samples[s]] * row[samples[s]]
            action = actions[s]
            if action == LOSER:
                below += count
            elif action == WINNER:
                full += count * below
            elif action == FIRST:
                below = count
            else:
                half += count * below
        out[b] = 2.0 * full + half


@nb.njit(**_options)
def average_precision(order, score, positive, weight, counts, out):
    """Sum over thresholds of precision times gain in recall, before division by the positives; [C, B].

    order [C, N] by descending score; a threshold lies after each run of equal scores.
    """
    n_resamples = counts.shape[1]
    found = np.empty(n_resamples, np.float64)
    seen = np.empty(n_resamples, np.float64)
    new = np.zeros(n_resamples, np.float64)
    area = np.empty(n_resamples, np.float64)
    for c in range(order.shape[0]):
        found[:] = 0.0
        seen[:] = 0.0
        area[:] = 0.0
        any_new = False
        for j in range(order.shape[1]):
            i = order[c, j]
            row = counts[i]
            w = weight[i]
            for b in range(n_resamples):
                seen[b] += w * row[b]
            if positive[i]:
                any_new = True
                for b in range(n_resamples):
                    new[b] += w * row[b]
            if any_new and (j + 1 == order.shape[1] or score[c, order[c, j + 1]] != score[c, i]):
                any_new = False
                for b in range(n_resamples):
                    found[b] += new[b]
                    area[b] += new[b] * found[b] / max(seen[b], 1e-300)
                    new[b] = 0.0
        for b in range(n_resamples):
            out[c, b] = area[b]


@nb.njit(**_options)
def medians(order, value, weight, counts, half, slack, out):
    """Weighted medians [C, B]: the mean of the first value that reaches half of the weight and the first beyond it.

    `half` [B] is half of the weight of each resample. Sums of non-integer weights carry rounding, so that "reaches"
    is meant within `slack` [B].
    """
    n_resamples = counts.shape[1]
    below = np.empty(n_resamples, np.float64)
    low = np.empty(n_resamples, np.float64)
    high = np.empty(n_resamples, np.float64)
    for c in range(order.shape[0]):
        below[:] = 0.0
        low[:] = np.nan
        high[:] = np.nan
        for j in range(order.shape[1]):
            i = order[c, j]
            row = counts[i]
            w = weight[i]
            v = value[c, i]
            for b in range(n_resamples):
                after = below[b] + w * row[b]
                if below[b] < half[b] - slack[b] and after >= half[b] - slack[b]:
                    low[b] = v
                if below[b] <= half[b] + slack[b] and after > half[b] + slack[b]:
                    high[b] = v
                below[b] = after
        for b in range(n_resamples):
            out[c, b] = 0.5 * (low[b] + high[b])
