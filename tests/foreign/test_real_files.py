"""Files that the real tools wrote (by the scripts in make/) give the same estimate as the matrix that they hold."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sobercv
from sobercv.correction import judge_predictions, recognise

FILES = Path(__file__).parent / "files"


def first(found):
    return next(iter(judge_predictions(found).values()))


def matrix(frame, sample, configuration, value):
    """Samples x configurations, by pandas alone."""
    return frame.pivot_table(index=sample, columns=configuration, values=value, aggfunc="first", sort=True)


def truth(frame, sample, column):
    return frame.drop_duplicates(sample).set_index(sample)[column].sort_index().to_numpy()


def same(one, other):
    assert one.value == pytest.approx(other.value, abs=1e-12)
    assert one.interval == pytest.approx(other.interval, abs=1e-12)
    assert one.winner == other.winner


def test_caret_numbers():
    frame = pd.read_csv(FILES / "caret-numbers.csv")
    found = recognise(frame)
    assert (found.tool, found.names) == ("caret", ["k=1", "k=3", "k=5", "k=9"])
    table = matrix(frame, "rowIndex", "k", "pred").to_numpy()
    plain = sobercv.bbc(
        truth(frame, "rowIndex", "obs"), table, "r2", folds=folds(frame, "rowIndex", "k", frame["Resample"])
    )
    same(first(found), plain)


def folds(frame, sample, configuration, fold, repeat=None):
    """The fold of each sample in each repeat, as the first configuration has it."""
    first = frame[configuration] == frame[configuration].iloc[0]
    codes = frame.assign(fold=fold.factorize()[0], repeat=0 if repeat is None else repeat)[first]
    return codes.pivot_table(index=sample, columns="repeat", values="fold").to_numpy().astype(int)


def repeats(frame, sample, configuration, repeat, value):
    parts = [matrix(frame[repeat == r], sample, configuration, value) for r in sorted(repeat.unique())]
    return np.stack([part.to_numpy() for part in parts], axis=2)


def test_caret_classes_in_two_repeats():
    frame = pd.read_csv(FILES / "caret-classes.csv")
    found = recognise(frame)
    assert (found.tool, found.names, found.n_repeats) == ("caret", ["k=1", "k=5", "k=9"], 2)
    repeat = frame["Resample"].str[-4:]
    table = repeats(frame, "rowIndex", "k", repeat, "virginica")
    held_out = folds(frame, "rowIndex", "k", frame["Resample"], repeat)
    same(first(found), sobercv.bbc(truth(frame, "rowIndex", "obs"), table, "roc_auc", folds=held_out))


@pytest.mark.parametrize(("name", "n_repeats"), [("mlr-classes.csv", 1), ("mlr-repeats.csv", 2)])
def test_mlr_classes(name, n_repeats):
    frame = pd.read_csv(FILES / name)
    found = recognise(frame)
    assert (found.tool, found.names, found.n_repeats) == ("mlr", ["rpart.1", "rpart.2", "rpart.4"], n_repeats)
    repeat = (frame["iter"] - 1) // 5
    table = repeats(frame, "id", "learner.id", repeat, "prob.virginica")
    held_out = folds(frame, "id", "learner.id", frame["iter"], repeat)
    same(first(found), sobercv.bbc(truth(frame, "id", "truth"), table, "roc_auc", folds=held_out))


def test_mlr_training_rows_are_left_out():
    frame = pd.read_csv(FILES / "mlr-classes.csv")
    doubled = pd.concat([frame, frame.assign(set="train")])
    same(first(recognise(doubled)), first(recognise(frame)))


def test_mlr_iterations_that_are_no_folds_are_hold_outs():
    frame = pd.read_csv(FILES / "mlr-repeats.csv")
    found = recognise(frame[frame["iter"] <= 7])
    assert found.n_repeats == 7
