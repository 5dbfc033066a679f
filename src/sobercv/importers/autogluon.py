"""from_autogluon: how good the best base model of a fitted predictor is. Imports nothing of AutoGluon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..inference import Estimate
from .correction import by_model, ensembles_left_out, judge
from .imported import ImportedPredictions


def from_autogluon(
    predictor: Any, metric: str | Sequence[str] | None = None, **options: Any
) -> Estimate | dict[str, Estimate]:
    """Correct the score of the best base model of an AutoGluon `TabularPredictor`.

    Stacked and weighted ensembles are left out: they were fitted to the out-of-fold predictions of the others. The
    score of an ensemble of the base models comes with ``select=sobercv.greedy_ensemble()``.

    Parameters
    ----------
    predictor : autogluon.tabular.TabularPredictor
        Fitted with bagging (``fit(..., num_bag_folds=8)``, or ``presets="good_quality"`` and better), and not yet
        without its data (``save_space``).
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
    >>> predictor = TabularPredictor("y").fit(data, num_bag_folds=8)  # doctest: +SKIP
    >>> print(sobercv.from_autogluon(predictor))  # doctest: +SKIP
    """
    return judge(autogluon_predictions(predictor), metric, options)


def autogluon_predictions(predictor: Any) -> ImportedPredictions:
    """Ask a predictor for the out-of-fold predictions of its base models."""
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
    y = _truth(predictor, next(iter(oof.values())).index)
    classes = None if predictor.problem_type == "regression" else np.unique(y).tolist()
    columns = {name: np.asarray(table if classes is None else table[classes], float) for name, table in oof.items()}
    found = by_model("AutoGluon", y, columns, "predict" if classes is None else "predict_proba")
    others = [name for name in predictor.model_names() if name not in base and name not in refitted]
    return replace(found, notes=ensembles_left_out(others, len(others) + len(base)))


def _truth(predictor: Any, index: Any) -> Array:
    """Return the labels as they were in the data, in the order of the predictions."""
    _, inner = predictor.load_data_internal(data="train", return_X=False)
    inner = inner[~inner.index.duplicated()]  # AutoGluon repeats rows of rare classes
    return np.asarray(predictor.transform_labels(inner, inverse=True).loc[index])
