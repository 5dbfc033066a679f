"""The command line: parse, call the API, render. Nothing here computes."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic

from ..signals import terminable

#: When the command began; a time limit counts from here.
BEGAN = monotonic()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with its exit code."""
    ended: list[int] = []  # the exit code
    atexit.register(_end, ended)  # what is registered first runs last
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):  # closed, or replaced by another object
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        with terminable():
            from .app import run

            code = run(arguments)
    except ImportError as error:
        print(f"sober: the command line needs {error.name}: pip install 'sobercv[cli]' [E403]", file=sys.stderr)
        code = 2
    except KeyboardInterrupt as interrupt:  # before anything could begin: while modules were imported
        code = 128 + getattr(interrupt, "number", signal.SIGINT)
    # Only the exit is left: another Ctrl-C now gives no traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    ended.append(code)
    sys.exit(code)


def _end(ended: list[int]) -> None:
    """End the process before the destructors of C++ libraries run.

    Threads of pyarrow, polars and others live until the end of the process; a destructor that finds one of them at
    work aborts, and the command would fail after all was written.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # a pipe that is gone
            stream.flush()
    if ended:
        os._exit(ended[0])
