"""The paper, re-made: every number of its section 6 as a check with a verdict; and whether intervals cover."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

STUDIES = ("simulation", "real", "intervals", "racing", "tuned", "adaptive", "beyond")


def main(arguments: Sequence[str]) -> int:
    """Run a study by name: what `python -m studies` calls. Returns an exit code."""
    name, *rest = arguments
    if name not in STUDIES:
        print(f"The study {name!r} is not known; there are {', '.join(STUDIES)}.")
        return 2
    try:
        import_module(f"{__name__}.{name}.__main__").main(rest)
    except KeyboardInterrupt:
        print("\nStopped. What is done is kept in the work folder; the same command goes on from there.")
        return 130
    return 0
