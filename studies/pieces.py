"""Pieces of a study in a work folder: each is there as a whole or not at all, so that a study goes on where it stopped.

Takes paths and what makes a file, gives files; knows nothing of what is in them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Give the path of a file to write, with the same suffix; it gets its name when it is complete."""
    part = path.with_name(f".{path.stem}.{os.getpid()}.tmp{path.suffix}")
    yield part
    part.rename(path)


def make_missing(
    paths: Sequence[Path], make: Callable[[Path], dict[str, Any]], say: Callable[[str], None] = print
) -> None:
    """Make the files of arrays that are missing, one after the other.

    Parameters
    ----------
    paths : sequence of Path
        NAME.npz files, in one folder or several that exist.
    make : callable
        Path -> its arrays by name.
    say : callable
        Hears how far it is.
    """
    missing = [path for path in paths if not path.exists()]
    say(f"{len(missing)} of {len(paths)} tables are missing")
    for path in telling(missing, "tables", say):
        if not path.exists():  # another process may be at work in the same folder
            with whole(path) as part:
                np.savez_compressed(part, **make(path))


def telling(todo: Sequence[Any], what: str, say: Callable[[str], None]) -> Any:
    """Go through a list, and say once a minute how far."""
    start = told = time.perf_counter()
    for done, item in enumerate(todo):
        if time.perf_counter() - told > 60:
            told = time.perf_counter()
            say(f"{done} of {len(todo)} {what} after {(told - start) / 60:.1f} min")
        yield item
    say(f"{len(todo)} {what}")
