"""The final model in files, with a manifest; and back, only where it can be trusted.

Takes a fitted pipeline, gives files and loads them again. Loading a joblib file executes code, so that it is done only
where the file is, byte for byte, the one that this user made on this machine, or where the user trusts it.
"""

from __future__ import annotations

import hmac
import os
import secrets
from datetime import UTC, datetime
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

from ..errors import SoberError
from ..tables import Dataset
from .folder import RunFolder

MODEL, MANIFEST = "model.joblib", "model.json"


def save(model: Any, data: Dataset, folder: RunFolder, facts: dict[str, Any]) -> None:
    """Write the model and its manifest.

    Parameters
    ----------
    model : fitted pipeline
    data : Dataset
    folder : RunFolder
    facts : dict
        More for the manifest: versions, metric, score.
    """
    import joblib

    packed = BytesIO()
    joblib.dump(model, packed, compress=3)
    raw = packed.getvalue()
    (folder / MODEL).write_bytes(raw)
    fingerprint = sha256(raw).hexdigest()
    manifest = {
        "file": MODEL,
        "sha256": fingerprint,
        "seal": seal(fingerprint),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "task": data.task,
        "target": list(data.target),
        "classes": [_plain(c) for c in data.classes],
        "columns": {name: data.X[name].dtype.kind for name in data.X.columns},
        "id": next((name for name, role in data.roles.items() if role == "id"), None),
        **facts,
    }
    folder.write_json(MANIFEST, manifest)
    _save_skops(model, folder)


def _plain(label: Any) -> Any:
    return label.item() if hasattr(label, "item") else label


def _save_skops(model: Any, folder: RunFolder) -> None:
    """Write the model once more where skops is installed and can write it; it can be read without running code."""
    try:
        from skops.io import dump

        dump(model, folder / "model.skops")
    except Exception:  # not installed, or a step that skops does not know: the joblib file is there anyway
        (folder / "model.skops").unlink(missing_ok=True)


def load(folder: RunFolder, trust: bool = False) -> tuple[Any, dict[str, Any]]:
    """Load the model of a run.

    Parameters
    ----------
    folder : RunFolder
    trust : bool
        Load it though it was made elsewhere. The fingerprint must fit in any case.

    Returns
    -------
    (model, manifest)
    """
    import joblib

    manifest = folder.check().read_json(MANIFEST)
    path = folder / MODEL
    try:
        raw = path.read_bytes()
    except OSError:
        raise SoberError("E809", f"{path} is not there. Write: sober resume {folder.path}") from None
    fingerprint = sha256(raw).hexdigest()
    if not isinstance(manifest.get("columns"), dict) or fingerprint != manifest.get("sha256"):
        raise SoberError(
            "E810", f"{path} is not the file that model.json describes, so it is not loaded: loading a model executes "
            "code. Write the run again with sober resume.",
        )  # fmt: skip
    if not trust and not _is_sealed(fingerprint, manifest.get("seal")):
        raise SoberError(
            "E810", f"{path} was not made by you on this machine, and loading a joblib model executes code. If you "
            "trust where it comes from, add --trust.",
        )  # fmt: skip
    try:
        return joblib.load(BytesIO(raw)), manifest
    except Exception as error:
        raise SoberError(
            "E810", f"{path} cannot be loaded with the versions installed here ({type(error).__name__}). Compare them "
            "with those in model.json.",
        ) from error  # fmt: skip


# ---- who made it ---------------------------------------------------------------------------------------------------
def seal(fingerprint: str) -> str | None:
    """Sign a fingerprint with this user's own key; None where no key can be kept."""
    key = _key(make=True)
    return None if key is None else hmac.new(key, fingerprint.encode(), sha256).hexdigest()


def _is_sealed(fingerprint: str, given: Any) -> bool:
    key = _key(make=False)
    if key is None or not isinstance(given, str):
        return False
    return hmac.compare_digest(hmac.new(key, fingerprint.encode(), sha256).hexdigest(), given)


def _key(make: bool) -> bytes | None:
    """Give 32 random bytes that only this user can read; they never leave this machine."""
    home = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    path = Path(home) / "sober" / "seal.key"
    try:
        if make and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(secrets.token_bytes(32))
        key = path.read_bytes()
    except (OSError, RuntimeError):
        return None
    return key if len(key) == 32 else None
