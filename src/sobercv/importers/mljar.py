"""from_mljar: how good the best model in a folder of mljar-supervised is.

Reads the CSV and JSON files that `AutoML(results_path=...)` wrote; imports nothing of mljar and unpickles nothing.
"""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..inference import Estimate
from .correction import by_model, ensembles_left_out, judge
from .imported import ImportedPredictions

# A model's own predictions of rows that it was not trained on: of all folds, or of one hold-out.
_FILES = ("predictions_out_of_folds.csv", "predictions_validation.csv")
_TWO = re.compile(r"prediction_0_for_(.*)_1_for_(.*)")


def from_mljar(
    folder: str | os.PathLike[str], metric: str | Sequence[str] | None = None, **options: Any
) -> Estimate | dict[str, Estimate]:
    """Correct the score of the best single model of an mljar-supervised run.

    Ensembles and stacked models are left out: they were fitted to the out-of-fold predictions of the others. The score
    of an ensemble of the others comes with ``select=sobercv.greedy_ensemble()``.

    Parameters
    ----------
    folder : path
        `results_path` of the `AutoML`.
    metric : str or list of str, optional
        As in `sobercv.bbc`; default: `roc_auc` for two classes, `roc_auc_ovr` for more, `r2` for numbers.
    **options
        Those of `sobercv.bbc`: `groups`, `random_state`, `select`, ...; `force=True` goes on where the answer could
        mislead, with a note.

    Returns
    -------
    Estimate, or dict of str to Estimate when `metric` is a list

    Examples
    --------
    >>> import sobercv
    >>> print(sobercv.from_mljar("AutoML_1"))  # doctest: +SKIP
    """
    return judge(read_mljar(folder), metric, options)


def is_mljar(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder looks like one of mljar-supervised."""
    return (Path(folder) / "params.json").is_file() and bool(_models(Path(folder)))


def read_mljar(folder: str | os.PathLike[str]) -> ImportedPredictions:
    """Read the predictions of every single model in a folder."""
    root = Path(folder)
    settings = _json(root / "params.json")
    models = _models(root)
    single = [path for path in models if not _is_mixed(path)]
    if not single:
        raise SoberError("E812", f"{root} holds no model of mljar-supervised with out-of-fold predictions.")
    tables = {path.parent.name: _table(path) for path in single}
    head, first = next(iter(tables.values()))
    strange = next((name for name, (h, t) in tables.items() if h != head or (t[:, 0] != first[:, 0]).any()), None)
    if strange is not None:
        raise SoberError("E812", f"The rows of {strange!r} are not those of {single[0].parent.name!r} in {root}.")
    is_number = settings.get("ml_task") == "regression"
    columns = {name: t[:, 1] if t.shape[1] == 2 else t[:, 1:] for name, (_, t) in tables.items()}
    y = first[:, 0] if is_number else _labels(head[1:], first[:, 0], root)
    found = by_model("mljar", y, columns, "predict" if is_number else "predict_proba")
    searched = bool(settings.get("hill_climbing_steps") or settings.get("boost_on_errors"))
    is_adaptive = searched or settings.get("mode") == "Optuna"
    others = [path.parent.name for path in models if path not in single]
    return replace(found, is_adaptive=is_adaptive, notes=ensembles_left_out(others, len(models)))


def _models(root: Path) -> list[Path]:
    return sorted(path for name in (*_FILES, "predictions_ensemble.csv") for path in root.glob(f"*/{name}"))


def _is_mixed(path: Path) -> bool:
    """Whether a model was fitted to predictions of others."""
    if path.name not in _FILES:
        return True
    return bool(_json(path.with_name("framework.json")).get("is_stacked")) or path.parent.name.endswith("_Stacked")


def _table(path: Path) -> tuple[list[str], Array]:
    """Read target and predictions; other columns (weights, sensitive features) are left out."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        kept = [i for i, name in enumerate(rows[0]) if name == "target" or name.startswith("prediction")]
        if len(kept) < 2 or rows[0][kept[0]] != "target":
            raise ValueError("no columns target and prediction")
        return [rows[0][i] for i in kept], np.array([[row[i] for i in kept] for row in rows[1:]], float)
    except (OSError, ValueError, IndexError) as error:
        raise SoberError("E812", f"{path} cannot be read ({error}). Train the models again.") from None


def _labels(columns: Sequence[str], target: Array, root: Path) -> Array:
    """Call classes as the columns do, where their order is that of the names; else by their numbers."""
    two = _TWO.fullmatch(columns[0])
    names = list(two.groups()) if two else [name.removeprefix("prediction_") for name in columns]
    n_classes = max(2, len(names))
    strange = target[~np.isin(target, np.arange(n_classes))]
    if len(strange):
        raise SoberError(
            "E812",
            f"The target in {root} must hold the codes of its {n_classes} classes, 0 to {n_classes - 1}; got "
            f"{strange[0]:g}. Train the models again.",
        )
    codes = target.astype(int)
    if len(names) < 2 or names != sorted(names):
        return codes
    return np.array(names, dtype=object)[codes]


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SoberError("E812", f"{path} cannot be read ({error}). Name the folder that AutoML wrote.") from None
    return found if isinstance(found, dict) else {}
