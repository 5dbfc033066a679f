"""A run is not judged by what some of its models never said."""

from dataclasses import replace

import numpy as np
import pytest

from sobercv import SoberError, metrics
from sobercv.predictions import Predictions
from sobercv.runs.judged_again import _check_kept


def test_models_that_left_the_race_count_too():
    y, chance = np.array([0, 1, 0, 1]), np.array([0.2, 0.9, 0.4, 0.6])
    finished = Predictions.build(y, {"predict_proba": chance[:, None]}, task="classification")
    left = Predictions.build(y, {"decision_function": chance[:, None]}, task="classification")
    _check_kept(metrics.get("neg_brier_score"), finished)
    with pytest.raises(SoberError, match=r"kept only decision_function.*in sober fit") as refused:
        _check_kept(metrics.get("neg_brier_score"), replace(finished, dropped=(left,)))
    assert refused.value.code == "E116"
    _check_kept(metrics.get("roc_auc"), replace(finished, dropped=(left,)))
