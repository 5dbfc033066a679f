"""Reports of estimates without their search: from correct, from bbc and from Optuna's objective."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

import sobercv
from sobercv.errors import SoberError
from sobercv.report import summarize_estimates

GRID = {"C": [1e-4, 1e-2, 1.0]}
X, Y = make_classification(120, 6, flip_y=0.2, random_state=0)


@pytest.fixture(scope="module", params=["correct", "correct, two metrics", "bbc", "optuna"])
def estimate(request):
    if request.param == "bbc":
        scores = Y[:, None] + 1.5 * np.random.default_rng(0).normal(size=(120, 8))
        return sobercv.bbc(Y, scores, "roc_auc", random_state=0)
    if request.param == "optuna":
        optuna = pytest.importorskip("optuna")
        from sobercv.optuna import Objective

        def make(trial):
            return LogisticRegression(C=trial.suggest_float("C", 1e-4, 1.0, log=True))

        objective = Objective(make, X, Y, scoring="roc_auc", cv=4, random_state=0)
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
        study.optimize(objective, n_trials=4)
        return objective.estimate(study)
    several = (
        {"scoring": ["roc_auc", "accuracy"], "refit": "roc_auc"} if "," in request.param else {"scoring": "roc_auc"}
    )
    return sobercv.correct(GridSearchCV(LogisticRegression(), GRID, cv=5, **several).fit(X, Y))


@pytest.mark.filterwarnings("ignore::sobercv.SoberWarning")
def test_the_page_says_what_the_estimate_says(estimate, tmp_path):
    first = next(iter(estimate.values())) if isinstance(estimate, dict) else estimate
    path = estimate.report(tmp_path / "report.html", title="Ours", command="python tune.py")
    page = path.read_text(encoding="utf-8")
    summary = summarize_estimates(estimate)
    assert (summary.scores[0].value, summary.scores[0].naive) == (first.value, first.naive)
    score = summary.scores[0]
    for words in (
        "Ours",
        "python tune.py",
        f"{score.value:.{score.digits}f}",
        "How the number was obtained",
        "BBC",
        "Configurations",
    ):
        assert words in page, words
    assert "Training" not in re.findall("<button[^>]*>([^<]*)<", page), "columns of which nothing is known are left out"
    assert page.count("<tr class=") == first.n_configurations
    for note in first.notes:
        assert note.code in page


def test_tables_and_data_of_an_estimate(estimate, tmp_path):
    assert estimate.report(tmp_path / "r.md").read_text().startswith("## Scores of the winner")
    data = json.loads(estimate.report(tmp_path / "r.json").read_text())
    assert [chart["name"] for section in data["sections"] for chart in section["charts"]] == ["draws"]
    assert data["race"] is None


def test_only_a_winner_of_all_resamples_leaves_no_other():
    """A winner of none was said to have won 0 %, and "no other ever won", where one other had won them all."""
    scores = Y[:, None] + 1.5 * np.random.default_rng(0).normal(size=(120, 3))
    first = sobercv.bbc(Y, scores, "roc_auc", random_state=0)
    for won, words in ((True, "It won 100 % of the resamples; no other ever won."),
                       (False, "It won 0 % of the resamples; 1 configuration won at least once.")):  # fmt: skip
        other = next(c for c in range(3) if c != first.winner)
        counts = np.where(np.arange(3) == (first.winner if won else other), 500, 0)
        assert words in summarize_estimates(replace(first, win_counts=counts)).about_winner


def test_nothing_is_refused_in_a_sentence():
    with pytest.raises(SoberError, match="no estimate to report"):
        summarize_estimates({})


def test_a_report_that_cannot_be_written_is_refused_in_a_sentence(tmp_path):
    estimate = sobercv.bbc(Y, np.column_stack([Y, 1 - Y]).astype(float), "accuracy", random_state=0)
    with pytest.raises(SoberError, match="cannot be written") as caught:
        estimate.report(tmp_path / "missing" / "report.html")
    assert caught.value.code == "E809"


def test_an_estimate_is_formatted_like_its_number():
    estimate = sobercv.bbc(Y, np.random.default_rng(0).normal(size=(120, 3)) + Y[:, None], "roc_auc", random_state=0)
    assert f"{estimate:.3f}" == f"{estimate.value:.3f}"
    assert f"{estimate}" == str(estimate)
