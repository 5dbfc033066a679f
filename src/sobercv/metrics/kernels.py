"""Compiled loops: the only home of numba.

Takes plain arrays, gives plain arrays; knows nothing of metrics, tables or signs. Counts are `[N, B]` where a walk
over the samples does the same thing for all resamples at once (vectors over b), and `[B, N]` where every resample
walks on its own. All kernels release the GIL, so that threads over blocks of resamples use all cores.

A ranking metric is a **walk**: for each configuration a list of steps, each a sample and what to do with its count.
Sorting makes the steps once; every resample then only adds and multiplies. A metric of hits is a **tally**: samples are
bits, and a processor counts 64 of them in one instruction.
"""

from __future__ import annotations

import numba as nb
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils
from numba.extending import intrinsic

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

_options = {"cache": True, "nogil": True, "boundscheck": False, "error_model": "numpy"}


@intrinsic
def _fetch(typing_context, address):
    """Ask for the cache line at an address, without waiting for it."""

    def generate(context, builder, signature, arguments):
        pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        how = [ir.Constant(number, k) for k in (0, 3, 1)]  # to be read, soon, data
        builder.call(function, [builder.inttoptr(arguments[0], pointer), *how])
        return context.get_dummy_value()

    return nb.void(address), generate


@intrinsic
def _ones(typing_context, word):
    """How many bits of a word are set."""
    return word(word), lambda context, builder, signature, arguments: builder.ctpop(arguments[0])


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
def first_best_of_columns(scores, tie, out):
    """The same as `first_best` for scores [C, B], as walks and tallies leave them: vectors over b."""
    n_configurations, n_resamples = scores.shape
    top = np.empty(n_resamples, np.float64)
    for b in range(n_resamples):
        top[b] = -np.inf
    for c in range(n_configurations):
        for b in range(n_resamples):
            top[b] = scores[c, b] if scores[c, b] > top[b] else top[b]
    for b in range(n_resamples):
        out[b] = -1
        top[b] = top[b] - tie * (1.0 + abs(top[b])) if top[b] > -np.inf else np.nan
    for c in range(n_configurations - 1, -1, -1):  # backwards, so that the first of equals stays
        for b in range(n_resamples):
            out[b] = c if scores[c, b] >= top[b] else out[b]


@nb.njit(**_options)
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


@nb.njit(inline="always", **_options)
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


@nb.njit(inline="always", **_options)
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


@nb.njit(**_options)
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
                _fetch(there + line)
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


@nb.njit(**_options)
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
                _fetch(there + line)
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


@nb.njit(**_options)
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


@nb.njit(**_options)
def tally(words, place, shift, bits, out):
    """Add to out [C, B] the counts of the samples whose bit is set in bits [C, W].

    words [M, B] holds one binary digit of the counts of 64 samples a row: those of word place[m], worth 2^shift[m].
    """
    n_resamples = words.shape[1]
    total = np.empty(n_resamples, np.uint64)
    for c in range(bits.shape[0]):
        for b in range(n_resamples):
            total[b] = 0
        for m in range(words.shape[0]):
            flags = bits[c, place[m]]
            row = words[m]
            for b in range(n_resamples):
                total[b] += _ones(row[b] & flags) << shift[m]
        for b in range(n_resamples):
            out[c, b] += total[b]


@nb.njit(**_options)
def tally_picked(words, place, shift, bits, picked, out):
    """The same as `tally` for configuration picked[b] in resample b alone: out [B]."""
    for m in range(words.shape[0]):
        for b in range(words.shape[1]):
            out[b] += _ones(words[m, b] & bits[picked[b], place[m]]) << shift[m]


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
