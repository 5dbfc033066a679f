"""Processes of this machine, by loky: a fit can be ended, and a worker's death is noticed.

Each worker leads a process group and is named in a folder that the pool shares with it. The folder also holds the data,
mapped into memory by every worker, and a journal for each batch under way: which fit it has begun, and the outcomes, so
that nothing is lost when workers are killed.
"""

from __future__ import annotations

import atexit
import json
import multiprocessing
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any

import joblib
from joblib.externals.loky import BrokenProcessPool, ProcessPoolExecutor

from ...errors import SoberError
from ..fit.task import Outcome, Place
from ..keep.fingerprint import is_installed_file
from . import guard
from .base import FuturePool, Report
from .batches import Batch
from .work import as_bytes, pack, run_batch

#: Workers without work wait so many seconds for the next search.
IDLE_SECONDS = 60.0
#: Fits that no one needs any more have so many seconds to end before their workers are: new ones take longer to start.
LAST_SECONDS = 1.0
#: How often journals are read, in seconds.
JOURNAL_SECONDS = 0.25
#: So many times in a row workers may end before they have started.
MAX_FALSE_STARTS = 2
#: Set by libraries in every process that imports them, so that they say nothing about what the user wants.
_SET_BY_IMPORTS = frozenset({"KMP_DUPLICATE_LIB_OK", "KMP_INIT_AT_FORK", "_RJEM_MALLOC_CONF"})


class ProcessPool(FuturePool):
    """Worker processes, with some environment variables beside those of this process."""

    def __init__(self, n_workers: int, environment: Mapping[str, str], fit_timeout: float | None = None) -> None:
        super().__init__(n_workers)
        self.fit_timeout = fit_timeout
        self._environment = dict(environment)
        self._workers: _Workers | None = None
        self._n_false_starts = 0
        self._journals: dict[int, _Journal] = {}
        self._read_at = 0.0

    def _future(self, key: int, batch: Batch, is_speculative: bool) -> Future[list[Outcome]]:
        try:
            if self._workers is None:
                packed = pack(self._experiment)
                self._workers = _take(self.n_workers, self._environment)
                joblib.dump(packed, self._workers.folder / f"{self._token}.data")  # workers map it into memory
            folder = self._workers.folder
            self._journals[key] = journal = _Journal(folder / f"{self._token}-{key}.journal")
            future = self._workers.executor.submit(_run, str(folder), self._token, as_bytes(batch), str(journal.path))
        except BrokenProcessPool as error:  # it broke since the last batch came back
            future = Future()
            future.set_exception(error)
        except OSError as error:
            raise SoberError(
                "E602",
                f"Worker processes cannot be started, or the data cannot be shared with them: {error}. Free some space "
                "in the folder for temporary files (TMPDIR), or use n_jobs=1.",
            ) from error
        return future

    def wait(self, seconds: float) -> list[Report]:
        reports = super().wait(min(seconds, JOURNAL_SECONDS))
        deaths = [report.death for report in reports if report.death]
        # A program that a worker forked keeps loky from noticing the worker's end.
        if not reports and self._workers is not None and self._flying and self._workers.lost():
            deaths = ["ended"]
        if monotonic() - self._read_at > JOURNAL_SECONDS:  # also of batches that are not done yet
            self._read_at = monotonic()
            reports += [Report(key, self._journals[key].read(), is_done=False) for key in self._flying]
        if deaths:  # all workers are ended, and all batches come back
            self._n_false_starts = 0 if self._workers is None or self._workers.pids() else self._n_false_starts + 1
            if self._n_false_starts >= MAX_FALSE_STARTS:
                raise SoberError(
                    "E602",
                    f"Worker processes end before they have started ({deaths[0]}); standard error may say why. "
                    "Use n_jobs=1, or threads with joblib.parallel_config('threading').",
                )
            reports += [Report(report.key, report.outcomes, death=deaths[0]) for report in self.stop()]
        return reports

    def _report(self, key: int, future: Future[list[Outcome]]) -> Report:
        return replace(super()._report(key, future), outcomes=self._journals.pop(key).close())

    def begun(self, key: int) -> tuple[float, list[Place]]:
        return self._journals[key].begun

    def death_of(self, error: BaseException) -> str:
        if not isinstance(error, BrokenProcessPool):
            return ""
        codes = re.search(r"\{(.+)\}", str(error))
        return "ended" if codes is None else codes.group(1)

    def stop(self) -> list[Report]:
        """End all workers, with the programs that their fits started; return what was in their journals."""
        reports = [Report(key, journal.close()) for key, journal in self._journals.items()]
        self._journals.clear()
        self._flying.clear()
        if self._workers is not None:
            self._workers.close()
            self._workers = None
        return reports

    def close(self) -> None:
        """Let workers wait for the next search; speculative fits of dropped configurations may be under way."""
        last = [future for future in self._flying.values() if not future.cancel()]
        workers, self._workers = self._workers, None
        super().close()
        if workers is not None:
            with suppress(OSError):  # Windows keeps what is mapped; it goes with the folder
                (workers.folder / f"{self._token}.data").unlink()
            _give_back(workers, last)


class _Journal:
    """What a worker has written about a batch. A batch whose file was removed is not begun any more."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()
        self.begun: tuple[float, list[Place]] = (inf, [])
        self._offset = 0

    def read(self) -> list[Outcome]:
        """Return the outcomes that are new."""
        raw, found = b"", list[Outcome]()
        with suppress(OSError), open(self.path, "rb") as file:
            file.seek(self._offset)
            raw = file.read()
        while len(raw) >= 8 and len(raw) >= (size := 8 + int.from_bytes(raw[:8], "little")):
            self.begun, outcome = pickle.loads(raw[8:size])
            self._offset, raw = self._offset + size, raw[size:]
            found += [] if outcome is None else [outcome]
        return found

    def close(self) -> list[Outcome]:
        """Return the outcomes that are new, and remove the file."""
        found = self.read()
        with suppress(OSError):
            self.path.unlink()
        return found


# ---- in workers ------------------------------------------------------------------------------------------------------
def _begin(folder: str) -> None:
    """Make this process a worker: a group of its own, named in the folder; what fits print goes to standard error."""
    if os.name == "posix":
        with suppress(OSError):
            os.setpgid(0, 0)
    with suppress(OSError):  # where standard error is closed
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
    name = Path(folder, f"{os.getpid()}.worker")
    try:
        name.touch()
    except OSError:  # the parent has ended, and its guard has removed the folder
        os._exit(1)
    atexit.register(partial(name.unlink, missing_ok=True))  # one that ends by itself is not missed


def _run(folder: str, token: str, batch: bytes, journal: str) -> list[Outcome]:
    """Fit a batch; outcomes are written into its journal."""
    begun: tuple[float, list[Place]] = (inf, [])

    def write(outcome: Outcome | None) -> None:
        raw = pickle.dumps((begun, outcome), protocol=5)
        file.write(len(raw).to_bytes(8, "little") + raw)
        file.flush()

    def begins(places: list[Place]) -> None:
        nonlocal begun
        begun = monotonic(), places
        write(None)

    read = partial(joblib.load, os.path.join(folder, f"{token}.data"), mmap_mode="r")
    with open(journal, "r+b") as file:
        run_batch(token, batch, read, begins, write)
    _note_code(Path(folder, f"{os.getpid()}.worker"))
    return []


_n_modules = 0


def _note_code(path: Path) -> None:
    """Write down which files of the user's own this worker has imported, as they are now, when there are new ones."""
    global _n_modules
    if len(sys.modules) != _n_modules:
        _n_modules = len(sys.modules)
        files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
        own = [file for file in files if isinstance(file, str) and not is_installed_file(file)]
        path.write_text(json.dumps({file: _state(file) for file in own}))


def _state(file: str) -> list[int]:
    """Return what changes when a file is edited or replaced, whatever date it is given."""
    with suppress(OSError):
        stat = os.stat(file)
        return [stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino]
    return []


# ---- workers that wait ----------------------------------------------------------------------------------------------
class _Workers:
    """Processes, their folder, and the guard that ends both with this process."""

    def __init__(self, n_workers: int, environment: Mapping[str, str], key: Any) -> None:
        self.key = key
        self.owner = os.getpid()
        self.last: list[Future[Any]] = []  # fits of the search before that were under way when it ended
        self.taken = threading.Event()  # by another search
        self.folder = Path(tempfile.mkdtemp(prefix="sober-", dir=os.environ.get("JOBLIB_TEMP_FOLDER")))
        self.executor = ProcessPoolExecutor(
            n_workers, timeout=None, initializer=_begin, initargs=(str(self.folder),), env=dict(environment)
        )
        self._guard: subprocess.Popen[bytes] | None = None
        if os.name == "posix":
            command = [sys.executable, "-I", "-S", guard.__file__, str(self.folder)]
            try:
                self._guard = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, bufsize=0,
                    start_new_session=True,
                )  # fmt: skip
            except OSError:
                self.close()
                raise

    def pids(self) -> set[int]:
        """Return the workers that have started and not ended in peace."""
        return {int(path.stem) for path in self.folder.glob("*.worker")}

    def lost(self) -> bool:
        """Whether a worker has died."""
        return not self.pids() <= {process.pid for process in multiprocessing.active_children()}

    def is_as_new(self, key: Any) -> bool:
        """Whether these workers would do what new ones do: with the same settings, code and nothing under way."""
        if self.owner != os.getpid() or self.key != key or wait_for(self.last, LAST_SECONDS).not_done or self.lost():
            return False
        with suppress(OSError):  # where a worker has just ended by itself
            notes = [json.loads(path.read_text() or "{}") for path in self.folder.glob("*.worker")]
            return all(_state(file) == state for note in notes for file, state in note.items())
        return False

    def close(self) -> None:
        """End workers at once, and whatever their fits have started."""
        if self.owner != os.getpid():  # a copy, in a child that was forked
            return
        with suppress(Exception):  # loky stumbles where a worker ends at the same moment
            self.executor.shutdown(wait=True, kill_workers=True)
        if self._guard is not None:
            guard.end_groups(str(self.folder))
            self._guard.communicate()  # closes its standard input, and waits for its end
        shutil.rmtree(self.folder, ignore_errors=True)


_lock = threading.Lock()
_idle: list[_Workers] = []  # at most one


def _take(n_workers: int, environment: Mapping[str, str]) -> _Workers:
    """Return idle workers where they would do what new ones do, else new ones; others are ended."""
    variables = {name: value for name, value in os.environ.items() if name not in _SET_BY_IMPORTS}
    key = (n_workers, tuple(sys.path), os.getcwd(), {**variables, **environment})
    with _lock:
        waiting, _idle[:] = _idle[:], []
    for workers in waiting:
        workers.taken.set()
        if workers.is_as_new(key):
            return workers
        workers.close()
    return _Workers(n_workers, environment, key)


def _give_back(workers: _Workers, last: list[Future[Any]]) -> None:
    """Let workers wait for the next search, for a while; `last` are fits that are still under way."""
    workers.last, workers.taken = last, threading.Event()
    with _lock:  # in one step: searches may end in several threads
        others, _idle[:] = _idle[:], [workers]
    threading.Thread(target=_let_wait, args=(workers, last, workers.taken), daemon=True).start()
    for each in others:
        each.close()


def _let_wait(workers: _Workers, last: list[Future[Any]], taken: threading.Event) -> None:
    """End workers that no search takes, at once where their last fits do not end."""
    is_busy = wait_for(last, LAST_SECONDS).not_done
    if not taken.wait(0.0 if is_busy else IDLE_SECONDS):
        _end_idle(workers)


@atexit.register
def _end_idle(workers: _Workers | None = None) -> None:
    """End workers that wait: these, or all."""
    with _lock:
        ended = [each for each in _idle if workers is None or each is workers]
        _idle[:] = [each for each in _idle if each not in ended]
    for each in ended:
        each.close()


def call_in_process(seconds: float, function: Any, *arguments: Any, **named: Any) -> Any:
    """Call a function in a process of its own, which is ended when the time is over; raises TimeoutError then."""
    workers = _take(1, {})
    try:
        return workers.executor.submit(partial(function, **named), *arguments).result(timeout=seconds)
    finally:
        workers.close()
