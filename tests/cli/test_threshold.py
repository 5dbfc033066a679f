"""sober fit --tune-threshold: every file of the run speaks of the same threshold."""

import json

import numpy as np
import pandas as pd

from .conftest import SMALL, refitted, table

TUNED = ("fit", "data.csv", "--target", "y", "--positive", "ill", "--metric", "f1", "--tune-threshold", "-o", "run",
         *SMALL)  # fmt: skip


def test_a_run_tunes_judges_and_predicts_with_its_threshold(sober, tmp_path):
    frame = table("binary")
    frame.to_csv(tmp_path / "data.csv", index=False)
    ended = sober(*TUNED, "--repeats", "2", "--fast")
    assert ended.code == 0, ended.err
    results = json.loads((tmp_path / "run" / "results.json").read_text())
    threshold = results["model"]["threshold"]
    assert 0 < threshold < 1
    assert f"at a probability of {threshold:.4g} or more" in results["winner"]
    assert "W218" in [note["code"] for note in results["warnings"] + results["summary"]["notes"]]
    assert "--tune-threshold" in results["command"]
    assert results["score"]["naive"] > results["score"]["value"]
    assert "threshold, which was tuned again" in (tmp_path / "run" / "METHODS.md").read_text()

    said = sober("predict", "run", "data.csv", "-o", "said.csv")
    assert said.code == 0, said.err
    predicted = pd.read_csv(tmp_path / "said.csv")
    chance = predicted[f".pred_{results['model']['positive']}"].to_numpy()
    np.testing.assert_array_equal(predicted[".pred_class"] == results["model"]["positive"], chance >= threshold)

    assert (refitted(tmp_path) == predicted[".pred_class"]).all()

    again = sober("correct", "run", "--metric", "f1", "--json")
    assert again.code == 0, again.err
    assert f"{results['score']['value']:.10g}"[:8] in again.out


def test_what_cannot_be_tuned_is_said_before_anything_is_written(sober, tmp_path):
    table("binary").to_csv(tmp_path / "data.csv", index=False)
    for words, hint in (((), "--metric balanced_accuracy"), (("--metric", "roc_auc"), "true and false positives")):
        ended = sober("fit", "data.csv", "--target", "y", "--tune-threshold", *words, *SMALL, "-o", "run")
        assert ended.code == 2
        assert "E114" in ended.err
        assert hint in " ".join(ended.err.split())
    assert not (tmp_path / "run").exists()
