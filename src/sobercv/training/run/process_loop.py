"""What a worker process does: it receives what all fits have in common, then batches, and sends outcomes back.

Takes messages from its standard input, gives messages on what was its standard output; never outlives its parent,
whatever ends that. What fits print goes to standard error.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import queue
import select
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any

from sklearn import config_context

from ...threads import one_blas_thread
from ..fit.prefix import fit_predict_shared
from ..fit.task import error_text
from .packing import as_bytes
from .shared_bytes import open_bytes
from .workers import threads_inside

#: A worker that hears nothing for so many seconds ends.
IDLE_SECONDS = 300
#: How often a worker looks whether its parent is still there, where the system does not tell.
LOOK_SECONDS = 1.0
#: Outcomes of very short fits are sent together, after so many seconds.
TOGETHER_SECONDS = 0.02
#: Bytes of the number that says how long a message is.
HEADER = 8
_PR_SET_PDEATHSIG = 1

Send = Callable[[Any], None]


def main(parent: int, from_main_thread: bool) -> None:
    """Serve until there is no parent.

    Parameters
    ----------
    parent : int
        Its process id.
    from_main_thread : bool
        Whether its main thread has started this process. Linux ends a process with the thread that started it, and
        other threads may end before their process does.
    """
    incoming, outgoing = os.dup(0), os.dup(1)  # ours: what fits print must not get in between
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        # The parent decides when to end. No SIG_IGN: programs that a fit starts would inherit it.
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *arguments: None)
    if from_main_thread and sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    inbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(incoming, inbox, parent), daemon=True).start()
    _serve(inbox, partial(_send, outgoing))


def _listen(incoming: int, inbox: queue.SimpleQueue[bytes], parent: int) -> None:
    """Pass messages on, and end this process when its parent has ended."""
    try:
        while True:
            # A copy of the pipe's other end may live on in a child of the parent, so the pipe alone does not tell.
            while os.name == "posix" and not select.select([incoming], [], [], LOOK_SECONDS)[0]:
                if os.getppid() != parent:
                    os._exit(1)
            size = int.from_bytes(_exactly(incoming, HEADER), "little")
            inbox.put(_exactly(incoming, size))
    except (EOFError, OSError):
        os._exit(1)


def _exactly(incoming: int, size: int) -> bytes:
    raw = bytearray()
    while len(raw) < size:
        part = os.read(incoming, min(size - len(raw), 1 << 24))
        if not part:
            raise EOFError
        raw += part
    return bytes(raw)


def _send(outgoing: int, message: Any) -> None:
    raw = as_bytes(message)
    left = memoryview(len(raw).to_bytes(HEADER, "little") + raw)
    try:
        while left:
            left = left[os.write(outgoing, left) :]
    except OSError:  # nobody is there to hear it
        os._exit(1)


def _serve(inbox: queue.SimpleQueue[bytes], send: Send) -> None:
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
        return pickle.loads(head, buffers=buffers), ("ready", token, "")
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
