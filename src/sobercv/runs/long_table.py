"""Predictions as a long table, one row a prediction, with the names that tidymodels users know.

Takes `Predictions`, gives a pyarrow table; takes a fitted model and new rows, gives a data frame. Never judges.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..predictions import Predictions
from ..responses import time_of

#: How columns of predictions and of decision values begin, and what the column of groups is called.
PREDICTED, DECISION, GROUP = ".pred", ".decision", ".group"


def long_table(table: Predictions, rows: Array) -> Any:
    """Write every seen prediction as a row; those of configurations that left the race early come last.

    Parameters
    ----------
    table : Predictions
    rows : int array [N]
        Where each sample stood in the file, counted from 0.

    Returns
    -------
    pyarrow.Table
        `.row` (from 1), `.config`, `id` (repeat), `id2` (fold), `.group` where there are groups, `.pred_class`,
        `.pred_<class>`, `.pred`, `.pred_survival_at(<time>)`, `truth`.
    """
    import pyarrow as pa

    finished = _rows_of(table, rows)
    left = (_rows_of(group, rows) for group in table.leavers)
    # What finishers do not have in common is not in the file; what a leaver lacks is empty.
    cut = [part.select([name for name in finished.column_names if name in part.column_names]) for part in left]
    return pa.concat_tables([finished, *cut], promote_options="default").unify_dictionaries()


def _rows_of(table: Predictions, rows: Array) -> Any:
    import pyarrow as pa

    sample, repeat = np.nonzero(table.seen)  # [M], the same for every configuration
    c, m = len(table.configurations), len(sample)
    columns: dict[str, Any] = {
        ".row": pa.array(np.tile(rows[sample] + 1, c)),
        ".config": _coded(np.repeat(np.arange(c), m), [f"Configuration{i:03d}" for i in table.configurations]),
        "id": _coded(np.tile(repeat, c), [f"Repeat{r + 1}" for r in range(table.n_repeats)]),
        "id2": _folds(np.tile(table.fold_of[sample, repeat], c)),
    }
    if table.groups is not None:
        columns[GROUP] = pa.array(np.tile(table.groups[sample], c))
    for name, values in table.responses.items():
        picked = np.moveaxis(values[sample, :, repeat], 1, 0)  # [C, M(, K)]
        columns.update(_response(name, picked.reshape(c * m, *picked.shape[2:]), table))
    columns.update(_truth(np.tile(sample, c), table))
    return pa.table(columns)


def _coded(codes: Array, names: list[str]) -> Any:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), names)


def _folds(folds: Array) -> Any:
    n = int(folds.max()) + 1
    return _coded(folds, [f"Fold{k + 1:0{len(str(n))}d}" for k in range(n)])


def _response(name: str, values: Array, table: Predictions) -> dict[str, Any]:
    if time_of(name) is not None:
        return {f"{PREDICTED}_{name}": values}
    if table.classes is None or name == "decision_function":
        if values.ndim == 1:
            return {PREDICTED: values}
        start = DECISION if "predict_proba" in table.responses else PREDICTED
        return {f"{start}_{label}": values[:, k] for k, label in enumerate(_labels(table))}
    if name == "predict":
        return {".pred_class": _coded(values, _labels(table))}
    if values.ndim == 1:  # two classes: the probability of the second
        values = np.stack([1 - values, values], axis=1)
    return {f".pred_{label}": values[:, k] for k, label in enumerate(_labels(table))}


def _truth(sample: Array, table: Predictions) -> dict[str, Any]:
    if table.task == "survival":
        return {"truth_time": table.y["time"][sample], "truth_event": table.y["event"][sample]}
    if table.classes is None:
        return {"truth": table.y[sample]}
    return {"truth": _coded(table.y[sample], _labels(table))}


def _labels(table: Predictions) -> list[str]:
    return [] if table.classes is None else [str(label) for label in table.classes.tolist()]


def predict_table(model: Any, X: Any, task: str, classes: list[Any]) -> Any:
    """Predict new rows.

    Parameters
    ----------
    model : fitted pipeline
    X : pandas.DataFrame
    task : str
    classes : list
        Labels, where the target holds classes.

    Returns
    -------
    pandas.DataFrame
        `.row` (from 1), then `.pred_class` and `.pred_<class>` where the model gives probabilities, or `.pred`.
    """
    import pandas as pd

    try:
        found = _predicted(model, X, task, classes)
    except Exception as error:  # any model may raise anything
        said = " ".join(str(error).split())[:200].rstrip(".")
        raise SoberError(
            "E816", f"The model cannot take the new rows ({type(error).__name__}: {said}). Give rows like those of "
            "training.",
        ) from error  # fmt: skip
    return pd.DataFrame({".row": np.arange(1, len(X) + 1), **found})


def _predicted(model: Any, X: Any, task: str, classes: list[Any]) -> dict[str, Any]:
    if task in ("regression", "survival"):
        return {".pred": model.predict(X)}
    columns = {".pred_class": model.predict(X)}
    if hasattr(model, "predict_proba"):
        chances = model.predict_proba(X)
        columns.update({f".pred_{label}": chances[:, k] for k, label in enumerate(model.classes_)})
    elif len(classes) == 2 and hasattr(model, "decision_function"):
        columns[".score"] = model.decision_function(X)
    return columns
