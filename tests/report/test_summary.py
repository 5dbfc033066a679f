from copy import copy
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline

import sobercv
from sobercv import seeds
from sobercv.errors import CODES, Note, SoberError
from sobercv.report import Summary, summarize
from sobercv.report.model_charts import importance

from . import cases

CHARTS = {
    "binary": ["roc", "precision_recall", "calibration", "decision"],
    "labels_only": [],
    "several": ["roc"],
    "regression": ["predicted"],
    "survival": ["survival"],
    "hostile": ["roc", "precision_recall", "calibration", "decision"],
}


@pytest.mark.parametrize("name", CHARTS)
def test_every_task_has_its_charts_and_the_summary_survives_json(name):
    search, X, y = cases.CASES[name]()
    summary = cases.summary(name)
    (curves,) = [section for section in summary.sections if section.name == "curves"] or [None]
    drawn = [] if curves is None else [chart.name for chart in curves.charts if chart.name != "confusion"]
    assert drawn == CHARTS[name]
    assert (cases.chart(summary, "confusion") is not None) == (summary.task == "classification")
    assert cases.chart(summary, "importance") is not None
    assert msgspec.json.decode(summary.to_json(), type=Summary) == summary
    assert summary == replace(summarize(search, X, y, n_permutations=1), created="now")


def test_numbers_are_those_of_the_search():
    search, _, _ = cases.binary()
    summary = summarize(search)
    estimate = search.estimate_["roc_auc"]
    first = summary.scores[0]
    assert (first.value, first.interval, first.naive) == (estimate.value, estimate.interval, estimate.naive)
    assert [s.metric for s in summary.scores] == ["roc_auc", "accuracy", "neg_log_loss"]
    assert f"{estimate.value:.{first.digits}f}" in summary.headline
    assert f"{estimate.value:.{first.digits}f}" in summary.why
    assert sum(box.y1 for box in cases.chart(summary, "draws").boxes) == len(estimate.draws)
    assert cases.chart(summary, "importance") is None
    assert (summary.seed, summary.task) == (search.seed_, "classification")


def test_the_race_adds_up_and_the_table_tells_everybodys_fate():
    search, _, _ = cases.binary()
    summary = summarize(search)
    log = search.race_
    boxes = cases.chart(summary, "race").boxes
    gone = sum(box.y1 - box.y0 for box in boxes if box.series > 0)
    alive = [box.y1 for box in boxes if box.series == 0][-1]
    assert summary.race.n_start - gone == alive == int(log.finishers.sum())
    assert (
        [row.index for row in summary.configurations if row.is_winner]
        == [search.best_index_]
        == [summary.configurations[0].index]
    )
    by_index = {row.index: row for row in summary.configurations}
    for c, status in enumerate(log.status):
        row = by_index[c]
        assert row.status == status
        assert (row.dropped_after is not None) == (status == "dropped") == (row.p is not None)
        assert (row.wins is None) == (status == "failed")
    assert sum(row.wins or 0.0 for row in summary.configurations) == pytest.approx(1.0)
    (failed,) = [table for table in summarize(search).tables if table.name == "failures"]
    assert [row[0] for row in failed.rows[1:]] == [str(c) for c in log.failures]
    assert "nonsense" in failed.rows[1][1]


def test_why_speaks_of_luck_only_where_there_was_some():
    search, X, y = cases.binary()
    one = cases.fitted(LogisticRegression(), {"C": [1.0]}, X, y, scoring="roc_auc")
    assert "one configuration" in summarize(one).why
    best = summarize(search)
    assert ("luck" in best.why) == (best.scores[0].optimism > 0)
    assert {"W202"} <= {c.code for c in summarize(one).notes}


def test_notes_have_codes_and_titles():
    found = {c.code: c for c in summarize(*cases.labels_only()[:1]).notes}
    assert "roc_auc" in found["W704"].text
    assert "W204" in {c.code for c in summarize(cases.binary()[0]).notes}
    rng = np.random.default_rng(0)
    noise = cases.fitted(
        LogisticRegression(), {"C": [0.01, 1.0, 100.0]}, rng.normal(size=(60, 5)), np.arange(60) % 2, scoring="roc_auc"
    )
    codes = {c.code: c.title for c in summarize(noise).notes}
    assert codes["W701"] == CODES["W701"]


def test_what_checks_found_is_said_once_and_suggestions_last():
    search, _, _ = cases.binary()
    given = [Note("S801", "One column holds dates: 'born'."), Note("W806", "Column 'x' predicts the target.", ("x",))]
    found = summarize(search, notes=given).notes
    assert [note.code for note in found] == ["W806", "W204", "S801"]
    assert found[0].columns == ("x",)
    given = [Note(code, "A text.") for code in ("W801", "W704", "W809", "W301", "S801", "W806")]
    codes = [note.code for note in summarize(search, notes=given).notes]
    assert codes == ["W301", "W806", "W704", "W204", "W801", "W809", "S801"]
    judged = replace(next(iter(search.estimate_.values())), notes=(Note("W205", "There are few."),))
    few = copy(search)
    few.estimate_ = dict.fromkeys(search.estimate_, judged)
    texts = [note.text for note in summarize(few, notes=[Note("W205", "Said by a check.")]).notes]
    assert "There are few." in texts
    assert "Said by a check." not in texts


@pytest.mark.filterwarnings("ignore::sobercv.errors.SoberWarning")
def test_notes_of_an_estimate_have_the_code_of_their_warning():
    rng = np.random.default_rng(0)
    y, p, folds = np.arange(40) % 2, rng.random((40, 3)), np.arange(40) // 10
    pruned = np.ma.masked_array(p, np.arange(120).reshape(40, 3) == 119)
    given = {
        "W201": sobercv.bbc((np.arange(40) < 3).astype(int), p, "roc_auc", n_bootstraps=300, random_state=0),
        "W202": sobercv.bbc(y, p[:, :1], "roc_auc", n_bootstraps=50, random_state=0),
        "W203": sobercv.bbc(y, p + 100.0 * folds[:, None], "roc_auc", folds=folds, n_bootstraps=50),
        "W204": sobercv.bbc(y, pruned, "roc_auc", n_bootstraps=50, random_state=0),
        "W205": sobercv.bbc(y[:12], p[:12], "accuracy", n_bootstraps=50, random_state=0),
    }  # fmt: skip
    for code, estimate in given.items():
        assert code in [note.code for note in estimate.notes], (code, estimate.notes)


def test_importance_is_scikit_learns():
    search, X, y = cases.regression()
    found, said = importance(search, X, y, n_permutations=3)
    expected = permutation_importance(
        search, X, y, n_repeats=3, random_state=seeds.integer(search.seed_, "permutation")
    )
    assert {b.label: b.value for b in found} == pytest.approx(
        dict(zip(X.columns, expected.importances_mean, strict=True)), rel=1e-5
    )
    assert [b.value for b in found] == sorted((b.value for b in found), reverse=True)
    assert "training data" in said


def test_importance_is_left_out_with_a_reason():
    search, X, y = cases.regression()
    unfinished = cases.fitted(Ridge(), {"alpha": [1.0, 2.0]}, X, y, refit=False)
    given = [
        (search, X, None, "y was not"),
        (unfinished, X, y, "no final model"),
        (search, X.to_numpy().tolist(), y, "columns"),
        (search, sparse.csr_matrix(X), y, "failed on shuffled"),
    ]
    for fitted, data, target, words in given:
        found, reason = importance(fitted, data, target)
        assert found == ()
        assert words in reason
    assert importance(search, None, None) == ((), "")
    assert [note.code for note in summarize(unfinished, X, y).notes][-1] == "W704"


def test_code_that_repeats_the_search_has_no_addresses():
    X, y = cases.regression()[1:]

    def own(estimator, X, y):
        return estimator.score(X, y)

    assert " at 0x" not in summarize(cases.fitted(Ridge(), {"alpha": [1.0, 2.0]}, X, y, scoring=own)).command


def test_bad_arguments_are_refused_in_a_sentence():
    search, X, y = cases.regression()
    with pytest.raises(SoberError) as caught:
        summarize(search, X[:50], y)
    assert caught.value.code == "E502"
    assert "50" in caught.value.message
    with pytest.raises(SoberError) as caught:
        summarize(search, X, y, n_permutations=-1)
    assert caught.value.code == "E108"
    with pytest.raises(SoberError) as caught:
        search.report("report.pdf")
    assert caught.value.code == "E122"
    with pytest.raises(NotFittedError):
        sobercv.BBCSearchCV(Ridge(), {"alpha": [1.0]}).report("x.html")


@pytest.mark.parametrize("ending", ["html", "md", "csv", "json"])
def test_report_writes_what_the_ending_says(tmp_path, ending):
    search, X, y = cases.regression()
    path = search.report(tmp_path / f"report.{ending}", X, y, title="Sugar", n_permutations=1)
    text = path.read_text(encoding="utf-8")
    assert text.startswith({"html": "<!doctype html>", "md": "## Scores", "csv": "scores,Metric", "json": "{"}[ending])


def test_a_dropped_configuration_that_won_resamples_is_explained():
    summary = summarize(cases.binary()[0])
    won = [row.wins for row in summary.configurations if row.status == "dropped" and row.wins]
    assert bool(won) == ("A dropped configuration can win a resample" in summary.table_note)


def test_tuning_is_compared_with_the_first_model_that_is_not_a_constant():
    X, y = load_breast_cancer(return_X_y=True)
    models = [DummyClassifier(), GaussianNB(var_smoothing=10.0), GaussianNB()]
    search = sobercv.BBCSearchCV(
        Pipeline([("model", DummyClassifier())]), {"model": models}, scoring="roc_auc", cv=5, drop=None
    ).fit(X[::5], y[::5])
    assert summarize(search).tuning == search.gain_over(1).sentence("the first model (naive Bayes, all columns)")
