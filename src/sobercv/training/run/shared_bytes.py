"""Large arrays that several processes of this machine read without a copy for each.

Takes byte arrays, gives a place by which other processes find them; never keeps a file that outlives its maker where
the system allows that (on Linux the bytes have no name in any folder).
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Sequence

import numpy as np

from ...containers import Array

#: Fewer bytes than these are sent as they are.
SMALL = 1 << 20


class SharedBytes:
    """Byte arrays, one after the other, that others can open until this is closed.

    Parameters
    ----------
    arrays : sequence of uint8 arrays

    Attributes
    ----------
    place : str
        What others open.
    sizes : list of int
        Bytes of each array.
    """

    def __init__(self, arrays: Sequence[Array]) -> None:
        self.sizes = [int(array.nbytes) for array in arrays]
        self._owner = os.getpid()
        if hasattr(os, "memfd_create"):
            self._file = os.memfd_create("sober")
            self.place, self._named = f"/proc/{self._owner}/fd/{self._file}", False
        else:
            self._file, self.place = tempfile.mkstemp(prefix="sober-")
            self._named = True
        try:
            for array in arrays:
                view = array.data.cast("B")
                while view:
                    view = view[os.write(self._file, view[: 1 << 30]) :]
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Forget the bytes; whoever has opened them keeps them."""
        if self._file >= 0 and os.getpid() == self._owner:
            os.close(self._file)
            if self._named:
                os.unlink(self.place)
        self._file = -1


def open_bytes(place: str, sizes: Sequence[int]) -> list[Array]:
    """Open what another process shares.

    Parameters
    ----------
    place : str
    sizes : sequence of int
    """
    with open(place, "rb") as file:
        whole = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
    ends = np.cumsum(sizes)
    return [whole[end - size : end] for size, end in zip(sizes, ends, strict=True)]
