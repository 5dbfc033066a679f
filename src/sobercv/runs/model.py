"""The final model in files, with a manifest; and back, only where it can be trusted.

Takes a fitted pipeline, gives files and loads them again. Loading a joblib file executes code, so that it is done only
where the file is, byte for byte, the one that this user made on this machine, or where the user trusts it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from io import BytesIO
from typing import Any

from ..errors import Note, SoberError
from ..tables import Dataset
from .files import read_file
from .folder import RunFolder, fingerprint
from .new_rows import levels_of
from .schema import checked
from .seal import is_sealed, seal
from .survival_curve import SurvivalCurve

MODEL, MANIFEST, SKOPS = "model.joblib", "model.json", "model.skops"


@dataclass(frozen=True)
class Manifest:
    """What `model.json` must hold, beside what only people read."""

    sha256: str
    task: str
    target: tuple[str, ...]
    classes: tuple[str | int | float | bool, ...]
    columns: Mapping[str, str]
    seal: str | None = None
    id: str | None = None
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    positive: str | int | float | bool | None = None
    survival: SurvivalCurve | None = None
    threshold: float | None = None


def save(model: Any, data: Dataset, folder: RunFolder, facts: dict[str, Any]) -> tuple[Note, ...]:
    """Write the model and its manifest.

    Parameters
    ----------
    model : fitted pipeline
    data : Dataset
    folder : RunFolder
    facts : dict
        More for the manifest: versions, metric, score.

    Returns
    -------
    tuple of Note
        What the user should know of the seal.
    """
    import joblib

    packed = BytesIO()
    joblib.dump(model, packed, compress=3)
    raw = packed.getvalue()
    manifest: dict[str, Any] = {
        "file": MODEL,
        "sha256": sha256(raw).hexdigest(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "task": data.task,
        "target": list(data.target),
        "classes": [_plain(c) for c in data.classes],
        "columns": {name: data.X[name].dtype.kind for name in data.X.columns},
        "levels": levels_of(data.X),
        "id": next((name for name, role in data.roles.items() if role == "id"), None),
        **facts,
    }
    signature, note = seal(fingerprint(manifest))
    folder.write(MODEL, raw)
    folder.write_json(MANIFEST, {**manifest, "seal": signature})
    _save_skops(model, folder)
    return () if note is None else (note,)


def _plain(label: Any) -> Any:
    return label.item() if hasattr(label, "item") else label


def _save_skops(model: Any, folder: RunFolder) -> None:
    """Write the model once more where skops is installed and can write it; it can be read without running code."""
    try:
        from skops.io import dumps

        raw = dumps(model)
    except Exception:  # not installed, or a step that skops does not know: the joblib file is there anyway
        (folder / SKOPS).unlink(missing_ok=True)
        return
    folder.write(SKOPS, raw)


def remove(folder: RunFolder) -> None:
    """Remove a model that is not that of the results any more.

    Parameters
    ----------
    folder : RunFolder
    """
    for name in (MANIFEST, MODEL, SKOPS):
        (folder / name).unlink(missing_ok=True)


def load(folder: RunFolder, trust: bool = False) -> tuple[Any, Manifest, Any]:
    """Load the model of a run.

    Parameters
    ----------
    folder : RunFolder
    trust : bool
        Load it though it was made elsewhere. The fingerprint must fit in any case.

    Returns
    -------
    (model, manifest, reading)
        The last as plain data: how the table of the run was read.
    """
    import joblib

    values = folder.check().read_json(MANIFEST)
    manifest = checked(Manifest, values, folder.path / MANIFEST)
    path = folder / MODEL
    raw = read_file(path)
    if raw is None:
        raise SoberError("E809", f"{path} is not there. Write: sober resume {folder.path}")
    if sha256(raw).hexdigest() != manifest.sha256:
        raise SoberError(
            "E810", f"{path} is not the file that model.json describes, so it is not loaded: loading a model executes "
            "code. Write the run again with sober resume.",
        )  # fmt: skip
    sealed = {name: value for name, value in values.items() if name != "seal"}
    if not trust and not is_sealed(fingerprint(sealed), manifest.seal):
        raise SoberError(
            "E810", f"{path} was not made by you on this machine, and loading a joblib model executes code. If you "
            "trust where it comes from, add --trust.",
        )  # fmt: skip
    try:
        return joblib.load(BytesIO(raw)), manifest, values.get("reading")
    except Exception as error:
        raise SoberError(
            "E810", f"{path} cannot be loaded with the versions installed here ({type(error).__name__}). Compare them "
            "with those in model.json.",
        ) from error  # fmt: skip
