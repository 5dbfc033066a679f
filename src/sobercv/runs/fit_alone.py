"""A script, run in a process of its own by its path: it fits what lies in a folder, and leaves the model there.

The folder holds a pickled (estimator, X, y, arguments of fit), made by the process that started this one; it never
outlives that process. Imports nothing before it can be ended.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from pathlib import Path
from typing import Any

TASK, MODEL = "task.pickle", "model.pickle"


def leave() -> None:
    """Wait until standard input closes: the other process is gone, whatever killed it."""
    sys.stdin.read()
    os._exit(1)


def die_with_parent() -> None:
    """Ask Linux to kill this process with the other one; elsewhere, `leave` does once Python lets it."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    except (ImportError, OSError, AttributeError):
        return


def work(place: Path) -> None:
    """Fit, and write the model or the exception; whole, or not at all."""
    try:
        model, X, y, arguments = pickle.loads((place / TASK).read_bytes())
        model.fit(X, y, **arguments)
        found: Any = model
    except Exception as error:
        found = error
    try:
        raw = pickle.dumps(found, protocol=5)
    except Exception as error:
        raw = pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
    beside = place / f"{MODEL}.part"
    beside.write_bytes(raw)
    beside.rename(place / MODEL)


if __name__ == "__main__":
    die_with_parent()
    threading.Thread(target=leave, daemon=True).start()
    work(Path(sys.argv[1]))
    os._exit(0)
