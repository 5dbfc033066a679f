"""A run is not judged by what some of its models never said."""

from dataclasses import replace

import numpy as np
import pytest

from sobercv import SoberError
from sobercv.inference import Question
from sobercv.inference.tables import open_table
from sobercv.predictions import Predictions


def test_models_that_left_the_race_count_too():
    y, chance = np.array([0, 1, 0, 1]), np.array([0.2, 0.9, 0.4, 0.6])
    finished = Predictions.build(y, {"predict_proba": chance[:, None]}, task="classification")
    left = Predictions.build(y, {"decision_function": chance[:, None]}, task="classification")
    left = replace(left, configurations=np.array([1]))
    whole = replace(finished, dropped=(left,))
    open_table(finished, Question.ask("neg_brier_score"))
    with pytest.raises(SoberError, match="of some models") as refused:
        open_table(whole, Question.ask("neg_brier_score"))
    assert refused.value.code == "E116"
