"""Pairs of a positive and a negative that are ranked right, counted by a scan of the sorted samples.

A scan is a list of steps for each configuration: a sample, and what to do with its count. Sorting makes the steps once;
every resample then only adds and multiplies. Counts are `[N, B]` where a scan serves all resamples at once (vectors
over b), and `[B, N]` where every resample is scanned on its own. Pairs count within a stratum only.
"""

import numpy as np

from ...compiled import compiled, fetch, inlined

# What a step does with the count of its sample. `below` counts the negatives so far in the present stratum.
START = 0  # below = count            the first negative of a stratum
NEGATIVE = 1  # below += count
POSITIVE = 2  # full += count * below
TIED = 3  # half += count * below     taken before and after the negatives that it ties with
# The same as factors, for scans of one resample, where a branch that cannot be predicted costs more than the sums.
_KEEPS = np.array([0.0, 1.0, 1.0, 1.0])  # of `below`
_ADDS = np.array([1.0, 1.0, 0.0, 0.0])  # of the count to `below`
_GAINS = np.array([0.0, 0.0, 2.0, 1.0])  # of count * below to twice the pairs

_AHEAD = 1024  # bytes of counts that are prefetched: a scan jumps about in memory


@compiled
def make_scans(order, score, stratum, role, starts, begins, samples, actions, ends):
    """Write the steps of several configurations, one after the other; `ends` [C + 1] says where each stops.

    order [C, N]: samples by ascending score [C, N]. stratum [L, N], role [L, N]: for each level the stratum of a sample
    and whether it is a positive (1), a negative (0) or neither (-1) there. starts [L, M + 1]: where each stratum begins
    when the samples of a level are laid out by stratum; begins [L, N]: whether one begins at a place of that layout.
    """
    n_levels, n = stratum.shape
    n_strata = starts.shape[1] - 1
    laid = np.empty(n, np.int32)
    cursor = np.empty(n_strata + 1, np.int64)
    length = 0
    for c in range(order.shape[0]):
        value = score[c]
        ties = False
        for j in range(1, n):
            ties |= value[order[c, j]] == value[order[c, j - 1]]
        for level in range(n_levels):
            part = role[level]
            for m in range(n_strata + 1):
                cursor[m] = starts[level, m]
            for j in range(n):  # a stable counting sort: within each stratum the samples stay in order of score
                i = order[c, j]
                m = stratum[level, i]
                if m >= 0 and part[i] >= 0:
                    laid[cursor[m]] = i
                    cursor[m] += 1
            if ties:
                for m in range(n_strata):
                    length = _steps(laid, starts[level, m], cursor[m], part, value, samples, actions, length)
            else:
                stop = starts[level, n_strata]
                length = _steps_without_ties(laid, stop, begins[level], part, samples, actions, length)
        ends[c + 1] = length


@inlined
def _steps_without_ties(laid, stop, begins, role, samples, actions, length):
    """Write the steps of all strata of a level, without a branch that cannot be predicted."""
    last_positive = length
    any_negative = 0
    for j in range(stop):
        i = laid[j]
        wins = int(role[i])
        if begins[j]:
            length = last_positive  # negatives below which no positive comes change nothing
            any_negative = 0
        samples[length] = i
        actions[length] = POSITIVE * wins + NEGATIVE * (any_negative & (1 - wins))  # else START
        any_negative |= 1 - wins
        length += any_negative  # a positive without a negative below it is overwritten
        last_positive = length if wins else last_positive
    return last_positive


@inlined
def _steps(laid, first, stop, role, value, samples, actions, length):
    """Write the steps of a stratum; positives that tie with negatives come before them and after them."""
    last_positive = length
    any_negative = False
    at = first
    while at < stop:
        end = at
        n_positives = 0
        while end < stop and value[laid[end]] == value[laid[at]]:
            n_positives += role[laid[end]]
            end += 1
        negatives = n_positives < end - at
        for turn in range(3):  # positives, negatives, positives; the first only where any negative came before
            if turn == 1 or (n_positives > 0 and any_negative and (turn == 0 or negatives)):
                wanted = 0 if turn == 1 else 1
                for j in range(at, end):
                    if role[laid[j]] == wanted:
                        samples[length] = laid[j]
                        if turn == 1:
                            actions[length] = NEGATIVE if any_negative else START
                            any_negative = True
                        else:
                            actions[length] = TIED if negatives else POSITIVE
                        length += 1
        if n_positives > 0 and any_negative:
            last_positive = length
        at = end
    return last_positive


@compiled
def count_pairs(samples, actions, starts, counts, address, below, full, half, twice, interval, out):
    """Twice the pairs ranked right by each configuration [C, B], exactly; a tie counts half.

    counts [N, B or more] begin at `address` in memory. `below`, `full`, `half` and `twice` are as wide, and room to
    work in: the narrower their types, the more resamples a vector holds. After every `interval` positives, before they
    can overflow, sums are flushed to `twice`.
    """
    n_resamples = counts.shape[1]
    wide = n_resamples * counts.itemsize
    ahead = max(1, _AHEAD // wide)
    for c in range(starts.shape[0] - 1):
        for b in range(n_resamples):
            full[b] = 0
            half[b] = 0
            twice[b] = 0
        left = interval
        last = starts[c + 1] - 1
        for s in range(starts[c], starts[c + 1]):
            there = address + samples[min(s + ahead, last)] * wide
            for line in range(0, wide, 64):
                fetch(there + line)
            row = counts[samples[s]]
            action = actions[s]
            if action == NEGATIVE:
                for b in range(n_resamples):
                    below[b] += row[b]
            elif action == START:
                for b in range(n_resamples):
                    below[b] = row[b]
            else:
                if left == 0:
                    left = interval
                    for b in range(n_resamples):
                        twice[b] = twice[b] + full[b] + full[b] + half[b]
                        full[b] = 0
                        half[b] = 0
                left -= 1
                if action == POSITIVE:
                    for b in range(n_resamples):
                        full[b] += row[b] * below[b]
                else:
                    for b in range(n_resamples):
                        half[b] += row[b] * below[b]
        for b in range(out.shape[1]):
            out[c, b] = twice[b] + full[b] + full[b] + half[b]


@compiled
def weigh_pairs(samples, actions, starts, negatives, positives, address, weight, apart, out):
    """The same in double, with a weight for each sample; what it counts as positive may differ from what as negative.

    negatives and positives [N, B or more]; negatives begin at `address`. `apart` adds the ties up apart from the other
    pairs, else as the scan meets them, which rounds otherwise.
    """
    n_resamples = negatives.shape[1]
    wide = n_resamples * negatives.itemsize
    ahead = max(1, _AHEAD // wide)
    below = np.zeros(n_resamples, np.float64)
    full = np.zeros(n_resamples, np.float64)
    half = np.zeros(n_resamples, np.float64)
    tied = half if apart else full
    for c in range(starts.shape[0] - 1):
        for b in range(n_resamples):
            full[b] = 0.0
            half[b] = 0.0
        last = starts[c + 1] - 1
        for s in range(starts[c], starts[c + 1]):
            there = address + samples[min(s + ahead, last)] * wide
            for line in range(0, wide, 64):
                fetch(there + line)
            w = weight[samples[s]]
            action = actions[s]
            if action == NEGATIVE:
                row = negatives[samples[s]]
                for b in range(n_resamples):
                    below[b] += w * row[b]
            elif action == POSITIVE:
                above = positives[samples[s]]
                w *= 2.0
                for b in range(n_resamples):
                    full[b] += w * above[b] * below[b]
            elif action == START:
                row = negatives[samples[s]]
                for b in range(n_resamples):
                    below[b] = w * row[b]
            else:
                above = positives[samples[s]]
                for b in range(n_resamples):
                    tied[b] += w * above[b] * below[b]
        for b in range(out.shape[1]):
            out[c, b] = full[b] + half[b]


@compiled
def weigh_pairs_of(samples, actions, starts, negatives, positives, weight, picked, resample, out):
    """Twice the pairs that configuration picked[k] ranks right in resample[k], each alone; counts [B, N]."""
    for k in range(out.shape[0]):
        row = negatives[resample[k]]
        above = positives[resample[k]]
        below = 0.0
        twice = 0.0
        for s in range(starts[picked[k]], starts[picked[k] + 1]):
            action = np.uint8(actions[s])  # never negative, which spares a check
            i = samples[s]
            up, down = 1.0 * above[i], 1.0 * row[i]
            if weight is not None:
                up, down = weight[i] * up, weight[i] * down
            twice += _GAINS[action] * up * below
            below = _KEEPS[action] * below + _ADDS[action] * down
        out[k] = twice
