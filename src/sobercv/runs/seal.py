"""The seal of a model: a signature by a key that only this user on this machine has.

Takes the fingerprint of a file, gives a signature or says whether one is genuine. The key is made at the first `fit`,
whole or not at all, and never leaves the machine; one that cannot be used is replaced then, not noticed at `predict`.
"""

from __future__ import annotations

import hmac
import os
import secrets
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..errors import Note, SoberError
from .files import read_file, write_file
from .lock import alone

#: Bytes of a key.
LENGTH = 32


def seal(fingerprint: str) -> tuple[str | None, Note | None]:
    """Sign a fingerprint.

    Parameters
    ----------
    fingerprint : str

    Returns
    -------
    (signature, None), or (None, Note)
        The latter where no key can be kept; the note (W831) says why.
    """
    path = key_path()
    try:
        if path is None:
            raise SoberError("E809", "there is no home folder")
        key = _key(path) or _made(path)
    except (OSError, SoberError) as error:
        reason = error.message if isinstance(error, SoberError) else error.strerror or str(error)
        where = "" if path is None else f" in {str(path.parent)!r}"
        return None, Note(
            "W831", f"No key can be kept{where} ({reason.rstrip('.')}), so the model is not sealed: sober predict will "
            "want --trust.",
        )  # fmt: skip
    return _signature(key, fingerprint), None


def is_sealed(fingerprint: str, given: Any) -> bool:
    """Whether a signature is this user's.

    Parameters
    ----------
    fingerprint : str
    given : Any
        What a manifest holds.
    """
    path = key_path()
    try:
        key = None if path is None else _key(path)
    except (OSError, SoberError):
        return False
    return key is not None and isinstance(given, str) and _same(_signature(key, fingerprint), given)


def key_path() -> Path | None:
    """Where the key lies: in XDG's folder for state; None where there is no home."""
    try:
        home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    except RuntimeError:
        return None
    return Path(home) / "sober" / "seal.key"


def _key(path: Path) -> bytes | None:
    """Read the key; None where there is none, or one that cannot be used."""
    raw = read_file(path)
    return raw if raw is not None and len(raw) == LENGTH else None


def _made(path: Path) -> bytes:
    """Make a key; of several processes that make one at a time the first does, and all use it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with alone(path.parent):
        key = _key(path)
        if key is None:  # none, or one that is empty or cut: what it may have signed cannot be checked any more
            key = secrets.token_bytes(LENGTH)
            write_file(path, key, mode=0o600)
    return key


def _signature(key: bytes, fingerprint: str) -> str:
    return hmac.new(key, fingerprint.encode(), sha256).hexdigest()


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode("utf-8", "replace"))
