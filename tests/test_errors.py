"""Bad input gets a stable code and a sentence that says what was given; a result that needs a caveat warns with one."""

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import make_scorer, mean_absolute_error

import sobercv
from sobercv.errors import CODES, SoberError, SoberWarning

N = 40
RNG = np.random.default_rng(71)
Y = np.arange(N) % 2
P = RNG.random((N, 5))
L = RNG.integers(0, 2, (N, 5))
Y3 = np.arange(N) % 3
P3 = RNG.dirichlet([1, 1, 1], (N, 4))[:, :, None, :]
T = RNG.normal(size=N)
G = RNG.normal(size=(N, 4))
SURVIVAL = np.column_stack([np.ones(N), np.arange(1, N + 1)])
FOLDS = np.arange(N) // 10
TABLE = sobercv.Predictions.build(Y, L, task="classification")
COLUMNS = np.stack([1 - P, P], axis=2)[:, :, None, :]  # of two classes


def rmse(y, p):
    return float(np.sqrt(np.mean((y - p) ** 2)))


def two_lines(y, p):
    raise ZeroDivisionError("one\n  two")


NONE = np.array([[None], *[["n"]] * (N - 1)])


def spoiled(array, value, at=(3, 1)):
    out = array.astype(float if not isinstance(value, str) else object)
    out[at] = value
    return out


def bbc(*args, **options):
    return lambda: sobercv.bbc(*args, **{"n_bootstraps": 30, "random_state": 0, **options})


def incomplete():
    mask = np.zeros((N, 5), bool)
    mask[np.arange(5), np.arange(5)] = True  # everybody lacks a row that the others have
    return np.ma.masked_array(P, mask)


def fails(y, p):
    raise RuntimeError("out of cheese")


BAD = [
    # what, call, code, what the message must name
    ("one row too few", bbc(Y[:-1], P, "roc_auc"), "E101", r"40.*39"),
    ("transposed", bbc(Y, P.T, "roc_auc"), "E101", r"5.*40.*transposed"),
    ("too many axes", bbc(Y, P[..., None, None, None], "roc_auc"), "E101", r"5 axes"),
    ("no axis", bbc(Y, 0.5, "roc_auc"), "E101", r"0 axes"),
    *(
        (f"{metric} of three classes without their axis", bbc(Y3, P, metric), "E101", r"3 classes.*\[N, C, 3\]")
        for metric in ("top_k_accuracy", "neg_log_loss", "neg_brier_score", "roc_auc_ovr")
    ),
    ("no configuration", bbc(Y, P[:, :0], "roc_auc"), "E101", r"no configuration"),
    ("ragged", bbc(Y, [[1, 2], [3]] * 20, "roc_auc"), "E101", r"different lengths"),
    ("empty dict", bbc(Y, {}, "roc_auc"), "E101", r"empty"),
    ("wrong number of classes", bbc(Y3, P3[..., :2], "neg_log_loss"), "E101", r"3 classes.*2"),
    ("two classes side by side", bbc(Y, np.stack([1 - P, P], axis=2), "roc_auc"), "E101", r"\[:, :, 1\]"),
    ("arrays of different shapes", bbc(Y, {"predict": L, "predict_proba": P[:, :3]}, "accuracy"), "E101", r"different"),
    ("counts for other rows", bbc(Y, P, "roc_auc", counts=np.ones((9, 7), int)), "E101", r"7"),
    ("counts for more rows", bbc(Y, P, "roc_auc", counts=np.ones((9, N + 3), int)), "E101", r"43"),
    ("NaN", bbc(Y, spoiled(P, np.nan), "roc_auc"), "E102", r"1 in all"),
    ("infinite", bbc(T, spoiled(G, np.inf), "r2"), "E102", r"1 in all"),
    ("text for numbers", bbc(T, spoiled(G, "high"), "r2"), "E102", r"high"),
    ("dates for numbers", bbc(T, G.astype("M8[s]"), "r2"), "E102", r"1970"),
    ("complex numbers", bbc(T, G + 0j, "r2"), "E102", r"0j"),
    ("flags for numbers", bbc(T, G > 0, "r2"), "E102", r"got (True|False)\."),
    ("a flag among numbers", bbc(T, np.array([[True, 0.5]] * N, object), "r2"), "E102", r"got True\."),
    ("one model's probabilities of three classes", bbc(Y3, P, "accuracy"), "E101", r"P\[:, None, :\]"),
    (
        "scores of three classes read as repeats",
        bbc(Y3, np.arange(N * 6.0).reshape(N, 2, 3), "roc_auc_ovr"),
        "E101",
        r"1, 3\]",
    ),
    ("the name of a column as groups", bbc(Y, P, "roc_auc", groups="patient"), "E101", r"groups=table\['patient'\]"),
    (
        "a selection by its name",
        bbc(Y, P, "roc_auc", select="greedy_ensemble"),
        "E122",
        r"sobercv\.greedy_ensemble\(\)",
    ),
    (
        "a selection that was not called",
        bbc(Y, P, "roc_auc", select=sobercv.best_with_threshold),
        "E122",
        r"best_with_threshold\(\)",
    ),
    ("one class", bbc(np.ones(N), P, "roc_auc"), "E112", r"single class"),
    (
        "one class for accuracy's sister",
        bbc(np.zeros(N, int), np.zeros((N, 2), int), "balanced_accuracy"),
        "E112",
        r"single class",
    ),
    ("three classes for a binary metric", bbc(Y3, Y3[:, None] * np.ones((1, 2), int), "f1"), "E116", r"3|f1_macro"),
    ("probability above one", bbc(Y, spoiled(P, 1.5), "neg_log_loss"), "E102", r"1\.5"),
    ("probability below zero", bbc(Y, spoiled(P, -0.5), "neg_brier_score"), "E102", r"-0\.5"),
    ("probabilities that do not add up", bbc(Y3, P3 * 0.9, "neg_log_loss"), "E102", r"add up to 1"),
    ("columns of two classes that do not add up", bbc(Y, COLUMNS * 0.3, "neg_log_loss"), "E102", r"add up to 1.*0\.3"),
    ("columns of two classes beyond one", bbc(Y, {"predict_proba": COLUMNS * 3}, "roc_auc"), "E102", r"to (2|3)\."),
    ("a typing error", bbc(Y, P, "roc_acu"), "E105", r"roc_acu.*roc_auc"),
    ("the sign forgotten", bbc(T, G, "mean_squared_error"), "E105", r"neg_mean_squared_error"),
    ("a short name", bbc(Y, L, "acc"), "E105", r"accuracy"),
    ("another typing error", bbc(Y, L, "acuracy"), "E105", r"accuracy"),
    ("not a metric at all", bbc(Y, P, 3.14), "E105", r"3\.14|float"),
    ("no metric", bbc(Y, P, []), "E105", r"metric"),
    ("one sample", bbc([1], [[1]], "accuracy"), "E106", r"1"),
    ("nothing seen", bbc(Y, np.ma.masked_all_like(P), "roc_auc"), "E106", r"No sample"),
    ("one group", bbc(Y, P, "roc_auc", groups=np.zeros(N)), "E106", r"1"),
    ("groups too short", bbc(Y, P, "roc_auc", groups=np.arange(9)), "E107", r"40.*9"),
    ("groups with a gap", bbc(Y, P, "roc_auc", groups=spoiled(np.arange(N), np.nan, 3)), "E107", r"missing"),
    (
        "a group that is NaN",
        bbc(Y, P, "roc_auc", groups=spoiled(np.arange(N), np.nan, 3).astype(object)),
        "E107",
        r"missing",
    ),
    ("a group that is None", bbc(Y, P, "roc_auc", groups=np.array([None, *range(1, N)])), "E107", r"missing"),
    ("folds too short", bbc(Y, P, "roc_auc", folds=np.arange(9)), "E107", r"40.*9"),
    ("flags for weights", bbc(Y, P, "roc_auc", sample_weight=Y > 0), "E107", r"got (True|False)\."),
    ("weights too short", bbc(Y, P, "roc_auc", sample_weight=np.ones(9)), "E107", r"40.*9"),
    ("a negative weight", bbc(Y, P, "roc_auc", sample_weight=spoiled(np.ones(N), -1, 3)), "E107", r"negative"),
    ("no weight", bbc(Y, P, "roc_auc", sample_weight=np.zeros(N)), "E107", r"zero"),
    ("a confidence level in per cent", bbc(Y, P, "roc_auc", confidence_level=95), "E108", r"95.*0\.95"),
    ("confidence level 0", bbc(Y, P, "roc_auc", confidence_level=0), "E108", r"0"),
    ("confidence level 1", bbc(Y, P, "roc_auc", confidence_level=1.0), "E108", r"1"),
    ("no bootstraps", bbc(Y, P, "roc_auc", n_bootstraps=0), "E108", r"n_bootstraps.*0"),
    ("bootstraps as a flag", bbc(Y, P, "roc_auc", n_bootstraps=True), "E108", r"n_bootstraps.*True"),
    ("half a bootstrap", bbc(Y, P, "roc_auc", n_bootstraps=2.5), "E108", r"n_bootstraps.*2\.5"),
    ("unknown aggregate", bbc(Y, P, "roc_auc", aggregate="mean"), "E122", r"pooled.*mean"),
    ("unknown by", bbc(Y, P, "roc_auc", by="row"), "E122", r"sample.*row"),
    ("unknown selection", bbc(Y, P, "roc_auc", select="worst"), "E122", r"worst.*best"),
    ("a negative seed", bbc(Y, P, "roc_auc", random_state=-1), "E108", r"-1"),
    ("a seed that is text", bbc(Y, P, "roc_auc", random_state="lucky"), "E123", r"str"),
    ("negative counts", bbc(Y, P, "roc_auc", counts=-np.ones((3, N), int)), "E108", r"counts"),
    ("counts beyond 31 bits", bbc(Y, P, "roc_auc", counts=np.full((3, N), 2**31)), "E108", r"2,147,483,647"),
    (
        "counts beyond 63 bits",
        bbc(Y, L, "accuracy", counts=np.full((3, N), 2**63, np.uint64)),
        "E108",
        r"2,147,483,647",
    ),
    ("counts with gaps", bbc(Y, P, "roc_auc", counts=np.ma.masked_equal(np.ones((3, N), int), 1)), "E108", r"counts"),
    ("counts beyond numpy", bbc(Y, P, "roc_auc", counts=np.full((3, N), 2**70, object)), "E108", r"counts"),
    ("labels in the plane", bbc(Y + 0j, L, "accuracy"), "E112", r"Complex data not supported"),
    ("groups in the plane", bbc(Y, L, "accuracy", groups=Y + 1j), "E107", r"complex"),
    ("numbers whose squares overflow", bbc(T, G * 1e151, "neg_mean_squared_error"), "E102", r"beyond 1e\+150"),
    ("a mean beyond all numbers", bbc(T, G, lambda y, p: 1e308), "E117", r"beyond 1e308"),
    ("a function that says two lines", bbc(T, G, two_lines), "E117", r"one two\. It must"),
    ("a negative tolerance", lambda: sobercv.simplest_within(tolerance=-1), "E108", r"-1"),
    ("a positive class that is none", bbc(Y, L, "f1", pos_label=2), "E110", r"0 or 1; got 2"),
    ("every draw undefined", bbc(Y, P, "roc_auc", counts=np.tile(Y * 2, (5, 1))), "E109", r"5|every|stratify"),
    ("nothing out of bag", bbc(Y, P, "roc_auc", counts=np.ones((5, N), int)), "E109", r""),
    ("labels from elsewhere", bbc(Y, L + 7, "accuracy"), "E110", r"0, 1"),
    (
        "text labels from elsewhere",
        bbc(np.array(["n", "y"])[Y], np.full((N, 2), "maybe"), "accuracy"),
        "E110",
        r"'n', 'y'",
    ),
    ("None among text labels", bbc(np.array(["n", "y"])[Y], NONE, "accuracy"), "E110", r"'n', 'y'"),
    ("nobody complete", bbc(Y, incomplete(), "roc_auc"), "E111", r"No configuration"),
    ("a target with a gap", bbc(spoiled(T, np.nan, 2), G, "r2"), "E112", r"missing or infinite"),
    ("labels with a gap", bbc(np.array([None, *"ab" * 19, "a"], object), L, "accuracy"), "E112", r"missing"),
    ("labels that are pandas' NA", bbc(pd.array(["a", None] * 20), L, "accuracy"), "E112", r"missing"),
    ("dates for a regression", bbc(T.astype("M8[s]"), G, "r2"), "E112", r"1970"),
    ("complex truth", bbc(T + 0j, G, "r2"), "E112", r"0j"),
    ("flags for a regression", bbc(Y > 0, G, "r2"), "E112", r"got (True|False)\."),
    ("a target whose squares overflow", bbc(T * 1e160, G, "r2"), "E112", r"e\+160"),
    ("labels of mixed types", bbc(np.array(["a", 1] * 20, object), L, "accuracy"), "E112", r"mixes"),
    ("text for a regression", bbc(np.array(["a", "b"])[Y], G, "r2"), "E112", r"'?a'?"),
    ("two targets", bbc(np.column_stack([T, T]), G, "r2"), "E112", r"\(40, 2\)"),
    ("survival without events' column", bbc(T, G, "concordance_index"), "E112", r"\(40,\)"),
    ("survival with a negative time", bbc(SURVIVAL * [1, -1], G, "concordance_index"), "E112", r"negative"),
    ("survival with a third state", bbc(SURVIVAL + 1, G, "concordance_index"), "E112", r"event"),
    ("TT without folds", lambda: sobercv.tibshirani(Y, P, "roc_auc"), "E113", r"folds"),
    ("BBC-F without folds", bbc(Y, P, "roc_auc", by="fold"), "E113", r"folds"),
    ("fold scores without folds", bbc(Y, P, "roc_auc", aggregate="fold"), "E113", r"folds"),
    ("within folds without folds", bbc(Y, P, "roc_auc", aggregate="within_folds"), "E113", r"folds"),
    ("BBC-F with repeats", bbc(Y, np.stack([P, P], 2), "roc_auc", by="fold", folds=FOLDS), "E114", r"repeat"),
    (
        "within folds for a mean",
        bbc(Y, L, "accuracy", aggregate="within_folds", folds=FOLDS),
        "E114",
        r"accuracy.*roc_auc",
    ),
    ("a positive class of three", bbc(Y3, Y3[:, None], "accuracy", pos_label=1), "E114", r"pos_label.*3"),
    ("a positive class of numbers", bbc(T, G, "r2", pos_label=1), "E114", r"pos_label.*regression"),
    ("a positive class of a table that has one", bbc(None, TABLE, "f1", pos_label=1), "E114", r"pos_label.*already"),
    ("strata of numbers", bbc(T, G, "r2", stratify=True), "E114", r"stratify"),
    ("strata of folds", bbc(Y, P, "roc_auc", by="fold", folds=FOLDS, stratify=True), "E114", r"stratify"),
    (
        "an unknown response",
        bbc(Y, {"probability": P}, "roc_auc"),
        "E116",
        r"probability.*predict_proba.*correct\(predictions",
    ),
    ("labels where probabilities are needed", bbc(Y, {"predict": L}, "neg_log_loss"), "E116", r"predict_proba"),
    (
        "text labels that do not tell",
        bbc(np.array(["n", "y"])[Y], np.array(["n", "y"])[L], "f1"),
        "E120",
        r"do not say which is positive. Pass pos_label='n'",
    ),
    ("numbers that do not tell", bbc(Y * 5, L * 5, "recall"), "E120", r"pos_label=0 or pos_label=5"),
    ("ranks of text labels", bbc(np.array(["n", "y"])[Y], P, "average_precision"), "E120", r"average_precision"),
    ("a scorer that needs the model", bbc(Y, L, lambda estimator, X, y: 1.0), "E116", r"fitted model"),
    ("a metric that breaks", bbc(Y, L, sobercv.make_metric(fails)), "E117", r"out of cheese"),
]


@pytest.mark.parametrize(("call", "code", "names"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_bad_input(call, code, names):
    with pytest.raises(SoberError) as caught:
        call()
    assert caught.value.code == code
    message = caught.value.message
    assert re.search(names, message), message
    assert 20 < len(message) < 400
    assert message[-1] in ".!?)"
    assert "\n" not in message
    assert str(caught.value).endswith(f"[{code}]")


def test_every_error_code_is_provoked_by_some_test():
    assert {b[2] for b in BAD} == {code for code in CODES if code.startswith("E1")}


def test_errors_are_value_errors_and_survive_pickling():
    error = SoberError("E101", "Shapes disagree.")
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, ValueError)
    assert (again.code, str(again)) == ("E101", "Shapes disagree. [E101]")


# ---- warnings -------------------------------------------------------------------------------------------------------
def pruned():
    mask = np.zeros((N, 5), bool)
    mask[30:, 4] = True
    return np.ma.masked_array(P, mask)


SCALES = (Y + RNG.normal(size=N) * 0.5)[:, None] + 100.0 * FOLDS[:, None] + np.zeros((1, 2))
RARE = (np.arange(N) < 3).astype(int)

WARNED = [
    ("many undefined draws", bbc(RARE, P, "roc_auc", n_bootstraps=400), "W201", r"stratify"),
    ("a single configuration", bbc(Y, P[:, :1], "roc_auc"), "W202", r"correct"),
    ("a vector of predictions", bbc(Y, P[:, 0], "roc_auc"), "W202", r"correct"),
    (
        "folds on different scales",
        bbc(Y, SCALES, "roc_auc", folds=FOLDS),
        "W203",
        r"within_folds",
    ),
    ("scores of the other class", bbc(Y, 0.5 - 0.4 * Y[:, None] + 0.1 * P, "roc_auc"), "W701", r"pos_label"),
    ("a pruned configuration", bbc(Y, pruned(), "roc_auc"), "W204", r"1 "),
    ("the largest loss wins", bbc(T, G, make_scorer(mean_absolute_error)), "W210", r"greater_is_better=False"),
    ("a function of that name", bbc(T, G, rmse, n_bootstraps=100), "W210", r"make_metric\(rmse, greater_is_better=F"),
    ("hardly any samples", bbc(Y[:8], L[:8], "accuracy"), "W205", r"8"),
]


@pytest.mark.parametrize(("call", "code", "names"), [w[1:] for w in WARNED], ids=[w[0] for w in WARNED])
def test_caveats(call, code, names):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimate = call()
    ours = {w.message.code: w.message.message for w in caught if isinstance(w.message, SoberWarning)}
    assert code in ours
    assert re.search(names, ours[code]), ours[code]
    assert np.isfinite(estimate.value)
    lines = {w.filename for w in caught if isinstance(w.message, SoberWarning)}
    assert lines == {__file__}  # the line of the user


def test_every_warning_code_is_provoked_by_some_test():
    # Carried by estimates without a warning: tests/inference/test_notes.py, tests/metrics/test_recognise.py and others.
    noted = {"W206", "W211", "W212", "W217", "W218", "W240"}  # W240: tests/metrics/test_kernels.py
    assert {code for code in CODES if code.startswith("W2")} - noted <= {w[2] for w in WARNED}


def test_good_input_is_not_warned_about():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sobercv.bbc(Y, P, "roc_auc", folds=FOLDS, n_bootstraps=200, random_state=0)
        sobercv.bbc(T, G, "r2", n_bootstraps=200, random_state=0)


@pytest.mark.filterwarnings("ignore::sobercv.errors.SoberWarning")
def test_a_single_configuration_is_allowed_and_nothing_is_corrected():
    estimate = sobercv.bbc(Y, L[:, :1], "accuracy", n_bootstraps=2000, random_state=0)
    assert estimate.win_counts.tolist() == [2000]
    assert abs(estimate.optimism) < 5 * np.nanstd(estimate.draws) / np.sqrt(2000)


@pytest.mark.filterwarnings("ignore::sobercv.errors.SoberWarning")
def test_a_pruned_configuration_cannot_win_but_keeps_its_place():
    p = pruned()
    p[:, 4] = np.ma.masked_array(Y, p.mask[:, 4])  # perfect on what it has
    p = p[:, [4, 0, 1, 2, 3]]
    estimate = sobercv.bbc(Y, p, "roc_auc", n_bootstraps=50, random_state=0)
    assert estimate.winner == 1 + int(np.argmax(sobercv.naive(Y, P[:, :4], "roc_auc").scores))
