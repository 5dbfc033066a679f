"""Outcomes in one SQLite file: every one is safe the moment it has come. The only home of sqlite3.

In WAL mode with synchronous=NORMAL a killed process loses nothing that was committed; a power cut may lose the last
seconds, but the file stays whole. SQLite's own exclusive lock keeps a second process out; the system lets go of it
whatever ends the process. Nothing in the file is ever turned into code, and every row has a checksum: a file that is
damaged is refused.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ...errors import SoberError, warn
from ..fit.plan import Plan
from ..fit.problem import Problem
from ..fit.space import Configuration
from ..fit.task import Experiment, Failure, Outcome, Task
from .fingerprint import code_of, digest, fingerprint, versions

#: Says "a store of sober" in the header of the file.
APPLICATION = 0x50BE7C4
#: Files with another number were written by another release.
FORMAT = 4
SCHEMA = {
    "manifest": "CREATE TABLE manifest (body BLOB, checksum BLOB)",
    "outcomes": "CREATE TABLE outcomes (configuration TEXT, split TEXT, form BLOB, data BLOB, checksum BLOB, "
    "PRIMARY KEY (configuration, split))",
}
#: Seconds to wait for a lock: a process that is just ending needs some.
_LOCK_SECONDS = 1.0
#: What reading a damaged file can raise: SQLite's messages quote it, and are then no text; sizes in it may be absurd.
_ERRORS = (sqlite3.Error, UnicodeError, MemoryError)
_FAILURE = ("kind", "message", "error", "traceback")


@dataclass(frozen=True, eq=False)
class Manifest:
    """Fingerprints of everything that an outcome depends on: what a stored run is a run of."""

    data: Mapping[str, str]  # digests of X, y and what goes with them
    code: Mapping[str, str]  # digests of the user's own modules
    versions: Mapping[str, str]  # of Python and packages
    asked: Mapping[str, Sequence[str]]  # digest and text of what else must be the same
    splits: Sequence[str]  # a key for each split, of its training and test rows, in the order of the plan
    configurations: Mapping[str, str]  # from a key to the parameters, in the order of the indices

    @classmethod
    def build(cls, experiment: Experiment, configurations: Sequence[Configuration], plan: Plan, seed: int) -> Manifest:
        """Take the fingerprints of a search."""
        modules: set[str] = set()
        wanted = ", ".join(" or ".join(alternatives) for alternatives in experiment.wanted)
        asked = {
            "the estimator": (fingerprint(experiment.estimator, modules), _text(experiment.estimator)),
            "what scoring asks of an estimator": (wanted, wanted),
            "the scorer that is called on every fitted model": (fingerprint(experiment.asks, modules), ""),
            "the seed": (str(seed), str(seed)),
        }
        keyed: dict[str, str] = {}
        for configuration in configurations:
            params = dict(configuration.params)
            key = found = fingerprint(params, modules)[:16]
            while key in keyed:  # of equal ones, the second has another key than the first
                key = fingerprint((key, found), set())[:16]
            keyed[key] = _text(params)
        code, packages = code_of(modules)
        splits = [fingerprint((split.train, split.test), set())[:16] for split in plan.splits]
        return cls(_data_digests(experiment.problem), code, versions(packages), asked, splits, keyed)

    def differences(self, now: Manifest) -> list[str]:
        """Say in what `now` differs from this stored run, unless it goes on with it or extends it."""
        data = [name for name, held in self.data.items() if now.data.get(name) != held]
        code = sorted(name for name, held in self.code.items() if now.code.get(name, held) != held)
        changed = [name for name, held in self.versions.items() if now.versions.get(name, held) != held]
        other = [f"{name} {self.versions[name]}, now {now.versions[name]}" for name in changed]
        listed = {"the data": data, "the code": code, "the installed versions": other}
        found = [f"{what} ({', '.join(names)})" for what, names in listed.items() if names]
        for name, (key, was) in self.asked.items():
            key_now, text = now.asked[name]
            if key != key_now:
                found.append(name if was == text else f"{name} ({_first_difference(was, text)})")
        if any(a != b for a, b in zip(self.splits, now.splits, strict=False)):
            found.append("the folds")
        gone = [text for key, text in self.configurations.items() if key not in now.configurations]
        if gone:
            n = len(self.configurations)
            found.append(f"the grid ({len(gone)} of {n} stored configurations are not in it, the first is {gone[0]})")
        return found

    def to_json(self) -> bytes:
        """Write as a text; `Manifest(**json.loads(text))` reads it."""
        return json.dumps(asdict(self)).encode()


#: Of problems that are alive: each trial of a study has a manifest of its own, and all have the same data.
_DIGESTS: WeakKeyDictionary[Problem, dict[str, str]] = WeakKeyDictionary()


def _data_digests(problem: Problem) -> dict[str, str]:
    """Return a digest for each of X, y and what goes with them; taken once for a problem, however often it is asked."""
    if problem not in _DIGESTS:
        parts = {
            "task": problem.task,
            "X": problem.X,
            "y": problem.y,
            # Scores are those of the last class, so outcomes depend on which one that is.
            "pos_label": None if problem.classes is None else problem.classes.tolist()[-1],
            "groups": problem.group_codes,
            "sample_weight": problem.sample_weight,
            "fit_params": {**problem.fit_params, "weight_name": problem.weight_name},
        }
        _DIGESTS[problem] = {name: digest(part) for name, part in parts.items()}
    return _DIGESTS[problem]


def _text(value: Any) -> str:
    """Describe an estimator, or parameters, for people."""
    if not hasattr(value, "get_params"):
        return re.sub(" at 0x[0-9a-f]+", "", repr(value))
    params = ", ".join(f"{name}={_text(setting)}" for name, setting in value.get_params(deep=False).items())
    return f"{type(value).__module__}.{type(value).__qualname__}({params})"


def _first_difference(was: str, now: str) -> str:
    """Show both texts where they part."""
    same = next((i for i, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), min(len(was), len(now)))
    start = max(0, same - 40)
    lead = "..." if start else ""
    return f"was {lead}{was[start : same + 40]}; is {lead}{now[start : same + 40]}"


def stored_seed(path: Any) -> int | None:
    """Return the root seed of the run that a file holds; None where there is no file, or nothing is in it."""
    if path is None or not os.path.exists(_checked(path)):
        return None
    with closing(_File(os.fspath(path))) as file:
        held = file.manifest()
    return None if held is None else int(held.asked["the seed"][0])


def _checked(path: Any) -> str:
    """Refuse what SQLite would open without keeping anything, and what is no path (E123)."""
    name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    reason = ""
    if not isinstance(name, str):
        reason = f" or None; got {path!r}"
    elif not name.strip() or name == ":memory:" or name.startswith("file:") or "\0" in name:
        reason = f" that can be kept; got {name!r}"
    elif os.path.exists(name) and not os.path.isfile(name):
        reason = f"; {name!r} is a folder or a device"
    if reason:
        raise SoberError("E123", f'`store` must be the path of a file{reason}. Write store="run.sqlite".')
    return str(name)


class OutcomeCache:
    """Outcomes of one run in a file, which is open, and locked, while this is entered.

    The file is made where it does not exist; else it must hold this run, or one that this extends. Raises E123 where
    the path is none that keeps anything, E602 where a parameter cannot be told from another one.
    """

    def __init__(
        self, path: Any, experiment: Experiment, configurations: Sequence[Configuration], plan: Plan, seed: int
    ) -> None:
        self.path, self.plan = _checked(path), plan
        self.manifest = Manifest.build(experiment, configurations, plan, seed)
        self._configurations = list(self.manifest.configurations)
        # A checksum is good for rows of this run only: an outcome of other data or another estimator never fits.
        self._secret = _checksum(json.dumps([dict(self.manifest.data), dict(self.manifest.asked)]).encode())
        self._stored: set[tuple[str, str]] = set()
        self._file: Any = None

    def __enter__(self) -> OutcomeCache:
        self._file = _File(self.path)
        try:
            held = self._file.manifest()
            if held is None:
                self._file.create(self.manifest)
            else:
                if differences := held.differences(self.manifest):
                    raise SoberError(
                        "E502",
                        f"{self.path} holds another run; what differs is {', and '.join(differences)}. Repeat the call "
                        "that created it, or name another file.",
                    )
                now = self.manifest  # it may have more splits or configurations, or fewer splits
                splits, known = max(held.splits, now.splits, key=len), {**held.versions, **now.versions}
                body = replace(now, splits=splits, versions=known).to_json()
                if body != held.to_json():
                    self._file.run("UPDATE manifest SET body = ?, checksum = ?", (body, _checksum(body)))
            self._stored = set(self._file.run("SELECT configuration, split FROM outcomes"))
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        self._stored = set()
        is_there = self._file.is_there()
        self._file.close()
        if not is_there:
            warn("W501", f"{self.path} was deleted, moved or replaced during the run, so the run cannot be resumed.")

    def recall(self, task: Task) -> Outcome | None:
        """Return a stored outcome, or None. Raises E505 where it is damaged."""
        key = self._key(*task.place)
        if key not in self._stored:
            return None
        found = self._file.run("SELECT form, data, checksum FROM outcomes WHERE configuration = ? AND split = ?", key)
        for form, data, checksum in found:
            if isinstance(form, bytes) and isinstance(data, bytes) and checksum == self._row_checksum(key, form, data):
                return _decoded(form, data, task)
        what = f"the outcome of configuration {task.configuration.index} on {task.split.name} is incomplete"
        raise _refusal("", self.path, what)

    def keep(self, outcome: Outcome) -> None:
        """Write an outcome down; when this returns, no end of the process can lose it, unless the file is deleted."""
        if outcome.failure is not None and outcome.failure.is_transient:
            return  # what the machine did is no verdict: a resumed run tries again
        key, (form, data) = self._key(*outcome.place), _encoded(outcome)
        row = (*key, form, data, self._row_checksum(key, form, data))
        self._file.run("INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?, ?, ?)", row)

    def _key(self, repeat: int, fold: int, configuration: int) -> tuple[str, str]:
        return self._configurations[configuration], self.manifest.splits[self.plan.positions[repeat, fold]]

    def _row_checksum(self, key: tuple[str, str], form: bytes, data: bytes) -> bytes:
        return _checksum(b"".join(("".join(key).encode(), len(form).to_bytes(8), form, data)), self._secret)


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


def _decoded(form: bytes, data: bytes, task: Task) -> Outcome:
    held, responses, start = json.loads(form), {}, 0
    repeat, fold, index = task.place
    failure = held["failure"] and Failure(**held["failure"], repeat=repeat, fold=fold)
    for name, dtype, shape in held["arrays"]:
        values = np.frombuffer(data, dtype, int(np.prod(shape)), start).reshape(shape)
        responses[name], start = values, start + values.nbytes
    fit, predict = held["seconds"]
    return Outcome(index, repeat, fold, responses, fit, predict, failure, held["answers"], True)


def _checksum(body: bytes, key: bytes = b"") -> bytes:
    return blake2b(body, key=key, digest_size=16).digest()


class _File:
    """One open, locked file. Nothing in it is changed by opening it."""

    def __init__(self, path: str) -> None:
        self.path = path
        for needed in (path, os.path.dirname(path) or "."):
            if os.path.exists(needed) and not os.access(needed, os.W_OK):
                raise _refusal("SQLITE_READONLY", path, f"{needed} is read-only")
        try:
            self._db = sqlite3.connect(path, timeout=_LOCK_SECONDS, isolation_level=None, check_same_thread=False)
        except _ERRORS as error:
            raise _refusal(getattr(error, "sqlite_errorname", ""), path, str(error)) from error
        # Exclusive before the first read, which takes the lock: one holder, and no shared memory beside the file.
        settings = ("locking_mode = EXCLUSIVE", "synchronous = NORMAL", "trusted_schema = OFF", "cell_size_check = ON")
        try:
            for setting in (*settings, "schema_version"):
                self.run(f"PRAGMA {setting}")
            self._identity = os.stat(path)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let the file go; what was committed is in it, or beside it where the disk is full."""
        with suppress(*_ERRORS):
            self._db.close()

    def is_there(self) -> bool:
        """Whether the path still leads to this file."""
        with suppress(OSError):
            return os.path.samestat(os.stat(self.path), self._identity)
        return False

    def manifest(self) -> Manifest | None:
        """Return what the file is a run of; None where nothing is in it yet. Refuses what is no store, and damage."""
        application, written = (self.run(f"PRAGMA {p}")[0][0] for p in ("application_id", "user_version"))
        schema = dict(self.run("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))
        if application == 0 and not schema:
            return None
        if application != APPLICATION:
            raise SoberError("E801", f"{self.path} is an SQLite database, but not a store of sober; name another file.")
        if written != FORMAT:
            raise SoberError(
                "E801",
                f"{self.path} has format {written}, but this version of sober reads {FORMAT}; use the version that "
                "made it, or name another file.",
            )
        # In another mode, what lies in the side file would be overlooked.
        if schema != SCHEMA or self.run("PRAGMA journal_mode") != [("wal",)]:
            raise _refusal("", self.path, "its tables are not those of a store")
        if self.run("PRAGMA quick_check(1)") != [("ok",)]:  # writing to it could lose what is there
            raise _refusal("", self.path, "its structure is inconsistent")
        rows = self.run("SELECT body, checksum FROM manifest")
        try:
            ((body, checksum),) = rows
            if checksum != _checksum(body):
                raise ValueError
            return Manifest(**json.loads(body))
        except (TypeError, ValueError, AttributeError, RecursionError):
            raise _refusal("", self.path, "its manifest cannot be read") from None

    def create(self, manifest: Manifest) -> None:
        """Make the tables, all or nothing."""
        self.run("PRAGMA synchronous = OFF")  # nothing is in the file yet that waiting for the disk could save
        self.run("PRAGMA journal_mode = WAL")
        self.run("BEGIN IMMEDIATE")
        header = f"PRAGMA application_id = {APPLICATION}", f"PRAGMA user_version = {FORMAT}"
        for statement in (*header, *SCHEMA.values()):
            self.run(statement)
        body = manifest.to_json()
        self.run("INSERT INTO manifest VALUES (?, ?)", (body, _checksum(body)))
        self.run("COMMIT")
        self.run("PRAGMA synchronous = NORMAL")

    def run(self, statement: str, values: Any = ()) -> list[Any]:
        """Run a statement and return its rows."""
        try:
            return self._db.execute(statement, values).fetchall()
        except _ERRORS as error:
            raise _refusal(getattr(error, "sqlite_errorname", ""), self.path, str(error)) from error


#: What SQLite's errors mean, by how their names begin: a code, and a sentence that says what to do.
_MEANINGS = (
    (("SQLITE_BUSY", "SQLITE_LOCKED"), "E501",
     "{path} is in use by another search; wait until it ends, or name another file. It was not changed."),
    (("SQLITE_NOTADB",), "E801", "{path} is not a store of sober, or its first bytes are damaged; name another file."),
    (("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH", "SQLITE_IOERR_LOCK"), "E809",
     "{path} cannot be opened for writing ({reason}). Check that its folder exists and that both are writable. What is "
     "stored is kept."),
    (("SQLITE_FULL", "SQLITE_TOOBIG", "SQLITE_IOERR_READ", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC"), "E506",
     "The disk is full, or cannot be used: {path} ({reason}). What was stored is kept; free some space and repeat the "
     "call to continue."),
    (("",), "E505",
     "{path} is damaged ({reason}). Replace it with a copy, or name another file and repeat the fits."),
)  # fmt: skip


def _refusal(name: str | None, path: str, reason: str) -> SoberError:
    """Return the error that an error of SQLite means; without a name, that the file is damaged."""
    code, sentence = next(rest for begins, *rest in _MEANINGS if (name or "").startswith(begins))
    return SoberError(code, sentence.format(path=path, reason=reason))
