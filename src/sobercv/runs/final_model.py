"""The final model of a run in the time that is left, or a note that says why there is none.

Where there is a deadline, a process of its own trains it, so that it can be ended; the honest number does not need it.
"""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..errors import Note
from ..search.bbc_search_cv import BBCSearchCV
from ..search.results import trained
from ..tables import Dataset
from . import fit_alone
from .fit_alone import MODEL, TASK


def train_final_model(search: BBCSearchCV, data: Dataset, seconds: float = math.inf) -> Note | None:
    """Let a search that was fitted with `refit=False` train its final model; return W704 where there is none."""
    try:
        train = trained if seconds == math.inf else partial(_elsewhere, seconds)
        search.train_final_model(data.X, data.y, train=train, **data.fit_arguments)
    except _TooLate:
        return _none("the time was over", "Write sober resume, with more time,")
    except Exception as error:  # any estimator may raise anything
        said = " ".join(str(error).split())[:200]
        return _none(f"it failed on all data with {type(error).__name__}: {said}".rstrip("."), "Choose another preset")
    return None


class _TooLate(Exception):
    """The time was over before the model was trained."""


def _none(reason: str, remedy: str) -> Note:
    return Note("W704", f"There is no final model: {reason}. The honest score stands without it. {remedy} to get one.")


def _elsewhere(seconds: float, model: Any, X: Any, y: Any, **fit_params: Any) -> Any:
    """Train in another process, which is ended when the time is over."""
    with TemporaryDirectory(prefix="sober-") as name:
        place = Path(name)
        (place / TASK).write_bytes(pickle.dumps((model, X, y, fit_params), protocol=5))
        # Its standard input stays open until it is done: that it closes tells it that we are gone, whatever killed us.
        process = subprocess.Popen(
            [sys.executable, "-P", "-W", "ignore", fit_alone.__file__, name],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise _TooLate from None
        finally:
            process.kill()
            process.wait()
            if process.stdin is not None:
                process.stdin.close()
        if not (place / MODEL).is_file():
            raise RuntimeError(f"its process ended with code {process.returncode}")
        found = pickle.loads((place / MODEL).read_bytes())
    if isinstance(found, Exception):
        raise found
    return found
