"""Walks: for each configuration a list of steps, each a sample and what to do with its count.

Takes scores and contests, gives steps; takes steps and counts, gives pairs won. Sorting makes the steps once; every
resample then only adds and multiplies. Counts are `[N, B]` where a walk does the same thing for all resamples at once
(vectors over b), and `[B, N]` where every resample walks on its own.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from .compiling import fetch, options

# What a step does with the count of its sample. `below` counts the losers met so far in the present contest.
FIRST = 0  # below = count            the first loser of a contest
LOSER = 1  # below += count
WINNER = 2  # full += count * below
TIED = 3  # half += count * below     taken before and after the losers that it ties with
# The same as factors, for walks of one resample, where a branch that cannot be foretold costs more than the sums.
_KEEPS = np.array([0.0, 1.0, 1.0, 1.0])  # of `below`
_ADDS = np.array([1.0, 1.0, 0.0, 0.0])  # of the count to `below`
_GAINS = np.array([0.0, 0.0, 2.0, 1.0])  # of count * below to twice the pairs

_AHEAD = 1024  # bytes of counts that are asked for before their turn: a walk jumps, and memory is slow to follow


@nb.njit(**options)
def make_walks(order, score, node, role, starts, begins, samples, actions, ends):
    """Write the steps of several configurations, one after the other; `ends` [C + 1] says where each stops.

    order [C, N]: samples by ascending score [C, N]. node [L, N], role [L, N]: for each level the contest that a sample
    takes part in, and as what (1 winner-to-be, 0 loser-to-be, -1 neither). starts [L, M + 1]: where each contest begins
    when the samples of a level are laid out by contest; begins [L, N]: whether one begins at a place of that layout.
    Pairs count when both are in the same contest.
    """
    n_levels, n = node.shape
    n_nodes = starts.shape[1] - 1
    laid = np.empty(n, np.int32)
    cursor = np.empty(n_nodes + 1, np.int64)
    length = 0
    for c in range(order.shape[0]):
        value = score[c]
        ties = False
        for j in range(1, n):
            ties |= value[order[c, j]] == value[order[c, j - 1]]
        for level in range(n_levels):
            part = role[level]
            for m in range(n_nodes + 1):
                cursor[m] = starts[level, m]
            for j in range(n):  # a stable counting sort: within each contest the samples stay in order of score
                i = order[c, j]
                m = node[level, i]
                if m >= 0 and part[i] >= 0:
                    laid[cursor[m]] = i
                    cursor[m] += 1
            if ties:
                for m in range(n_nodes):
                    length = _steps(laid, starts[level, m], cursor[m], part, value, samples, actions, length)
            else:
                stop = starts[level, n_nodes]
                length = _steps_without_ties(laid, stop, begins[level], part, samples, actions, length)
        ends[c + 1] = length


@nb.njit(inline="always", **options)
def _steps_without_ties(laid, stop, begins, role, samples, actions, length):
    """Write the steps of all contests of a level, without a branch that cannot be foretold."""
    last_winner = length
    any_loser = 0
    for j in range(stop):
        i = laid[j]
        wins = int(role[i])
        if begins[j]:
            length = last_winner  # losers that nobody outranked change nothing
            any_loser = 0
        samples[length] = i
        actions[length] = WINNER * wins + LOSER * (any_loser & (1 - wins))  # else FIRST
        any_loser |= 1 - wins
        length += any_loser  # a winner that outranks nobody is written over
        last_winner = length if wins else last_winner
    return last_winner


@nb.njit(inline="always", **options)
def _steps(laid, first, stop, role, value, samples, actions, length):
    """Write the steps of a contest; winners that tie with losers are taken before them and after them."""
    last_winner = length
    any_loser = False
    at = first
    while at < stop:
        end = at
        n_winners = 0
        while end < stop and value[laid[end]] == value[laid[at]]:
            n_winners += role[laid[end]]
            end += 1
        losers = n_winners < end - at
        for turn in range(3):  # winners, losers, winners; the first only where any loser came before
            if turn == 1 or (n_winners > 0 and any_loser and (turn == 0 or losers)):
                wanted = 0 if turn == 1 else 1
                for j in range(at, end):
                    if role[laid[j]] == wanted:
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
    return last_winner


@nb.njit(**options)
def walk_int(samples, actions, starts, counts, address, below, full, half, twice, patience, out):
    """Twice the pairs won, for all configurations [C, B], exactly.

    counts [N, B or more] begin at `address` in memory. `below`, `full`, `half` and `twice` are as wide, and room to
    work in: the narrower their types, the more resamples a vector holds. After every `patience` steps that win, before
    they can overflow, sums are moved to `twice`.
    """
    n_resamples = counts.shape[1]
    wide = n_resamples * counts.itemsize
    ahead = max(1, _AHEAD // wide)
    for c in range(starts.shape[0] - 1):
        for b in range(n_resamples):
            full[b] = 0
            half[b] = 0
            twice[b] = 0
        left = patience
        last = starts[c + 1] - 1
        for s in range(starts[c], starts[c + 1]):
            there = address + samples[min(s + ahead, last)] * wide
            for line in range(0, wide, 64):
                fetch(there + line)
            row = counts[samples[s]]
            action = actions[s]
            if action == LOSER:
                for b in range(n_resamples):
                    below[b] += row[b]
            elif action == FIRST:
                for b in range(n_resamples):
                    below[b] = row[b]
            else:
                if left == 0:
                    left = patience
                    for b in range(n_resamples):
                        twice[b] = twice[b] + full[b] + full[b] + half[b]
                        full[b] = 0
                        half[b] = 0
                left -= 1
                if action == WINNER:
                    for b in range(n_resamples):
                        full[b] += row[b] * below[b]
                else:
                    for b in range(n_resamples):
                        half[b] += row[b] * below[b]
        for b in range(out.shape[1]):
            out[c, b] = twice[b] + full[b] + full[b] + half[b]


@nb.njit(**options)
def walk_float(samples, actions, starts, counts, address, weight, out):
    """Twice the pairs won, as `walk_int`, with a weight for each sample."""
    n_resamples = counts.shape[1]
    wide = n_resamples * counts.itemsize
    ahead = max(1, _AHEAD // wide)
    below = np.zeros(n_resamples, np.float64)
    full = np.zeros(n_resamples, np.float64)
    half = np.zeros(n_resamples, np.float64)
    for c in range(starts.shape[0] - 1):
        for b in range(n_resamples):
            full[b] = 0.0
            half[b] = 0.0
        last = starts[c + 1] - 1
        for s in range(starts[c], starts[c + 1]):
            there = address + samples[min(s + ahead, last)] * wide
            for line in range(0, wide, 64):
                fetch(there + line)
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
        for b in range(out.shape[1]):
            out[c, b] = 2.0 * full[b] + half[b]


@nb.njit(**options)
def walk_alone(samples, actions, starts, counts, weight, picked, resample, out):
    """Twice the pairs that configuration picked[k] wins in resample[k], one walk after the other; counts [B, N]."""
    for k in range(out.shape[0]):
        row = counts[resample[k]]
        below = 0.0
        twice = 0.0
        for s in range(starts[picked[k]], starts[picked[k] + 1]):
            action = np.uint8(actions[s])  # never negative, which spares a check
            count = weight[samples[s]] * row[samples[s]]
            twice += _GAINS[action] * count * below
            below = _KEEPS[action] * below + _ADDS[action] * count
        out[k] = twice


@nb.njit(**options)
def walk_unequal(samples, actions, starts, losers, winners, out):
    """Twice the pairs won [C, B], where a sample weighs other as a winner than as a loser; weights [N, B]."""
    n_resamples = losers.shape[1]
    below = np.zeros(n_resamples, np.float64)
    for c in range(starts.shape[0] - 1):
        for b in range(n_resamples):
            out[c, b] = 0.0
        for s in range(starts[c], starts[c + 1]):
            action = actions[s]
            if action == LOSER:
                row = losers[samples[s]]
                for b in range(n_resamples):
                    below[b] += row[b]
            elif action == FIRST:
                row = losers[samples[s]]
                for b in range(n_resamples):
                    below[b] = row[b]
            else:
                row = winners[samples[s]]
                gain = 2.0 if action == WINNER else 1.0
                for b in range(n_resamples):
                    out[c, b] += gain * row[b] * below[b]


@nb.njit(**options)
def walk_unequal_alone(samples, actions, starts, losers, winners, picked, out):
    """The same for configuration picked[b] in resample b alone; weights [B, N], out [B]."""
    for b in range(out.shape[0]):
        below = 0.0
        twice = 0.0
        for s in range(starts[picked[b]], starts[picked[b] + 1]):
            action = np.uint8(actions[s])  # never negative, which spares a check
            i = samples[s]
            twice += _GAINS[action] * winners[b, i] * below
            below = _KEEPS[action] * below + _ADDS[action] * losers[b, i]
        out[b] = twice
