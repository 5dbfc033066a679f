"""sober correct: tables of other tools are recognised, and give what sobercv.bbc gives; refusals can be overruled."""

import json

import numpy as np
import pandas as pd
import pytest

import sobercv as library
from sobercv.correction import recognise

RNG = np.random.default_rng(5)
N, C = 80, 6
Y = np.where(np.arange(N) % 2 == 0, "no", "yes")
CHANCE = np.clip(0.5 + 0.2 * (Y == "yes")[:, None] - 0.1 + 0.25 * RNG.normal(size=(N, C)), 0.01, 0.99)
FOLD = np.arange(N) // 16
EXPECTED = library.bbc(Y, CHANCE, "roc_auc", random_state=0)
SETS = [f"set {c}" for c in range(C)]


def melted(**columns):
    """One row a prediction, configurations one after the other."""
    row, config = np.tile(np.arange(N), C), np.repeat(np.arange(C), N)
    base = {"row": row, "config": config, "p": CHANCE[row, config], "y": Y[row], "fold": FOLD[row]}
    return pd.DataFrame({name: make(base) for name, make in columns.items()})


TABLES = {
    "wide": pd.DataFrame({"y": Y, **{SETS[c]: CHANCE[:, c] for c in range(C)}}),
    "tidymodels": melted(**{
        "id": lambda b: np.char.add("Fold", b["fold"].astype(str)), ".pred_no": lambda b: 1 - b["p"],
        ".pred_yes": lambda b: b["p"], ".pred_class": lambda b: np.where(b["p"] > 0.5, "yes", "no"),
        ".row": lambda b: b["row"] + 1, ".config": lambda b: np.array(SETS)[b["config"]], "y": lambda b: b["y"],
    }),
    "caret": melted(
        pred=lambda b: np.where(b["p"] > 0.5, "yes", "no"), obs=lambda b: b["y"], no=lambda b: 1 - b["p"],
        yes=lambda b: b["p"], rowIndex=lambda b: b["row"] + 1, mtry=lambda b: b["config"] % 3,
        ntree=lambda b: 100 * (b["config"] // 3), Resample=lambda b: np.char.add("Fold", b["fold"].astype(str)),
    ),
    "mlr3": melted(**{
        "row_ids": lambda b: b["row"] + 1, "truth": lambda b: b["y"], "prob.no": lambda b: 1 - b["p"],
        "response": lambda b: np.where(b["p"] > 0.5, "yes", "no"), "prob.yes": lambda b: b["p"],
        "iteration": lambda b: b["fold"] + 1, "nr": lambda b: b["config"] + 1,
    }),
}  # fmt: skip
TABLES["AutoGluon"] = TABLES["wide"].rename(columns={name: f"{name}_BAG_L1" for name in SETS})


@pytest.mark.parametrize("tool", TABLES)
def test_every_known_table_gives_what_the_library_gives(sober, tmp_path, tool):
    TABLES[tool].sample(frac=1, random_state=1).to_csv(tmp_path / "p.csv", index=False)
    target = ("--target", "y") if tool in ("wide", "AutoGluon") else ()
    ended = sober("correct", "p.csv", *target, "--metric", "roc_auc", "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert found["tool"] == tool
    assert found["n_rows"] == N
    assert found["n_configurations"] == C
    assert found["score"]["naive"] == pytest.approx(EXPECTED.naive)
    if tool not in ("wide", "AutoGluon"):  # long tables give back the order of the rows, and so the same draws
        # Configurations may come in another order, which decides between equals.
        assert found["score"]["value"] == pytest.approx(EXPECTED.value, abs=1e-3)


def test_repeats_are_told_by_caret_and_by_tidymodels():
    caret = pd.concat([TABLES["caret"].assign(Resample=lambda f, r=r: f["Resample"] + f".Rep{r}") for r in (1, 2)])
    assert recognise(caret).n_repeats == 2
    tidy = TABLES["tidymodels"].rename(columns={"id": "id2"})
    assert recognise(pd.concat([tidy.assign(id=f"Repeat{r}") for r in (1, 2, 3)])).n_repeats == 3


def test_bootstraps_are_hold_outs_of_their_own():
    tidy = TABLES["tidymodels"]
    boot = tidy.assign(id=lambda f: f["id"].str.replace("Fold", "Bootstrap"))
    foreign = recognise(pd.concat([boot, boot[tidy["id"] != "Fold0"].assign(id="Bootstrap5")]))
    assert foreign.n_repeats == 6
    assert np.ma.getmaskarray(foreign.responses["predict_proba"]).any()


def test_folds_of_groups_are_folds_though_rsample_calls_them_resamples():
    tidy = TABLES["tidymodels"]
    found = recognise(tidy.assign(id=lambda f: f["id"].str.replace("Fold", "Resample")))
    assert found.n_repeats == 1
    assert (found.folds == recognise(tidy).folds).all()


def test_labels_numbers_several_classes_and_survival(sober, tmp_path):
    labels = pd.DataFrame({"y": Y, **{f"m{c}": np.where(CHANCE[:, c] > 0.5, "yes", "no") for c in range(C)}})
    labels.to_csv(tmp_path / "labels.csv", index=False)
    assert json.loads(sober("correct", "labels.csv", "--target", "y", "--json").out)["score"]["metric"] == "accuracy"
    y = RNG.normal(size=N)
    numbers = pd.DataFrame({"y": y, **{f"m{c}": y + RNG.normal(size=N) for c in range(C)}})
    numbers.to_csv(tmp_path / "numbers.csv", index=False)
    assert json.loads(sober("correct", "numbers.csv", "--target", "y", "--json").out)["score"]["metric"] == "r2"
    risks = numbers.rename(columns={"y": "time"}).assign(time=np.exp(y), event=np.arange(N) % 2)
    risks.to_csv(tmp_path / "risks.csv", index=False)
    ended = sober("correct", "risks.csv", "--time", "time", "--event", "event", "--json")
    assert json.loads(ended.out)["score"]["metric"] == "concordance_index"


def test_force_overrules_a_refusal_and_says_so(sober, tmp_path):
    TABLES["wide"].assign(WeightedEnsemble_L2=0.4 + CHANCE[:, 0] / 9).to_csv(tmp_path / "p.csv", index=False)
    assert sober("correct", "p.csv", "--target", "y").code == 2
    ended = sober("correct", "p.csv", "--target", "y", "--force")
    assert ended.code == 0
    assert "E814" in ended.err
    assert sober("correct", "p.csv", "--target", "y", "--ignore", "WeightedEnsemble_L2").err == ""
    TABLES["wide"].assign(WeightedEnsemble_L2=0.4, note="seen by K.").to_csv(tmp_path / "p.csv", index=False)
    assert sober("correct", "p.csv", "--target", "y", "--ignore", "note,WeightedEnsemble_L2").err == ""


def test_an_adaptive_search_gets_a_warning(sober, tmp_path):
    TABLES["tidymodels"].assign(**{".iter": np.repeat(np.arange(C), N)}).to_csv(tmp_path / "p.csv", index=False)
    ended = sober("correct", "p.csv")
    assert ended.code == 0, ended.err
    assert "W811" in ended.err


def test_what_people_see(sober, tmp_path):
    TABLES["tidymodels"].to_csv(tmp_path / "p.csv", index=False)
    ended = sober("correct", "p.csv", "--metric", "roc_auc")
    low, high = library.bbc(Y, CHANCE, "roc_auc", random_state=0, folds=FOLD).interval
    assert [line.rstrip() for line in ended.out.splitlines()] == [
        "metric        ROC AUC",
        f"honest score  {EXPECTED.value:.3f}   95 % interval {low:.3f} to {high:.3f}",
        f"plain CV      {EXPECTED.naive:.3f}   what plain cross-validation claims ({EXPECTED.optimism:+.3f})",
        f"winner        {SETS[EXPECTED.winner]}",
        "tuning        Tuning gained 0.023 (95 % interval -0.224 to 0.241): not clearly better than set 0.",
        "read as       tidymodels: 80 samples, 6 configurations",
        "              plain CV pools the folds; most tools print the mean over folds, which can differ",
    ]


def test_a_configuration_that_was_left_out_is_not_replaced_as_the_first(sober, tmp_path):
    table = TABLES["mlr3"]
    table[(table["nr"] > 1) | (table["iteration"] < 3)].to_csv(tmp_path / "p.csv", index=False)
    ended = sober("correct", "p.csv", "--metric", "roc_auc")
    assert ended.code == 0, ended.err
    assert "1 of 6 configurations" in ended.err
    assert "tuning" not in ended.out


def test_the_first_configuration_by_name_is_no_default(sober, tmp_path):
    names = {name: "a" if name == SETS[EXPECTED.winner] else f"b {name}" for name in SETS}
    frame = TABLES["tidymodels"].replace({".config": names})
    frame.to_csv(tmp_path / "p.csv", index=False)
    ended = sober("correct", "p.csv", "--metric", "roc_auc")
    assert "winner        a" in ended.out
    assert "tuning" not in ended.out
    TABLES["wide"].to_csv(tmp_path / "w.csv", index=False)
    assert "better than the first" in sober("correct", "w.csv", "--target", "y", "--metric", "roc_auc").out


def test_the_interval_can_be_chosen(sober, tmp_path):
    TABLES["wide"].to_csv(tmp_path / "p.csv", index=False)
    given = ("correct", "p.csv", "--target", "y", "--metric", "roc_auc", "--json")
    names = ("percentile", "calibrated", "fixed_models")
    scores = {name: json.loads(sober(*given, "--interval", name).out)["score"] for name in names}
    assert [s["interval_method"] for s in scores.values()] == ["percentile", "calibrated", "calibrated"]
    widths = {name: s["interval"][1] - s["interval"][0] for name, s in scores.items()}
    assert len(set(widths.values())) == 3
    assert widths["fixed_models"] < widths["calibrated"]


def test_scores_of_an_unnamed_class_are_asked_about(sober, tmp_path):
    y = np.where(Y == "yes", "case", "control")
    pd.DataFrame({"y": y, **{SETS[c]: CHANCE[:, c] for c in range(C)}}).to_csv(tmp_path / "p.csv", index=False)
    for metric in ((), ("--metric", "roc_auc"), ("--metric", "f1"), ("--metric", "neg_log_loss")):
        ended = sober("correct", "p.csv", "--target", "y", *metric)
        assert ended.code == 2
        assert "E120" in ended.err
        assert "--positive case" in ended.err
        assert "--positive control" in ended.err
    ended = sober("correct", "p.csv", "--target", "y", "--positive", "case", "--metric", "roc_auc", "--json")
    assert json.loads(ended.out)["score"]["naive"] == pytest.approx(EXPECTED.naive)


def test_probabilities_of_named_classes_stay_those_of_their_class(sober, tmp_path):
    names = {"yes": "case", "no": "control"}
    renamed = TABLES["mlr3"].assign(truth=lambda f: f["truth"].map(names), response=lambda f: f["response"].map(names))
    renamed.rename(columns={"prob.yes": "prob.case", "prob.no": "prob.control"}).to_csv(tmp_path / "p.csv", index=False)
    for positive in ((), ("--positive", "case"), ("--positive", "control")):
        ended = sober("correct", "p.csv", "--metric", "roc_auc", *positive, "--json")
        assert json.loads(ended.out)["score"]["naive"] == pytest.approx(EXPECTED.naive), positive
    f1 = sober("correct", "p.csv", "--metric", "f1", "--json")  # "case" is the obvious one
    by_hand = library.bbc(Y, {"predict": np.where(CHANCE > 0.5, "yes", "no")}, "f1", pos_label="yes", random_state=0)
    assert json.loads(f1.out)["score"]["naive"] == pytest.approx(by_hand.naive)


def test_an_interval_that_is_not_known_is_refused(sober, tmp_path):
    TABLES["wide"].to_csv(tmp_path / "p.csv", index=False)
    ended = sober("correct", "p.csv", "--target", "y", "--interval", "normal")
    assert ended.code == 2
    assert "percentile or calibrated" in ended.err


# ---- a finished run -------------------------------------------------------------------------------------------------
def test_a_run_is_judged_again_by_its_own_metric_with_the_same_number(sober, run_folder):
    before = json.loads((run_folder / "results.json").read_text())["score"]
    ended = sober("correct", run_folder, "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert {name: found["score"][name] for name in before} == before
    assert found["selected_by"] == "roc_auc"


def test_a_run_is_judged_again_by_other_metrics_at_the_winner_that_it_chose(sober, run_folder):
    ended = sober("correct", run_folder, "--metric", "recall,specificity", "--positive", "ill", "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    scores = {score["metric"]: score for score in [found["score"], *found["others"]]}
    assert list(scores) == ["recall", "specificity"]
    table = pd.read_parquet(run_folder / "predictions.parquet")
    summary = json.loads((run_folder / "results.json").read_text())["summary"]
    winner = next(row["index"] for row in summary["configurations"] if row["is_winner"])
    own = table[table[".config"] == f"Configuration{winner:03d}"]
    ill = own["truth"] == "ill"
    assert scores["recall"]["naive"] == pytest.approx((own[".pred_class"] == "ill")[ill].mean())
    assert scores["specificity"]["naive"] == pytest.approx((own[".pred_class"] == "well")[~ill].mean())
    low, high = scores["recall"]["interval"]
    assert low <= scores["recall"]["value"] <= high


@pytest.mark.parametrize(
    "edited",
    [
        lambda table: table.assign(**{".row": None}),
        lambda table: table.assign(**{".config": 5}),
        lambda table: table.assign(**{".pred": "x"}),
        lambda table: table.assign(**{".pred": table[".pred"].sample(frac=1, random_state=0).to_numpy()}),
        lambda table: table.drop(columns=[".config"]),
        lambda table: table[: len(table) // 2],
        lambda table: table[:0],
    ],
)
def test_predictions_that_were_edited_are_refused_in_a_sentence(sober, run_folder, edited):
    path = run_folder / "predictions.parquet"
    edited(pd.read_parquet(path)).to_parquet(path, index=False)
    ended = sober("correct", run_folder, "--metric", "accuracy")
    assert (ended.code, len(ended.err.strip().splitlines())) == (2, 1), ended.err
    assert "[E839]" not in ended.err


def test_a_run_says_what_it_cannot_be_judged_by(sober, run_folder):
    ended = sober("correct", run_folder, "--metric", "r2")
    assert (ended.code, "E116" in ended.err) == (2, True)
    assert "sober fit" not in ended.err, "no run of classes can keep what r2 needs"
    ended = sober("correct", run_folder, "--metric", "neg_log_loss")
    assert (ended.code, "name this one in sober fit" in " ".join(ended.err.split())) == (2, True), (
        "an SVM is among them"
    )
    ended = sober("correct", run_folder, "--target", "y")
    assert (ended.code, "E808" in ended.err) == (2, True)
    assert "--positive" in sober("correct", run_folder, "--metric", "recall", "--positive", "nobody").err
