"""What workers do: open what all fits have in common, once, and fit batches as the calling thread would.

What is in common is pickled once; arrays stay outside of the pickle, so that processes of one machine map one file of
them into memory, and clusters keep one copy per node. Settings of the calling thread that change what a fit does
(`Surroundings`) travel with it.
"""

from __future__ import annotations

import pickle
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np
from joblib import parallel_config
from sklearn import config_context, get_config

from ...containers import Array
from ...errors import SoberError
from ...threads import one_blas_thread
from ..fit.prefix import fit_predict_shared
from ..fit.space import Configuration
from ..fit.task import Experiment, Outcome, error_text
from .batches import Batch

try:
    import cloudpickle
except ImportError:  # joblib before 1.6 brought its own
    from joblib.externals import cloudpickle

#: Arrays of this many bytes stay outside of the pickle.
LARGE = 100_000
#: A worker without work forgets the data after so many seconds.
FORGET_SECONDS = 10.0


@dataclass(frozen=True)
class Surroundings:
    """What is in force where a search was called: with it, a fit elsewhere does what it would have done here.

    Attributes
    ----------
    filters : list
        Those of `warnings`.
    config : dict
        scikit-learn's.
    floating : dict
        What numpy does about floating-point errors.
    """

    filters: list[Any]
    config: dict[str, Any]
    floating: Any

    @classmethod
    def here(cls) -> Surroundings:
        """Return those of the calling thread."""
        return cls(list(warnings.filters), get_config(), np.geterr())

    @contextmanager
    def apply(self, is_own_process: bool) -> Iterator[None]:
        """Put them in force.

        Parameters
        ----------
        is_own_process : bool
            Whether this process belongs to one worker. Threads share the filters of their process, and none of them
            may change them.
        """
        with config_context(**self.config), np.errstate(**self.floating):
            if is_own_process:
                with warnings.catch_warnings():
                    warnings.resetwarnings()
                    warnings.filters[:] = self.filters  # type: ignore[index]
                    yield
            else:
                yield


def pack(common: Any) -> list[Array]:
    """Pickle what all fits have in common; return the pickle and the large buffers that it refers to, all as bytes.

    Raises
    ------
    SoberError
        E602 where it cannot be pickled.
    """
    large: list[Array] = []

    def stays_inside(buffer: pickle.PickleBuffer) -> bool:
        bare = buffer.raw()
        if bare.nbytes < LARGE:
            return True
        large.append(np.frombuffer(bare, np.uint8))
        return False

    try:
        head = cloudpickle.dumps(common, protocol=5, buffer_callback=stays_inside)
    except Exception as error:
        raise SoberError(
            "E602",
            "The data or the estimator cannot be sent to worker processes: "
            f"{type(error).__name__}: {error_text(error)}. "
            "Use n_jobs=1, or threads with joblib.parallel_config('threading').",
        ) from error
    return [np.frombuffer(head, np.uint8), *large]


def as_bytes(thing: Any) -> bytes:
    """Pickle something small, functions of the main script included."""
    return bytes(cloudpickle.dumps(thing))


class _Opened:
    """What this process has opened last; forgotten when it has not been used for a while."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._token, self._common, self._used, self._n_users = "", None, 0.0, 0
        self._timer: threading.Timer | None = None

    def take(self, token: str, read: Callable[[], Sequence[Any]]) -> Any:
        """Return what was packed under a token, opened unless it is at hand; `leave` must follow."""
        with self._lock:
            if self._token != token:
                self._common = None  # before the new one needs memory
                try:
                    head, *large = read()
                    # numpy's arrays become views of the buffers: read-only, and fits take copies of their rows.
                    self._common = pickle.loads(head, buffers=large)
                except Exception as error:
                    raise SoberError(
                        "E602",
                        f"A worker cannot open the data or the estimator: {type(error).__name__}: {error_text(error)}. "
                        "Make the modules that define them importable for other processes, or use n_jobs=1.",
                    ) from error
                self._token = token
            self._n_users += 1
            return self._common

    def leave(self) -> None:
        """Say that it is not used any more."""
        with self._lock:
            self._n_users -= 1
            self._used = monotonic()
            if self._timer is None:
                self._start_timer()

    def _start_timer(self) -> None:
        self._timer = threading.Timer(FORGET_SECONDS, self._forget)
        self._timer.daemon = True
        self._timer.start()

    def _forget(self) -> None:
        with self._lock:
            if self._n_users or monotonic() - self._used < FORGET_SECONDS:
                self._start_timer()
            else:
                self._timer, self._token, self._common = None, "", None


_opened = _Opened()

#: Hears which configurations are fitted next, and of each outcome; returns whether it has taken the outcomes so far.
Note = Callable[[Sequence[Configuration], Sequence[Outcome]], bool]


def run_batch(token: str, raw: bytes, read: Callable[[], Sequence[Any]], note: Note | None = None) -> list[Outcome]:
    """Fit a batch in a worker process, and return the outcomes that `note` has not taken."""
    try:
        experiment, around = _opened.take(token, read)
        try:
            with one_blas_thread(), around.apply(is_own_process=True), threads_inside():
                return fit_all(experiment, pickle.loads(raw), note)
        finally:
            _opened.leave()
    except BaseException as error:
        raise _portable(error) from None


def run_packed(token: str, raw: bytes, *packed: Any) -> list[Outcome]:
    """Fit a batch on a cluster that gives each task what all have in common."""
    return run_batch(token, raw, lambda: packed)


def fit_all(experiment: Experiment, batch: Batch, note: Note | None = None) -> list[Outcome]:
    """Fit a batch."""
    ready: list[Outcome] = []

    def begins(configurations: Sequence[Configuration]) -> None:
        if note is not None and note(configurations, ready):
            ready.clear()

    for task in batch:
        for outcome in fit_predict_shared(experiment, task, begins):
            ready.append(outcome)
    return ready


def threads_inside() -> Any:
    """Make joblib use threads inside of a fit, as it does in workers of its own."""
    return parallel_config("threading")


def _portable(error: BaseException) -> BaseException:
    """Return an exception that can be pickled, with the place where it was raised as a note."""
    text = "".join(traceback.format_exception(error))
    try:
        error.add_note(f"In a worker process:\n{text}")
        pickle.loads(as_bytes(error))
    except Exception:
        return RuntimeError(f"In a worker process:\n{text}")
    return error
