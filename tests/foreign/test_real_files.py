"""Files that the real tools wrote (by the scripts in make/) give the same estimate as the matrix that they hold."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sobercv
from sobercv import SoberError
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


def test_a_long_table_with_documented_names():
    """The predictions of mlr, the package before mlr3, are such a table."""
    frame = pd.read_csv(FILES / "mlr-classes.csv")
    found = recognise(frame)
    assert (found.tool, found.names) == ("long table by 'id' and 'learner.id'", ["rpart.1", "rpart.2", "rpart.4"])
    table = matrix(frame, "id", "learner.id", "prob.virginica").to_numpy()
    held_out = folds(frame, "id", "learner.id", frame["iter"])
    same(first(found), sobercv.bbc(truth(frame, "id", "truth"), table, "roc_auc", folds=held_out))


def test_repeats_that_no_column_tells_are_refused():
    with pytest.raises(SoberError, match="identify configurations and repeats") as error:
        recognise(pd.read_csv(FILES / "mlr-repeats.csv"))
    assert error.value.code == "E814"
