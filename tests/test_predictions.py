"""The table that carries predictions from training to inference: built from anything, cut in any way."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sobercv
from sobercv import Predictions
from sobercv.errors import SoberError
from sobercv.testing import simulate

N, C, R = 6, 3, 2
RNG = np.random.default_rng(5)
Y = np.array(["no", "yes"] * 3)
P = RNG.random((N, C, R))
FOLDS = np.array([[0, 1], [0, 2], [1, 0], [1, 1], [2, 2], [2, 0]])


def table(**options):
    given_options = {"task": "classification", "responses": ("predict_proba",), "folds": FOLDS, **options}
    return Predictions.build(Y, P, **given_options)


def test_axes_and_names():
    built = table(groups=list("aabbcc"), sample_weight=[1, 2, 3, 4, 5, 6])
    assert (built.n_samples, built.n_configurations, built.n_repeats, built.n_classes) == (N, C, R, 2)
    assert built.y.tolist() == [0, 1] * 3
    assert built.classes.tolist() == ["no", "yes"]
    assert built.task == "classification"
    assert built.groups.tolist() == [0, 0, 1, 1, 2, 2]
    assert built.sample_weight.tolist() == [1, 2, 3, 4, 5, 6]
    assert built.configurations.tolist() == [0, 1, 2]
    assert built.folds_known
    assert built.is_complete
    np.testing.assert_array_equal(built.responses["predict_proba"], P)
    np.testing.assert_array_equal(built.fold_of, FOLDS)
    assert repr(built) == "Predictions(6 samples, 3 configurations, 2 repeats, classification, predict_proba)"


def test_without_folds_all_samples_are_one():
    built = table(folds=None)
    assert not built.folds_known
    assert not built.fold_of.any()


@pytest.mark.parametrize("make", [np.ndarray.tolist, pd.DataFrame, pl.DataFrame, np.ma.masked_array])
def test_containers_of_any_kind(make):
    built = Predictions.build(pd.Series(Y), make(P[:, :, 0]), task="classification", responses=("predict_proba",))
    np.testing.assert_array_equal(built.responses["predict_proba"][:, :, 0], P[:, :, 0])


def test_labels_are_given_or_the_likeliest_class():
    labels = np.array([["no", "yes"]] * N)
    given_labels = Predictions.build(Y, labels, task="classification")
    assert given_labels.labels()[:, :, 0].tolist() == [[0, 1]] * N
    np.testing.assert_array_equal(table().labels(), P > 0.5)
    shares = RNG.dirichlet([1, 1, 1], (N, C))
    three = Predictions.build(np.arange(N) % 3, shares, task="classification")
    np.testing.assert_array_equal(three.labels()[:, :, 0], shares.argmax(axis=2))


@given(st.lists(st.booleans(), min_size=N, max_size=N), st.lists(st.booleans(), min_size=C, max_size=C).filter(any))
def test_cuts_commute_and_keep_what_belongs_together(rows, keep):
    built = table(groups=list("aabbcc"), sample_weight=np.arange(1.0, 7))
    rows, keep = np.array(rows), np.array(keep)
    one = built.take_rows(rows).take_configurations(keep)
    other = built.take_configurations(np.flatnonzero(keep)).take_rows(np.flatnonzero(rows))
    for cut in (one, other):
        np.testing.assert_array_equal(cut.responses["predict_proba"], P[rows][:, keep])
        np.testing.assert_array_equal(cut.y, built.y[rows])
        np.testing.assert_array_equal(cut.groups, built.groups[rows])
        np.testing.assert_array_equal(cut.sample_weight, built.sample_weight[rows])
        np.testing.assert_array_equal(cut.fold_of, FOLDS[rows])
        np.testing.assert_array_equal(cut.configurations, np.flatnonzero(keep))
        assert cut.n_classes == 2


def test_one_repeat():
    one = table().take_repeat(1)
    assert one.n_repeats == 1
    np.testing.assert_array_equal(one.responses["predict_proba"], P[:, :, 1:])
    np.testing.assert_array_equal(one.fold_of, FOLDS[:, 1:])


def test_samples_without_predictions_are_not_in_the_table():
    built = replace(table(), seen=np.repeat([[True], [False], [True], [True], [False], [True]], 2, axis=1))
    assert not built.is_complete
    assert built.rows.tolist() == [0, 2, 3, 5]
    np.testing.assert_array_equal(built.only_seen().y, built.y[[0, 2, 3, 5]])
    complete = table()
    assert complete.only_seen() is complete


def test_a_mask_takes_out_samples_that_nobody_predicted_and_configurations_that_lack_some():
    mask = np.zeros(P.shape, bool)
    mask[1] = True  # nobody has it
    mask[3, 1, 0] = True  # one lacks it
    values = np.where(mask, np.nan, P)
    built = Predictions.build(Y, np.ma.masked_array(values, mask), task="classification", responses=("predict_proba",))
    assert built.n_left_out == 1
    assert built.configurations.tolist() == [0, 2]
    assert built.rows.tolist() == [0, 2, 3, 4, 5]
    np.testing.assert_array_equal(built.only_seen().responses["predict_proba"], P[[0, 2, 3, 4, 5]][:, [0, 2]])


def test_the_positive_class_can_be_named():
    built = table(pos_label="no")
    assert built.classes.tolist() == ["yes", "no"]
    assert built.target.positive_label == "no"
    assert built.y.tolist() == [1, 0] * 3
    np.testing.assert_array_equal(built.responses["predict_proba"], P)  # the probability of "no"


@pytest.mark.parametrize(
    ("predictions", "options", "code"),
    [
        ({}, {}, "E101"),
        ({"probability": P}, {}, "E116"),
        ({"predict": np.array([["no"]] * N), "predict_proba": P}, {}, "E101"),
        (P[:, :0], {}, "E101"),
        (P[:, :, :0], {}, "E101"),
        (P, {"folds": [1, 2]}, "E107"),
        (np.ma.array(P, mask=True), {}, "E106"),
        (np.ma.masked_array(P, np.eye(N, C, dtype=bool)[:, :, None] * np.ones(R, bool)), {}, "E111"),
        (P, {"pos_label": "maybe"}, "E110"),
    ],
)
def test_unusable_tables_are_refused(predictions, options, code):
    with pytest.raises(SoberError) as error:
        Predictions.build(Y, predictions, task="classification", responses=("predict_proba",), **options)
    assert error.value.code == code


def pruned_table():
    """Six configurations in five folds: 2 was pruned before the first, 4 after two of them."""
    data = simulate.binormal_auc(n=60, c=6, seed=1, k=5)
    values = data.predictions.astype(float).copy()
    values[:, 2] = np.nan
    values[data.folds >= 2, 4] = np.nan
    return data, values


def test_pruned_trials_are_left_out_with_a_note():
    data, values = pruned_table()
    with pytest.warns(sobercv.SoberWarning, match="2 of 6 configurations lack") as warned:
        found = sobercv.bbc(data.y, values, "roc_auc", folds=data.folds, n_bootstraps=50)
    assert [w.message.code for w in warned] == ["W204"]
    assert found.configurations.tolist() == [0, 1, 3, 5]
    assert "W204" in [note.code for note in found.notes]
    without = sobercv.bbc(data.y, values[:, [0, 1, 3, 5]], "roc_auc", folds=data.folds, n_bootstraps=50)
    assert np.array_equal(found.draws, without.draws)


def test_nan_that_no_pruning_explains_is_refused():
    data, values = pruned_table()
    with pytest.raises(SoberError) as error:  # half a column, and nobody knows the folds
        sobercv.bbc(data.y, values, "roc_auc", n_bootstraps=50)
    assert error.value.code == "E102"
    values[3, 0] = np.nan
    with pytest.raises(SoberError) as error:  # one row of another
        sobercv.bbc(data.y, values, "roc_auc", folds=data.folds, n_bootstraps=50)
    assert error.value.code == "E102"
    with pytest.raises(SoberError) as error:  # nobody is complete
        sobercv.bbc(data.y, np.full((60, 2), np.nan), "roc_auc", folds=data.folds, n_bootstraps=50)
    assert error.value.code == "E102"


def test_a_configuration_that_never_ran_needs_no_folds():
    data, values = pruned_table()
    values[:, 4] = 0.5
    with pytest.warns(sobercv.SoberWarning, match="1 of 6"):
        found = sobercv.bbc(data.y, values, "roc_auc", n_bootstraps=50)
    assert found.configurations.tolist() == [0, 1, 3, 4, 5]
