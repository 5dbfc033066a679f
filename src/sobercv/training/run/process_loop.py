"""What a worker process does: it receives what all fits have in common, then batches, and sends outcomes back.

Takes messages from a queue, writes messages to a pipe; see `process_main` for its beginning and its end.
"""

from __future__ import annotations

import os
import pickle
import queue
import sys
import traceback
from collections.abc import Callable
from time import monotonic
from typing import Any

from sklearn import config_context

from ...threads import one_blas_thread
from ..fit.prefix import fit_predict_shared
from ..fit.task import error_text
from .packing import as_bytes
from .process_main import write_message
from .shared_bytes import open_bytes
from .workers import threads_inside

#: A worker that hears nothing for so many seconds ends.
IDLE_SECONDS = 300
#: Outcomes of very short fits are sent together, after so many seconds.
TOGETHER_SECONDS = 0.02

Send = Callable[[Any], None]


def serve(inbox: queue.SimpleQueue[bytes], outgoing: int) -> None:
    """Do what messages say, until there is nobody to hear of it.

    Parameters
    ----------
    inbox : queue of bytes
    outgoing : int
        The descriptor of a pipe.
    """

    def send(message: Any) -> None:
        try:
            write_message(outgoing, as_bytes(message))
        except OSError:  # nobody is there to hear it
            os._exit(1)

    common: Any = None
    while True:
        try:
            kind, *content = pickle.loads(inbox.get(timeout=IDLE_SECONDS))
        except queue.Empty:
            os._exit(0)
        common = None if kind != "batch" else common  # the old data must not be held while new ones are opened
        if kind == "common":
            common, answer = _opened(*content)
            send(answer)
        elif kind == "batch":
            _run(send, common, *content)


def _opened(token: str, path: list[str], folder: str, head: bytes, large: Any) -> tuple[Any, tuple[str, str, str]]:
    """Open what all fits have in common; say whether it worked."""
    try:
        sys.path[:] = path
        if os.getcwd() != folder:
            os.chdir(folder)
        buffers = large if isinstance(large, list) else open_bytes(*large)
        common = pickle.loads(head, buffers=buffers)
        with one_blas_thread():  # looks for the libraries that were loaded: not a part of the first fit
            return common, ("ready", token, "")
    except BaseException as error:
        return None, ("broken", token, f"{type(error).__name__}: {error_text(error)}")


def _run(send: Send, common: Any, key: int, batch: bytes, at_once: bool) -> None:
    """Run a batch and send its outcomes; `at_once` also says before each fit which one it is."""
    (experiment, config), ready = common, []
    sent = monotonic()
    try:
        with one_blas_thread(), config_context(**config), threads_inside():
            for number, task in enumerate(pickle.loads(batch)):

                def begins(configurations: Any, number: int = number) -> None:
                    send(("begins", key, number, [c.index for c in configurations]))

                for outcome in fit_predict_shared(experiment, task, begins if at_once else None):
                    ready.append(outcome)
                    if at_once or monotonic() - sent > TOGETHER_SECONDS:
                        send(("outcomes", key, ready))
                        ready, sent = [], monotonic()
        send(("done", key, ready))
    except BaseException as error:
        send(("raised", key, _portable(error)))


def _portable(error: BaseException) -> bytes:
    """Pickle an exception with the place where it was raised; one that does not travel becomes a text."""
    text = "".join(traceback.format_exception(error))
    try:
        error.add_note(f"In a worker process:\n{text}")
        raw = as_bytes(error)
        pickle.loads(raw)
    except Exception:
        return as_bytes(RuntimeError(f"In a worker process:\n{text}"))
    return raw
