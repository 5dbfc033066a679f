"""A run in one file: every outcome is safe the moment it has come.

Takes outcomes and a manifest, gives back the outcomes that are whole and belong to this run; never fits, never judges,
and never turns what a file says into code. One row is one outcome, written in one transaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from os import PathLike, fspath
from os.path import exists
from typing import Any

import numpy as np

from ...containers import Array
from ...errors import SoberError, warn
from ..fit.plan import Plan, Split
from ..fit.problem import Problem
from ..fit.response import NOTHING
from ..fit.task import Outcome
from .manifest import Manifest
from .outcome_bytes import Row, decode, encode, parted, separate
from .sqlite_file import Damaged, SqliteFile, replace_damaged

#: Failures that another machine, or a quieter hour, may not meet again: a resumed run tries once more.
TRANSIENT = frozenset({"worker died", "timed out"})


class SqliteStore:
    """Outcomes of one run, on disk.

    Parameters
    ----------
    path : path
        Made where it does not exist.
    problem : Problem
    plan : Plan
    manifest : Manifest
        What the file must be a run of, or what extends it.
    """

    def __init__(self, path: str | PathLike[str], problem: Problem, plan: Plan, manifest: Manifest) -> None:
        self.path = fspath(path)
        self.plan = plan
        self.manifest = manifest
        self._configurations = [bytes.fromhex(key) for key in manifest.configurations]
        self._splits = [bytes.fromhex(key) for key in manifest.splits]
        self._n_test = {key: len(split.test) for key, split in zip(self._splits, plan.splits, strict=True)}
        asked = [alternatives.split(" or ") for alternatives in manifest.responses]
        self._known = {alternatives[0] for alternatives in asked}
        self._needed = {alternatives[0] for alternatives in asked if alternatives[-1] != NOTHING}
        self._n_classes = 0 if problem.classes is None else len(problem.classes)
        self._stored: dict[tuple[bytes, bytes], Row] = {}
        self._file: SqliteFile | None = None
        self._identity: tuple[int, int] | None = None  # of the file; None where it is gone

    # ---- opening -------------------------------------------------------------------------------------------------
    def open(self) -> None:
        """Open and lock the file, check what it is a run of, and read what it holds."""
        try:
            self._open()
        except Damaged as damage:
            self._rescue(damage)
            try:
                self._open()
            except Damaged as again:
                raise SoberError("E505", f"{self.path} is damaged ({again}); name another file.") from again

    def _open(self) -> None:
        file = SqliteFile(self.path)
        try:
            if file.is_new():
                file.create(self.manifest.to_json())
            else:
                file.check()
                self._join(file, self._held(file.manifest()))
        except BaseException:
            file.close()
            raise
        self._file, self._identity = file, file.identity()

    def _held(self, body: bytes) -> Manifest:
        """Read a manifest, and refuse another run's."""
        try:
            held = Manifest.from_json(body)
        except (TypeError, ValueError, KeyError, AttributeError, RecursionError):
            raise Damaged("its manifest cannot be read") from None
        differences = held.differences(self.manifest)
        if differences:
            raise SoberError(
                "E502",
                f"{self.path} holds another run; what differs is {', and '.join(differences)}. Repeat the call that "
                "made it, or name another file.",
            )
        return held

    def _join(self, file: SqliteFile, held: Manifest) -> None:
        """Read all outcomes, take out damaged ones, and note in the file what has changed."""
        good, bad = separate(file.rows(), self.manifest.checksum_key, self._is_usable)
        self._stored = {(row[0], row[1]): row for row in good}
        if bad:
            file.delete(bad)
            warn("W502", f"{len(bad)} outcomes in {self.path} were damaged and will be fitted again.")
        united = held.united(self.manifest).to_json()
        if united != held.to_json():
            file.rewrite_manifest(united)
        other = held.other_versions(self.manifest)
        if other and self._stored:
            warn(
                "W501",
                f"Outcomes in {self.path} were made with {', '.join(other)}, so new ones may differ in last digits.",
            )

    def _rescue(self, damage: Damaged) -> None:
        """Put a whole file in the place of a damaged one, with all outcomes that are whole."""
        held, rows = None, list[Row]()
        with suppress(Damaged):
            file = SqliteFile(self.path)
            try:
                with suppress(Damaged):  # without a manifest the checksums still tell whose outcomes these are
                    held = self._held(file.manifest())
                rows, _ = separate(file.readable_rows(), self.manifest.checksum_key, self._is_usable)
            finally:
                file.close()
        if not rows:
            raise SoberError(
                "E505",
                f"{self.path} is damaged ({damage}) and holds no outcome that is whole; delete it, or name another "
                "file, to start again.",
            ) from damage
        body = (self.manifest if held is None else held.united(self.manifest)).to_json()
        kept = replace_damaged(self.path, body, rows)
        warn(
            "W502",
            f"{self.path} was damaged ({damage}). {len(rows)} whole outcomes are in a new file of this name, others "
            f"will be fitted again; the damaged file is kept as {kept}.",
        )

    def _is_usable(self, split: bytes, arrays: Mapping[str, Array]) -> bool:
        """Whether arrays [rows, n, ...] are what fits on this split would have given: nobody looks at them again."""
        n_test = self._n_test.get(split)
        responses, answers = parted(arrays)
        if bool(answers) != bool(self.manifest.asked):
            return False
        if not all(a.ndim == 1 and a.dtype.kind == "f" and np.isfinite(a).all() for a in answers.values()):
            return False
        return self._needed <= responses.keys() <= self._known and all(
            (n_test is None or a.shape[1] == n_test)
            and (a.ndim == 2 or (a.ndim == 3 and a.shape[2] == self._n_classes > 2))
            and bool(np.isfinite(a).all() if a.dtype.kind == "f" else a.min() >= 0 and a.max() < self._n_classes)
            for a in responses.values()
        )

    # ---- in use --------------------------------------------------------------------------------------------------
    def recall(self, configuration: int, split: Split) -> Outcome | None:
        """Give a stored outcome, or None.

        Parameters
        ----------
        configuration : int
        split : Split
        """
        row = self._stored.get(self._key(configuration, split.repeat, split.fold))
        return None if row is None else decode(row, configuration, split.repeat, split.fold)

    def keep(self, outcome: Outcome) -> None:
        """Write an outcome down; when this returns, no end of the process can lose it, unless the file is deleted.

        Parameters
        ----------
        outcome : Outcome
        """
        assert self._file is not None
        if self._identity is None or (outcome.failure is not None and outcome.failure.kind in TRANSIENT):
            return
        if self._file.identity() != self._identity:
            self._identity = None
            warn(
                "W504",
                f"{self.path} was deleted, moved or replaced while it was open. The run goes on, but its outcomes are "
                "kept nowhere; it cannot be resumed.",
            )
            return
        key = self._key(outcome.configuration, outcome.repeat, outcome.fold)
        try:
            self._file.append(encode(outcome, *key, self.manifest.checksum_key))
        except Damaged as damage:
            raise SoberError(
                "E505", f"{self.path} was damaged while it was open ({damage}); repeat the call to rescue and go on."
            ) from damage

    def _key(self, configuration: int, repeat: int, fold: int) -> tuple[bytes, bytes]:
        return self._configurations[configuration], self._splits[self.plan.positions[repeat, fold]]

    def close(self) -> None:
        """Let the file go."""
        self._stored = {}
        if self._file is not None:
            self._file.close()
            self._file = None


def stored_seed(path: Any) -> int | None:
    """Give the root seed of the run that a file holds; None where there is no file, or none that can be read.

    Parameters
    ----------
    path : path or None
    """
    if not isinstance(path, (str, PathLike)) or not exists(path):
        return None
    try:
        file = SqliteFile(fspath(path))
        try:
            return None if file.is_new() else Manifest.from_json(file.manifest()).seed
        finally:
            file.close()
    except (Damaged, TypeError, ValueError, KeyError, AttributeError, RecursionError) as error:
        if isinstance(error, SoberError):
            raise
        return None
