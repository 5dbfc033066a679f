"""Every kind of winner is written and read again with the same predictions, and trained again by refit."""

import os

import numpy as np
import pytest
from sklearn.base import clone

from sobercv.checks import plan_search
from sobercv.runs.folder import RunFolder
from sobercv.runs.model import MODEL, load, packed
from sobercv.tables import Settings, assign, read

from .conftest import table

SOAK = bool(os.environ.get("SOBER_SOAK"))
ROLES = {"survival": {"time": "months", "event": "died"}}
#: Probabilities wrap SVMs, so that a metric which wants them shows other models.
METRICS = {"binary": ("roc_auc", "neg_log_loss"), "multiclass": ("balanced_accuracy",)}
CASES = [(task, m) for task in ("binary", "multiclass", "regression", "survival") for m in METRICS.get(task, (None,))]


def winners(data, metric):
    """Give fitted pipelines: all kinds of models and all kinds of selection; in soak, all pairs of both."""
    planned = plan_search(data, Settings(preset="quick", metric=(metric,) if metric else ()))
    kinds, seen = {}, set()
    for configuration in planned.preset.configurations:
        model = clone(planned.preset.estimator).set_params(**clone(dict(configuration.params), safe=False))
        kind = type(model[1]).__name__, type(model[-1]).__name__
        if kind not in kinds and (SOAK or not set(kind) <= seen):
            kinds[kind] = model
            seen.update(kind)
    return kinds


@pytest.mark.parametrize(("task", "metric"), CASES)
@pytest.mark.filterwarnings("ignore")
def test_every_kind_of_winner_predicts_the_same_from_its_file(task, metric, tmp_path):
    table(task, n=90, text=True).to_csv(tmp_path / "data.csv", index=False)
    found = read(tmp_path / "data.csv")
    data = assign(found.frame, **ROLES.get(task, {"target": "y"}))
    kinds = winners(data, metric)
    assert len({model for _, model in kinds}) > 2
    assert len({selection for selection, _ in kinds}) > 1
    folder = RunFolder(tmp_path / "run")
    folder.path.mkdir()
    for kind, model in kinds.items():
        model.fit(data.X, data.y)
        folder.write(MODEL, packed(model))
        again = load(folder)
        for method in ("predict", "predict_proba", "decision_function"):
            if hasattr(model, method):
                given, loaded = getattr(model, method)(data.X), getattr(again, method)(data.X)
                np.testing.assert_array_equal(given, loaded, err_msg=str(kind))
