"""The command line: parse, call the API, render. Nothing here computes."""

from __future__ import annotations

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
    sys.exit(code)
