"""refit.py trains the same model without sober, whatever kind of model wins."""

import os
import re
import runpy
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from sobercv.checks import plan_search
from sobercv.runs.refit import refit_script
from sobercv.tables import assign, read

from .conftest import table

SOAK = bool(os.environ.get("SOBER_SOAK"))
ROLES = {"survival": {"time": "months", "event": "died"}}
#: Probabilities wrap SVMs, so that a metric which wants them shows other models.
METRICS = {"binary": ("roc_auc", "neg_log_loss"), "multiclass": ("balanced_accuracy",)}
CASES = [(task, m) for task in ("binary", "multiclass", "regression", "survival") for m in METRICS.get(task, (None,))]


def winners(data, metric):
    """Give fitted pipelines: all kinds of models and all kinds of selection; in soak, all pairs of both."""
    planned = plan_search(data, preset="quick", scoring=[metric] if metric else [])
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
def test_every_kind_of_winner_is_trained_again(task, metric, tmp_path, monkeypatch):
    table(task, n=90, text=True).to_csv(tmp_path / "data.csv", index=False)
    found = read(tmp_path / "data.csv")
    data = assign(found.frame, **ROLES.get(task, {"target": "y"}))
    kinds = winners(data, metric)
    assert len({model for _, model in kinds}) > 2
    assert len({selection for selection, _ in kinds}) > 1
    for kind, model in kinds.items():
        model.fit(data.X, data.y)
        script = refit_script(SimpleNamespace(best_estimator_=model), data, found, str(found.path), "0.1.0")
        assert not re.search(r"^\s*(import|from) +\.*sober", script, flags=re.M), kind
        (tmp_path / "refit.py").write_text(script)
        monkeypatch.setattr(sys, "argv", ["refit.py", str(found.path), str(tmp_path / "p.csv")])
        runpy.run_path(str(tmp_path / "refit.py"))
        again = pd.read_csv(tmp_path / "p.csv")["prediction"].to_numpy()
        if task in METRICS:
            assert (again == model.predict(data.X)).all(), kind
        else:
            np.testing.assert_allclose(again, model.predict(data.X), rtol=1e-6, err_msg=str(kind))
