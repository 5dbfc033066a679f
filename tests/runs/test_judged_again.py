"""A run is not judged by what some of its models never said."""

from dataclasses import replace

import numpy as np
import pyarrow.parquet as parquet
import pytest

from sobercv import SoberError
from sobercv.inference import Question
from sobercv.inference.tables import open_table
from sobercv.predictions import Predictions
from sobercv.runs.predictions_file import long_table, stored_predictions


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


def test_decision_values_of_several_classes_are_not_read_as_probabilities(tmp_path):
    y, values = np.array(["a", "b", "c", "a"]), np.arange(12.0).reshape(4, 1, 1, 3)
    built = Predictions.build(y, {"decision_function": values}, task="classification")
    parquet.write_table(long_table(built, np.arange(4)), tmp_path / "p.parquet")
    read = stored_predictions(tmp_path / "p.parquet", "classification")
    assert list(read.responses) == list(built.responses) == ["decision_function"]
    np.testing.assert_array_equal(read.responses["decision_function"], values)
    with pytest.raises(SoberError, match="is computed from probabilities"):
        open_table(read, Question.ask("neg_log_loss"))


@pytest.mark.parametrize("n_folds", [3, 12])
def test_a_run_with_dropped_configurations_is_read_as_it_was_written(tmp_path, n_folds):
    rng = np.random.default_rng(0)
    y, fold, chance = rng.integers(0, 2, 12), np.arange(12) % n_folds, rng.random((12, 5))
    whole = Predictions.build(y, {"predict_proba": chance}, task="classification", folds=fold, groups=fold)
    left = replace(whole.take_configurations(np.array([1, 3])), seen=whole.seen & (fold < 2)[:, None])
    table = replace(whole.take_configurations(np.array([0, 2, 4])), dropped=(left,))
    rows = np.arange(12) * 2
    parquet.write_table(long_table(table, rows), tmp_path / "p.parquet")
    read = stored_predictions(tmp_path / "p.parquet", "classification", 1)
    for one, other in ((read, table), (read.dropped[0], left)):
        seen = other.seen[:, 0]
        assert one.configurations.tolist() == other.configurations.tolist()
        for name in ("y", "seen", "groups"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
        np.testing.assert_array_equal(one.fold_of[seen], other.fold_of[seen])
        np.testing.assert_array_equal(one.responses["predict_proba"][seen], other.responses["predict_proba"][seen])
