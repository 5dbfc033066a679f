"""The file of a store: tables, lock, and what to say when SQLite cannot go on. The only home of sqlite3.

Takes a path and rows, gives rows and sentences; never looks into outcomes. In WAL mode with synchronous=NORMAL a killed
process loses nothing that was committed; a power cut may lose the last seconds, but the file stays whole. SQLite's own
exclusive lock keeps a second process out; the system lets go of it whatever ends the process.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import blake2b
from typing import Any

from ...errors import SoberError

#: Says "a store of sober" in the header of the file.
APPLICATION = 0x50BE7C4
#: Files with a greater number were written by a later release.
FORMAT = 1
SCHEMA = {
    "manifest": "CREATE TABLE manifest (id INTEGER PRIMARY KEY, body BLOB, checksum BLOB)",
    "outcomes": "CREATE TABLE outcomes (id INTEGER PRIMARY KEY, configuration BLOB, split BLOB, fit_seconds REAL, "
    "predict_seconds REAL, form BLOB, data BLOB, checksum BLOB)",
}
_COLUMNS = "configuration, split, fit_seconds, predict_seconds, form, data, checksum"
_INSERT = f"INSERT INTO outcomes ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"
#: Seconds to wait for a lock: a process that is just ending needs some.
_LOCK_SECONDS = 1.0
_SIDE_FILES = ("-wal", "-shm")
#: What reading a damaged file can raise: SQLite's messages quote it, and are then no text; sizes in it may be absurd.
_ERRORS = (sqlite3.Error, UnicodeError, MemoryError)


class Damaged(Exception):
    """The file is not whole; what is whole in it may still be rescued."""


class SqliteFile:
    """One open, locked file. Nothing in it is changed by opening it.

    Parameters
    ----------
    path : str
    """

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
                self._run(f"PRAGMA {setting}")
            self._run("PRAGMA schema_version")  # the first read takes the lock
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let the file go; what was committed is in it, or beside it where the disk is full."""
        with suppress(*_ERRORS):
            self._db.close()

    def identity(self) -> tuple[int, int] | None:
        """What the file system knows the file by; None where it is gone."""
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def is_new(self) -> bool:
        """Whether nothing is in the file yet; refuses what is no store of sober."""
        application, written = (int(self._run(f"PRAGMA {p}")[0][0]) for p in ("application_id", "user_version"))
        schema = dict(self._run("SELECT name, sql FROM sqlite_master"))
        if application == 0 and not schema:
            return True
        if application != APPLICATION:
            raise SoberError("E503", f"{self.path} is an SQLite database, but no store of sober; name another file.")
        if written > FORMAT:
            raise SoberError(
                "E507",
                f"{self.path} has format {written}, but this release of sober reads up to {FORMAT}; update sober.",
            )
        if written < 1 or schema != SCHEMA:
            raise Damaged("its tables are not those of a store")
        if self._run("PRAGMA journal_mode") != [("wal",)]:  # then what lies in the side file would be overlooked
            raise Damaged("its header is not that of a store")
        return False

    def check(self) -> None:
        """Refuse a structure that does not hold together: writing to it could lose what is there."""
        found = self._run("PRAGMA quick_check(1)")
        if not found or found[0][0] != "ok":
            raise Damaged("its structure does not hold together")

    def create(self, manifest: str, rows: Iterable[Any] = ()) -> None:
        """Make the tables, all or nothing."""
        self._run("PRAGMA synchronous = OFF")  # nothing is in the file yet that waiting for the disk could save
        self._run("PRAGMA journal_mode = WAL")
        self._run("BEGIN IMMEDIATE")
        self._run(f"PRAGMA application_id = {APPLICATION}")
        self._run(f"PRAGMA user_version = {FORMAT}")
        for statement in SCHEMA.values():
            self._run(statement)
        self._run("INSERT INTO manifest (body, checksum) VALUES (?, ?)", _with_checksum(manifest.encode()))
        for row in rows:
            self._run(_INSERT, row)
        self._run("COMMIT")
        self._run("PRAGMA synchronous = NORMAL")

    def manifest(self) -> bytes:
        """Read the manifest."""
        rows = self._run("SELECT body, checksum FROM manifest")
        if len(rows) != 1 or not isinstance(rows[0][0], bytes) or rows[0] != _with_checksum(rows[0][0]):
            raise Damaged("its manifest cannot be read")
        return rows[0][0]

    def rewrite_manifest(self, body: str) -> None:
        """Replace the manifest."""
        self._run("UPDATE manifest SET body = ?, checksum = ?", _with_checksum(body.encode()))

    def rows(self, order: str = "ASC") -> Iterator[tuple[int, Any]]:
        """Give all rows with their numbers, as they are."""
        try:
            for number, *row in self._db.execute(f"SELECT id, {_COLUMNS} FROM outcomes ORDER BY id {order}"):
                yield number, tuple(row)
        except _ERRORS as error:
            raise _explained(error, self.path) from error

    def readable_rows(self) -> list[tuple[int, Any]]:
        """Give the rows of a damaged file that can be reached from either end."""
        found: dict[int, Any] = {}
        for order in ("ASC", "DESC"):
            with suppress(Damaged, SoberError):
                found.update(self.rows(order))
        return list(found.items())

    def append(self, row: Any) -> None:
        """Write a row, in a transaction of its own."""
        self._run(_INSERT, row)

    def delete(self, numbers: Iterable[int]) -> None:
        """Take rows out, all or none."""
        self._run("BEGIN")
        for number in numbers:
            self._run("DELETE FROM outcomes WHERE id = ?", (number,))
        self._run("COMMIT")

    def _run(self, statement: str, values: Any = ()) -> list[Any]:
        try:
            return self._db.execute(statement, values).fetchall()
        except _ERRORS as error:
            raise _explained(error, self.path) from error


def replace_damaged(path: str, manifest: str, rows: Iterable[Any]) -> str:
    """Put a new file with these rows in the place of a damaged one, which is kept; give its new name."""
    fresh, kept = f"{path}.rescued", f"{path}.damaged"
    with suppress(FileNotFoundError):
        os.remove(fresh)
    file = SqliteFile(fresh)
    try:
        file.create(manifest, rows)
    finally:
        file.close()
    try:
        # Side files first: the new file must never meet the old one's.
        for side in (*_SIDE_FILES, ""):
            with suppress(FileNotFoundError):
                os.replace(path + side, kept + side)
        os.replace(fresh, path)
    except OSError as error:
        raise SoberError("E504", f"{path} is damaged and cannot be replaced here: {error.strerror}.") from error
    return kept


def _explained(error: Exception, path: str) -> Exception:
    """Turn SQLite's words into a sentence that says what to do."""
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return SoberError(
            "E501",
            f"{path} is in use by another search; wait until it ends, or name another file. It is as it was.",
        )
    if name.startswith("SQLITE_NOTADB"):
        return SoberError("E503", f"{path} is no store of sober, or its first bytes are damaged; name another file.")
    if name.startswith(("SQLITE_FULL", "SQLITE_TOOBIG")):
        return SoberError(
            "E506",
            f"The disk is full: {path} cannot grow. All outcomes that were stored are kept; make room and repeat the "
            "call to go on.",
        )
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_IOERR_SHORT_READ", "SQLITE_IOERR_DATA", "SQLITE_FORMAT")):
        return Damaged(str(error))
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH", "SQLITE_IOERR_LOCK")):
        return _not_writable(path, str(error))
    if name.startswith("SQLITE_IOERR"):
        return SoberError(
            "E506",
            f"The disk does not take or give what belongs to {path} ({error}). All outcomes that were stored are kept; "
            "mend the disk and repeat the call to go on.",
        )
    return Damaged(str(error))


def _not_writable(path: str, reason: str) -> SoberError:
    return SoberError(
        "E504",
        f"{path} cannot be opened for writing ({reason}). See that its folder exists and that both may be written to. "
        "What is stored is kept.",
    )


def _with_checksum(body: bytes) -> tuple[bytes, bytes]:
    return body, blake2b(body, digest_size=16).digest()
