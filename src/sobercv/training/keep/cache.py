"""Outcomes in one SQLite file: every one is safe the moment it has come. The only home of sqlite3.

In WAL mode with synchronous=NORMAL a killed process loses nothing that was committed; a power cut may lose the last
seconds, but the file stays whole. SQLite's own exclusive lock keeps a second process out; the system lets go of it
whatever ends the process. Nothing in the file is ever turned into code, and every row has a checksum: a file that is
damaged is refused.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from hashlib import blake2b
from typing import Any

import numpy as np

from ...errors import SoberError, warn
from ..fit.plan import Plan, Split
from ..fit.space import Configuration
from ..fit.task import Experiment, Failure, Outcome
from .manifest import Manifest

#: Says "a store of sober" in the header of the file.
APPLICATION = 0x50BE7C4
#: Files with another number were written by another release.
FORMAT = 3
SCHEMA = {
    "manifest": "CREATE TABLE manifest (body BLOB, checksum BLOB)",
    "outcomes": "CREATE TABLE outcomes (configuration BLOB, split BLOB, form BLOB, data BLOB, checksum BLOB, "
    "PRIMARY KEY (configuration, split))",
}
#: Seconds to wait for a lock: a process that is just ending needs some.
_LOCK_SECONDS = 1.0
#: What reading a damaged file can raise: SQLite's messages quote it, and are then no text; sizes in it may be absurd.
_ERRORS = (sqlite3.Error, UnicodeError, MemoryError)
_FAILURE = ("kind", "message", "error", "traceback")


def kept_outcomes(
    path: Any, experiment: Experiment, configurations: Sequence[Configuration], plan: Plan, seed: int
) -> OutcomeCache | None:
    """Return the cache of a search in a file; None without a path.

    Raises E123 where the path is none that keeps anything, E602 where a parameter cannot be told from another one.
    """
    if path is None:
        return None
    check_path(path)
    return OutcomeCache(path, plan, Manifest.build(experiment, configurations, plan, seed))


def stored_seed(path: Any) -> int | None:
    """Return the root seed of the run that a file holds; None where there is no file, or none that can be read."""
    if path is None:
        return None
    check_path(path)
    if not os.path.exists(path):
        return None
    try:
        with closing(_File(os.fspath(path))) as file:
            return None if file.is_new() else file.manifest().seed
    except SoberError as error:
        if error.code == "E505":
            return None  # said when the file is opened
        raise


def check_path(path: Any) -> None:
    """Refuse what SQLite would open without keeping anything, and what is no path (E123)."""
    reason = ""
    if not isinstance(path, (str, os.PathLike)) or isinstance(os.fspath(path), bytes):
        reason = f"or None; got {path!r}"
    elif not (name := os.fspath(path)).strip() or name == ":memory:" or name.startswith("file:") or "\0" in name:
        reason = f"that can be kept; got {name!r}"
    elif os.path.exists(name) and not os.path.isfile(name):
        reason = f"; {name!r} is a folder or a device"
    if reason:
        between = "" if reason.startswith(";") else " "
        raise SoberError("E123", f'`store` must be the path of a file{between}{reason}. Write store="run.sqlite".')


class OutcomeCache:
    """Outcomes of one run, on disk. The file is open, and locked, while this is entered.

    Parameters
    ----------
    path : path
        Made where it does not exist.
    plan : Plan
    manifest : Manifest
        What the file must be a run of, or what extends it.
    """

    def __init__(self, path: str | os.PathLike[str], plan: Plan, manifest: Manifest) -> None:
        self.path = os.fspath(path)
        self.plan = plan
        self.manifest = manifest
        self._configurations = [bytes.fromhex(key) for key in manifest.configurations]
        self._splits = [bytes.fromhex(key) for key in manifest.splits]
        self._stored: set[tuple[bytes, bytes]] = set()
        self._file: _File | None = None
        self._identity: tuple[int, int] | None = None  # of the file; None where it is gone

    def __enter__(self) -> OutcomeCache:
        file = _File(self.path)
        try:
            if file.is_new():
                file.create(self.manifest)
            else:
                held = file.manifest()
                differences = held.differences(self.manifest)
                if differences:
                    raise SoberError(
                        "E502",
                        f"{self.path} holds another run; what differs is {', and '.join(differences)}. Repeat the call "
                        "that made it, or name another file.",
                    )
                file.check()
                body = held.united(self.manifest).to_json()
                if body != held.to_json():
                    file.run("UPDATE manifest SET body = ?, checksum = ?", (body, _checksum(body)))
            self._stored = set(file.run("SELECT configuration, split FROM outcomes"))
        except BaseException:
            file.close()
            raise
        self._file, self._identity = file, file.identity()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stored = set()
        if self._file is not None:
            self._file.close()
            self._file = None

    def recall(self, configuration: int, split: Split) -> Outcome | None:
        """Return a stored outcome, or None. Raises E505 where it is damaged."""
        key = self._key(configuration, split.repeat, split.fold)
        if key not in self._stored:
            return None
        assert self._file is not None
        found = self._file.run("SELECT form, data, checksum FROM outcomes WHERE configuration = ? AND split = ?", key)
        for form, data, checksum in found:
            if isinstance(form, bytes) and isinstance(data, bytes) and checksum == self._checksum(key, form, data):
                return _decoded(form, data, configuration, split)
        raise _damaged(self.path, f"the outcome of configuration {configuration} on {split.place} is not whole")

    def keep(self, outcome: Outcome) -> None:
        """Write an outcome down; when this returns, no end of the process can lose it, unless the file is deleted."""
        assert self._file is not None
        # What the machine did is no verdict: a resumed run tries again.
        if self._identity is None or (outcome.failure is not None and outcome.failure.is_transient):
            return
        if self._file.identity() != self._identity:
            self._identity = None
            warn(
                "W501",
                f"{self.path} was deleted, moved or replaced while it was open. The run goes on, but its outcomes are "
                "kept nowhere; it cannot be resumed.",
            )
            return
        key, (form, data) = self._key(outcome.configuration, outcome.repeat, outcome.fold), _encoded(outcome)
        row = (*key, form, data, self._checksum(key, form, data))
        self._file.run("INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?, ?, ?)", row)

    def _key(self, configuration: int, repeat: int, fold: int) -> tuple[bytes, bytes]:
        return self._configurations[configuration], self._splits[self.plan.positions[repeat, fold]]

    def _checksum(self, key: tuple[bytes, bytes], form: bytes, data: bytes) -> bytes:
        """Return a checksum that is good only for this row of this run."""
        return _checksum(b"".join((*key, len(form).to_bytes(8), form, data)), self.manifest.checksum_key)


def _encoded(outcome: Outcome) -> tuple[bytes, bytes]:
    """Return an outcome as JSON, and the raw bytes of its arrays; no pickle, no code."""
    arrays = {name: np.ascontiguousarray(values) for name, values in outcome.responses.items()}
    form = {
        "seconds": (outcome.fit_seconds, outcome.predict_seconds),
        "failure": outcome.failure and {name: getattr(outcome.failure, name) for name in _FAILURE},
        "answers": {name: float(value) for name, value in outcome.answers.items()},
        # Rows are read by any machine, so the order of the bytes is written down with them.
        "arrays": [(name, array.dtype.str, array.shape) for name, array in arrays.items()],
    }
    return json.dumps(form).encode(), b"".join(array.tobytes() for array in arrays.values())


def _decoded(form: bytes, data: bytes, configuration: int, split: Split) -> Outcome:
    held, responses, start = json.loads(form), {}, 0
    failure = held["failure"] and Failure(**held["failure"], repeat=split.repeat, fold=split.fold)
    for name, dtype, shape in held["arrays"]:
        values = np.frombuffer(data, dtype, int(np.prod(shape)), start).reshape(shape)
        responses[name], start = values, start + values.nbytes
    fit, predict = held["seconds"]
    answers = held["answers"]
    return Outcome(configuration, split.repeat, split.fold, responses, fit, predict, failure, answers, True)


def _checksum(body: bytes, key: bytes = b"") -> bytes:
    return blake2b(body, key=key, digest_size=16).digest()


class _File:
    """One open, locked file. Nothing in it is changed by opening it."""

    def __init__(self, path: str) -> None:
        self.path = path
        for needed in (path, os.path.dirname(path) or "."):
            if os.path.exists(needed) and not os.access(needed, os.W_OK):
                raise _not_writable(path, f"{needed} is read-only")
        try:
            self._db = sqlite3.connect(path, timeout=_LOCK_SECONDS, isolation_level=None, check_same_thread=False)
        except _ERRORS as error:
            raise _explained(error, path) from error
        # Exclusive before the first read: one holder, and no shared memory beside the file.
        settings = ("locking_mode = EXCLUSIVE", "synchronous = NORMAL", "trusted_schema = OFF", "cell_size_check = ON")
        try:
            for setting in settings:
                self.run(f"PRAGMA {setting}")
            self.run("PRAGMA schema_version")  # the first read takes the lock
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let the file go; what was committed is in it, or beside it where the disk is full."""
        with suppress(*_ERRORS):
            self._db.close()

    def identity(self) -> tuple[int, int] | None:
        """Return what the file system knows the file by; None where it is gone."""
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def is_new(self) -> bool:
        """Whether nothing is in the file yet; refuses what is no store of this release."""
        application, written = (int(self.run(f"PRAGMA {p}")[0][0]) for p in ("application_id", "user_version"))
        schema = dict(self.run("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))
        if application == 0 and not schema:
            return True
        if application != APPLICATION:
            raise SoberError("E801", f"{self.path} is an SQLite database, but no store of sober; name another file.")
        if written != FORMAT:
            raise SoberError(
                "E801",
                f"{self.path} has format {written}, but this release of sober reads {FORMAT}; use the release that "
                "made it, or name another file.",
            )
        # In another mode, what lies in the side file would be overlooked.
        if schema != SCHEMA or self.run("PRAGMA journal_mode") != [("wal",)]:
            raise _damaged(self.path, "its tables are not those of a store")
        return False

    def check(self) -> None:
        """Refuse a structure that does not hold together: writing to it could lose what is there."""
        found = self.run("PRAGMA quick_check(1)")
        if not found or found[0][0] != "ok":
            raise _damaged(self.path, "its structure does not hold together")

    def create(self, manifest: Manifest) -> None:
        """Make the tables, all or nothing."""
        self.run("PRAGMA synchronous = OFF")  # nothing is in the file yet that waiting for the disk could save
        self.run("PRAGMA journal_mode = WAL")
        self.run("BEGIN IMMEDIATE")
        self.run(f"PRAGMA application_id = {APPLICATION}")
        self.run(f"PRAGMA user_version = {FORMAT}")
        for statement in SCHEMA.values():
            self.run(statement)
        body = manifest.to_json()
        self.run("INSERT INTO manifest VALUES (?, ?)", (body, _checksum(body)))
        self.run("COMMIT")
        self.run("PRAGMA synchronous = NORMAL")

    def manifest(self) -> Manifest:
        """Read the manifest."""
        rows = self.run("SELECT body, checksum FROM manifest")
        try:
            ((body, checksum),) = rows
            if checksum != _checksum(body):
                raise ValueError
            return Manifest.from_json(body)
        except (TypeError, ValueError, KeyError, AttributeError, RecursionError):
            raise _damaged(self.path, "its manifest cannot be read") from None

    def run(self, statement: str, values: Any = ()) -> list[Any]:
        """Run a statement and return its rows."""
        try:
            return self._db.execute(statement, values).fetchall()
        except _ERRORS as error:
            raise _explained(error, self.path) from error


def _damaged(path: str, reason: str) -> SoberError:
    """Return the error of a damaged file."""
    return SoberError(
        "E505",
        f"{path} is damaged ({reason}). Put a copy in its place, or name another file; what was fitted must be fitted "
        "again.",
    )


def _explained(error: Exception, path: str) -> SoberError:
    """Turn SQLite's words into a sentence that says what to do."""
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return SoberError(
            "E501",
            f"{path} is in use by another search; wait until it ends, or name another file. It is as it was.",
        )
    if name.startswith("SQLITE_NOTADB"):
        return SoberError("E801", f"{path} is no store of sober, or its first bytes are damaged; name another file.")
    if name.startswith(("SQLITE_FULL", "SQLITE_TOOBIG")):
        return SoberError(
            "E506",
            f"The disk is full: {path} cannot grow. What was stored is kept; free some space and repeat the call to "
            "continue.",
        )
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH", "SQLITE_IOERR_LOCK")):
        return _not_writable(path, str(error))
    if name.startswith("SQLITE_IOERR") and not name.startswith(("SQLITE_IOERR_SHORT_READ", "SQLITE_IOERR_DATA")):
        return SoberError(
            "E506",
            f"The disk cannot be read or written for {path} ({error}). All outcomes that were stored are kept; "
            "check the disk and repeat the call to go on.",
        )
    return _damaged(path, str(error))


def _not_writable(path: str, reason: str) -> SoberError:
    return SoberError(
        "E809",
        f"{path} cannot be opened for writing ({reason}). See that its folder exists and that both may be written to. "
        "What is stored is kept.",
    )
