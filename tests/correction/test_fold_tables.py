"""Fold scores in tables: of R, of other tools, wide and long."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

import sobercv
from sobercv import SoberError
from sobercv.correction import read_frame, recognise

FILES = Path(__file__).parents[1] / "foreign" / "files"
RNG = np.random.default_rng(0)
SCORES = RNG.random((5, 4)).round(3)


def tidy(repeats=1):
    return pd.DataFrame(
        [
            {"id": f"Repeat{r}", "id2": f"Fold{f}", "penalty": p / 10, ".metric": measure, ".estimator": "binary",
             ".estimate": value + p / 100 + f / 50, ".config": f"Preprocessor1_Model{p}"}
            for r in range(1, repeats + 1) for f in range(1, 6) for p in (1, 2, 3)
            for measure, value in (("accuracy", 0.5), ("roc_auc", 0.7))
        ]
    )  # fmt: skip


def test_wide_long_and_array_are_the_same():
    wide = pd.DataFrame(SCORES, columns=list("abcd"))
    long = (
        wide.assign(fold=range(5))
        .melt(id_vars="fold", var_name="model", value_name="score")
        .sample(frac=1, random_state=1)
    )
    expected = sobercv.correct(SCORES)
    for frame in (wide, wide.assign(fold=range(5)), long.sort_values(["model", "fold"])):
        found = sobercv.correct(frame)
        assert np.array_equal(found.draws, expected.draws)
        assert found.winner_name == "abcd"[expected.winner]
    by_row = sobercv.correct(long)
    assert by_row.value == pytest.approx(expected.value, abs=1e-12)
    assert by_row.winner_name == "abcd"[expected.winner]


def test_losses_are_negated():
    found = sobercv.correct(pd.DataFrame(SCORES, columns=list("abcd")), "rmse")
    assert found.metric == "neg_rmse"
    assert found.naive == pytest.approx(-SCORES.mean(axis=0).min())
    assert sobercv.correct(pd.DataFrame(SCORES), "odd", greater_is_better=False).naive == pytest.approx(found.naive)
    with pytest.raises(SoberError, match="greater_is_better"):
        sobercv.correct(pd.DataFrame(SCORES), "odd")


def test_tidymodels():
    with pytest.raises(SoberError, match="accuracy, roc_auc"):
        sobercv.correct(tidy())
    found = sobercv.correct(tidy(), "roc_auc")
    assert found.winner_name == "Preprocessor1_Model3: penalty=0.3"
    assert found.winner_params == {"penalty": 0.3}
    assert found.naive == pytest.approx(0.7 + 0.03 + 3 / 50)
    assert sobercv.correct(tidy(2), "roc_auc").n_repeats == 2


@pytest.mark.parametrize("name", ["caret-resample.csv", "caret-resample-2.csv"])
def test_caret(name):
    frame = pd.read_csv(FILES / name, sep=";" if "2" in name else ",", decimal="," if "2" in name else ".")
    found = read_frame(frame)
    assert {metric: table.shape for metric, table in found.scores.items()} == {"Accuracy": (5, 4)}
    assert found.names == ["k=1", "k=3", "k=5", "k=9"]
    means = frame.groupby("k")["Accuracy"].mean()
    assert found.first.mean(axis=0) == pytest.approx(means.to_numpy())
    best = sobercv.correct(frame)
    assert best.naive == pytest.approx(means.max())
    assert best.winner_params == {"k": means.idxmax()}
    with pytest.raises(SoberError, match=r"Accuracy, Kappa, not 'accuracy'.*--metric Accuracy") as error:
        sobercv.correct(frame, "accuracy")
    assert error.value.code == "E122"
    assert sobercv.correct(frame, "Kappa").metric == "Kappa"


def test_caret_with_repeats_and_errors():
    found = sobercv.correct(pd.read_csv(FILES / "caret-resample-repeats.csv"))
    assert (found.metric, found.n_repeats, found.n_folds) == ("neg_RMSE", 2, 5)
    assert found.interval[1] < 0


def test_the_final_model_alone_is_refused():
    with pytest.raises(SoberError, match="returnResamp") as error:
        sobercv.correct(pd.read_csv(FILES / "caret-resample-final.csv"))
    assert error.value.code == "E813"


def test_mlr():
    frame = pd.read_csv(FILES / "mlr-performances.csv")
    assert sobercv.correct(frame).metric == "neg_mmce"
    found = sobercv.correct(frame, "acc")
    assert found.naive == pytest.approx(frame.groupby("learner.id")["acc"].mean().max())
    assert found.winner_name.startswith("rpart.")


def test_cv_results_that_were_saved(tmp_path):
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 3, None]}, cv=5)
    search.fit(*load_iris(return_X_y=True))
    pd.DataFrame(search.cv_results_).to_csv(tmp_path / "results.csv")
    found = sobercv.correct(pd.read_csv(tmp_path / "results.csv", float_precision="round_trip"))
    expected = sobercv.correct(search)
    assert np.array_equal(found.draws, expected.draws)
    assert found.winner == expected.winner


def test_two_scores_of_one_fold_are_refused():
    frame = pd.DataFrame({"fold": [1, 1, 2, 2, 1], "model": list("ababa"), "score": RNG.random(5)})
    with pytest.raises(SoberError, match="two scores") as error:
        sobercv.correct(frame)
    assert error.value.code == "E812"


def test_what_is_no_table_of_fold_scores_is_refused():
    with pytest.raises(SoberError, match="one row per fold") as error:
        sobercv.correct(pd.DataFrame({"name": ["a", "b"], "age": [1, 2]}))
    assert error.value.code == "E812"


def test_a_parameter_called_model_is_one_of_several():
    """caret's C5.0 has the parameters model, trials and winnow."""
    rows = [
        {"Accuracy": 0.7 + trials / 100 + fold / 50, "Kappa": 0.2, "model": model, "trials": trials, "Resample": f"Fold{fold}"}
        for fold in range(1, 6) for model in ("tree", "rules") for trials in (1, 10)
    ]  # fmt: skip
    found = sobercv.correct(pd.DataFrame(rows))
    assert found.n_configurations == 4
    assert found.winner_name == "model=rules, trials=10", "of equals the first by name"
    assert found.winner_params == {"model": "rules", "trials": 10}


def test_predictions_in_a_frame_are_known_by_their_columns():
    frame = pd.read_csv(FILES / "caret-classes.csv")
    assert sobercv.correct(frame).metric == "roc_auc"


def test_predictions_of_samples_are_not_read_as_fold_scores():
    wide = pd.DataFrame(RNG.random((20, 3)), columns=["a", "b", "c"]).assign(
        y=np.arange(20) % 2, fold=np.arange(20) % 5
    )
    with pytest.raises(SoberError, match=r"same fold.*sobercv\.bbc") as error:
        sobercv.correct(wide, "roc_auc")
    assert error.value.code == "E812"
    assert sobercv.correct(wide.drop(columns="y").iloc[:10], "roc_auc", n_repeats=2).n_folds == 5


@pytest.mark.parametrize(("scores", "metric"), [(100 * SCORES, "accuracy"), (SCORES, "neg_log_loss")])
def test_scores_that_the_metric_cannot_have_are_refused(scores, metric):
    with pytest.raises(SoberError, match=f"{metric} cannot have scores from") as error:
        sobercv.correct(scores, metric)
    assert error.value.code == "E102"


def test_a_wide_table_says_its_repeats_by_a_column():
    table = pd.DataFrame(RNG.random((10, 3)), columns=["a", "b", "c"])
    expected = sobercv.correct(table, n_repeats=2)
    named = table.assign(repeat=np.repeat([1, 2], 5), fold=np.tile(np.arange(5), 2))
    mixed = named.sort_values("fold", kind="stable")
    assert sobercv.correct(named).interval == sobercv.correct(mixed).interval == expected.interval


def test_a_column_of_measures_says_the_direction_and_a_parameter_called_metric_does_not():
    rows = [
        {"fold": f, "model": f"m{m}", "metric": "rmse", "score": 1 + m + 0.01 * f} for f in range(5) for m in range(3)
    ]
    assert sobercv.correct(pd.DataFrame(rows)).winner_name == "m0"
    near = [{"fold": f, "metric": m, "score": 0.5 + 0.1 * len(m)} for f in range(5) for m in ("l1", "cosine")]
    assert "cosine" in sobercv.correct(pd.DataFrame(near)).winner_name


WIDE = pd.DataFrame(RNG.random((10, 3)), columns=["a", "b", "c"])
REPEATED = sobercv.correct(WIDE, n_repeats=2)


@pytest.mark.parametrize(
    "frame",
    [
        WIDE.assign(y=np.arange(10) % 2),
        WIDE.assign(y_true=np.arange(10) * 0.3),
        WIDE.assign(patient=np.arange(10) // 2),
        WIDE.assign(trial=np.arange(10)),
        WIDE.set_axis(["test_score", "fit_time", "score_time"], axis=1),
        WIDE.set_axis(["test_f1", "test_accuracy", "fit_time"], axis=1),
        WIDE.set_axis(["k", "Accuracy", "Kappa"], axis=1),  # caret's $results
        WIDE.set_axis(["param_C", "mean_test_score", "rank_test_score"], axis=1),
        WIDE.set_axis(["number", "value", "params_C"], axis=1),  # Optuna's trials
        WIDE.set_axis(["fold 1", "Fold 2", "fold_3"], axis=1),
    ],
    ids=lambda frame: " ".join(frame.columns),
)
def test_columns_that_are_no_configurations_are_refused(frame):
    with pytest.raises(SoberError, match=r"is not a configuration; .*sobercv\.bbc") as error:
        sobercv.correct(frame)
    assert error.value.code == "E812"


@pytest.mark.parametrize("name", ["Unnamed: 0", "index", "...1", "V1"])
def test_numbers_of_rows_are_no_configuration(name):
    found = sobercv.correct(WIDE.assign(**{name: np.arange(1, 11)}))
    assert np.array_equal(found.draws, sobercv.correct(WIDE).draws)


FOLDS, REPEATS = np.tile(np.arange(1, 6), 2), np.repeat([1, 2], 5)
TOLD = {
    "two columns": {"fold": FOLDS, "repeat": REPEATS},
    "tidymodels": {"id": [f"Repeat{r}" for r in REPEATS], "id2": [f"Fold{f}" for f in FOLDS]},
    "caret": {"Resample": [f"Fold{f}.Rep{r}" for f, r in zip(FOLDS, REPEATS, strict=True)]},
}


@pytest.mark.parametrize("told", TOLD.values(), ids=TOLD)
@pytest.mark.parametrize("is_long", [False, True])
@pytest.mark.parametrize("n_repeats", [None, 2])
def test_repeats_are_told_in_the_same_way_by_wide_and_long_tables(told, is_long, n_repeats):
    frame = WIDE.assign(**told)
    frame = frame.sort_values("id2" if "id2" in told else next(iter(told)), kind="stable")
    frame = frame.melt([*told], var_name="model", value_name="score") if is_long else frame
    found = sobercv.correct(frame, n_repeats=n_repeats)
    assert found.n_repeats == 2
    assert found.draws == pytest.approx(REPEATED.draws, abs=1e-12)


@pytest.mark.parametrize("is_long", [False, True])
def test_repeats_that_contradict_each_other_are_refused(is_long):
    def read(frame, **options):
        told = [name for name in ("fold", "repeat") if name in frame]
        return sobercv.correct(frame.melt(told, var_name="model", value_name="score") if is_long else frame, **options)

    frame = WIDE.assign(**TOLD["two columns"])
    for given, options in (
        (frame, {"n_repeats": 5}),
        (frame.drop(index=9), {}),
        (frame.drop(index=9), {"n_repeats": 3}),
    ):
        with pytest.raises(SoberError, match="repeats") as error:
            read(given, **options)
        assert error.value.code == "E108"
    counted = WIDE.assign(fold=np.arange(10))
    assert read(counted, n_repeats=2).n_repeats == 2
    with pytest.raises(SoberError, match="3 repeats"):
        read(counted, n_repeats=3)


def test_scores_of_different_measures_are_never_compared():
    rows = [
        {"fold": f, "model": f"m{m}", "metric": k, "score": m + 0.01 * f + 9 * (k == "odd")}
        for f in range(5) for m in range(3) for k in ("accuracy_of_mine", "odd")
    ]  # fmt: skip
    with pytest.raises(SoberError, match="The table holds accuracy_of_mine, odd") as error:
        sobercv.correct(pd.DataFrame(rows))
    assert error.value.code == "E113"
    found = sobercv.correct(pd.DataFrame(rows), "odd", greater_is_better=False)
    assert found.winner_name == "m0"


def test_the_column_that_metric_names_is_read_even_beside_one_called_score():
    frame = pd.DataFrame({"fold": np.repeat(np.arange(5), 2), "model": ["a", "b"] * 5, "score": [0.1, 0.9] * 5})
    frame["accuracy"] = 1 - frame["score"]
    assert sobercv.correct(frame, "accuracy").winner_name == "a"
    found = sobercv.correct(frame)
    assert found.winner_name == "b"
    assert any(note.code == "W206" and "score is taken" in note.text for note in found.notes)


def test_caret_resamples_of_several_models():
    frame = pd.DataFrame({"Resample": [f"Fold{f}" for f in range(1, 6)]})
    for m, model in enumerate(["rf", "svm"]):
        frame[f"{model}~Accuracy"] = 0.5 + 0.1 * m + np.arange(5) / 100
        frame[f"{model}~Kappa"] = 0.9 - 0.1 * m + np.arange(5) / 100
    with pytest.raises(SoberError, match="holds Accuracy, Kappa"):
        sobercv.correct(frame)
    found = sobercv.correct(frame, "Accuracy")
    assert (found.winner_name, found.n_configurations, found.naive) == ("svm", 2, pytest.approx(0.62))


@pytest.mark.parametrize("name", ["Bootstrap", "Resample"])
def test_bootstraps_overlap_and_widen_the_interval(name):
    frame = WIDE.assign(id=[f"{name}{b:02d}" for b in range(10)])
    long = frame.melt(["id"], var_name="model", value_name="score")
    plain = sobercv.correct(WIDE)
    for found in (sobercv.correct(frame), sobercv.correct(long)):
        assert found.value == pytest.approx(plain.value, abs=1e-12)
        assert found.interval[1] - found.interval[0] > 1.3 * (plain.interval[1] - plain.interval[0])
        assert any(note.code == "W203" for note in found.notes)


def test_tidymodels_bayes_and_workflow_sets():
    bayes = tidy().assign(**{".iter": lambda f: f["penalty"].rank(method="dense") - 1})
    found = sobercv.correct(bayes, "roc_auc")
    assert found.n_folds == 5
    assert any(note.code == "W811" for note in found.notes)
    both = pd.concat([tidy().assign(wflow_id=name) for name in ("svm", "knn")])
    assert sobercv.correct(both, "roc_auc").n_configurations == 6


def test_caret_measures_of_several_classes():
    """multiClassSummary: measures with a prefix are no parameters."""
    frame = pd.read_csv(FILES / "caret-resample.csv")
    more = frame.assign(Mean_F1=RNG.random(len(frame)), Mean_Pos_Pred_Value=RNG.random(len(frame)))
    assert np.array_equal(read_frame(more).first, read_frame(frame).first)


def test_infinite_scores_are_failures():
    found = sobercv.correct(np.where(SCORES.max() == SCORES, np.inf, SCORES))
    assert found.n_left_out == 1
    assert np.isfinite([found.value, found.naive, *found.interval]).all()


def test_metrics_of_fold_scores_are_names():
    assert sobercv.correct(SCORES, ["accuracy"])["accuracy"].value == sobercv.correct(SCORES, "accuracy").value
    for metric in (["accuracy", "roc_auc"], len):
        with pytest.raises(SoberError, match="Name one metric") as error:
            sobercv.correct(SCORES, metric)
        assert error.value.code == "E114"


@pytest.mark.parametrize(
    ("thing", "n_repeats", "code"), [(pd.Series([0.5, 0.6]), None, "E123"), (SCORES, 0, "E108"), (SCORES, -5, "E108")]
)
def test_neither_a_series_nor_a_number_of_repeats_below_one(thing, n_repeats, code):
    with pytest.raises(SoberError) as error:
        sobercv.correct(thing, n_repeats=n_repeats)
    assert error.value.code == code


def test_an_index_that_says_where_a_row_was_is_read():
    named = WIDE.assign(**TOLD["two columns"]).set_index(["repeat", "fold"])
    assert sobercv.correct(named).interval == REPEATED.interval
    by_fold = WIDE.set_axis(range(3), axis=1).set_axis([f"Fold{f}" for f in range(10)]).rename_axis("fold")
    assert np.array_equal(sobercv.correct(by_fold).draws, sobercv.correct(WIDE).draws)
    by_model = WIDE.T.rename_axis("model")
    with pytest.raises(SoberError, match="'model' is not a configuration"):
        sobercv.correct(by_model)


def test_a_table_with_a_row_for_each_configuration_is_refused():
    with pytest.raises(SoberError, match=r"Pass frame\.T") as error:
        sobercv.correct(WIDE.T)
    assert error.value.code == "E812"
    assert np.array_equal(sobercv.correct(WIDE.T.T).draws, sobercv.correct(WIDE).draws)


def test_saved_results_that_are_not_those_of_one_search_are_refused():
    X, y = load_iris(return_X_y=True)
    searches = [
        GridSearchCV(DecisionTreeClassifier(max_features=n, random_state=0), {"max_depth": [1, 2, 3, None]}, cv=5)
        for n in (1, 4)
    ]
    frame, other = (pd.DataFrame(search.fit(X, y).cv_results_).sort_values("rank_test_score") for search in searches)
    assert sobercv.correct(frame).n_configurations == 4
    joined = pd.concat([frame, other])
    for part in (frame.iloc[1:], frame.iloc[[0, 3]], joined):
        with pytest.raises(SoberError, match="does not rank all rows") as error:
            sobercv.correct(part)
        assert error.value.code == "E813"
    found = sobercv.correct(joined.drop(columns="rank_test_score"))
    assert found.naive == pytest.approx(joined["mean_test_score"].max())


def mlr3(resampling, task="a", n=10):
    return pd.DataFrame([
        {"nr": m + 1, "learner_id": f"l{m}", "iteration": i + 1, "task_id": task, "resampling_id": resampling,
         "classif.acc": WIDE.iloc[i, m]}
        for m in range(3) for i in range(n)
    ])  # fmt: skip


def test_mlr3_says_by_its_resampling_how_iterations_hang_together():
    with pytest.raises(SoberError, match=r"n_repeats= .*--repeats") as error:
        sobercv.correct(mlr3("repeated_cv"))
    assert error.value.code == "E108"
    found = sobercv.correct(mlr3("repeated_cv"), n_repeats=2)
    assert found.draws == pytest.approx(REPEATED.draws, abs=1e-12)
    plain = sobercv.correct(mlr3("cv"))
    for name in ("bootstrap", "subsampling"):
        wide = sobercv.correct(mlr3(name))
        assert wide.interval[1] - wide.interval[0] > 1.3 * (plain.interval[1] - plain.interval[0])
        assert any(note.code == "W203" for note in wide.notes)


def test_leave_one_out_of_mlr3_has_no_repeats():
    frame = pd.concat([mlr3("loo"), mlr3("loo").assign(iteration=lambda f: f["iteration"] + 10)])
    assert not any(note.code == "W203" for note in sobercv.correct(frame).notes)


def test_random_names_of_mlr3_do_not_order_configurations():
    frame = mlr3("cv").assign(learner_id="tree")
    frame = frame.assign(uhash=frame["nr"].map({1: "c7", 2: "a1", 3: "b4"}))
    found = sobercv.correct(frame)
    assert found.winner_name == f"nr={found.winner + 1}, learner_id=tree"
    twice = pd.concat([frame, frame.assign(uhash="9" + frame["uhash"])])  # two benchmarks number theirs alike
    assert sobercv.correct(twice).n_configurations == 6


def test_rows_of_several_tasks_or_resamplings_are_refused():
    with pytest.raises(SoberError, match="holds the tasks 'a' and 'b'; keep the rows of one"):
        sobercv.correct(pd.concat([mlr3("cv"), mlr3("cv", "b")]))
    with pytest.raises(SoberError, match="holds the resamplings 'cv' and 'bootstrap'; keep"):
        sobercv.correct(pd.concat([mlr3("cv"), mlr3("bootstrap").assign(nr=9)]))
    for name in ("dataset", "task"):
        both = pd.concat([mlr3("cv").drop(columns="task_id").assign(**{name: value}) for value in "ab"])
        with pytest.raises(SoberError, match="holds the tasks 'a' and 'b'"):
            sobercv.correct(both)
    rows = pd.DataFrame(
        {"row_ids": [1, 2], "truth": ["n", "y"], "response": ["n", "n"], "task_id": ["a", "b"], "nr": 1}
    )
    with pytest.raises(SoberError, match="tasks 'a' and 'b'"):
        sobercv.correct(rows)


@pytest.mark.parametrize("name", ["Mean", "mean", "average", "SD"])
@pytest.mark.parametrize("shape", ["wide", "long", "index"])
def test_a_row_of_means_is_no_fold(name, shape):
    frame = WIDE.assign(fold=[f"Fold{f:02d}" for f in range(10)])
    below = frame.iloc[:1].assign(**WIDE.mean(), fold=name)
    frame = pd.concat([frame, below], ignore_index=True)
    if shape == "long":
        frame = frame.melt(["fold"], var_name="model", value_name="score")
    elif shape == "index":
        frame = frame.set_index("fold").rename_axis(None)
    found = sobercv.correct(frame)
    assert found.n_folds == 10
    assert found.draws == pytest.approx(sobercv.correct(WIDE).draws, abs=1e-12)
    assert any(note.code == "W204" and repr(name) in note.text for note in found.notes)
    with pytest.raises(SoberError, match=f"'{name}' is not a configuration"):
        sobercv.correct(WIDE.assign(**{name: WIDE.mean(axis=1)}))


@pytest.mark.parametrize("is_long", [False, True])
def test_a_row_that_names_no_fold_is_refused(is_long):
    """It may hold the means, or be of any fold."""
    frame = WIDE.assign(fold=[*range(1, 10), None])
    frame = frame.melt(["fold"], var_name="model", value_name="score") if is_long else frame
    with pytest.raises(SoberError, match="'fold' has missing values") as error:
        sobercv.correct(frame)
    assert error.value.code == "E812"


@pytest.mark.parametrize(
    ("columns", "advice"),
    [
        (["neighbors", ".metric", ".estimator", ".config", "mean", "n", "std_err"], "summarize = FALSE"),
        (["nr", "task_id", "learner_id", "resampling_id", "iters", "classif.ce"], r"bmr\$score"),
        (["k", "Accuracy", "Kappa", "AccuracySD", "KappaSD"], "returnResamp"),
    ],
    ids=["tidymodels", "mlr3", "caret"],
)
def test_means_over_folds_are_refused_with_what_to_save(columns, advice):
    frame = pd.DataFrame(RNG.random((4, len(columns))), columns=columns)
    for read in (sobercv.correct, recognise):
        with pytest.raises(SoberError, match=f"means over folds.*{advice}") as error:
            read(frame)
        assert error.value.code == "E812"
