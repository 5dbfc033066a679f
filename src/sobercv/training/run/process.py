"""One worker process of this machine, as its parent sees it; those that are idle wait for the next search.

Takes messages, puts what comes back into a queue; never knows what the messages mean.
"""

from __future__ import annotations

import atexit
import json
import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ..keep.installed import is_installed_file
from . import process_main

#: The script that a worker process runs.
PROGRAM = process_main.__file__

#: Set by libraries in every process that imports them, so that they tell nothing of what the user wants.
SET_BY_IMPORTS = frozenset({"KMP_DUPLICATE_LIB_OK", "KMP_INIT_AT_FORK", "_RJEM_MALLOC_CONF"})

#: A process, and what it said; None when it has ended.
Inbox = queue.SimpleQueue[tuple["Process", Any]]


class Process:
    """A worker process.

    Parameters
    ----------
    environment : mapping of str to str
        Its environment variables.
    inbox : queue
        Receives pairs of this process and a message; None at its end.
    """

    def __init__(self, environment: Mapping[str, str], inbox: Inbox) -> None:
        self.environment = dict(environment)
        self.inbox = inbox
        self.owner = os.getpid()
        self.started = time.time()
        self.is_ready = False
        from_main_thread = threading.current_thread() is threading.main_thread()
        start = json.dumps([self.owner, from_main_thread, list(map(str, sys.path))])
        flags = ["-" + "O" * sys.flags.optimize] * bool(sys.flags.optimize) + [f"-W{w}" for w in sys.warnoptions]
        self._popen = subprocess.Popen(
            # -P: the folder of the script is no place to import from.
            [sys.executable, "-P", *flags, PROGRAM, start],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env=self.environment,
        )
        threading.Thread(target=self._listen, daemon=True, name="sober-worker").start()

    def _listen(self) -> None:
        assert self._popen.stdout is not None
        with suppress(Exception), self._popen.stdout as pipe:  # whatever cannot be understood is the end of it too
            while True:
                message = pickle.loads(process_main.read_message(pipe.fileno()))
                self.inbox.put((self, message))  # the inbox of now: it may be another than when the reading began
        self._popen.kill()
        self._popen.wait()
        self.inbox.put((self, None))

    def send(self, *message: Any) -> None:
        """Send a message; the end of the process is told by the inbox, not here."""
        assert self._popen.stdin is not None
        with suppress(OSError):
            process_main.write_message(self._popen.stdin.fileno(), pickle.dumps(message, protocol=5))

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended."""
        return self._popen.poll() is None

    @property
    def end(self) -> str:
        """How it ended, for people."""
        code = self._popen.poll()
        return f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"

    def kill(self) -> None:
        """End it at once, whatever it does."""
        if self.owner != os.getpid():  # a copy, in a child that was forked
            return
        self._popen.kill()
        self._popen.wait()
        with suppress(OSError):  # the other pipe is closed by the thread that reads it, and by nobody else
            assert self._popen.stdin is not None
            self._popen.stdin.close()


_lock = threading.Lock()
_idle: list[Process] = []


def take(environment: Mapping[str, str], inbox: Inbox) -> Process:
    """Give an idle process, or start one.

    Parameters
    ----------
    environment : mapping of str to str
    inbox : queue
    """
    newest = _newest_own_code()
    with _lock:
        for process in _idle[:]:
            if process.owner != os.getpid():
                _idle.remove(process)
            elif not process.is_alive or process.started < newest:  # it has imported what was edited since
                _idle.remove(process)
                process.kill()
            elif _given(process.environment) == _given(environment):
                _idle.remove(process)
                process.inbox, process.is_ready = inbox, False
                return process
    return Process(environment, inbox)


def _given(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name not in SET_BY_IMPORTS}


def give_back(process: Process) -> None:
    """Let a process that has nothing to do wait for the next search.

    Parameters
    ----------
    process : Process
    """
    process.inbox = queue.SimpleQueue()
    process.send("forget")
    with _lock:
        _idle.append(process)


@atexit.register
def end_idle() -> None:
    """End all that wait."""
    with _lock:
        waiting, _idle[:] = _idle[:], []
    for process in waiting:
        process.kill()


def _newest_own_code() -> float:
    """When a file of the user's own that is imported here was last written."""
    files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    newest = 0.0
    for file in files:
        if isinstance(file, str) and not is_installed_file(file):
            with suppress(OSError):
                newest = max(newest, os.stat(file).st_mtime)
    return newest
