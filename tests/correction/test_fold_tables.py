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
from sobercv.correction import read_frame

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
    assert found.winner_name == "Preprocessor1_Model3"
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
    assert sobercv.correct(frame).naive == pytest.approx(means.max())
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
    assert found.winner_name == "model=tree, trials=10"


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
