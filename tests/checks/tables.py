"""Tables in which nothing is wrong, for checks to be broken one at a time."""

import numpy as np
import pandas as pd

from sobercv.checks import check_dataset
from sobercv.tables import assign


def honest(n=300, seed=1):
    """Two classes, one good column, a useless one."""
    rng = np.random.default_rng(seed)
    good = rng.normal(size=n)
    y = np.where(good + rng.normal(size=n) > 0, "ill", "well")
    return pd.DataFrame({"good": good, "useless": rng.normal(size=n), "y": y})


def numeric(n=300, seed=2):
    """A number to predict."""
    return honest(n, seed).assign(y=lambda frame: frame["good"] + np.random.default_rng(seed + 100).normal(size=n))


def timed(n=300, seed=3):
    """Times and events."""
    rng = np.random.default_rng(seed)
    frame = honest(n, seed).drop(columns="y")
    return frame.assign(t=np.round(rng.exponential(np.exp(frame["good"])) + 0.01, 2), e=np.arange(n) % 3 > 0)


TIMED = {"target": None, "time": "t", "event": "e"}


def notes(frame, cv=10, **roles):
    return check_dataset(assign(frame, **({"target": "y"} | roles)), cv=cv)


def codes(frame, **roles):
    return [note.code for note in notes(frame, **roles)]
