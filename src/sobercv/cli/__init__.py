"""The command line: parse, call the API, render. Nothing here computes."""

from __future__ import annotations

import codecs
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic

from ..signals import terminable

#: When the command began; a time limit counts from here.
BEGAN = monotonic()
#: Signs that some terminals cannot write, and what they can.
PLAIN = {"\u2212": "-", "\u2013": "-", "\u2026": "...", "\u00b2": "2", "\ufffd": "?"}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with its exit code."""
    codecs.register_error("sober", _plain)
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):  # closed, or replaced by another object
            stream.reconfigure(errors="sober")  # type: ignore[union-attr]
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


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    """Write what a terminal of another language can: a plain sign where there is one, an escape elsewhere."""
    if isinstance(error, UnicodeEncodeError) and error.object[error.start] in PLAIN:
        return PLAIN[error.object[error.start]], error.start + 1
    return codecs.backslashreplace_errors(error)
