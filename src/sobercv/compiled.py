"""Whether compiled loops are at hand: loading them takes half a second, compiling them (once) some seconds.

Takes where a loop stands and its name, gives a guess; never imports numba.
"""

from __future__ import annotations

import os
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
