"""Packing: what every worker needs, packed once, sent once, opened once by each worker process.

Takes anything that can be pickled, gives plain byte arrays that every backend knows how to share (joblib maps them into
the memory of local workers, dask and ray keep them in their object stores); never reads what is inside.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Any
from uuid import uuid4

import numpy as np

from ...containers import Array
from ...errors import SoberError
from ..fit.task import error_text

try:
    import cloudpickle
except ImportError:  # joblib before 1.6 brought its own
    from joblib.externals import cloudpickle

#: Arrays of this many bytes stay outside of the pickle, so that local workers share one copy in memory.
LARGE = 100_000
#: Up to this many bytes in large arrays, a worker takes its own copy of them. Whoever keeps joblib's shared memory in
#: use makes joblib wait a second for it at the end of every search, and leave the file behind.
COPIED = 1 << 24
#: Opened packs that a worker process remembers: one search, and another one that runs beside it.
REMEMBERED = 2


@dataclass(frozen=True, eq=False)
class Packed:
    """Something packed.

    Attributes
    ----------
    token : str
        Its name, by which workers know that they have opened it already.
    arrays : tuple of uint8 arrays
        The pickle, then the large buffers that it refers to. These are views: nothing large was copied.
    """

    token: str
    arrays: tuple[Array, ...]

    @property
    def n_bytes(self) -> int:
        """Size of all that is sent."""
        return sum(array.nbytes for array in self.arrays)


def pack(thing: Any) -> Packed:
    """Pack something for workers.

    Parameters
    ----------
    thing : object
    """
    large: list[Array] = []

    def stays_inside(buffer: pickle.PickleBuffer) -> bool:
        bare = buffer.raw()
        if bare.nbytes < LARGE:
            return True
        large.append(np.frombuffer(bare, np.uint8))
        return False

    try:
        head = cloudpickle.dumps(thing, protocol=5, buffer_callback=stays_inside)
    except Exception as error:
        raise SoberError(
            "E602",
            "The data or the estimator cannot be sent to worker processes: "
            f"{type(error).__name__}: {error_text(error)}. "
            "Use n_jobs=1, or threads with joblib.parallel_config('threading').",
        ) from error
    return Packed(uuid4().hex, (np.frombuffer(head, np.uint8), *large))


def as_bytes(thing: Any) -> bytes:
    """Pickle something small, functions of the main script included."""
    return bytes(cloudpickle.dumps(thing))


def unpack(token: str, arrays: tuple[Array, ...]) -> Any:
    """Open what was packed, or give what was inside when this process opened it before.

    Parameters
    ----------
    token : str
    arrays : tuple of uint8 arrays
    """
    with _lock:
        if token not in _opened:
            try:
                # numpy's arrays become views of the buffers: read-only where these are, and rows are copied anyway.
                _opened[token] = pickle.loads(arrays[0].data, buffers=_kept(arrays[1:]))
            except Exception as error:
                raise SoberError(
                    "E602",
                    "A worker cannot open the data or the estimator: "
                    f"{type(error).__name__}: {error_text(error)}. "
                    "Make the modules that define them importable on every worker.",
                ) from error
        _opened.move_to_end(token)
        while len(_opened) > REMEMBERED:
            _opened.popitem(last=False)
        return _opened[token]


def _kept(large: tuple[Array, ...]) -> list[bytes] | tuple[Array, ...]:
    """Give the buffers that stay in use after the call: copies, or what is shared where that would be too much."""
    return [array.tobytes() for array in large] if sum(array.nbytes for array in large) <= COPIED else large


_lock = Lock()
_opened: OrderedDict[str, Any] = OrderedDict()
