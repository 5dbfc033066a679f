"""predict: new rows through the model of a run.

Takes a run folder and a table, gives a data frame of predictions; refuses rows that lack what the model needs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import SoberError
from ..tables import read
from .folder import RunFolder
from .long_table import predict_table
from .model import load


def predict(folder: RunFolder, source: str | Path, trust: bool = False) -> Any:
    """Predict new rows.

    Parameters
    ----------
    folder : RunFolder
    source : path or "-"
    trust : bool
        Load a model that was made elsewhere.

    Returns
    -------
    pandas.DataFrame
        See `predict_table`; where the run has an id column, that comes first.
    """
    model, manifest = load(folder, trust)
    frame = read(source).frame
    columns: dict[str, str] = manifest["columns"]
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        some = ", ".join(repr(n[:40]) for n in missing[:3]) + (" and more" if len(missing) > 3 else "")
        raise SoberError("E816", f"The new rows lack {len(missing)} of {len(columns)} columns: {some}. Add them.")
    for name, kind in columns.items():
        if kind in "iufb" and frame[name].dtype.kind not in "iufb":
            if frame[name].isna().all():
                frame[name] = frame[name].astype(float)
                continue
            word = next((v for v in frame[name].dropna() if not _is_number(v)), "text")
            raise SoberError(
                "E816", f"Column {name[:40]!r} held numbers in training but now {str(word)[:30]!r}. Mend it."
            )
    found = predict_table(model, frame[list(columns)], manifest["task"], manifest["classes"])
    if manifest.get("id") in frame.columns:
        found.insert(0, manifest["id"], frame[manifest["id"]].to_numpy())
    return found


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
