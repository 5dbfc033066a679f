"""Predictions that AutoGluon and mljar-supervised kept. Imports nothing of either and unpickles nothing.

Stacked and weighted ensembles are left out: they were fitted to the out-of-fold predictions of the other models.
"""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import Note, SoberError
from .judging import ToolPredictions

# A model's own predictions of rows that it was not trained on: of all folds, or of one hold-out.
_FILES = ("predictions_out_of_folds.csv", "predictions_validation.csv")
_TWO = re.compile(r"prediction_0_for_(.*)_1_for_(.*)")


def read_autogluon(predictor: Any) -> ToolPredictions:
    """Ask a TabularPredictor, fitted with bagging, for the out-of-fold predictions of its base models."""
    if predictor.problem_type not in ("binary", "multiclass", "regression"):
        raise SoberError("E812", f"Problems of type {predictor.problem_type!r} cannot be judged here.")
    refitted = set(predictor.model_refit_map().values())  # their predictions are those of the models that they copy
    base = [name for name in predictor.model_names(level=1) if name not in refitted]
    try:
        oof = {name: predictor.predict_proba_oof(name) for name in base}
    except AssertionError as error:  # how AutoGluon says that there was no bagging
        raise SoberError(
            "E812",
            f"The predictor has no out-of-fold predictions ({str(error).strip()}) Fit it with bagging: "
            "predictor.fit(data, num_bag_folds=8).",
        ) from error
    if not oof:
        raise SoberError("E813", "The predictor has no base models. Fit it with num_bag_folds=8.")
    _, inner = predictor.load_data_internal(data="train", return_X=False)
    inner = inner[~inner.index.duplicated()]  # AutoGluon repeats rows of rare classes
    y = np.asarray(predictor.transform_labels(inner, inverse=True).loc[next(iter(oof.values())).index])
    classes = None if predictor.problem_type == "regression" else np.unique(y).tolist()
    columns = {name: np.asarray(table if classes is None else table[classes], float) for name, table in oof.items()}
    others = [name for name in predictor.model_names() if name not in base and name not in refitted]
    method = "predict" if classes is None else "predict_proba"
    notes = _ensembles_left_out(others, len(others) + len(base))
    return ToolPredictions.by_model("AutoGluon", y, columns, method, notes=notes)


def is_mljar(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder looks like one of mljar-supervised."""
    return (Path(folder) / "params.json").is_file() and bool(_models(Path(folder)))


def read_mljar(folder: str | os.PathLike[str]) -> ToolPredictions:
    """Read the predictions of every single model in the `results_path` of an mljar-supervised AutoML."""
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
    searched = settings.get("hill_climbing_steps") or settings.get("boost_on_errors")
    return ToolPredictions.by_model(
        "mljar",
        first[:, 0] if is_number else _labels(head[1:], first[:, 0], root),
        {name: t[:, 1] if t.shape[1] == 2 else t[:, 1:] for name, (_, t) in tables.items()},
        "predict" if is_number else "predict_proba",
        is_adaptive=bool(searched) or settings.get("mode") == "Optuna",
        notes=_ensembles_left_out([path.parent.name for path in models if path not in single], len(models)),
    )


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
    return codes if len(names) < 2 or names != sorted(names) else np.array(names, dtype=object)[codes]


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SoberError("E812", f"{path} cannot be read ({error}). Name the folder that AutoML wrote.") from None
    return found if isinstance(found, dict) else {}


def _ensembles_left_out(names: Sequence[str], n_models: int) -> tuple[Note, ...]:
    """Note which of n_models models were left out because they are made of the others."""
    text = (
        f"{len(names)} of {n_models} models ({', '.join(names[:3])}) are ensembles of the others, fitted to the same "
        "truth, and were left out. select=sobercv.greedy_ensemble() judges an ensemble of the others."
    )
    return (Note("W204", text),) if names else ()
