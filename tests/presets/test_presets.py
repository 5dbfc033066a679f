"""Every preset makes a pipeline that trains on real tables, quietly; the paper's has exactly the paper's count."""

import pickle
import sys
import warnings
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

import sobercv
from sobercv import presets
from sobercv.errors import SoberError, SoberWarning
from sobercv.training.fit.problem import Problem
from sobercv.training.fit.space import expand
from sobercv.training.fit.steps import prefix_keys
from sobercv.training.fit.task import Experiment

from .tables import mixed, targets

pytest.importorskip("skrub")
pytest.importorskip("sksurv")

METRIC = {"binary": "roc_auc", "multiclass": "accuracy", "regression": "r2", "survival": "concordance_index"}
FRAME, SIGNAL = mixed()
TARGETS = targets(SIGNAL)
NUMBERS = np.column_stack([SIGNAL, np.random.default_rng(1).normal(size=(len(SIGNAL), 5))])


def one_of_each_kind(grids):
    """The middle value of every parameter: one configuration for each family and selection."""
    return [{name: [values[len(values) // 2]] for name, values in grid.items()} for grid in grids]


def few(grids):
    """One of each family on all columns, and the first family with each selection: every part is used at least once."""
    kept = one_of_each_kind(grids)
    selected = {str(grid["select"]): grid for grid in reversed(kept) if grid["select"] != ["passthrough"]}
    return [grid for grid in kept if grid["select"] == ["passthrough"]] + list(selected.values())


def run(preset, X, y, metric, grids=None, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SoberWarning)  # caveats about 50 draws and two folds; a failed fit raises
        kind = sobercv.BBCRandomizedSearchCV if "n_iter" in options else sobercv.BBCSearchCV
        search = kind(
            preset.estimator,
            preset.param_grid if grids is None else grids,
            scoring=metric,
            **{"cv": 2, "n_bootstraps": 50, "error_score": "raise", "drop": None, **options},
        )
        return search.fit(X, y)


@pytest.mark.parametrize("task", presets.TASKS)
def test_the_paper_has_610_configurations(task):
    preset = presets.get("paper", task, NUMBERS, TARGETS[task])
    assert preset.n_configurations == len(ParameterGrid(preset.param_grid)) == 610
    settings = {str(sorted(params.items(), key=str)) for params in ParameterGrid(preset.param_grid)}
    assert len(settings) == 610
    by_model = {}
    for params in ParameterGrid(preset.param_grid):
        model = params["model"]
        kind = "forest" if "Forest" in type(model).__name__ else "net" if "Elastic" in type(model).__name__ else "svm"
        by_model[kind] = by_model.get(kind, 0) + 1
    assert by_model == {"forest": 60, "svm": 400, "net": 150}


@pytest.mark.parametrize("task", presets.TASKS)
def test_sizes(task):
    sizes = [presets.get(name, task, NUMBERS, TARGETS[task]).n_configurations for name in presets.NAMES[:3]]
    assert 20 <= sizes[0] <= 40
    assert 85 <= sizes[1] <= 150
    assert sizes[2] >= 240


@pytest.mark.parametrize("task", presets.TASKS)
def test_quick_on_a_mixed_table(task):
    y = TARGETS[task]
    preset = presets.get("quick", task, FRAME, y, n_trees=10)
    search = run(preset, FRAME, y, METRIC[task])
    assert set(search.race_.status) == {"finished"}
    assert search.estimate_.value > {"binary": 0.75, "multiclass": 0.5, "regression": 0.4, "survival": 0.6}[task]
    names = search.best_estimator_["clean"].get_feature_names_out().tolist()
    assert "stage_III" in names
    assert "missingindicator_age" in names
    assert not {"constant", "empty"} & set(names)
    baseline = search.cv_results_["pooled_test_score"][0]
    assert baseline < search.cv_results_["pooled_test_score"][search.best_index_]


@pytest.mark.parametrize("name", presets.NAMES[1:])
@pytest.mark.parametrize("task", presets.TASKS)
def test_one_of_each_kind_of_the_larger_ones(name, task):
    X, y = NUMBERS[:70], TARGETS[task][:70]
    preset = presets.get(name, task, X, y, n_trees=5)
    search = run(preset, X, y, METRIC[task], few(preset.param_grid))
    assert set(search.race_.status) == {"finished"}


@pytest.mark.parametrize("task", ["binary", "survival"])
def test_every_small_and_large_value_of_the_paper_is_quiet(task):
    y = TARGETS[task][:60]
    preset = presets.get("paper", task, NUMBERS[:60], y, n_trees=5)
    corners = [{key: values[:: max(1, len(values) - 1)] for key, values in grid.items()} for grid in preset.param_grid]
    corners = [grid for grid in corners if grid["select"][0] in ("passthrough", preset.param_grid[-1]["select"][0])]
    for grid in corners:
        if "SVM" in type(grid["model"][0]).__name__ or "SVC" in type(grid["model"][0]).__name__:
            grid["model__max_iter"] = [50]  # ending at the cap must be quiet too
    search = run(preset, NUMBERS[:60], y, METRIC[task], corners)
    assert set(search.race_.status) == {"finished"}


def test_polars_and_numbers_with_gaps():
    y = TARGETS["binary"]
    holes = NUMBERS.copy()
    holes[::7, 0] = np.nan
    holes[:, 4] = np.nan
    polars = pl.DataFrame(
        {"text": ["a", "b", None] * 40, "seen": [date(2020, 1 + i % 12, 1) for i in range(120)], "x": SIGNAL}
    )
    for X in (holes, polars, pl.DataFrame(NUMBERS), pd.DataFrame(NUMBERS) > 0, NUMBERS > 0):
        preset = presets.get("quick", "binary", X, y, n_trees=8)
        search = run(preset, X, y, "roc_auc", one_of_each_kind(preset.param_grid)[:3])
        assert search.predict(X).shape == y.shape
        assert len(search.best_estimator_["clean"].get_feature_names_out())


@pytest.mark.parametrize(
    ("names", "got"),
    [(["a", "b", "a", "c", "d", "e"], "'a' more than once"), (["a", 1, 2, "b", 4, 5], "text and numbers")],
)
def test_columns_without_names_of_their_own_are_refused(names, got):
    with pytest.raises(SoberError, match=got) as error:
        presets.get("quick", "binary", pd.DataFrame(NUMBERS, columns=names), TARGETS["binary"])
    assert error.value.code == "E101"


def test_probabilities_for_every_model():
    for task, metric in (("binary", "neg_log_loss"), ("multiclass", "roc_auc_ovr")):
        y = TARGETS[task]
        preset = presets.get("quick", task, NUMBERS, y, n_trees=8, probabilities=True)
        search = run(preset, NUMBERS, y, metric, few(preset.param_grid))
        assert set(search.race_.status) == {"finished"}


@pytest.mark.parametrize("task", presets.TASKS)
def test_clones_pickles_and_repeats(task):
    y = TARGETS[task]
    first, second = (presets.get("quick", task, FRAME, y, seed=3, n_trees=5) for _ in range(2))
    assert repr(first.param_grid) == repr(second.param_grid)
    assert repr(presets.get("quick", task, FRAME, y, seed=4, n_trees=5).param_grid) != repr(first.param_grid)
    back = pickle.loads(pickle.dumps(first))
    cleaned, again = (clone(p.estimator["clean"]).fit_transform(FRAME) for p in (first, back))
    np.testing.assert_array_equal(cleaned, again)
    for grid in few(first.param_grid):
        (params,) = ParameterGrid(grid)
        steps = clone(first.estimator).set_params(clean="passthrough")
        one, two = (clone(steps).set_params(**clone(params, safe=False)).fit(cleaned, y) for _ in range(2))
        assert np.array_equal(one.predict(cleaned), pickle.loads(pickle.dumps(one)).predict(cleaned))
        assert np.array_equal(one.predict(cleaned), two.predict(cleaned))


def test_cleaning_and_selection_are_shared():
    y = TARGETS["binary"]
    preset = presets.get("paper", "binary", FRAME, y)
    problem = Problem.build(FRAME, y, task="classification")
    keys = prefix_keys(Experiment(problem, preset.estimator, ()), expand(preset.param_grid))
    assert len({key[:1] for key in keys}) == 1
    assert len({key[:2] for key in keys}) == 5


def test_the_space_is_listed_once_and_searched_as_listed():
    y = TARGETS["binary"]
    preset = presets.get("quick", "binary", NUMBERS, y, n_trees=5)
    assert [c.params for c in preset.configurations] == list(ParameterGrid(preset.param_grid))
    drawn = preset.drawn(3, seed=1)
    assert drawn.n_configurations == 3
    assert [c.params for c in drawn.configurations] == list(ParameterGrid(drawn.param_grid))
    assert drawn.description == "quick: 3 of 33 configurations, drawn at random."
    assert preset.drawn(33, seed=1) is preset
    search = run(drawn, NUMBERS, y, "roc_auc", drawn.configurations)
    assert str(clone(search).param_grid) == str(drawn.configurations)
    pairs = zip(search.cv_results_["params"], drawn.configurations, strict=True)
    assert all(params["model"] is listed.params["model"] for params, listed in pairs)
    again = run(preset, NUMBERS, y, "roc_auc", n_iter=3, random_state=1)
    assert search.cv_results_["pooled_test_score"].tolist() == again.cv_results_["pooled_test_score"].tolist()


def test_wrapped_models_take_what_their_parents_take():
    from sklearn.utils.validation import has_fit_parameter

    from sobercv.presets import sklearn_models, sksurv_models

    for name in ("CappedSVC", "CappedSVR", "CappedElasticNet", "RootForestClassifier", "SerialBoostingRegressor"):
        assert has_fit_parameter(getattr(sklearn_models, name), "sample_weight")
    assert not has_fit_parameter(sksurv_models.LinearSurvivalSVM, "sample_weight")


BAD = [
    ("a typing error", lambda: presets.get("qick", "binary", NUMBERS, TARGETS["binary"]), "E122", "qick.*'quick'"),
    ("another", lambda: presets.get("papers", "binary", NUMBERS, TARGETS["binary"]), "E122", "'paper'"),
    ("unknown task", lambda: presets.get("quick", "survial", NUMBERS, TARGETS["survival"]), "E122", "'survival'"),
    ("three classes", lambda: presets.get("quick", "binary", NUMBERS, TARGETS["multiclass"]), "E112", "3 classes"),
    ("text", lambda: presets.get("quick", "regression", NUMBERS, TARGETS["binary"]), "E112", "numbers"),
    ("a gap", lambda: presets.get("quick", "regression", NUMBERS, np.full(120, np.nan)), "E112", "missing"),
    ("no target", lambda: presets.get("quick", "binary", NUMBERS, None), "E112", "y"),
    ("other rows", lambda: presets.get("quick", "binary", NUMBERS[:9], TARGETS["binary"]), "E101", "9.*120"),
    ("infinite", lambda: presets.get("quick", "binary", NUMBERS / 0.0, TARGETS["binary"]), "E102", "infinite"),
    (
        "infinite in a frame",
        lambda: presets.get("quick", "binary", FRAME.assign(age=np.inf), TARGETS["binary"]),
        "E102",
        "'age'.*infinite",
    ),
    (
        "infinite among objects",
        lambda: presets.get("quick", "binary", FRAME.assign(age=np.inf).astype({"age": object}), TARGETS["binary"]),
        "E102",
        "'age'.*infinite",
    ),
    (
        "infinite as text",
        lambda: presets.get("quick", "binary", FRAME.assign(age=["inf"] * 60 + ["61.5"] * 60), TARGETS["binary"]),
        "E102",
        "'age'.*infinite",
    ),
    ("no columns", lambda: presets.get("quick", "binary", NUMBERS[:, :0], TARGETS["binary"]), "E101", "one column"),
    ("constant", lambda: presets.get("quick", "binary", np.ones((120, 2)), TARGETS["binary"]), "E818", "constant"),
    ("a vector", lambda: presets.get("quick", "binary", SIGNAL, TARGETS["binary"]), "E101", "column"),
    (
        "sparse",
        lambda: presets.get("quick", "binary", sparse.csr_array(NUMBERS), TARGETS["binary"]),
        "E123",
        "toarray",
    ),
    ("no trees", lambda: presets.get("quick", "binary", NUMBERS, TARGETS["binary"], n_trees=0), "E108", "n_trees"),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("call", "code", "names"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_bad_input(call, code, names):
    with pytest.raises(SoberError, match=names) as caught:
        call()
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("module", "task", "X", "extra"),
    [("sksurv.ensemble", "survival", NUMBERS, r"sobercv\[survival\]"), ("skrub", "binary", FRAME, r"sobercv\[cli\]")],
)
def test_a_missing_extra_is_named(monkeypatch, module, task, X, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(SoberError, match=extra) as caught:
        presets.get("quick", task, X, TARGETS[task])
    assert caught.value.code == "E403"
