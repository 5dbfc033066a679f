"""Compiled loops that grow the trees of scikit-learn's random forests, bit for bit, and let them vote.

They take ranks instead of values, so that a table is sorted once for all trees of all forests that see it. The trees
are scikit-learn's: columns are drawn by its generator in its order, nodes are grown left before right, and impurities
are rounded as it rounds them (counts are whole numbers, so that sums do not depend on an order).
What is faster: samples of large nodes are picked from the sorted column, those of small ones sorted as one number each;
a split is compared with the best one by multiplying, and divided out only where it may be better.
"""

from __future__ import annotations

import numpy as np

from ..compiled import compiled

EPSILON = np.finfo(np.float64).eps
#: A split that reaches less of the best one's purity than this cannot be rounded to be as good.
SURELY_LESS = 1.0 - 1e-9
#: How the samples of a node are put in order. Up to so many are inserted one by one, unless there are so few different
#: values that counting them is faster, which pays for more than `FEW` samples.
SMALL, FEW = 40, 8
#: More than one of so many samples in a node: they are picked from the column that was sorted once.
SPARSE = 10
# What the rows of `nodes` hold; children are -1 in a leaf.
COLUMN, THRESHOLD, LEFT, RIGHT = range(4)
# What `limits` hold: columns to try, least samples of a leaf and of a node to split, most depth.
TRY, LEAF, SPLIT, DEEPEST = range(4)


@compiled
def vote(table, same, classes, counts, states, limits, least_gain, rows, votes, nodes, chances):
    """Grow one tree for each row of counts, and add what it says of each new row to `votes`.

    table: `SortedColumns`. same float32: values no further apart count as one. classes uint8 [N]. counts uint8 [T, N]:
    how often each sample is in the resample of a tree. states [T]: of scikit-learn's generator. limits int64 [4]:
    columns to try, least samples of a leaf and of a split, most depth. rows float32 [M, P]. votes float64 [M, K]. nodes
    float64 [4, 2N], chances float64 [2N, K]: the tree, of which the last one stays. Returns the number of its nodes.
    """
    n_nodes = 0
    for t in range(len(counts)):
        n_nodes = _grow(table, same, classes, counts[t], states[t], limits, least_gain, nodes, chances)
        for i in range(len(rows)):
            node = np.int64(0)
            while nodes[LEFT, node] >= 0:
                goes_left = rows[i, np.int64(nodes[COLUMN, node])] <= nodes[THRESHOLD, node]
                node = np.int64(nodes[LEFT if goes_left else RIGHT, node])
            for k in range(votes.shape[1]):
                votes[i, k] += chances[node, k]
    return n_nodes


@compiled
def _grow(table, same, classes, counts, state, limits, least_gain, nodes, chances):
    """Grow one tree, depth first; returns the number of its nodes."""
    ranks, values = table.ranks, table.values
    n_columns, n_rows = ranks.shape
    n_classes = chances.shape[1]
    generator = np.full(1, state, np.uint64)
    samples = np.empty(n_rows, np.int64)
    low = np.zeros(n_rows, np.uint32)  # class and count of each sample, the lower half of its key
    n_samples, weight = 0, 0
    for i in range(n_rows):
        if counts[i] > 0:
            samples[n_samples] = i
            n_samples += 1
            low[i] = (np.uint32(classes[i]) << 8) | np.uint32(counts[i])
            weight += counts[i]
    columns, constants = np.arange(n_columns), np.empty(n_columns, np.int64)
    keys, spare, inside = np.empty(n_rows, np.uint32), np.empty(n_rows, np.uint32), np.zeros(n_rows, np.uint32)
    places = np.empty(max(n_rows, 256) + 1, np.int64)
    total, left = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    n_nodes = 0
    stack = [(0, n_samples, 0, -1, 0, 0)]
    while len(stack) > 0:
        start, end, depth, parent, side, known = stack.pop()
        total[:] = 0
        for p in range(start, end):
            code = np.int64(low[samples[p]])
            total[code >> 8] += code & 255
        node_weight, squares = 0, 0
        for k in range(n_classes):
            node_weight += total[k]
            squares += total[k] * total[k]
        w_node = np.float64(node_weight)
        impurity = 1.0 - squares / (w_node * w_node)
        if parent >= 0:
            nodes[side, parent] = n_nodes
        n = end - start
        is_leaf = depth >= limits[DEEPEST] or n < limits[SPLIT] or n < 2 * limits[LEAF] or impurity <= EPSILON
        if not is_leaf:
            found, best = _best_split(
                table, same, samples[start:end], low, inside, keys, spare, places, columns, constants, known, limits,
                generator, total, left, node_weight, squares,
            )  # fmt: skip
            known += found
            column, below, above, w_left, impurity_left, impurity_right = best
            w_right = w_node - w_left
            gain = (w_node / weight) * (
                impurity - (w_right / w_node * impurity_right) - (w_left / w_node * impurity_left)
            )
            is_leaf = column < 0 or gain + EPSILON < least_gain
        for k in range(n_classes):
            chances[n_nodes, k] = total[k] / w_node
        nodes[COLUMN, n_nodes] = nodes[THRESHOLD, n_nodes] = -2.0  # of a leaf, as in scikit-learn
        nodes[LEFT, n_nodes] = nodes[RIGHT, n_nodes] = -1.0
        if not is_leaf:
            nodes[COLUMN, n_nodes] = column
            nodes[THRESHOLD, n_nodes] = values[column, below] / 2.0 + values[column, above] / 2.0
            middle, last = start, end
            while middle < last:
                if ranks[column, samples[middle]] <= below:
                    middle += 1
                else:
                    last -= 1
                    samples[middle], samples[last] = samples[last], samples[middle]
            stack.append((middle, end, depth + 1, n_nodes, RIGHT, known))
            stack.append((start, middle, depth + 1, n_nodes, LEFT, known))  # grown first
        n_nodes += 1
    return n_nodes


@compiled
def _best_split(
    table, same, samples, low, inside, keys, spare, places, columns, constants, known, limits, generator, total, left,
    node_weight, squares,
):  # fmt: skip
    """Find how many columns are constant in a node, and its best split.

    The split is its column (-1 if there is none), the ranks on both sides, and weight and impurities of what they part.
    Columns are drawn without replacement as scikit-learn draws them: the `known` ones, constant in an ancestor, stand
    first in `columns` and count as tried when they are `drawn`; those `found` to be constant are put behind them, those
    tried in vain or not at the end, from `untried` on. (There: n_known_constants, n_drawn_constants, n_found_constants,
    f_i.)
    """
    (n_columns, n_rows), n = table.ranks.shape, len(samples)
    is_dense = n > SMALL and n * SPARSE > n_rows
    if is_dense:
        for i in samples:
            inside[i] = 1
    untried, visited, found, drawn = n_columns, 0, 0, 0
    best, best_improvement, bound = (-1, 0, 0, 0.0, 0.0, 0.0), -np.inf, -np.inf
    while untried > known + found and (visited < limits[TRY] or visited <= found + drawn):
        visited += 1
        place = drawn + _random(generator) % (untried - found - drawn)
        if place < known:
            columns[drawn], columns[place] = columns[place], columns[drawn]
            drawn += 1
            continue
        place += found
        column = columns[place]
        rank, value, n_ranks = table.ranks[column], table.values[column], table.n_ranks[column]
        if is_dense and (n_ranks > n or 2 * n > n_rows):
            _pick(rank, table.order[column], low, inside, keys)
        else:
            _sort(rank, n_ranks, samples, low, keys, spare, places)
        if value[keys[n - 1] >> 16] <= value[keys[0] >> 16] + same:
            columns[place], columns[known + found] = columns[known + found], columns[place]
            found += 1
            continue
        untried -= 1
        columns[untried], columns[place] = columns[place], columns[untried]
        left[:] = 0
        weight_left, squares_left, squares_right = np.int64(0), np.int64(0), squares
        key = np.int64(keys[0])
        for p in range(1, n):
            count, label = key & 255, (key >> 8) & 255
            already = left[label]
            squares_left += count * (2 * already + count)
            squares_right += count * (count - 2 * (total[label] - already))
            left[label] = already + count
            weight_left += count
            here = key >> 16
            key = np.int64(keys[p])
            if key >> 16 == here or p < limits[LEAF] or n - p < limits[LEAF]:
                continue
            weight_right = node_weight - weight_left
            pairs = np.float64(weight_left * weight_right)
            purity = np.float64(squares_left * weight_right + squares_right * weight_left)
            if purity < bound * pairs or value[key >> 16] <= value[here] + same:
                continue
            w_left, w_right = np.float64(weight_left), np.float64(weight_right)
            impurity_left = 1.0 - squares_left / (w_left * w_left)
            impurity_right = 1.0 - squares_right / (w_right * w_right)
            improvement = -w_right * impurity_right - w_left * impurity_left
            if improvement > best_improvement:
                best_improvement = improvement
                bound = purity / pairs * SURELY_LESS
                best = (column, here, key >> 16, w_left, impurity_left, impurity_right)  # type: ignore[assignment]
    for j in range(known):
        columns[j] = constants[j]
    for j in range(known, known + found):
        constants[j] = columns[j]
    if is_dense:
        for i in samples:
            inside[i] = 0
    return found, best


@compiled
def _random(generator):
    """Draw scikit-learn's next number: 32 bits, shifted and mixed."""
    state = generator[0] if generator[0] != 0 else np.uint64(1)
    state ^= (state << np.uint64(13)) & np.uint64(0xFFFFFFFF)
    state ^= state >> np.uint64(17)
    state ^= (state << np.uint64(5)) & np.uint64(0xFFFFFFFF)
    generator[0] = state
    return np.int64(state & np.uint64(0x7FFFFFFF))


@compiled
def _pick(rank, order, low, inside, keys):
    """Write the keys of a node's samples in order, from the order of all samples.

    A sample outside is overwritten by the next; after the last one inside there is room for one more, or none is left.
    """
    m = 0
    for i in order:
        keys[m] = (np.uint32(rank[i]) << 16) | low[i]
        m += inside[i]


@compiled
def _sort(rank, n_ranks, samples, low, keys, spare, places):
    """Write the keys of a node's samples in order, by sorting them."""
    n = len(samples)
    for p in range(n):
        keys[p] = (np.uint32(rank[samples[p]]) << 16) | low[samples[p]]
    if n > FEW and n_ranks <= 2 * n:
        _deal(keys, spare, n, 16, 0xFFFF, n_ranks, places)
        for p in range(n):
            keys[p] = spare[p]
    elif n > SMALL:
        _deal(keys, spare, n, 16, 0xFF, 256, places)  # by the lower half of the rank, then by the upper
        _deal(spare, keys, n, 24, 0xFF, 256, places)
    else:
        for p in range(1, n):
            key, q = keys[p], p
            while q > 0 and keys[q - 1] > key:
                keys[q] = keys[q - 1]
                q -= 1
            keys[q] = key


@compiled
def _deal(keys, dealt, n, shift, mask, n_digits, places):
    """Write keys in the order of some of their bits; equal ones stay in order."""
    places[: n_digits + 1] = 0
    for p in range(n):
        places[((keys[p] >> shift) & mask) + 1] += 1
    for digit in range(n_digits):
        places[digit + 1] += places[digit]
    for p in range(n):
        digit = (keys[p] >> shift) & mask
        dealt[places[digit]] = keys[p]
        places[digit] += 1
