"""How long work may be done without compiled loops: loading them takes half a second, compiling them (once) seconds.

Takes where a loop stands and its name, gives an allowance of seconds; never imports numba. Who waits for no loops must
give their bits, so that nobody can tell which of the two was at work.
"""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path


def compiled_before(neighbour: str, name: str) -> bool:
    """Whether numba's cache has a loop. A wrong guess costs time only.

    Parameters
    ----------
    neighbour : str
        A file in the folder of the loop's module.
    name : str
        Module and function, such as "walks.walk_int".
    """
    place = Path(os.environ.get("NUMBA_CACHE_DIR") or Path(neighbour).parent / "__pycache__")
    return any(place.rglob(f"{name}-*.nbi"))


class Allowance:
    """What may still be done in this process before compiled loops are loaded.

    Parameters
    ----------
    loading, compiling : float
        Seconds where the loop was compiled before, and where it was not.
    neighbour, name : str
        The loop, see `compiled_before`.
    """

    def __init__(self, loading: float, compiling: float, neighbour: str, name: str) -> None:
        self._either, self._loop = (loading, compiling), (neighbour, name)
        self.used = 0.0

    @cached_property
    def seconds(self) -> float:
        """All that there is: more where numba's cache is empty, which costs seconds. A wrong guess costs time only."""
        loading, compiling = self._either
        return loading if compiled_before(*self._loop) else compiling

    def covers(self, seconds: float) -> bool:
        """Whether this may be done as well; if so, it is taken off."""
        if self.used + seconds > self.seconds:
            return False
        self.used += seconds
        return True

    def end(self) -> None:
        """The loops are loaded: from now on nothing is covered."""
        self.used = float("inf")
