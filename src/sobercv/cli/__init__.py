"""The command line: parse, call the API, render. Nothing here computes."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with its exit code."""
    try:
        from .app import run
    except ImportError as error:
        print(f"sober: the command line needs {error.name}: pip install 'sobercv[cli]' [E403]", file=sys.stderr)
        sys.exit(2)
    sys.exit(run(arguments))
