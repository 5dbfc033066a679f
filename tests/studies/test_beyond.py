"""The study beyond two classes: what it measures, and what it advises."""

import json

import numpy as np
from studies.beyond import page
from studies.beyond.measure import judge
from studies.beyond.run import RESULTS, run
from studies.beyond.summaries import TITLES, of_metric
from studies.harness import read_results
from studies.intervals.tables import Place

import sobercv


def _table(rng, n=40, judges=400, c=5):
    """Numbers that every model predicts equally well: whoever wins was lucky."""
    y, y_judges = rng.normal(size=n), rng.normal(size=judges)
    return {
        "y": y,
        "y_judges": y_judges,
        "folds": (np.arange(n) % 10)[:, None],
        "predictions": (y[:, None] + rng.normal(size=(n, c)))[:, :, None],
        "judged": y_judges[:, None] + rng.normal(size=(judges, c)),
    }


def test_a_table_is_judged_by_what_the_library_gives():
    table = _table(np.random.default_rng(0))
    r2, squared = judge(table, 3)
    expected = sobercv.bbc(
        table["y"], table["predictions"], "r2", folds=table["folds"], interval="percentile", random_state=3
    )
    assert (r2["bbc"], r2["naive"]) == (expected.value, expected.naive)
    assert r2["naive"] >= r2["632+"] >= r2["bbc"]
    assert squared["truth"] < 0
    assert abs(r2["truth"] - (1 + squared["truth"])) < 1e-6  # the squared error in units of the variance is 1 - R2


def test_pieces_are_kept(tmp_path):
    (tmp_path / "tables").mkdir()
    place = Place("diabetes", 60, 0, 5)
    np.savez(tmp_path / "tables" / place.file, **_table(np.random.default_rng(1)))
    rows = run([], tmp_path, make=False, say=lambda _: None)
    assert [(row["data"], row["metric"]) for row in rows] == [
        ("diabetes", "neg_mean_squared_error"),
        ("diabetes", "r2"),
    ]
    (kept,) = (tmp_path / "beyond").iterdir()
    kept.write_text(json.dumps([{**row, "truth": 0.5} for row in json.loads(kept.read_text())]))
    assert run([], tmp_path, make=False, say=lambda _: None)[0]["truth"] == 0.5


def test_a_metric_has_a_line_with_its_advice():
    rows = read_results(RESULTS)
    lines = page.summary(rows).splitlines()[2:]
    assert len(lines) == len(TITLES)
    assert all(len(of_metric(rows, metric)) >= 100 for metric in TITLES)
    narrow = [row | {"covers calibrated": 0.5, "covers percentile": 0.5} for row in rows]
    assert all("ask for 99 %" in line for line in page.summary(narrow).splitlines()[2:])
