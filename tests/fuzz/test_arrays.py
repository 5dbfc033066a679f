"""Whatever arrays are given to `bbc`, `Predictions`, `BBCSearchCV`, `compare` and `correct`: the right number, or a
`SoberError` of one sentence.

Two kinds of inputs: the right values in another container, type or order, whose number is that of the plain copy, bit
for bit, and that of the paper's algorithm as a literal loop; and arrays of any type with any values, whose number, where
there is one, is that of a plain copy. `SOBER_SOAK=1` tries many more; the count is printed.
"""

import math
import warnings
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import sobercv
from sobercv import metrics
from sobercv.correction import judge_predictions, recognise
from sobercv.errors import CODES, SoberError, SoberWarning

from ..oracles import paper
from . import arrays
from .arrays import anything, dressed
from .trying import TRIED, examples, within_patience


@contextmanager
def watched():
    with within_patience(), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # an overflow is a number that is wrong
        warnings.simplefilter("ignore", SoberWarning)
        yield


def documented(error):
    said = str(error)
    assert error.code in CODES
    assert "should not happen" not in said
    assert len(said.splitlines()) == 1, said
    assert said.endswith(f"[{error.code}]"), said
    return error


def answer(function, *arguments, **options):
    """Call; give the answer, or the error where it is one that is documented and says one sentence for people."""
    try:
        with watched():
            return function(*arguments, **options)
    except SoberError as error:
        return documented(error)


def same(found, expected, exact=True):
    """Whether two estimates are one number; NaN is a draw that is undefined."""
    for name in ("value", "naive", "draws", "winner"):
        ours, theirs = np.asarray(getattr(found, name)), np.asarray(getattr(expected, name))
        if exact:
            np.testing.assert_array_equal(ours, theirs, name)
        else:  # what was given in single precision is computed so
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6, err_msg=name)


# ---- the right values in another dress -----------------------------------------------------------------------------
N, C, B = 24, 3, 20
CLASSES = {
    "whole": np.array([0, 1]),
    "text": np.array(["no", "yes"]),
    "flags": np.array([False, True]),
    "other": np.array([3, 40]),
}


@st.composite
def good(draw, task):
    """Keyword arguments of a call that is right, as plain arrays."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    codes = rng.permutation(np.arange(N) % 2)
    p = np.clip(rng.integers(0, 33, (N, C)) + 6 * codes[:, None], 0, 32) / 32
    p[:, 1] = p[:, 0] if draw(st.booleans()) else p[:, 1]  # two that are equal
    y = p[:, 0] + rng.integers(-8, 9, N) / 32 if task == "regression" else codes
    counts = np.stack([np.bincount(rng.integers(0, N, N), minlength=N) for _ in range(B)])
    return {"y": y, "predictions": p, "counts": counts, "folds": np.arange(N) % 4, "weight": rng.integers(1, 9, N) / 4}


def oracle(plainly, metric, weighted):
    table = paper.Table(
        plainly["y"], plainly["predictions"][:, :, None], np.ones((N, 1), bool), plainly["folds"][:, None], metric,
        weight=plainly["weight"] if weighted else None,
    )  # fmt: skip
    return paper.bbc(table, plainly["counts"])[0]


@examples(soak=250, usual=25)
@given(st.data())
def test_numbers_in_any_dress(data):
    metric = data.draw(st.sampled_from(["neg_mean_squared_error", "neg_mean_absolute_error", "r2"]))
    plainly = data.draw(good("regression"))
    weighted = data.draw(st.booleans())
    weight = data.draw(dressed(plainly["weight"], arrays.NUMBER_DRESS)) if weighted else None
    found = answer(
        sobercv.bbc,
        data.draw(dressed(plainly["y"], arrays.NUMBER_DRESS)),
        data.draw(dressed(plainly["predictions"], arrays.TABLE_DRESS)),
        metric, counts=data.draw(dressed(plainly["counts"], arrays.COUNT_DRESS)), sample_weight=weight,
    )  # fmt: skip
    assert isinstance(found, sobercv.Estimate), found
    np.testing.assert_allclose(found.draws, oracle(plainly, metric, weighted), rtol=1e-5, atol=1e-6)
    TRIED["arrays in another dress"] += 1


@examples(soak=250, usual=25)
@given(st.data())
def test_scores_of_classes_in_any_dress(data):
    metric = data.draw(st.sampled_from(["roc_auc", "neg_brier_score"]))
    plainly = data.draw(good("classification"))
    labels = CLASSES[data.draw(st.sampled_from(sorted(CLASSES)))]
    ways = arrays.LABEL_DRESS if labels.dtype.kind == "U" else arrays.ANY_DRESS
    folds = data.draw(dressed(plainly["folds"], arrays.WHOLE_DRESS))
    given_ = (
        data.draw(dressed(labels[plainly["y"]], ways)),
        data.draw(dressed(plainly["predictions"], arrays.TABLE_DRESS)),
    )
    counts = data.draw(dressed(plainly["counts"], arrays.COUNT_DRESS))
    pos = {"pos_label": labels[1].item()}
    found = answer(sobercv.bbc, *given_, metric, folds=folds, counts=counts, **pos)
    assert isinstance(found, sobercv.Estimate), found
    np.testing.assert_allclose(found.draws, oracle(plainly, metric, False), rtol=1e-5, atol=1e-6)
    table = answer(
        sobercv.Predictions.build, *given_, task="classification", responses=("predict_proba",), folds=folds, **pos
    )
    same(answer(sobercv.bbc, None, table, metric, counts=counts), found)
    TRIED["arrays in another dress"] += 1


@examples(soak=150, usual=15)
@given(st.data())
def test_labels_in_any_dress(data):
    plainly = data.draw(good("classification"))
    plainly["predictions"] = (plainly["predictions"] > 0.5).astype(int)
    labels = CLASSES[data.draw(st.sampled_from(sorted(CLASSES)))]
    y_ways = arrays.LABEL_DRESS if labels.dtype.kind == "U" else arrays.ANY_DRESS
    p_ways = arrays.ANY_DRESS if labels.dtype.kind in "Ub" else arrays.WHOLE_DRESS
    found = answer(
        sobercv.bbc,
        data.draw(dressed(labels[plainly["y"]], y_ways)),
        data.draw(dressed(labels[plainly["predictions"]], p_ways)),
        "accuracy", counts=data.draw(dressed(plainly["counts"], arrays.COUNT_DRESS)),
        groups=data.draw(dressed(np.arange(N), arrays.WHOLE_DRESS) | st.none()),
    )  # fmt: skip
    assert isinstance(found, sobercv.Estimate), found
    np.testing.assert_allclose(found.draws, oracle(plainly, "accuracy", False), rtol=1e-12)
    TRIED["arrays in another dress"] += 1


# ---- any arrays ----------------------------------------------------------------------------------------------------
def broken(y, p):
    raise ZeroDivisionError("two\nlines")


ODD_METRICS = [
    None, 3, "", "rocauc", "fbeta(beta=", "fbeta(beta=-1)", [], [None], {}, lambda y, p: math.nan, lambda y, p: 1j,
    lambda y, p: "good", lambda y, p: y, lambda y: 0.0, broken, lambda y, p: 1e308, lambda y, p: float(np.mean(y == p)),
]  # fmt: skip
anyhow = st.sampled_from(metrics.names())
usual = st.sampled_from(["roc_auc", "accuracy", "neg_mean_squared_error", "neg_log_loss", "f1", "r2"])
scoring = st.one_of(usual, usual, anyhow, st.sampled_from(ODD_METRICS), st.lists(anyhow, min_size=1, max_size=2))


def count(where, found):
    TRIED[f"arrays for {where} ({'refused' if isinstance(found, SoberError) else 'a number'})"] += 1


def compared(found, given_, again):
    """Where there is a number, a plain copy gives the same one."""
    if isinstance(found, SoberError):
        return
    expected = again({name: arrays.plain(v) for name, v in given_.items()})
    assert not isinstance(expected, SoberError), f"a plain copy is refused: {expected}"
    exact = not any(getattr(getattr(v, "dtype", None), "itemsize", 8) < 8 for v in given_.values())
    founds = found if isinstance(found, dict) else {"": found}
    for name, estimate in founds.items():
        assert math.isfinite(estimate.value)
        same(estimate, expected[name] if name else expected, exact)


#: What goes well with a metric, by its task.
GOOD_Y = {"classification": lambda n: np.arange(n) % 2, "regression": lambda n: np.arange(n) / 8}


@st.composite
def mostly_good(draw, right, shapes):
    """Arrays by name: those of `right`, one or two of them replaced by anything of the shape."""
    odd = draw(st.lists(st.sampled_from(sorted(shapes)), min_size=1, max_size=2, unique=True))
    return {name: draw(anything(shapes[name])) if name in odd else right[name] for name in right}


@examples(soak=900, usual=40)
@given(st.data())
def test_any_arrays_for_bbc(data):
    n, c = data.draw(st.sampled_from([(12, 3), (12, 3), (12, 3), (12, 1), (3, 2), (1, 2)]))
    metric = data.draw(scoring)
    task = (
        getattr(metrics.get(metric), "task", "regression")
        if isinstance(metric, str) and metric in metrics.names()
        else ""
    )
    more = data.draw(st.sampled_from([(), (), ("sample_weight",), ("groups",), ("folds",), ("counts",)]))
    right = {
        "y": GOOD_Y.get(task, GOOD_Y["classification"])(n),
        "predictions": np.linspace(0, 1, n * c).reshape(n, c),
    } | dict.fromkeys(more)
    shapes = {"y": [n], "predictions": [n, c]} | {name: [4, n] if name == "counts" else [n] for name in more}
    given_ = data.draw(mostly_good(right, shapes))
    options = data.draw(st.sampled_from([{}, {}, {}, {"by": "fold"}, {"aggregate": "fold"}, {"stratify": True}]))

    def call(arrays_):
        named = {name: v for name, v in arrays_.items() if name not in ("y", "predictions")}
        return answer(sobercv.bbc, arrays_["y"], arrays_["predictions"], metric, **named, n_bootstraps=20, **options)

    found = call(given_)
    count("bbc", found)
    compared(found, given_, call)


ESTIMATORS = [
    (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}),
    (DecisionTreeRegressor(random_state=0), {"max_depth": [1, 2]}),
    (DummyClassifier(), {"strategy": ["prior", "most_frequent"]}),
    (DummyRegressor(), {"strategy": ["mean", "median"]}),
]


@st.composite
def data_of_a_search(draw, n, estimator):
    """X, y, groups and weights for a search: most of them right, one or two of any kind."""
    rng = np.random.default_rng(0)
    y = GOOD_Y["classification" if "Classifier" in type(estimator).__name__ else "regression"](n)
    more = draw(st.sampled_from([(), (), ("groups",), ("sample_weight",)]))
    shapes = {"X": [n, 2], "y": [n]} | {name: [n] for name in more}
    return draw(mostly_good({"X": rng.normal(size=(n, 2)), "y": y} | dict.fromkeys(more), shapes))


@examples(soak=300, usual=20)
@given(st.data())
def test_any_arrays_for_a_search(data):
    estimator, grid = data.draw(st.sampled_from(ESTIMATORS))
    options = {"scoring": data.draw(st.none() | st.none() | scoring), "cv": 2, "n_bootstraps": 20, "refit": False}
    given_ = data.draw(data_of_a_search(data.draw(st.sampled_from([12, 12, 12, 4])), estimator))

    def call(arrays_):
        found = answer(sobercv.BBCSearchCV(estimator, grid, **options).fit, **arrays_)
        return found if isinstance(found, SoberError) else found.estimate_

    found = call(given_)
    count("a search", found)
    compared(found, given_, call)


@examples(soak=150, usual=8)
@given(st.data())
def test_any_arrays_for_compare(data):
    estimator, grid = data.draw(st.sampled_from(ESTIMATORS))
    scored = data.draw(st.none() | st.none() | anyhow)
    given_ = data.draw(data_of_a_search(12, estimator))

    def call(arrays_):
        return answer(
            sobercv.compare, estimator, grid, **arrays_, scoring=scored, cv=3, n_bootstraps=20,
            protocols=("naive", "tt", "ncv", "bbc"),
        )  # fmt: skip

    found = call(given_)
    count("compare", found)
    if isinstance(found, SoberError):
        return
    again = call({name: arrays.plain(v) for name, v in given_.items()})
    assert not isinstance(again, SoberError), f"a plain copy is refused: {again}"
    for ours, theirs in zip(found.rows, again.rows, strict=True):
        assert math.isfinite(ours.score)
        assert ours.score == pytest.approx(theirs.score, rel=1e-6, abs=1e-9)


@examples(soak=300, usual=20)
@given(st.data())
def test_any_columns_for_correct(data):
    n = data.draw(st.sampled_from([12, 12, 12, 2]))
    rng = np.random.default_rng(0)
    columns = {"y": data.draw(st.just(np.arange(n) % 2) | anything([n]))}
    for name in [
        "m1",
        "m2",
        *data.draw(st.lists(st.sampled_from(["m3", "sample", "fold", "model", "prob_1"]), unique=True)),
    ]:
        columns[name] = data.draw(st.just(np.round(rng.random(n), 3)) | anything([n]))
    if any(np.asarray(held).dtype.kind == "c" for held in columns.values()):
        return  # no file holds such
    try:
        frame = pd.DataFrame({name: pd.Series(arrays.native(held)) for name, held in columns.items()})
    except (ValueError, TypeError):
        return  # pandas cannot hold it

    def call(frame):
        return answer(lambda: next(iter(judge_predictions(recognise(frame, target="y"), force=True).values())))

    found = call(frame)
    if not isinstance(found, SoberError):
        assert math.isfinite(found.value)
        again = call(frame.copy())
        same(again, found)
    count("correct", found)
