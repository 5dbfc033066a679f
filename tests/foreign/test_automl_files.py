"""What AutoGluon, mljar-supervised and Optuna wrote (by the scripts in make/) gives the same estimate as the matrix it holds."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import optuna
import pandas as pd
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

import sobercv
from sobercv.cli.app import run
from sobercv.correction import judge_predictions, recognise
from sobercv.errors import SoberError

FILES = Path(__file__).parent / "files"


def same(one, other):
    assert one.value == pytest.approx(other.value, abs=1e-12)
    assert one.interval == pytest.approx(other.interval, abs=1e-12)
    assert one.winner == other.winner


def tables(name):
    """Of each model its out-of-fold predictions, by pandas alone."""
    found = sorted((FILES / name).glob("*/predictions_out_of_folds.csv"))
    return {path.parent.name: pd.read_csv(path) for path in found}


@pytest.mark.parametrize(
    ("name", "metric", "n"),
    [("mljar-two", "roc_auc", 4), ("mljar-three", "roc_auc_ovr", 5), ("mljar-numbers", "r2", 6)],
)
def test_mljar(name, metric, n):
    models = tables(name)
    values = np.stack([t.drop(columns="target").to_numpy() for t in models.values()], axis=1)  # [N, C, K]
    matrix = values[:, :, 0] if values.shape[2] == 1 else values
    y = next(iter(models.values()))["target"].to_numpy()
    given = matrix if metric == "r2" else {"predict_proba": matrix if matrix.ndim == 2 else matrix[:, :, None]}
    found = sobercv.correct(FILES / name)
    assert (found.metric, found.n_configurations) == (metric, n)
    same(found, sobercv.bbc(y, given, metric))
    assert found.winner_name == list(models)[found.winner]
    assert {note.code for note in found.notes} >= {"W204", "W811"}  # the ensemble is left out; it climbed hills


def test_mljar_by_the_command(capsys):
    assert run(["correct", str(FILES / "mljar-two"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["tool"] == "mljar"
    assert told["score"]["value"] == pytest.approx(sobercv.correct(FILES / "mljar-two").value, abs=1e-12)


def test_mljar_folders_that_hold_something_else(tmp_path):
    with pytest.raises(SoberError) as caught:
        sobercv.correct(tmp_path)
    assert caught.value.code == "E812"
    for model, rows in (("1_Tree", "0,0.1\n1,0.9\n"), ("2_Tree", "1,0.1\n0,0.9\n")):
        (tmp_path / model).mkdir()
        (tmp_path / model / "predictions_out_of_folds.csv").write_text("target,prediction\n" + rows)
        (tmp_path / model / "framework.json").write_text("{}")
    (tmp_path / "params.json").write_text("{}")
    with pytest.raises(SoberError, match="predicted different rows"):
        sobercv.correct(tmp_path)


def by_column(frame, truth):
    return frame[truth].to_numpy(), {name: frame[name].to_numpy() for name in frame.columns if name != truth}


def by_row(frame):
    chances = [c for c in frame.columns if c.startswith("prob_")]
    parts = {name: part.sort_values("row") for name, part in frame.groupby("model")}
    return next(iter(parts.values()))["y_true"].to_numpy(), {n: part[chances].to_numpy() for n, part in parts.items()}


AUTOGLUON = {"two": "species", "three": None, "numbers": "progression"}


@pytest.mark.parametrize("name", AUTOGLUON)
def test_autogluon(name):
    """The table, the matrix, and what `sobercv.correct` said of the live predictor when the script ran."""
    frame = pd.read_csv(FILES / f"autogluon-{name}.csv")
    live = json.loads((FILES / "autogluon-live.json").read_text())[name]
    y, columns = by_row(frame) if name == "three" else by_column(frame, AUTOGLUON[name])
    read = recognise(frame, target=AUTOGLUON[name])
    (found,) = judge_predictions(read, pos_label="virginica" if name == "two" else None).values()
    assert found.metric == live["metric"]
    said = {"live": live["models"][: len(columns)], "file": read.names}  # order matters where scores tie
    for who, value, interval, winner in (
        ("live", live["value"], tuple(live["interval"]), live["winner"]),
        ("file", found.value, found.interval, found.winner_name),
    ):
        matrix = np.stack([columns[model] for model in said[who]], axis=1)
        plain = sobercv.bbc(y, matrix if matrix.ndim == 2 else {"predict_proba": matrix[:, :, None]}, live["metric"])
        assert value == pytest.approx(plain.value, abs=1e-12), who
        assert interval == pytest.approx(plain.interval, abs=1e-12), who
        assert winner == said[who][plain.winner]
    assert "W204" in live["notes"]  # ensembles and stackers were left out


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("optuna") / "journal.log"
    path.write_bytes((FILES / "optuna-journal.log").read_bytes())
    return optuna.load_study(study_name="iris", storage=JournalStorage(JournalFileBackend(str(path))))


@pytest.mark.filterwarnings("ignore:1 of 6 configurations lack predictions")  # one was pruned
def test_optuna(study):
    y = np.repeat([0, 1], 30)
    kept = {t.number: t.user_attrs["oof"] for t in study.trials if t.state.name == "COMPLETE"}
    plain = sobercv.bbc(y, np.stack(list(kept.values()), axis=1), "roc_auc")
    found = sobercv.correct(study, y=y)
    same(replace(found, winner=plain.winner), plain)
    number = list(kept)[plain.winner]
    assert found.winner == number
    assert found.configurations.tolist() == list(kept)
    assert found.gain_over(next(iter(kept))).interval == plain.gain_over(0).interval
    with pytest.raises(SoberError, match="no configuration 99 to compare with") as error:
        found.gain_over(99)
    assert error.value.code == "E122"
    assert (found.winner_name, found.winner_params) == (f"trial {number}", study.trials[number].params)
    assert study.best_trial.number == number
    assert {note.code for note in found.notes} >= {"W204", "W811"}  # TPE learns from scores
    assert sobercv.correct(study, "roc_auc", y=y, predictions=kept).value == found.value
    both = sobercv.correct(study, ["roc_auc", "neg_log_loss"], y=y)
    assert both["neg_log_loss"].winner_name == f"trial {number}"


@pytest.mark.parametrize(
    ("given", "code"), [({"predictions": "nothing"}, "E111"), ({"y": [0, 1]}, "E101"), ({"method": "guess"}, "E122")]
)
def test_optuna_studies_that_cannot_be_judged(study, given, code):
    with pytest.raises(SoberError) as caught:
        sobercv.correct(study, **{"y": np.repeat([0, 1], 30), **given})
    assert caught.value.code == code


def test_optuna_says_where_the_study_selects_another_trial():
    y = np.arange(40) % 2
    rng = np.random.default_rng(0)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))

    def objective(trial):
        trial.suggest_int("depth", 1, 8)
        trial.set_user_attr(
            "oof", np.clip(0.5 + (y - 0.5) * 0.1 * trial.number + 0.2 * rng.normal(size=40), 0, 1).tolist()
        )
        return -trial.number  # the study's own score says the opposite

    study.optimize(objective, n_trials=4)
    found = sobercv.correct(study, y=y)
    assert (study.best_trial.number, found.winner_name) == (0, "trial 3")
    (note,) = [note for note in found.notes if note.code == "W212"]
    assert "best trial is 0 (value 0)" in note.text
    assert "score of 3" in note.text
    mixed = sobercv.correct(study, y=y, select=sobercv.greedy_ensemble())
    assert "trial" in mixed.decision.shown()
    several = sobercv.correct(study, ["roc_auc", "neg_log_loss"], y=y)
    assert all("W212" in {note.code for note in one.notes} for one in several.values())


@pytest.mark.filterwarnings("ignore:.* lack predictions")
def test_optuna_trials_without_predictions_are_no_configurations():
    y = np.array(["n", "y"])[np.arange(40) % 2]
    rng = np.random.default_rng(0)

    def made(kept):
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
        for number in range(4):
            trial = study.ask()
            if number in kept:
                trial.set_user_attr("oof", np.where(rng.random(40) < 0.3, y[::-1], y).tolist())
            study.tell(trial, 0.1 * number)
        return study

    found = sobercv.correct(made([1, 3]), "accuracy", y=y, method="predict")
    assert (found.configurations.tolist(), found.n_left_out) == ([1, 3], 2)
    with pytest.raises(SoberError, match="only one configuration") as error:
        sobercv.correct(made([2]), "accuracy", y=y, method="predict")
    assert error.value.code == "E813"


@pytest.mark.parametrize("code", ["-1", "0.5", "7"])
def test_mljar_targets_that_are_no_codes_of_classes(tmp_path, code):
    for model in ("1_Tree", "2_Tree"):
        (tmp_path / model).mkdir()
        rows = "".join(f"{i % 2},{0.1 * (i % 7)}\n" for i in range(30))
        (tmp_path / model / "predictions_out_of_folds.csv").write_text(
            f"target,prediction_0_for_no_1_for_yes\n{rows}{code},0.3\n"
        )
        (tmp_path / model / "framework.json").write_text("{}")
    (tmp_path / "params.json").write_text('{"ml_task": "binary_classification"}')
    with pytest.raises(SoberError, match=rf"0 to 1; got {code}\.") as caught:
        sobercv.correct(tmp_path)
    assert caught.value.code == "E812"
