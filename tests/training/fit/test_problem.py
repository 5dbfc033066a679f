import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sobercv.errors import SoberError
from sobercv.metrics import get
from sobercv.training import Problem, infer_task
from sobercv.training.fit.problem import take

GRID = np.arange(12.0).reshape(6, 2)
ROWS = np.array([4, 0, 3])


@pytest.mark.parametrize(
    "make",
    [
        np.asarray,
        np.asfortranarray,
        lambda a: pd.DataFrame(a, index=list("fedcba"), columns=["u", "v"]),
        lambda a: pl.DataFrame(a, schema=["u", "v"]),
        sparse.csr_matrix,
        sparse.csc_array,
        sparse.coo_array,
        lambda a: a.tolist(),
        lambda a: tuple(map(tuple, a.tolist())),
    ],
)
def test_rows_of_every_container(make):
    problem = Problem.build(make(GRID), np.arange(6.0), task="regression")
    part = take(problem.X, ROWS)
    dense = part.toarray() if sparse.issparse(part) else np.asarray(part)
    np.testing.assert_array_equal(dense, GRID[ROWS])


def test_rows_are_fresh():
    part = take(GRID, np.arange(6))
    part[:] = -1
    assert GRID.min() == 0


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, pl.DataFrame, sparse.csr_array, lambda a: a.tolist()])
def test_columns_of_matrices_between_samples(make):
    square = np.arange(36.0).reshape(6, 6)
    part = take(make(square), ROWS, np.array([5, 1]))
    dense = part.toarray() if sparse.issparse(part) else np.asarray(part)
    np.testing.assert_array_equal(dense, square[np.ix_(ROWS, [5, 1])])


def test_targets_are_encoded_and_y_is_kept():
    y = pd.Series(["b", "a", "c", "b", "a", "c"])
    problem = Problem.build(GRID, y, task="classification")
    assert problem.task == "classification"
    assert problem.y is y
    assert problem.target.values.tolist() == [1, 0, 2, 1, 0, 2]
    assert problem.classes.tolist() == ["a", "b", "c"]


def test_task_is_inferred():
    survival = np.array([(True, 1.0)] * 6, dtype=[("cens", bool), ("months", float)])
    assert infer_task(LinearRegression(), np.arange(3)) == "regression"
    assert infer_task(make_pipeline(StandardScaler(), SVC()), np.arange(3)) == "classification"
    assert infer_task(StandardScaler(), survival) == "survival"
    assert infer_task(StandardScaler(), np.arange(3)) is None
    assert infer_task(object(), np.arange(3)) is None
    assert Problem.build(GRID, survival, task="survival").target.values["time"].tolist() == [1.0] * 6


def test_fit_arguments_are_cut_where_they_have_one_entry_a_sample():
    problem = Problem.build(
        GRID,
        np.arange(6),
        task="regression",
        sample_weight=np.arange(1.0, 7.0),
        fit_params={
            "col": list("abcdef"),
            "word": "abcdef",
            "short": [1, 2],
            "flag": True,
            "frame": pd.Series(range(6)),
        },
    )
    cut = problem.fit_arguments(ROWS)
    assert cut["col"] == ["e", "a", "d"]
    assert cut["word"] == "abcdef"
    assert cut["short"] == [1, 2]
    assert cut["flag"] is True
    assert cut["frame"].tolist() == [4, 0, 3]
    assert cut["sample_weight"].tolist() == [5, 1, 4]
    unweighted = Problem.build(GRID, np.arange(6), task="regression", sample_weight=np.ones(6), weight_name=None)
    assert unweighted.fit_arguments(ROWS) == {}
    assert not unweighted.fit_arguments(np.arange(1))


def test_pairwise_is_asked_of_the_estimator():
    K = rbf_kernel(GRID)
    problem = Problem.build(K, np.arange(6) % 2, task="classification")
    assert problem.is_pairwise_for(SVC(kernel="precomputed"))
    assert not problem.is_pairwise_for(SVC())
    assert not Problem.build(GRID, np.arange(6) % 2, task="classification").is_pairwise_for(SVC(kernel="precomputed"))
    assert not problem.is_pairwise_for(object())


@pytest.mark.parametrize(
    ("build", "code", "part"),
    [
        (lambda: Problem.build(GRID, np.arange(5), task="regression"), "E101", "X has 6 samples but y has 5"),
        (lambda: Problem.build(3, np.arange(5), task="regression"), "E112", "got int"),
        (lambda: Problem.build(GRID, [1, np.nan] * 3, task="regression"), "E112", "missing or infinite"),
        (lambda: Problem.build(GRID, np.arange(6), task="regression", groups=[1]), "E107", "groups"),
        (lambda: Problem.build(GRID, np.arange(6), task="regression", sample_weight=[1]), "E107", "sample_weight"),
        (lambda: Problem.build(GRID, np.arange(6), task="regression", sample_weight=-np.ones(6)), "E107", "negative"),
    ],
)
def test_errors(build, code, part):
    with pytest.raises(SoberError) as error:
        build()
    assert error.value.code == code
    assert part in error.value.message


def test_several_outputs_and_no_target_are_left_to_the_models():
    several, none = Problem.build(GRID, GRID, task="classification"), Problem.build(GRID, None, task="regression")
    assert several.target.values.shape == GRID.shape
    assert none.target.values.shape == (len(GRID), 0)
    assert several.classes is none.classes is None
    assert several.n_samples == none.n_samples == len(GRID)
    with pytest.raises(SoberError, match="one entry per sample"):
        get("accuracy").check_target(several.target)
