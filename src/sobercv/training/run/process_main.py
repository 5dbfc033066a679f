"""The beginning of a worker process, a script that is run by its path: from its first moment it ends with its parent.

Takes messages from its standard input; hands them, and what was its standard output, to `process_loop`, whose imports
take seconds. Imports nothing before that but what ships with Python. What fits print goes to standard error.
"""

from __future__ import annotations

import ctypes
import json
import os
import queue
import select
import signal
import sys
import threading

#: How often a worker looks whether its parent is still there, where the system does not tell.
LOOK_SECONDS = 1.0
#: Bytes of the number that says how long a message is.
HEADER = 8
_PR_SET_PDEATHSIG = 1


def main(parent: int, from_main_thread: bool, path: list[str]) -> None:
    """Serve until there is no parent.

    Parameters
    ----------
    parent : int
        Its process id.
    from_main_thread : bool
        Whether its main thread has started this process. Linux ends a process with the thread that started it, and
        other threads may end before their process does.
    path : list of str
        Where to import from.
    """
    if from_main_thread and sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    incoming, outgoing = os.dup(0), os.dup(1)  # ours: what fits print must not get in between
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        # The parent decides when to end. No SIG_IGN: programs that a fit starts would inherit it.
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda *_: None)
    inbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(incoming, inbox, parent), daemon=True).start()
    sys.path[:] = path
    from sobercv.training.run.process_loop import serve

    serve(inbox, outgoing)


def _listen(incoming: int, inbox: queue.SimpleQueue[bytes], parent: int) -> None:
    """Pass messages on, and end this process when its parent has ended."""
    try:
        while True:
            # A copy of the pipe's other end may live on in a child of the parent, so the pipe alone does not tell.
            while os.name == "posix" and not select.select([incoming], [], [], LOOK_SECONDS)[0]:
                if os.getppid() != parent:
                    os._exit(1)
            inbox.put(read_message(incoming))
    except (EOFError, OSError):
        os._exit(1)


def read_message(incoming: int) -> bytes:
    """Read a message, all of it.

    Parameters
    ----------
    incoming : int
        The descriptor of a pipe.

    Raises
    ------
    EOFError
        When the other end is closed.
    """
    return _exactly(incoming, int.from_bytes(_exactly(incoming, HEADER), "little"))


def _exactly(incoming: int, size: int) -> bytes:
    raw = bytearray()
    while len(raw) < size:
        part = os.read(incoming, min(size - len(raw), 1 << 24))
        if not part:
            raise EOFError
        raw += part
    return bytes(raw)


def write_message(outgoing: int, raw: bytes) -> None:
    """Write a message, all of it.

    Parameters
    ----------
    outgoing : int
        The descriptor of a pipe.
    raw : bytes
    """
    left = memoryview(len(raw).to_bytes(HEADER, "little") + raw)
    while left:
        left = left[os.write(outgoing, left) :]


if __name__ == "__main__":
    main(*json.loads(sys.argv[1]))
