"""Processes of this machine, by loky: a fit can be ended, and a worker's death is noticed.

Each worker leads a process group and is named in a folder that the pool shares with it. The folder also holds the data,
mapped into memory by every worker, and a journal for each batch under way: which fit it has begun, and outcomes of
batches that take long, so that little is lost when workers are killed.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import joblib
from joblib.externals.loky import BrokenProcessPool, ProcessPoolExecutor

from ...containers import Array
from ...errors import SoberError, warn
from ..fit.space import Configuration
from ..fit.task import Experiment, Outcome
from ..keep.fingerprint import is_installed_file
from . import guard
from .base import LOOK_SECONDS, FuturePool, Pool, Report, SerialPool
from .batches import Batch
from .work import as_bytes, pack, run_batch

#: Workers without work wait so many seconds for the next search.
IDLE_SECONDS = 60.0
#: Outcomes of a batch that takes longer than this are written into its journal, and journals are read as often.
JOURNAL_SECONDS = 0.25
#: So many times in a row workers may end before they have started.
MAX_FALSE_STARTS = 2
#: Set by libraries in every process that imports them, so that they say nothing about what the user wants.
_SET_BY_IMPORTS = frozenset({"KMP_DUPLICATE_LIB_OK", "KMP_INIT_AT_FORK", "_RJEM_MALLOC_CONF"})


class ProcessPool(FuturePool):
    """Worker processes, with some environment variables beside those of this process.

    Where fits may be ended, by `fit_timeout` or because the race is limited, each outcome is written down before the
    next fit begins.
    """

    def __init__(
        self,
        n_workers: int,
        environment: Mapping[str, str],
        fit_timeout: float | None = None,
        is_limited: bool = False,
    ) -> None:
        super().__init__(n_workers)
        self.fit_timeout = fit_timeout
        self._environment = dict(environment)
        self._at_once = is_limited or fit_timeout is not None
        # One job may run here, with a warning, where it cannot be sent to another process.
        self._may_stay = n_workers == 1 and fit_timeout is None
        self._workers: _Workers | None = None
        self._n_false_starts = 0
        self._is_broken = False
        self._journals: dict[int, _Journal] = {}
        self._read_at = self._looked_at = 0.0

    def start(self, experiment: Experiment, n_fits: int) -> Pool:
        """Take what all fits have in common. Workers are started with the first batch."""
        super().start(experiment, n_fits)
        if self._may_stay:
            try:
                pack(self._common)
            except SoberError as error:
                text = f"Fits run in this process, so a time limit is looked at after each of them. {error.message}"
                warn("W601", text)
                return SerialPool().start(experiment, n_fits)
        return self

    def _future(self, key: int, batch: Batch, is_speculative: bool) -> Future[list[Outcome]]:
        if self._workers is None:
            packed = pack(self._common)
            self._workers = _take(self.n_workers, self._environment)
            self._workers.share(self._token, packed)
        journal = self._workers.folder / f"{self._token}-{key}.journal"
        arguments = (str(self._workers.folder), self._token, as_bytes(batch), str(journal), self._at_once)
        try:
            future: Future[list[Outcome]] = self._workers.submit(_run, *arguments)
        except BrokenProcessPool as error:  # it broke since the last batch came back
            future = Future()
            future.set_exception(error)
        except OSError as error:
            raise SoberError("E602", f"A worker process cannot be started: {error}. Use n_jobs=1.") from error
        self._journals[key] = _Journal(journal)
        return future

    def wait(self, seconds: float) -> list[Report]:
        """Return what has come back, also of batches that are not done yet."""
        reports = super().wait(min(seconds, JOURNAL_SECONDS if self.fit_timeout is not None else LOOK_SECONDS))
        now = monotonic()
        if now - self._read_at > JOURNAL_SECONDS:
            self._read_at = now
            partial_ones = ((key, self._journals[key].read()) for key in self._flying)
            reports += [Report(key, outcomes, is_done=False) for key, outcomes in partial_ones if outcomes]
        deaths = [report.death for report in reports if report.death]
        if now - self._looked_at > LOOK_SECONDS:  # a program that a worker forked keeps loky from noticing its end
            self._looked_at = now
            deaths += ["ended"] if self._workers is not None and self._flying and self._workers.lost() else []
        return reports + self._abandon(deaths[0]) if deaths else reports

    def _abandon(self, death: str) -> list[Report]:
        """End all workers after the death of one; report all batches that had not come back."""
        reports = []
        for key, future in self._flying.items():
            is_whole = future.done() and not future.cancelled() and future.exception() is None
            outcomes = self._close_journal(key) + (future.result() if is_whole else [])
            reports.append(Report(key, outcomes, death="" if is_whole else death))
        self._flying = {}
        self._kill()
        return reports

    def _report(self, key: int, future: Future[list[Outcome]]) -> Report:
        report = super()._report(key, future)
        return Report(key, self._close_journal(key) + report.outcomes, death=report.death)

    def _close_journal(self, key: int) -> list[Outcome]:
        journal = self._journals.pop(key)
        outcomes = journal.read()
        journal.path.unlink(missing_ok=True)
        return outcomes

    def begun(self, key: int) -> tuple[float, tuple[int, ...]] | None:
        """Return since when a batch fits which configurations."""
        return self._journals[key].begun if key in self._journals else None

    def death_of(self, error: BaseException) -> str:
        """Say how a worker died."""
        if not isinstance(error, BrokenProcessPool):
            return ""
        self._is_broken = True
        codes = re.search(r"\{(.+)\}", str(error))
        death = "ended" if codes is None else codes.group(1)
        self._n_false_starts = 0 if self._workers is None or self._workers.pids() else self._n_false_starts + 1
        if self._n_false_starts >= MAX_FALSE_STARTS:
            raise SoberError(
                "E602",
                f"Worker processes end before they have started ({death}); standard error may say why. "
                "Use n_jobs=1, or threads with joblib.parallel_config('threading').",
            )
        return death

    def stop(self) -> list[Report]:
        """End all fits under way, with the programs that they started; return what was in their journals."""
        flying, self._flying = list(self._flying), {}
        reports = [Report(key, self._close_journal(key)) for key in flying]
        if flying:
            self._kill()
        return reports

    def _kill(self) -> None:
        self._is_broken = False
        if self._workers is not None:
            self._workers.close()
            self._workers = None

    def close(self) -> None:
        """Let workers wait for the next search."""
        super().close()
        if self._is_broken:
            self._kill()
        if self._workers is not None:
            self._workers.forget(self._token)
            _give_back(self._workers)
            self._workers = None


class _Journal:
    """What a worker has written about a batch."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.begun: tuple[float, tuple[int, ...]] | None = None
        self._offset = 0

    def read(self) -> list[Outcome]:
        """Return the outcomes that are new."""
        raw, found = b"", list[Outcome]()
        with suppress(OSError), open(self.path, "rb") as file:
            file.seek(self._offset)
            raw = file.read()
        while len(raw) >= 8 and len(raw) >= (size := 8 + int.from_bytes(raw[:8], "little")):
            since, indices, outcomes = pickle.loads(raw[8:size])
            self.begun, self._offset, raw = (since, indices), self._offset + size, raw[size:]
            found += outcomes
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
        name.with_suffix(".starting").unlink(missing_ok=True)
    except OSError:  # the parent has ended, and its guard has removed the folder
        os._exit(1)
    atexit.register(partial(name.unlink, missing_ok=True))  # one that ends by itself is not missed


def _run(folder: str, token: str, raw: bytes, journal: str, at_once: bool) -> list[Outcome]:
    """Fit a batch."""
    read = partial(joblib.load, os.path.join(folder, f"{token}.data"), mmap_mode="r")
    outcomes = run_batch(token, raw, read, _Writer(journal, at_once))
    _tell_imports(folder)
    return outcomes


class _Writer:
    """Writes the journal of a batch: before every fit where `at_once`, else from time to time."""

    def __init__(self, path: str, at_once: bool) -> None:
        self._path, self._at_once, self._written = path, at_once, monotonic()

    def __call__(self, configurations: Sequence[Configuration], outcomes: Sequence[Outcome]) -> bool:
        """Write down what was done and what begins now; return whether that was done."""
        now = monotonic()
        if not self._at_once and (not outcomes or now - self._written < JOURNAL_SECONDS):
            return False
        raw = pickle.dumps((now, tuple(c.index for c in configurations), list(outcomes)), protocol=5)
        try:
            with open(self._path, "ab") as file:
                file.write(len(raw).to_bytes(8, "little") + raw)
        except OSError:  # no room: the outcomes come back with the batch
            return False
        self._written = now
        return True


_n_modules = 0


def _tell_imports(folder: str) -> None:
    """Write down which files of the user's own this worker has imported, where that has changed."""
    global _n_modules
    if len(sys.modules) != _n_modules:
        _n_modules = len(sys.modules)
        Path(folder, f"{os.getpid()}.worker").write_text("\n".join(_own_files()))


# ---- workers that wait ----------------------------------------------------------------------------------------------
class _Workers:
    """Processes, their folder, and the guard that ends both with this process."""

    def __init__(self, n_workers: int, environment: Mapping[str, str], key: Any) -> None:
        self.key = key
        self.owner = os.getpid()
        self.code = _states(_own_files())
        self.folder = Path(tempfile.mkdtemp(prefix="sober-", dir=os.environ.get("JOBLIB_TEMP_FOLDER")))
        self.executor = ProcessPoolExecutor(
            n_workers, timeout=None, initializer=_begin, initargs=(str(self.folder),), env=dict(environment)
        )
        self.timer: threading.Timer | None = None
        self._is_started = False
        self._guard: subprocess.Popen[bytes] | None = None
        if os.name == "posix":
            command = [sys.executable, "-I", "-S", guard.__file__, str(self.folder)]
            self._guard = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, bufsize=0,
                start_new_session=True,
            )  # fmt: skip

    def submit(self, function: Any, *arguments: Any) -> Future[Any]:
        """Submit a call; the first one starts the workers, which the guard must know before they have begun."""
        before = {process.pid for process in multiprocessing.active_children()}
        future: Future[Any] = self.executor.submit(function, *arguments)
        if not self._is_started:
            self._is_started = True
            for pid in {process.pid for process in multiprocessing.active_children()} - before:
                name = self.folder / f"{pid}.worker"
                if not name.exists():
                    name.with_suffix(".starting").touch()
        return future

    def share(self, token: str, packed: list[Array]) -> None:
        """Write the data where workers map it into memory."""
        try:
            joblib.dump(packed, self.folder / f"{token}.data")
        except OSError as error:
            size = sum(part.nbytes for part in packed) / 1e6
            raise SoberError(
                "E602",
                f"{size:.0f} MB of data cannot be shared with worker processes: {error}. Free some space in the folder "
                "for temporary files (TMPDIR), or use n_jobs=1.",
            ) from error

    def forget(self, token: str) -> None:
        """Remove the data; workers that have them open forget them when they have been idle for a while."""
        (self.folder / f"{token}.data").unlink(missing_ok=True)

    def pids(self) -> set[int]:
        """Return the workers that have started and not ended in peace."""
        return {int(path.stem) for path in self.folder.glob("*.worker")}

    def lost(self) -> bool:
        """Whether a worker has died."""
        return not self.pids() <= {process.pid for process in multiprocessing.active_children()}

    def note_code(self) -> None:
        """Note the state of all files of the user's own that are imported here or in a worker."""
        files = set(_own_files())
        for path in self.folder.glob("*.worker"):
            files |= set(path.read_text().splitlines())
        self.code = _states(files - self.code.keys()) | self.code

    def is_as_before(self, key: Any) -> bool:
        """Whether these workers would do what new ones do."""
        return self.owner == os.getpid() and self.key == key and _states(self.code) == self.code and not self.lost()

    def close(self) -> None:
        """End workers at once, and whatever their fits have started."""
        if self.owner != os.getpid():  # a copy, in a child that was forked
            return
        with suppress(Exception):  # loky stumbles where a worker ends at the same moment
            self.executor.shutdown(wait=True, kill_workers=True)
        if self._guard is not None:
            guard.end_groups(str(self.folder))
            assert self._guard.stdin is not None
            self._guard.stdin.close()
            self._guard.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def _own_files() -> list[str]:
    """Return the files of the user's own modules that this process has imported."""
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    return [file for file in files if isinstance(file, str) and not is_installed_file(file)]


def _states(files: Any) -> dict[str, Any]:
    """Return what changes when a file is edited or replaced, whatever date it is given."""
    found: dict[str, Any] = {}
    for file in files:
        with suppress(OSError):
            stat = os.stat(file)
            found[file] = stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino
    return found


_lock = threading.Lock()
_idle: list[_Workers] = []  # at most one


def _take(n_workers: int, environment: Mapping[str, str]) -> _Workers:
    """Return idle workers where they would do what new ones do, else new ones; others are ended."""
    variables = {name: value for name, value in os.environ.items() if name not in _SET_BY_IMPORTS}
    key = (n_workers, tuple(sys.path), os.getcwd(), {**variables, **environment})
    with _lock:
        waiting, _idle[:] = _idle[:], []
    for workers in waiting:
        if workers.timer is not None:
            workers.timer.cancel()
        if workers.is_as_before(key):
            return workers
        workers.close()
    try:
        return _Workers(n_workers, environment, key)
    except OSError as error:
        raise SoberError("E602", f"Worker processes cannot be started: {error}. Use n_jobs=1.") from error


def _give_back(workers: _Workers) -> None:
    """Let workers wait for the next search, for a while."""
    workers.note_code()
    workers.timer = threading.Timer(IDLE_SECONDS, _end_idle, (workers,))
    workers.timer.daemon = True
    with _lock:
        others, _idle[:] = _idle[:], [workers]
    workers.timer.start()
    for other in others:
        other.close()


@atexit.register
def _end_idle(workers: _Workers | None = None) -> None:
    """End workers that wait: these, or all."""
    with _lock:
        ended = [each for each in _idle if workers is None or each is workers]
        _idle[:] = [each for each in _idle if each not in ended]
    for each in ended:
        each.close()
