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
from typing import Any

import numpy as np
from joblib import parallel_config
from sklearn import config_context, get_config

from ...containers import Array
from ...errors import SoberError
from ...threads import one_blas_thread
from ..fit.steps import Begins, fit_predict
from ..fit.task import Experiment, Outcome, error_text

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
    """What is in force where a search was called; with it, a fit elsewhere does what it would have done here."""

    filters: list[Any]  # of `warnings`; they belong to a process, so threads share them
    config: dict[str, Any]  # scikit-learn's
    floating: Any  # what numpy does about floating-point errors

    @classmethod
    def here(cls) -> Surroundings:
        """Return those of the calling thread."""
        return cls(list(warnings.filters), get_config(), np.geterr())

    @contextmanager
    def apply(self) -> Iterator[None]:
        """Put those of a thread in force; joblib uses threads inside of a fit, as in workers of its own."""
        with config_context(**self.config), np.errstate(**self.floating), parallel_config("threading"):
            yield


def as_bytes(thing: Any, **options: Any) -> bytes:
    """Pickle, functions of the main script included; raises E602 where something cannot be pickled."""
    try:
        return bytes(cloudpickle.dumps(thing, protocol=5, **options))
    except Exception as error:
        raise SoberError(
            "E602",
            "The data or the estimator cannot be sent to worker processes: "
            f"{type(error).__name__}: {error_text(error)}. "
            "Use n_jobs=1 without a time limit, or threads with joblib.parallel_config('threading').",
        ) from error


def pack(experiment: Experiment) -> list[Array]:
    """Pickle what all fits have in common; return the pickle and the large buffers that it refers to, all as bytes."""
    large: list[Array] = []

    def stays_inside(buffer: pickle.PickleBuffer) -> bool:
        bare = buffer.raw()
        if bare.nbytes < LARGE:
            return True
        large.append(np.frombuffer(bare, np.uint8))
        return False

    head = as_bytes((experiment, Surroundings.here()), buffer_callback=stays_inside)
    return [np.frombuffer(head, np.uint8), *large]


_lock = threading.Lock()
#: What this process has opened last, by its token; forgotten when it has not been used for a while.
_opened: dict[str, Any] = {}
_timer = threading.Timer(0.0, _opened.clear)


@contextmanager
def _in_common(token: str, read: Callable[[], Sequence[Any]]) -> Iterator[Any]:
    """Enter with what was packed under a token, opened unless it is at hand."""
    global _timer
    with _lock:
        if token not in _opened:
            _opened.clear()  # before the new one needs memory
            try:
                head, *large = read()
                # numpy's arrays become views of the buffers: read-only, and fits take copies of their rows.
                _opened[token] = pickle.loads(head, buffers=large)
            except Exception as error:
                raise SoberError(
                    "E602",
                    f"A worker cannot open the data or the estimator: {type(error).__name__}: {error_text(error)}. "
                    "Make the modules that define them importable for other processes, or use n_jobs=1.",
                ) from error
        common = _opened[token]
    try:
        yield common
    finally:
        with _lock:
            _timer.cancel()
            _timer = threading.Timer(FORGET_SECONDS, _opened.clear)
            _timer.daemon = True
            _timer.start()


def run_batch(
    token: str, raw: bytes, read: Callable[[], Sequence[Any]], begins: Begins, tell: Callable[[Outcome], object]
) -> None:
    """Fit a batch in a worker process, and tell every outcome."""
    try:
        with (
            _in_common(token, read) as (experiment, around),
            one_blas_thread(),
            around.apply(),
            warnings.catch_warnings(),
        ):
            warnings.resetwarnings()
            warnings.filters[:] = around.filters  # type: ignore[index]
            for outcome in fit_predict(experiment, pickle.loads(raw), begins):
                tell(outcome)
    except BaseException as error:
        # An exception that can be pickled, with the place where it was raised as a note.
        text = "In a worker process:\n" + "".join(traceback.format_exception(error))
        try:
            error.add_note(text)
            pickle.loads(as_bytes(error))
        except Exception:
            error = RuntimeError(text)
        raise error from None


def run_packed(token: str, raw: bytes, *packed: Any) -> list[Outcome]:
    """Fit a batch on a cluster that gives each task what all have in common."""
    outcomes: list[Outcome] = []
    run_batch(token, raw, lambda: packed, lambda places: None, outcomes.append)
    return outcomes
