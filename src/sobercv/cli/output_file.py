"""Where `-o` may write a file: not over the table that was read, not over what a run has written.

Takes a path and what must stay; gives nothing, writes nothing.
"""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import SoberError


def check_output(output: Path, run: Path, overwrite: bool, data: object = None) -> None:
    """Refuse a place that holds anything else than what may be written over.

    Parameters
    ----------
    output : Path
    run : Path
        The folder of the run; none of its files is written over.
    overwrite : bool
        Whether another file that is there may be.
    data : path, optional
        The table that was read; it stays.
    """
    name = repr(str(output))
    if output.is_dir():
        raise SoberError("E809", f"{name} is a folder. Name a file, such as {str(output / 'table.csv')!r}.")
    if not os.path.lexists(output):
        return
    if data is not None and os.path.exists(str(data)) and output.exists() and os.path.samefile(output, str(data)):
        raise SoberError("E809", f"{name} is the table that is read. Name another file with -o.")
    if output.resolve().is_relative_to(run.resolve()):
        raise SoberError("E809", f"{name} belongs to the run. Name a file outside of {str(run)!r} with -o.")
    if not overwrite:
        raise SoberError("E809", f"{name} is there. Name another file with -o, or write over it with --overwrite.")
