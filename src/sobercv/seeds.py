"""The only maker of random generators: a generator from (root seed, purpose, index).

What is drawn for one purpose and
index never depends on what was drawn before, by whom or in which order.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from .errors import SoberError


def root(random_state: Any = None) -> int:
    """Turn a `random_state` into a root seed, which repeats the run; None takes fresh entropy, a generator moves on."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint32)[0])
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        if random_state < 0:
            raise SoberError("E108", f"`random_state` must not be negative; got {random_state}. Write 0 or more.")
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**32))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2**31 - 1))
    given = type(random_state).__name__
    raise SoberError("E123", f"`random_state` must be None, an integer or a numpy generator; got {given}. Write 0.")


def generator(seed: int, purpose: str, *index: int) -> np.random.Generator:
    """Make the generator for one purpose ("bootstrap", "drop") and place (a block, a round) of a run."""
    sequence = np.random.SeedSequence(seed, spawn_key=(zlib.crc32(purpose.encode()), *index))
    return np.random.Generator(np.random.PCG64(sequence))


def key(seed: int, purpose: str, *index: int) -> np.uint64:
    """Make 64 bits for kernels that hash their own numbers from (key, place), see `metrics.kernels.draw`."""
    sequence = np.random.SeedSequence(seed, spawn_key=(zlib.crc32(purpose.encode()), *index))
    return np.uint64(sequence.generate_state(1, np.uint64)[0])


def integer(seed: int, purpose: str, *index: int) -> int:
    """Make one integer below 2**31 for things that want a seed of their own, such as estimators."""
    return (int(key(seed, purpose, *index)) & 0xFFFFFFFF) >> 1


def old_generator(seed: int) -> np.random.RandomState:
    """Make a generator of the kind that scikit-learn draws with, from a seed of its own, to repeat what it draws."""
    return np.random.RandomState(seed)
