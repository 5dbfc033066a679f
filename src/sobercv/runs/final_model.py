"""The final model: the winner, trained on all data, in the time that is left.

Takes a fitted search without a model and its data, gives the search its model, or a note that says why there is none;
the honest number does not need it. Where there is a deadline, a process of its own trains it, so that it can be ended.
"""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from ..errors import Note
from ..search.final_model import as_decided, estimate_of, unfitted
from ..tables import Dataset
from . import fit_alone
from .fit_alone import MODEL, TASK


def train_final_model(search: Any, data: Dataset, seconds: float = math.inf) -> Note | None:
    """Train the winner on all data and put it into the search, as `refit=True` does.

    Parameters
    ----------
    search : BBCSearchCV
        Fitted with `refit=False`.
    seconds : float
        After which it is given up.

    Returns
    -------
    Note or None
        W704, where there is no model.
    """
    decision = estimate_of(search).decision
    model = unfitted(search.estimator, search.best_params_)  # a run selects one, with or without a threshold
    start = perf_counter()
    try:
        trained = _here(model, data) if seconds == math.inf else _elsewhere(model, data, seconds)
    except Exception as error:  # any estimator may raise anything
        said = " ".join(str(error).split())[:200]
        return _none(f"it failed on all data with {type(error).__name__}: {said}".rstrip("."), "Choose another preset")
    if trained is None:
        return _none("the time was over", "Write sober resume, with more time,")
    search.best_estimator_ = trained = as_decided(decision, [trained], data.X, data.y)
    search.refit_time_ = perf_counter() - start
    search.n_fits_ += 1
    search.refit = True
    if hasattr(trained, "feature_names_in_"):
        search.feature_names_in_ = trained.feature_names_in_
    return None


def _none(reason: str, remedy: str) -> Note:
    return Note("W704", f"There is no final model: {reason}. The honest score stands without it. {remedy} to get one.")


def _here(model: Any, data: Dataset) -> Any:
    model.fit(data.X, data.y, **data.fit_arguments)
    return model


def _elsewhere(model: Any, data: Dataset, seconds: float) -> Any:
    """Train in another process; None when the time is over, which ends that process."""
    with TemporaryDirectory(prefix="sober-") as name:
        place = Path(name)
        (place / TASK).write_bytes(pickle.dumps((model, data.X, data.y, data.fit_arguments), protocol=5))
        # Its standard input stays open until it is done: that it closes tells it that we are gone, whatever killed us.
        process = subprocess.Popen(
            [sys.executable, "-P", "-W", "ignore", fit_alone.__file__, name],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
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
