"""What a finished search tells about itself: edges of grids, and when it says nothing."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

from sobercv.inference.notes import scales
from sobercv.report import notes as diagnostics
from sobercv.report.records import Score
from sobercv.training.fit.task import Failure
from sobercv.training.race import UNREACHED

from . import cases

RNG = np.random.default_rng(11)
X = RNG.normal(size=(120, 6))
Y = (X[:, 0] + 0.3 * RNG.normal(size=120) > 0).astype(int)


def test_a_value_on_the_edge_of_its_grid_is_named():
    search = cases.fitted(LogisticRegression(), {"C": [1e-5, 1e-4, 1e-3]}, X, Y, scoring="neg_log_loss", drop=None)
    (note,) = diagnostics.edge_of_grid(search)
    assert note.code == "W711"
    assert "C 0.001 is the largest of 1e-05 to 0.001" in note.text


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (KNeighborsClassifier(), {"n_neighbors": [1, 100, 110]}),  # nothing lies below one neighbour
        (LogisticRegression(), {"C": [1e-4, 1.0]}),  # two values have no inside
        (LogisticRegression(), {"C": [1e-6, 0.5, 1e-5]}),  # 0.5 is the greatest
    ],
)
def test_natural_ends_and_short_grids_are_not_reported(estimator, grid):
    search = cases.fitted(estimator, grid, X, Y, scoring="accuracy", drop=None)
    found = diagnostics.edge_of_grid(search)
    assert (not found) == (grid.get("C") != [1e-6, 0.5, 1e-5])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n", [60, 100, 500])
def test_scores_of_one_fold_that_are_shifted_are_noticed(n):
    rng = np.random.default_rng(n)
    y, fold = np.arange(n) % 2, rng.permutation(np.arange(n) % 10)
    values = y + rng.normal(size=n)
    assert not list(scales(values, fold))
    for separation in (1.0, 10.0) if n > 100 else (1.0,):
        shifted = separation * y + rng.normal(size=n) + 10.0 * (fold == 2)
        assert next(scales(shifted, fold)).code == "W203"


def test_notes_of_the_report_hold_what_was_found():
    search = cases.fitted(LogisticRegression(), {"C": [1e-5, 1e-4, 1e-3]}, X, Y, scoring="neg_log_loss", drop=None)
    from sobercv.report.notes import notes

    assert "W711" in [note.code for note in notes(search)]
    assert set(diagnostics.AFTER_THE_RUN) >= {"W702", "W711"}


def test_an_edge_that_was_not_reached_is_none():
    search = cases.fitted(LogisticRegression(), {"C": [1e-5, 1e-4, 1e-3]}, X, Y, scoring="neg_log_loss", drop=None)
    (said,) = (n.text for n in diagnostics.notes(search) if n.code == "W711")
    assert said.endswith("Values beyond it may be better; a larger grid or preset tries them.")
    search.race_.failures[0] = Failure("timed out", UNREACHED, "", 0, 0)
    codes = [note.code for note in diagnostics.notes(search)]
    assert "W204" in codes
    assert "W711" not in codes


def test_only_models_of_one_kind_are_compared():
    models = [{"model": [Ridge()], "model__alpha": [3.0, 10.0]}, {"model": [KernelRidge()], "model__alpha": [0.1]}]
    pipeline = Pipeline([("model", Ridge())])
    search = cases.fitted(pipeline, models, X, X[:, 0] + RNG.normal(size=120), scoring="r2", drop=None)
    assert diagnostics.edge_of_grid(search) == [], "two values of Ridge have no inside"


@pytest.mark.parametrize(
    ("metric", "low", "codes"),
    [
        ("roc_auc", 0.5, ["W701"]),
        ("roc_auc(multi_class='ovr')", 0.49, ["W701"]),
        ("concordance_index_ipcw", 0.49, ["W701"]),  # only Harrell's index was judged
        ("roc_auc", 0.51, []),
        ("r2", -0.1, ["W701"]),
        ("accuracy", 0.1, []),  # the frequencies of the classes are not known
    ],
)
def test_an_interval_that_reaches_the_score_of_guessing_is_named(metric, low, codes):
    score = Score(metric, "A score", 0.7, (low, 0.9), 0.95, 0.71, 0.01, 1000, 0, 3)
    assert [note.code for note in diagnostics.judged(score, share=0.9)] == codes
    assert [note.code for note in diagnostics.judged(score, share=0.4)] == [*codes, "W702"]
