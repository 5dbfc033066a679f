"""Forests grown by compiled loops are scikit-learn's to the last bit; scikit-learn itself is the slow twin."""

import warnings
from functools import partial
from operator import getitem
from threading import Thread

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import config_context
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_classification
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

import sobercv
from sobercv.forests import Forests
from sobercv.forests import forest as module
from sobercv.forests.forest import SortedColumns, resample
from sobercv.presets.sklearn_models import RootForestClassifier
from sobercv.training import Experiment, Plan, Problem, expand
from sobercv.training.fit.steps import fit_predict

from ..training.training_estimators import fit_whole, tasks_of

X, Y = make_classification(90, 6, random_state=0)
NEW = make_classification(40, 6, random_state=1)[0]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    """Forests are grown by compiled loops on any processor: it is the bits that are tested."""
    monkeypatch.setattr(module, "MACHINES", (*module.MACHINES, module.platform.machine().lower()))


def assert_same(X, y, rows, **params):
    forest = RandomForestClassifier(**{"n_estimators": 7, "random_state": 3, **params})
    grown = Forests().grown(forest, X, y, lambda: rows)
    assert grown is not None
    assert not hasattr(forest, "estimators_")
    forest.fit(X, y)
    np.testing.assert_array_equal(grown.predict_proba(rows), forest.predict_proba(rows))
    np.testing.assert_array_equal(grown.predict(rows), forest.predict(rows))
    assert grown.predict(rows).dtype == forest.predict(rows).dtype
    np.testing.assert_array_equal(grown.classes_, forest.classes_)


@pytest.mark.parametrize(
    "params",
    [
        {}, {"min_samples_leaf": 3}, {"min_samples_leaf": 5, "max_features": None}, {"min_samples_split": 9},
        {"max_depth": 2}, {"max_depth": 1, "max_features": 1}, {"bootstrap": False}, {"max_features": "log2"},
        {"max_features": 0.7}, {"min_impurity_decrease": 0.01}, {"random_state": 0}, {"n_estimators": 1},
        {"random_state": np.int64(2**32 - 1), "min_samples_leaf": np.int8(2)}, {"n_jobs": 1}, {"min_samples_leaf": 60},
    ],
    ids=str,
)  # fmt: skip
def test_settings(params):
    assert_same(X, Y, NEW, **params)


def tables():
    rng = np.random.default_rng(0)
    breast, digits, iris = (load(return_X_y=True) for load in (load_breast_cancer, load_digits, load_iris))
    few = rng.integers(0, 4, size=(300, 5)).astype(float)
    near = 1 + rng.integers(0, 30, size=(200, 3)) * 4e-8  # some neighbours are one value for a tree, others are not
    tiny = rng.normal(size=(80, 4)) * 1e-7
    flat = np.column_stack([np.ones(80), tiny[:, 0] * 1e7, np.zeros((80, 9)), rng.integers(0, 2, 80)])
    many = make_classification(3000, 5, flip_y=0.3, random_state=0)  # nodes are picked, dealt, counted and sorted
    return {
        "breast cancer": breast,
        "ten classes": digits,
        "iris": iris,
        "text": (iris[0], np.array(["a", "b", "c"])[iris[1]]),
        "few values": (few, rng.integers(0, 2, 300)),
        "near values": (near, rng.integers(0, 3, 200)),
        "tiny values": (tiny, rng.integers(0, 2, 80)),
        "constant columns": (flat, rng.integers(0, 2, 80)),
        "nothing but constants": (np.ones((30, 3)), rng.integers(0, 2, 30)),
        "one class": (X, np.ones(len(X))),
        "two rows": (X[:2], [0, 1]),
        "one column": (X[:, :1], Y),
        "whole numbers": (few.astype(np.int8), few[:, 0] > 1),
        "3,000 rows": many,
        "large values": (X * 1e37, Y),
        "frame": (pd.DataFrame(few, columns=list("abcde")).astype({"a": int}), pd.Series(rng.integers(0, 2, 300))),
    }


@pytest.mark.parametrize("name", list(tables()))
@pytest.mark.parametrize("leaf", [1, 4])
def test_tables(name, leaf):
    X, y = tables()[name]
    assert_same(X, y, X[::2], min_samples_leaf=leaf)


@settings(max_examples=150)
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(2, 400),
    p=st.integers(1, 12),
    levels=st.sampled_from([1, 2, 3, 7, 50, 0]),
    k=st.integers(1, 5),
    leaf=st.integers(1, 6),
    tried=st.integers(1, 12),
    bootstrap=st.booleans(),
)
def test_any_table(seed, n, p, levels, k, leaf, tried, bootstrap):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, p)) if levels == 0 else rng.integers(0, levels, size=(n, p)) * rng.choice([1e-7, 1.0], p)
    y = rng.integers(0, k, n)
    assert_same(
        rows, y, rng.permutation(rows) + rng.choice([0.0, 0.4]), n_estimators=3, max_features=min(tried, p),
        min_samples_leaf=leaf, bootstrap=bootstrap, random_state=seed,
    )  # fmt: skip


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(20))
def test_many_trees(seed):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(100, 6000)), int(rng.integers(2, 200))
    X, y = make_classification(n, p, n_informative=2, n_redundant=0, flip_y=0.2, random_state=seed)
    X[:, ::3] = np.round(X[:, ::3], 1)
    assert_same(X, y, X[:200], n_estimators=200, random_state=seed, min_samples_leaf=1 + seed % 5)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(random_state=np.random.RandomState(0)),
        RandomForestClassifier(random_state=0, criterion="entropy"), RandomForestClassifier(random_state=0, n_jobs=2),
        RandomForestClassifier(random_state=0, class_weight="balanced"),
        RandomForestClassifier(random_state=0, max_leaf_nodes=5), RandomForestClassifier(random_state=0, ccp_alpha=0.1),
        RandomForestClassifier(random_state=0, oob_score=True), RandomForestClassifier(random_state=0, max_samples=0.5),
        RandomForestClassifier(random_state=0, min_samples_leaf=0.1), RandomForestClassifier(random_state=0, verbose=1),
        RandomForestClassifier(random_state=0, monotonic_cst=[1] * 6), RandomForestClassifier(random_state=-1),
        RandomForestClassifier(random_state=0, n_estimators=0), RandomForestClassifier(random_state=0, max_features=0),
        RandomForestClassifier(np.uint64(5), random_state=0), RandomForestRegressor(random_state=0), ExtraTreesClassifier(random_state=0), StandardScaler(), None,
    ],
    ids=lambda model: repr(model).partition(" at ")[0],
)  # fmt: skip
def test_what_is_left_to_scikit_learn(model, capsys):
    assert Forests().grown(model, X, Y, lambda: NEW) is None
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("rows", "y", "new"),
    [
        (np.where(X > 2, np.nan, X), Y, NEW), (X, Y, np.where(NEW > 1, np.nan, NEW)), (X * 1e300, Y, NEW),
        (sparse.csr_matrix(X), Y, NEW), (X, np.column_stack([Y, Y]), NEW), (X, Y + 0.5, NEW), (X, Y[:-1], NEW),
        (X, Y, NEW[:, 1:]), (X.tolist(), Y, [["a"] * 6]), (X[:0], Y[:0], NEW), (X, None, NEW),
    ],
    ids=["gaps", "gaps in new rows", "too large", "sparse", "two outputs", "numbers", "too few labels", "too few columns",
         "text", "no rows", "no labels"],
)  # fmt: skip
def test_rows_that_are_left_to_scikit_learn(rows, y, new):
    assert Forests().grown(RandomForestClassifier(3, random_state=0), rows, y, lambda: new) is None


@pytest.mark.parametrize("side", [0, 1])
def test_gaps_are_seen_where_scikit_learn_is_told_to_look_away(side):
    """The first tree may not meet the gap."""
    forest = RandomForestClassifier(20, random_state=0)
    for seed in range(10):
        sides = [make_classification(60, 12, random_state=k)[0] for k in (seed, seed + 100)]
        sides[side][seed, 5] = np.nan
        with config_context(assume_finite=True):
            assert Forests().grown(forest, sides[0], np.arange(60) % 2, partial(getitem, sides, 1)) is None


def test_nothing_is_drawn_from_the_global_generator():
    module._same_value.cache_clear()
    before = np.random.get_state()  # noqa: NPY002
    assert Forests().grown(RandomForestClassifier(3, random_state=0), X, Y, lambda: NEW) is not None
    after = np.random.get_state()  # noqa: NPY002
    assert before[2:] == after[2:]
    np.testing.assert_array_equal(before[1], after[1])


@pytest.mark.parametrize("n_trees", [1, 12])
def test_without_a_seed_the_global_generator_decides_as_in_scikit_learn(n_trees):
    module._same_value.cache_clear()
    forest, forests, found = RandomForestClassifier(n_trees, min_samples_leaf=2), Forests(), []
    for way in (lambda: forests.grown(forest, X, Y, lambda: NEW), lambda: forest.fit(X, Y)):
        np.random.seed(5)  # noqa: NPY002
        twice = [way().predict_proba(NEW) for _ in range(2)]
        found.append((*twice, np.random.rand()))  # noqa: NPY002
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert n_trees == 1 or (found[0][0] != found[0][1]).any()


def test_warnings_are_scikit_learns():
    forest, frame = RandomForestClassifier(3, random_state=0), pd.DataFrame(X, columns=list("abcdef"))
    with pytest.warns(UserWarning, match="feature names"):
        assert Forests().grown(forest, frame, Y, lambda: NEW) is not None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Forests().grown(forest, frame, Y, lambda: NEW) is None  # raised by the true fit, not here
        threads = [Thread(target=Forests().grown, args=(forest, X, Y, NEW)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        # scikit-learn's own checks, in threads, may leave a filter behind, but none that silences everything.
        assert ("ignore", None, Warning, None, 0) not in warnings.filters


@pytest.mark.parametrize(
    ("train", "new"), [(["a", 0], ["a", 0]), (["a", "b"], ["b", "a"])], ids=["mixed", "another order"]
)
def test_names_that_scikit_learn_refuses(train, new):
    frame, other = pd.DataFrame(X[:, :2], columns=train), pd.DataFrame(NEW[:, :2], columns=new)
    assert Forests().grown(RandomForestClassifier(3, random_state=0), frame, Y, lambda: other) is None


@pytest.mark.parametrize("kind", ["Int64", "boolean", "category", "string", "float32", "int8"])
def test_labels_of_pandas(kind):
    assert_same(X, pd.Series(Y.astype(bool) if kind == "boolean" else Y).astype(kind), NEW)


def test_a_model_with_a_fit_of_its_own_keeps_it():
    class Mine(RootForestClassifier):
        pass

    assert Forests().grown(RootForestClassifier(3, random_state=0), X, Y, lambda: NEW) is not None
    assert Forests().grown(Mine(3, random_state=0), X, Y, lambda: NEW) is None


def test_rows_that_are_written_into_are_sorted_again():
    rows, forests, forest = X.astype(np.float32), Forests(), RandomForestClassifier(9, random_state=0)
    forests.grown(forest, rows, Y, lambda: rows)
    rows[:, 3] *= -1
    found = forests.grown(forest, rows, Y, lambda: rows)
    np.testing.assert_array_equal(found.predict_proba(rows), forest.fit(rows, Y).predict_proba(rows))


def test_a_clock_of_the_users_is_heard(monkeypatch):
    def late(*given):
        raise TimeoutError

    monkeypatch.setattr(Forests, "_grown", late)
    with pytest.raises(TimeoutError):
        Forests().grown(RandomForestClassifier(3, random_state=0), X, Y, lambda: NEW)


def test_few_trees_of_a_wide_table_are_not_worth_sorting_it():
    wide = np.random.default_rng(0).normal(size=(40, 3000))
    assert Forests().grown(RandomForestClassifier(1, random_state=0), wide, Y[:40], lambda: wide) is None
    assert_same(wide, Y[:40], wide, n_estimators=50)


@pytest.mark.parametrize("name", ["MOST_ROWS", "MOST_CLASSES", "MOST_CELLS", "MACHINES"])
def test_beyond_its_limits(monkeypatch, name):
    monkeypatch.setattr(module, name, () if name == "MACHINES" else 1)
    assert Forests().grown(RandomForestClassifier(3, random_state=0), X, Y, lambda: NEW) is None


def test_a_first_tree_that_is_not_scikit_learns_ends_it(monkeypatch):
    """As a later version of scikit-learn might grow it."""
    forest = RandomForestClassifier(3, random_state=0)

    def other(*given):
        counts, state = resample(*given)
        return counts, state + 1

    monkeypatch.setattr(module, "resample", other)
    assert Forests().grown(forest, X, Y, lambda: NEW) is None


def test_a_later_tree_that_is_not_scikit_learns_ends_it(monkeypatch):
    """The first tree is right; one more, drawn for each forest, is compared as well."""
    forest = RandomForestClassifier(2, random_state=0)
    assert Forests().grown(forest, X, Y, lambda: NEW) is not None
    trees = []

    def other(*given):
        counts, state = resample(*given)
        trees.append(given)
        return counts, state + (len(trees) > 1)

    monkeypatch.setattr(module, "resample", other)
    assert Forests().grown(forest, X, Y, lambda: NEW) is None


def test_pieces_do_not_matter(monkeypatch):
    forest = RandomForestClassifier(40, random_state=0, min_samples_leaf=2)
    expected = forest.fit(X, Y).predict_proba(NEW)
    for seconds, counts, block in ((0.0, 0, 1), (10.0, 1 << 24, 1 << 18), (0.0, 1 << 24, 100)):
        monkeypatch.setattr(module, "CALL_SECONDS", seconds)
        monkeypatch.setattr(module, "MOST_COUNTS", counts)
        monkeypatch.setattr(module, "BLOCK", block)
        np.testing.assert_array_equal(Forests().grown(forest, X, Y, lambda: NEW).predict_proba(NEW), expected)


def test_what_forests_share_is_made_once(monkeypatch):
    sorts, draws = [], []
    sort = SortedColumns.of
    monkeypatch.setattr(SortedColumns, "of", lambda rows: sorts.append(1) or sort(rows))
    monkeypatch.setattr(module, "resample", lambda *given: draws.append(1) or resample(*given))
    forests = Forests()
    for leaf in (1, 3, 5):
        model = RandomForestClassifier(9, random_state=0, min_samples_leaf=leaf)
        np.testing.assert_array_equal(
            forests.grown(model, X.copy(), Y, lambda: NEW).predict_proba(NEW), model.fit(X, Y).predict_proba(NEW)
        )
    assert (len(sorts), sum(draws)) == (1, 9)
    other = RandomForestClassifier(9, random_state=1)
    np.testing.assert_array_equal(
        forests.grown(other, X + 1, Y, lambda: NEW).predict_proba(NEW), other.fit(X + 1, Y).predict_proba(NEW)
    )
    assert (len(sorts), sum(draws)) == (2, 18)


def outcomes(way, estimator, grid, wanted=(("predict_proba",), ("predict",))):
    problem = Problem.build(X, Y, task="classification")
    tasks = tasks_of(Plan.build(problem, 3).splits[0], expand(grid))
    return {outcome.configuration: outcome for outcome in way(Experiment(problem, estimator, wanted), tasks)}


@pytest.mark.parametrize("model", [RandomForestClassifier(8, random_state=0), RootForestClassifier(8, random_state=0)])
def test_a_task_fits_no_forest(monkeypatch, model):
    fitted = []
    fit = RandomForestClassifier.fit
    monkeypatch.setattr(
        RandomForestClassifier, "fit", lambda self, *given: fitted.append(self.n_estimators) or fit(self, *given)
    )
    pipe = Pipeline([("scale", StandardScaler()), ("model", model)])
    grid = {"model__min_samples_leaf": [1, 3, 5]}
    alone = outcomes(fit_whole, pipe, grid)  # a pipeline that is fitted whole
    assert fitted == [8, 8, 8]
    fitted.clear()
    together = outcomes(fit_predict, pipe, grid)
    bare = outcomes(fit_predict, model, {"min_samples_leaf": [1, 3, 5]})
    assert set(fitted) == {1}  # the first trees, to compare with
    for index, outcome in alone.items():
        assert outcome.failure is None
        for name, values in outcome.responses.items():
            np.testing.assert_array_equal(together[index].responses[name], values)
            assert bare[index].responses[name].shape == values.shape


def test_a_forest_that_cannot_be_grown_fails_with_scikit_learns_words():
    grid = {"min_samples_leaf": [1, 0]}
    for estimator, prefix in ((RandomForestClassifier(5, random_state=0), ""), ("pipeline", "model__")):
        if estimator == "pipeline":
            estimator = Pipeline([("scale", StandardScaler()), ("model", RandomForestClassifier(5, random_state=0))])
        found = outcomes(fit_predict, estimator, {prefix + k: v for k, v in grid.items()})
        assert found[0].failure is None
        assert "min_samples_leaf" in found[1].failure.message


def test_what_no_forest_answers_is_refused_in_its_name():
    grid = {"min_samples_leaf": [1, 2]}
    found = outcomes(fit_predict, RandomForestClassifier(5, random_state=0), grid, (("decision_function",),))
    assert found[0].failure.message == "RandomForestClassifier has none of decision_function."


def test_a_search_gives_what_it_gave(monkeypatch):
    def searched():
        forest = RandomForestClassifier(10, random_state=0)
        grid = {"min_samples_leaf": [1, 3], "max_features": [1, 3]}
        search = sobercv.BBCSearchCV(forest, grid, scoring="roc_auc", cv=3, random_state=0, n_bootstraps=50, drop=None)
        return search.fit(X, Y)

    fast = searched()
    assert type(fast.best_estimator_) is RandomForestClassifier
    assert len(fast.best_estimator_.estimators_) == 10
    monkeypatch.setattr(Forests, "grown", lambda *given: None)
    slow = searched()
    assert fast.estimate_.to_dict() == slow.estimate_.to_dict()
    for name in slow.cv_results_:
        if "time" not in name:
            np.testing.assert_array_equal(fast.cv_results_[name], slow.cv_results_[name])
