"""interval="percentile" or "calibrated": every kind of table follows the choice, and says which it was."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import sobercv
from sobercv import SoberError
from sobercv.inference.bootstrap import corrected
from sobercv.inference.question import Question
from sobercv.inference.tables import Table
from sobercv.metrics.by_name import make_metric
from sobercv.testing import simulate

N = 60
RNG = np.random.default_rng(0)
Y = np.arange(N) % 2
SCORES = Y[:, None] + RNG.normal(size=(N, 8)) * np.linspace(0.6, 2, 8)
PROBABILITIES = 1 / (1 + np.exp(-SCORES))
NUMBERS = RNG.normal(size=N)
GUESSES = NUMBERS[:, None] + RNG.standard_t(3, size=(N, 8)) * np.linspace(0.5, 1, 8)
FOLDS = np.arange(N) // 6
SURVIVAL = np.array([(e, t) for e, t in zip(RNG.random(N) < 0.6, np.exp(-NUMBERS), strict=True)], "?,f8")
MANY = np.arange(N) % 6
MANY_SAID = np.where(RNG.random((N, 8)) < 0.6, MANY[:, None], RNG.integers(0, 6, (N, 8)))
UNSEEN = np.broadcast_to(np.arange(N)[:, None] >= 50, PROBABILITIES.shape)

TABLES = {
    "auc": (Y, PROBABILITIES, "roc_auc", {}),
    "labels": (Y, PROBABILITIES > 0.5, "accuracy", {}),
    "groups": (Y, PROBABILITIES, "roc_auc", {"groups": np.arange(N) // 3}),
    "repeats": (Y, np.stack([PROBABILITIES, PROBABILITIES**2], axis=2), "roc_auc", {}),
    "stratify": (Y, PROBABILITIES, "balanced_accuracy", {"stratify": True}),
    "weights": (Y, PROBABILITIES, "neg_log_loss", {"sample_weight": 1.0 + np.arange(N) % 3}),
    "incomplete": (Y, np.ma.masked_array(PROBABILITIES, UNSEEN), "roc_auc", {}),
    "folds": (Y, PROBABILITIES, "roc_auc", {"by": "fold", "folds": FOLDS}),
    "mean over folds": (Y, PROBABILITIES, "roc_auc", {"aggregate": "fold", "folds": FOLDS}),
    "within folds": (Y, PROBABILITIES, "roc_auc", {"aggregate": "within_folds", "folds": FOLDS}),
    "classes": (MANY, MANY_SAID, "balanced_accuracy", {}),
    "numbers": (NUMBERS, GUESSES, "r2", {}),
    "errors": (NUMBERS, GUESSES, "neg_mean_squared_error", {"groups": np.arange(N) // 2}),
    "errors by fold": (NUMBERS, GUESSES, "neg_mean_squared_error", {"by": "fold", "folds": FOLDS}),
    "survival": (SURVIVAL, GUESSES, "concordance_index", {}),
    "632+": (Y, PROBABILITIES, "roc_auc", {}),
    "several": (Y, PROBABILITIES, ["roc_auc", "accuracy", "neg_log_loss", "f1"], {}),
    "several by fold": (Y, PROBABILITIES, ["roc_auc", "neg_log_loss"], {"by": "fold", "folds": FOLDS}),
    "one configuration": (NUMBERS, GUESSES[:, :1], "r2", {}),
}


def asked(name, **more):
    y, predictions, metric, options = TABLES[name]
    found = sobercv.bbc(y, predictions, metric, n_bootstraps=200, **options, **more)
    estimates = list(found.values()) if isinstance(found, dict) else [found]
    return [each.as_632plus() for each in estimates] if name == "632+" else estimates


def ends(estimate):
    levels = (0.5, 0.8, 0.9, 0.95, 0.99)
    return [estimate.interval_at(level) for level in levels], [estimate.lower_bound(level) for level in levels]


@pytest.mark.filterwarnings("ignore::sobercv.SoberWarning")
@pytest.mark.parametrize("name", TABLES)
def test_every_table_follows_the_choice(name):
    for paper, ours in zip(asked(name, interval="percentile"), asked(name), strict=True):
        assert (paper.interval_method, ours.interval_method) == ("percentile", "calibrated")
        assert (paper.value, paper.naive, paper.winner) == (ours.value, ours.naive, ours.winner)
        np.testing.assert_array_equal(paper.draws, ours.draws)
        low, high = ours.interval
        assert sobercv.metrics.get(ours.metric).range[0] <= low < ours.value < high
        assert high <= sobercv.metrics.get(ours.metric).range[1]
        assert ours.interval == ours.interval_at(0.95)
        assert ours.interval != paper.interval
        assert ours.lower_bound(0.95) > low
        assert ours.upper_bound(0.95) <= high
        two_sided, lower = ends(ours)
        assert two_sided == sorted(two_sided, key=lambda pair: (-pair[0], pair[1]))
        assert lower == sorted(lower, reverse=True)
        assert ours.to_dict()["interval_method"] == "calibrated"
        assert "calibrated interval" in str(ours)
        assert "interval_method='calibrated'" in repr(ours)


@pytest.mark.filterwarnings("ignore::sobercv.SoberWarning")
@pytest.mark.parametrize("name", TABLES)
def test_the_same_bits_for_any_number_of_threads(name):
    one, three = asked(name, interval="calibrated"), asked(name, interval="calibrated", n_jobs=3)
    assert [ends(e) for e in one] == [ends(e) for e in three]


def test_scores_of_fitted_models_are_resampled_by_folds():
    table = sobercv.Predictions.build(
        Y, PROBABILITIES, task="classification", responses=("predict_proba",), folds=FOLDS
    )
    scores = RNG.normal(0.7, 0.05, (10, 8))
    question = Question.ask("roc_auc", by="fold", interval="calibrated")
    (found,) = corrected(Table(table, question, scores=[scores])).values()
    assert found.interval_method == "calibrated"
    assert found.interval[0] < found.value < found.interval[1]


def test_twenty_rows_that_are_all_right_are_not_certain():
    """The paper's interval has no width there."""
    right = np.repeat(np.arange(20)[:, None] % 2, 3, axis=1)
    paper, ours = (sobercv.bbc(right[:, 0], right, "accuracy", interval=i) for i in ("percentile", "calibrated"))
    assert paper.interval == (1.0, 1.0)
    assert ours.interval[1] == 1.0
    assert 0.75 < ours.interval[0] < 0.85


def test_fixed_models_make_it_narrower():
    crossed, fixed = (sobercv.bbc(Y, PROBABILITIES, "roc_auc", interval=i) for i in ("calibrated", "fixed_models"))
    assert crossed.interval[0] < fixed.interval[0] < fixed.interval[1] < crossed.interval[1]


def test_models_of_a_search_are_not_fixed():
    search = sobercv.BBCSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, interval="fixed_models")
    with pytest.raises(SoberError, match="cross-validates") as error:
        search.fit(RNG.normal(size=(len(Y), 2)), Y)
    assert error.value.code == "E122"


def test_an_unknown_interval_is_refused():
    with pytest.raises(SoberError, match='"percentile" or "calibrated"') as error:
        sobercv.bbc(Y, PROBABILITIES, "roc_auc", interval="normal")
    assert error.value.code == "E122"


def test_where_nothing_varies_the_percentiles_stand_in():
    constant = make_metric(lambda y, p: 3.0, name="three", task="regression")
    found = sobercv.bbc(NUMBERS, GUESSES, constant, n_bootstraps=100, interval="calibrated")
    assert found.interval_method == "percentile"
    assert found.interval == (3.0, 3.0)
    assert "W201" in [note.code for note in found.notes]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.5, 0.99), st.floats(0.5, 0.99))
def test_higher_levels_are_wider_whatever_the_table(seed, one, other):
    data = simulate.beta_accuracy(n=25, c=5, seed=seed)
    found = sobercv.bbc(data.y, data.predictions, "accuracy", n_bootstraps=60, interval="calibrated")
    less, more = sorted((one, other))
    (a, b), (c, d) = found.interval_at(less), found.interval_at(more)
    assert 0 <= c <= a <= found.value <= b <= d <= 1
    assert found.lower_bound(more) <= found.lower_bound(less) <= found.upper_bound(less) <= found.upper_bound(more)


def test_fewer_folds_leave_more_to_learn():
    """Two folds: models saw half of the rows that the winner will be trained on."""
    two, ten = (
        sobercv.bbc(Y, PROBABILITIES, "roc_auc", interval="calibrated", folds=np.arange(N) * k // N) for k in (2, 10)
    )
    none = sobercv.bbc(Y, PROBABILITIES, "roc_auc", interval="calibrated")
    assert two.bounds.still_lost == pytest.approx(0.5**0.5)
    assert ten.bounds.still_lost == none.bounds.still_lost == pytest.approx(0.9**0.5)
    assert two.interval[0] == ten.interval[0]
    assert two.interval[1] > ten.interval[1]


def test_an_incomplete_partition_has_as_many_folds_as_were_planned():
    some = np.ma.masked_array(PROBABILITIES, np.broadcast_to((FOLDS >= 4)[:, None], PROBABILITIES.shape))
    found = sobercv.bbc(Y, some, "roc_auc", interval="calibrated", folds=FOLDS)
    assert found.bounds.still_lost == pytest.approx(0.9**0.5)


@pytest.mark.parametrize("unit", [1e-2, 1e9, 1e60])
def test_the_unit_of_a_number_does_not_matter(unit):
    plain = sobercv.bbc(NUMBERS, GUESSES, "neg_mean_squared_error", n_bootstraps=200)
    other = sobercv.bbc(unit * NUMBERS, unit * GUESSES, "neg_mean_squared_error", n_bootstraps=200)
    assert other.interval_method == "calibrated"
    np.testing.assert_allclose(np.array(other.interval) / unit**2, plain.interval, rtol=1e-9)


def test_numbers_whose_squares_cannot_be_squared_get_percentiles():
    huge = 1e140
    found = sobercv.bbc(huge * NUMBERS, huge * GUESSES, "neg_mean_squared_error", n_bootstraps=200)
    assert found.interval_method == "percentile"
    assert np.isfinite(found.interval).all()
