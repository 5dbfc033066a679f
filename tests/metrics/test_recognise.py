"""What scikit-learn's functions and scorers stand for: the same number, by the fast path; all else is called."""

import inspect
import warnings
from functools import partial

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer

import sobercv
from sobercv.errors import SoberError
from sobercv.metrics import by_name
from tests.cases import make
from tests.metrics.test_against_sklearn import ANY, Classifier, Regressor

#: Scorers for several labels a sample, which a table of one label a sample does not have.
SEVERAL_LABELS = {name for name in get_scorer_names() if name.endswith("_samples")}
#: Scorers of clusterings, which are computed by calling scikit-learn.
CLUSTERINGS = {
    "adjusted_mutual_info_score", "adjusted_rand_score", "completeness_score", "fowlkes_mallows_score",
    "homogeneity_score", "mutual_info_score", "normalized_mutual_info_score", "rand_score", "v_measure_score",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(CLUSTERINGS))
def test_scores_of_clusterings_are_scikit_learns_own(name):
    assert sobercv.metrics.get(name).max_calls is not None
    case = make("accuracy-labels3", seed=5, n=40)
    expected = [getattr(sk, name)(case.y, p) for p in case.p[:, :, 0].T]
    np.testing.assert_array_equal(sobercv.naive(case.y, case.p, name).scores, expected)


@pytest.mark.parametrize("name", sorted(set(get_scorer_names()) - SEVERAL_LABELS - CLUSTERINGS))
def test_every_scoring_string_has_a_fast_path(name):
    by_name, by_scorer = sobercv.metrics.get(name), sobercv.metrics.get(get_scorer(name))
    assert by_name.max_calls is None
    assert by_scorer.max_calls is None
    assert (by_scorer.name, by_scorer.responses) == (by_name.name, by_name.responses)
    assert (by_scorer.greater_is_better, by_scorer.range) == (by_name.greater_is_better, by_name.range)


#: scikit-learn's functions that have a fast path.
FUNCTIONS = {name: found for name in sk.__all__ if (found := by_name.name_of(getattr(sk, name)))}
#: Their arguments that are recognised by their defaults only; with other values the function is called.
DEFAULT_ONLY = {
    "labels", "pos_label", "normalize", "zero_division", "adjusted", "weights", "max_fpr", "scale_by_half",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_argument_of_a_known_function_is_known(name):
    """A new version of scikit-learn may bring arguments; this test says which."""
    function = getattr(sk, name)
    about_rows = {"y_true", "y_pred", "y_score", "y_proba", "pred_decision", "y1", "y2"}
    arguments = set(inspect.signature(function).parameters) - about_rows - {"sample_weight"}
    taken = {*by_name.parameters(by_name.METRICS[FUNCTIONS[name]]), *by_name._IGNORED, *DEFAULT_ONLY}
    assert arguments <= taken


KINDS = {
    "fbeta": (make_scorer(sk.fbeta_score, beta=2), "labels2", "fbeta(beta=2)"),
    "F of the other class": (make_scorer(sk.fbeta_score, beta=2, pos_label=0), "labels2", "fbeta(beta=2, pos_label=0)"),
    "macro F1": (make_scorer(sk.f1_score, average="macro"), "labels3", "f1_macro"),
    "a partial": (make_scorer(partial(sk.fbeta_score, beta=3)), "labels2", "fbeta(beta=3)"),
    "accuracy as a loss": (make_scorer(sk.accuracy_score, greater_is_better=False), "labels2", "neg_accuracy"),
    "AUC of labels": (make_scorer(sk.roc_auc_score), "labels2", "roc_auc"),
    "precision of labels": (make_scorer(sk.average_precision_score), "labels2", "average_precision"),
    "one versus rest": (make_scorer(sk.roc_auc_score, response_method="predict_proba", multi_class="ovr"), "proba3", "roc_auc_ovr"),
    "log loss": (make_scorer(sk.log_loss, response_method="predict_proba", greater_is_better=False, labels=[0, 1, 2]), "proba3", "neg_log_loss"),
    "Brier": (make_scorer(sk.brier_score_loss, response_method="predict_proba", greater_is_better=False, pos_label=0), "proba2", "neg_brier_score"),
    "top k": (make_scorer(sk.top_k_accuracy_score, response_method=ANY, k=1), "proba3", "top_k_accuracy(k=1)"),
    "kappa": (make_scorer(sk.cohen_kappa_score), "labels3", "cohen_kappa"),
    "defaults": (make_scorer(sk.f1_score, average="macro", labels=None, zero_division="warn"), "labels3", "f1_macro"),
    "nothing to divide by": (make_scorer(sk.jaccard_score, zero_division=0.0), "labels2", "jaccard"),
    "several outputs": (make_scorer(sk.r2_score, multioutput="variance_weighted"), "number", "r2"),
}  # fmt: skip


def table(kind, seed=21, n=50):
    stand_in = {
        "labels2": "f1",
        "labels3": "f1_macro",
        "proba2": "roc_auc",
        "proba3": "roc_auc_ovr",
        "decision3": "top_k_accuracy",
        "number": "r2",
        "positive": "neg_mean_gamma_deviance",
    }
    return make(f"{stand_in[kind]}-{kind}", seed=seed, n=n)


def value_on_a_model(scorer, case, j):
    classes = np.unique(case.y) if case.kind[-1] in "23" else None
    model = (Regressor if classes is None else Classifier)(case.response, case.p[:, j, 0], classes)
    return scorer(model, np.arange(len(case.y))[:, None], case.y)


@pytest.mark.parametrize("kind", KINDS)
def test_a_scorer_with_arguments_gives_its_number_by_the_fast_path(kind):
    scorer, data, name = KINDS[kind]
    case = table(data)
    metric = sobercv.metrics.get(scorer)
    assert metric.max_calls is None
    assert name is None or metric.name == name
    ours = metric.scores(case.predictions(), np.ones((1, len(case.y)), int))[0]
    np.testing.assert_allclose(ours, [value_on_a_model(scorer, case, j) for j in range(4)], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "kind", [kind for kind, (_, _, name) in KINDS.items() if name and name not in ("neg_accuracy",)]
)
def test_a_metric_is_found_again_by_its_name(kind):
    metric = sobercv.metrics.get(KINDS[kind][0])
    again = sobercv.metrics.get(metric.name)
    assert again.name == metric.name
    assert again.range == metric.range


def share_of_hits(y_true, y_pred):
    return np.mean(y_true == y_pred)


def worst_surprise(y_true, y_proba):
    return -np.max(np.abs(y_true - y_proba))


FOREIGN = {
    "own function": (make_scorer(share_of_hits), "labels3"),
    "own function of text": (make_scorer(lambda y_true, y_pred: float(len(set(y_true) & set(y_pred)))), "labels3"),
    "own loss of probabilities": (make_scorer(worst_surprise, response_method="predict_proba", greater_is_better=False), "proba2"),
    "kappa of some labels": (make_scorer(sk.cohen_kappa_score, labels=[0, 1]), "labels3"),
    "weighted kappa": (make_scorer(sk.cohen_kappa_score, weights="quadratic"), "labels3"),
    "some labels": (make_scorer(sk.recall_score, average="micro", labels=np.array([0, 2])), "labels3"),
    "another share of nothing": (make_scorer(sk.precision_score, average="macro", zero_division=1), "labels3"),
    "adjusted": (make_scorer(sk.balanced_accuracy_score, adjusted=True), "labels3"),
    "partial AUC": (make_scorer(sk.roc_auc_score, response_method="predict_proba", max_fpr=0.3), "proba2"),
    "a sum": (make_scorer(sk.accuracy_score, normalize=False), "labels3"),
    "hinge": (make_scorer(sk.hinge_loss, response_method="decision_function", greater_is_better=False), "decision3"),
    "pinball": (make_scorer(sk.mean_pinball_loss, greater_is_better=False, alpha=0.9), "number"),
    "D2": (make_scorer(sk.d2_tweedie_score, power=1), "positive"),
    "own function with a positive class": (make_scorer(partial(lambda y, p, pos_label: float(np.mean(p)), pos_label=0), response_method="predict_proba", pos_label=0), "proba2"),
}  # fmt: skip


@pytest.mark.parametrize("kind", FOREIGN)
def test_what_is_not_recognised_is_called_and_gives_the_number_of_the_model(kind):
    scorer, data = FOREIGN[kind]
    case = table(data)
    metric = sobercv.metrics.get(scorer)
    assert metric.max_calls is not None
    ours = sobercv.naive(case.y, {case.response: case.p}, metric).scores
    np.testing.assert_allclose(ours, [value_on_a_model(scorer, case, j) for j in range(4)], rtol=1e-12)


def test_a_sum_over_samples_is_no_mean():
    """Samples are left out in every resample: a sum over those that are there says how many that were."""
    for function in (sk.accuracy_score, sk.log_loss):
        assert by_name.recognise(function, {"normalize": False}) is None


def test_a_loss_of_scikit_learn_is_known_to_be_one():
    case = make("r2-number", seed=23)
    expected = sobercv.naive(case.y, case.p, "neg_mean_absolute_error")
    found = sobercv.naive(case.y, case.p, sk.mean_absolute_error)
    assert found.winner == expected.winner
    assert found.value == expected.value < 0


def test_a_scorer_that_maximises_a_loss_is_obeyed_and_warned_about():
    with pytest.warns(sobercv.SoberWarning, match="W210"):
        metric = sobercv.metrics.get(make_scorer(sk.mean_absolute_error))
    assert (metric.name, metric.greater_is_better, metric.range) == ("mean_absolute_error", True, (0.0, np.inf))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sobercv.metrics.get(make_scorer(sk.mean_absolute_error, greater_is_better=False))
        sobercv.metrics.get(sk.mean_absolute_error)


def called(name):
    def function(y_true, y_pred):
        return np.mean(np.abs(y_true - y_pred))

    function.__name__ = name
    return function


@pytest.mark.parametrize("name", ["rmse", "my_mae", "RMSE", "max_error", "error_rate", "log_loss", "mse_score", "err"])
def test_a_function_by_the_name_of_a_loss_is_maximised_with_a_warning(name):
    loss = called(name)
    with pytest.warns(sobercv.SoberWarning, match=rf"make_metric\({name}, greater_is_better=False\).*W210"):
        assert sobercv.metrics.get(loss).greater_is_better
    with pytest.warns(sobercv.SoberWarning, match=rf"make_scorer\({name}, greater_is_better=False\).*W210"):
        sobercv.metrics.get(make_scorer(partial(loss)))
    with pytest.warns(sobercv.SoberWarning, match="W210"):
        sobercv.make_metric(lambda y_true, y_pred: 0.0, name=name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sobercv.metrics.get(make_scorer(loss, greater_is_better=False))
        for told in (True, False):
            assert sobercv.make_metric(loss, greater_is_better=told).greater_is_better is told


@pytest.mark.parametrize(
    "name",
    ["neg_rmse", "neg_mean_error", "minus_loss", "inverse_mae", "terror_index", "gloss", "share", "error_reduction"],
)
def test_other_names_are_not_taken_for_losses(name):
    assert sobercv.metrics.get(called(name)).greater_is_better  # warnings are errors


LOSSES = [name for name in sk.__all__ if name.endswith(("_loss", "_error", "_deviance"))]


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_of_scikit_learn_is_minimised(name):
    function = getattr(sk, name)
    assert not sobercv.metrics.get(function).greater_is_better
    assert not sobercv.make_metric(partial(function, sample_weight=None)).greater_is_better
    with pytest.warns(sobercv.SoberWarning, match="W210"):
        assert sobercv.metrics.get(make_scorer(function)).greater_is_better


def test_what_is_said_of_a_scorer_counts_more_than_the_scorer():
    scorer = make_scorer(called("rmse"))
    made = sobercv.make_metric(scorer, greater_is_better=False, response="predict_proba", range=(0, np.inf))
    assert (made.greater_is_better, made.responses, made.range) == (False, ("predict_proba",), (-np.inf, 0.0))
    made = sobercv.make_metric(make_scorer(sk.mean_squared_error), greater_is_better=False)
    assert (made.name, made.greater_is_better) == ("neg_mean_squared_error", False)


def test_a_partial_function_has_the_name_of_the_function():
    assert sobercv.metrics.get(partial(called("share"))).name == "share"


def test_what_make_scorer_gave_is_only_looked_into_where_it_looks_as_expected():
    scorer = make_scorer(sk.fbeta_score, beta=2)
    inside = by_name.unwrap(scorer)
    assert inside is not None
    assert (inside.function, inside.arguments, inside.responses) == (sk.fbeta_score, {"beta": 2}, ("predict",))
    assert by_name.unwrap(share_of_hits) is None

    class Like(type(scorer)):
        def __call__(self, estimator, X, y):
            return 1.0

    assert by_name.unwrap(Like(sk.fbeta_score, 1, {"beta": 2}, "predict")) is None
    del scorer.__dict__["_kwargs"]  # as if a later scikit-learn kept it elsewhere
    assert by_name.unwrap(scorer) is None
    assert by_name.needs_model(scorer)
    with pytest.raises(SoberError, match="fitted model"):
        sobercv.metrics.get(scorer)


WHO_NEEDS_THE_MODEL = [
    (lambda estimator, X, y: 0.0, True),
    (lambda est, X, y=None: 0.0, True),
    (lambda model, data, y: 0.0, True),
    (lambda clf, X_test, y_test: 0.0, True),
    (lambda estimator, X: 0.0, True),
    (lambda y_true, y_pred: 0.0, False),
    (lambda y_true, y_pred, sample_weight=None: 0.0, False),
    (lambda a, b: 0.0, False),
    (lambda y_true, y_pred, *, beta=1: 0.0, False),
    (share_of_hits, False),
    (sk.accuracy_score, False),
    (partial(sk.fbeta_score, beta=2), False),
]


@pytest.mark.parametrize(
    ("function", "needs"), WHO_NEEDS_THE_MODEL, ids=lambda v: str(inspect.signature(v)) if callable(v) else str(v)
)
def test_scorers_are_told_from_functions(function, needs):
    assert by_name.needs_model(function) is needs


def test_labels_that_are_numbers_can_be_scored_as_numbers():
    """Grades: scikit-learn takes a regression metric for a classifier, and so does a search."""
    case = make("accuracy-labels3", seed=24, n=40)
    metric = sobercv.metrics.get("neg_mean_absolute_error").on_classes()
    grades = np.array([1.0, 2.5, 7.0])
    case.y, case.p = grades[case.y], grades[case.p]
    ours = metric.scores(case.predictions(), np.ones((1, 40), int))[0]
    np.testing.assert_allclose(ours, [-sk.mean_absolute_error(case.y, case.p[:, j, 0]) for j in range(4)], rtol=1e-12)
    case.y, case.p = case.y.astype(str), case.p.astype(str)
    with pytest.raises(SoberError, match="needs numbers"):
        metric.scores(case.predictions(), np.ones((1, 40), int))


@pytest.mark.parametrize("labels", [[0, 1], [1, 2], [-1, 1]])
def test_the_positive_class_is_scikit_learns(labels):
    """The label 1, also where it is the smaller."""
    case = make("f1-labels2", seed=25, n=40)
    y, p = np.array(labels)[case.y], np.array(labels)[case.p]
    ours = sobercv.naive(y, p, "recall").scores
    expected = [sk.recall_score(y, p[:, j, 0], pos_label=1) for j in range(4)]
    np.testing.assert_allclose(ours, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("written", "code", "says"),
    [
        ("fbeta", "E113", "fbeta needs `beta`"),
        ("fbeta(beta=-1)", "E108", "`beta`"),
        ("fbeta(2)", "E105", "name=value"),
        ("fbeta(beta=", "E105", "no metric called|name=value"),
        ("fbeta(beta=two)", "E105", "name=value"),
        ("fbetta(beta=2)", "E105", "fbeta"),
        ("accuracy(normalize=False)", "E122", "accuracy takes no arguments"),
        ("cohen_kappa(weights='linear')", "E122", r"make_scorer\(cohen_kappa_score, weights=\.\.\.\)"),
        ("neg_hinge_loss", "E105", r"make_scorer\(hinge_loss, greater_is_better=False\)"),
        ("hinge_loss", "E105", r"make_scorer\(hinge_loss, greater_is_better=False\)"),
        ("accuracy_score", "E105", "Did you mean accuracy"),
        ("f_meas", "E105", r"Did you mean f1\?"),
        ("classif.ce", "E105", r"Did you mean accuracy\?"),
        ("f1(averag='macro')", "E122", "f1 takes average"),
        ("f1(average='samples')", "E122", "macro"),
        ("roc_auc(multi_class='both')", "E122", "multi_class"),
        ("roc_auc(multi_class='ovo', average='micro')", "E122", "average"),
        ("top_k_accuracy(k=0)", "E108", "`k`"),
        ("v_measure_score(beta=2)", "E122", "beta"),
        ("average_precision(average='samples')", "E122", "average"),
    ],
)  # fmt: skip
def test_bad_arguments_have_a_code(written, code, says):
    with pytest.raises(SoberError, match=says) as caught:
        sobercv.metrics.get(written)
    assert caught.value.code == code


def test_arguments_of_the_table_are_checked_against_its_classes():
    case = make("f1-labels2", seed=26)
    with pytest.raises(SoberError) as caught:
        sobercv.metrics.get("f1(pos_label='ill')").scores(case.predictions(), case.counts)
    assert caught.value.code == "E110"


def test_arguments_go_with_names_only():
    with pytest.raises(SoberError, match="name of a metric"):
        sobercv.metrics.get(sk.fbeta_score, beta=2)
    assert sobercv.metrics.get("fbeta", beta=2).name == sobercv.metrics.get("fbeta(beta=2.0)").name.replace("2.0", "2")
    assert sobercv.metrics.get(share_of_hits).max_calls is not None


# ---- what a function that is called may cost ------------------------------------------------------------------------
def counted():
    def own(y_true, y_pred):
        own.calls += 1
        return share_of_hits(y_true, y_pred)

    own.calls = 0
    return own


def test_a_function_is_called_within_its_budget_and_the_estimate_says_so():
    rng = np.random.default_rng(27)
    y = np.arange(60) % 2
    p = np.where(rng.random((60, 8)) < 0.7, y[:, None], 1 - y[:, None])
    own = counted()
    estimate = sobercv.bbc(y, p, sobercv.make_metric(own, task="classification", range=(0, 1)))
    assert len(estimate.draws) == 1000 // 9
    # And once for each configuration on the whole table, and once a resample for the interval of the winner.
    assert own.calls <= 1000 + 8 + len(estimate.draws)
    assert [note.code for note in estimate.notes if note.code == "W201"] == ["W201"]
    # The draws are the first of those that the metric itself would have: only fewer.
    fast = sobercv.bbc(y, p, "accuracy")
    np.testing.assert_allclose(estimate.draws, fast.draws[: len(estimate.draws)], rtol=1e-12)
    assert not any(note.code == "W201" for note in fast.notes)


def test_more_calls_can_be_allowed_and_never_fewer_than_a_hundred_resamples():
    rng = np.random.default_rng(28)
    y = np.arange(40) % 2
    p = np.where(rng.random((40, 30)) < 0.7, y[:, None], 1 - y[:, None])
    few = sobercv.bbc(y, p, sobercv.make_metric(share_of_hits, task="classification"))
    many = sobercv.bbc(y, p, sobercv.make_metric(share_of_hits, max_calls=10**6, range=(0, 1)), n_bootstraps=300)
    assert (len(few.draws), len(many.draws)) == (100, 300)
    assert not any(note.code == "W201" for note in many.notes)
    with pytest.raises(SoberError, match="max_calls"):
        sobercv.make_metric(share_of_hits, max_calls=0)


def test_draws_that_were_handed_in_and_folds_are_not_cut():
    rng = np.random.default_rng(29)
    y = np.arange(40) % 2
    p = np.where(rng.random((40, 30)) < 0.7, y[:, None], 1 - y[:, None])
    metric = sobercv.make_metric(share_of_hits, task="classification", range=(0, 1))
    counts = rng.multinomial(40, [1 / 40] * 40, size=120)
    handed = sobercv.bbc(y, p, metric, counts=counts)
    by_fold = sobercv.bbc(y, p, metric, by="fold", folds=np.arange(40) % 5)
    assert (len(handed.draws), len(by_fold.draws)) == (120, 1000)
    assert not any(note.code == "W201" for estimate in (handed, by_fold) for note in estimate.notes)


def test_a_range_keeps_the_interval_of_a_function_and_without_one_a_note_says_so():
    rng = np.random.default_rng(30)
    y = np.arange(40) % 2
    p = np.where(rng.random((40, 5)) < 0.95, y[:, None], 1 - y[:, None])
    unknown, known = (
        sobercv.bbc(y, p, sobercv.make_metric(share_of_hits, max_calls=10**5, **told), n_bootstraps=200)
        for told in ({}, {"range": (0, 1)})
    )
    fast = sobercv.bbc(y, p, "accuracy", n_bootstraps=200)
    assert unknown.interval[1] > 1
    assert "make_metric(function, range=(0, 1))" in next(n.text for n in unknown.notes if n.code == "W201")
    np.testing.assert_allclose(known.interval, fast.interval, rtol=1e-12)
    assert not any(note.code == "W201" for note in (*known.notes, *fast.notes))


def test_the_range_of_a_loss_is_negated_and_one_that_is_wrong_refused():
    def misses(y_true, y_pred):
        return float(np.mean(y_true != y_pred))

    assert sobercv.make_metric(misses, greater_is_better=False, range=(0, 1)).range == (-1.0, 0.0)
    assert sobercv.make_metric(make_scorer(misses, greater_is_better=False), range=(0, np.inf)).range == (-np.inf, 0)
    y = np.arange(40) % 2
    with pytest.raises(SoberError, match=r"returned 1, outside its range from 0 to 0\.5\. Correct range=") as error:
        sobercv.bbc(y, np.stack([1 - y, y], axis=1), sobercv.make_metric(misses, range=(0, 0.5)), n_bootstraps=50)
    assert error.value.code == "E117"
    for wrong in ((1, 0), (0, np.nan), 3, (0, 1, 2), ("low", "high")):
        with pytest.raises(SoberError, match="`range` must be two numbers") as error:
            sobercv.make_metric(misses, range=wrong)
        assert error.value.code == "E108"


def test_a_scorer_of_an_own_function_may_be_called_as_often_as_allowed():
    usual, more = (sobercv.make_metric(make_scorer(share_of_hits), max_calls=calls) for calls in (1000, 50_000))
    assert usual.affordable(1000, 9) == 100
    assert more.affordable(1000, 9) == 1000


@pytest.mark.parametrize("given", [{"greater_is_better": False}, {"response": "predict"}, {"range": (0, 1)}])
def test_the_name_of_a_metric_takes_a_name_only(given):
    with pytest.raises(SoberError, match=r"'accuracy' has its own direction") as caught:
        sobercv.make_metric("accuracy", **given)
    assert caught.value.code == "E122"
    assert sobercv.make_metric("accuracy", name="share right").name == "share right"
