"""sober study: the paper made again, and whether intervals cover. Studies live in the project's `studies` folder."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from ..errors import SoberError
from .exit_code import DONE

NAMES = ("simulation", "real", "intervals", "racing", "tuned", "adaptive", "beyond")


def study(name: str, quick: bool, output: Path | None) -> int:
    """Hand over to `studies.main`, where it is there."""
    if name not in NAMES:
        raise SoberError("E808", f"There is no study {name!r}; choose one of {', '.join(NAMES)}.")
    sys.path.insert(0, str(Path.cwd()))  # an installed script does not look in the folder it is called from
    if find_spec("studies") is None:
        raise SoberError(
            "E808", "The studies are not part of the installed package. Run this command in a clone of the project."
        )
    run = getattr(import_module("studies"), "main", None)
    if run is None:
        raise SoberError("E808", "The studies of this clone cannot be run from here yet. See the folder studies.")
    arguments = [name, *(["--quick"] if quick else []), *(["--output", str(output)] if output else [])]
    return int(run(arguments) or DONE)
