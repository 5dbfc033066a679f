"""Bayesian networks with a target whose neighbours are known, one for each kind of target."""

import numpy as np

from sobercv.targets import SURVIVAL

NAMES = ["ancestor", "parent", "other parent", "child", "descendant", "sibling"]
N_NOISE = 14


def _columns(rng, n):
    ancestor = rng.normal(size=n)
    parent = 0.8 * ancestor + 0.6 * rng.normal(size=n)
    other = rng.normal(size=n)
    sibling = 0.7 * parent + 0.7 * rng.normal(size=n)  # an effect of the parent, not of the target
    return ancestor, parent, other, sibling


def _table(rng, n, ancestor, parent, other, child, sibling):
    if child is None:
        columns = [ancestor, parent, other, sibling]
        truth = {1, 2}
    else:
        descendant = 0.8 * child / child.std() + 0.6 * rng.normal(size=n)
        columns = [ancestor, parent, other, sibling, child, descendant]
        truth = {1, 2, 4}
    return np.column_stack([*columns, rng.normal(size=(n, N_NOISE))]), truth


def numbers(seed, n=1000):
    rng = np.random.default_rng(seed)
    ancestor, parent, other, sibling = _columns(rng, n)
    y = 0.5 * parent + 0.5 * other + rng.normal(size=n)
    X, truth = _table(rng, n, ancestor, parent, other, 0.7 * y + rng.normal(size=n), sibling)
    return X, y, truth


def binary(seed, n=1000):
    rng = np.random.default_rng(seed)
    ancestor, parent, other, sibling = _columns(rng, n)
    y = rng.random(n) < 1 / (1 + np.exp(-(parent + other)))
    X, truth = _table(rng, n, ancestor, parent, other, 0.8 * y + rng.normal(size=n), sibling)
    return X, np.array(["no", "yes"])[y.astype(int)], truth


def several(seed, n=1000):
    rng = np.random.default_rng(seed)
    ancestor, parent, other, sibling = _columns(rng, n)
    utility = np.column_stack([np.zeros(n), 1.2 * parent, 1.2 * other]) + rng.gumbel(size=(n, 3))
    y = utility.argmax(axis=1)
    X, truth = _table(rng, n, ancestor, parent, other, 0.6 * y + rng.normal(size=n), sibling)
    return X, y, truth


def survival(seed, n=1000):
    rng = np.random.default_rng(seed)
    ancestor, parent, other, sibling = _columns(rng, n)
    time = rng.exponential(np.exp(-0.5 * parent - 0.5 * other))
    censored = rng.exponential(1.5, n)
    y = np.empty(n, SURVIVAL)
    y["event"], y["time"] = time <= censored, np.round(np.minimum(time, censored), 2)  # rounding makes ties
    X, truth = _table(rng, n, ancestor, parent, other, None, sibling)
    return X, y, truth


ALL = {"numbers": numbers, "binary": binary, "several": several, "survival": survival}
