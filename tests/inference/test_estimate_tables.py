"""An estimate as a table of one row."""

import numpy as np
import pandas as pd

import sobercv


def estimate():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40)
    table = pd.DataFrame(rng.random((40, 2)) + 0.2 * y[:, None], columns=["a_1 | 5 %", "b\\2"])
    return sobercv.bbc(y, table, "roc_auc", n_bootstraps=50)


def test_markdown_has_a_cell_for_each_number():
    found = estimate()
    head, line, row, end = found.to_markdown().split("\n")
    assert head == "| Metric | Honest score | 95 % interval | Plain CV | Winner |"
    assert (line, end) == ("| --- | --- | --- | --- | --- |", "")
    assert row.startswith(f"| roc_auc | {found.value:.3f} | {found.interval[0]:.3f} to {found.interval[1]:.3f} |")
    assert row.endswith((r"a_1 \| 5 % |", r"b\\2 |"))


def test_latex_is_escaped():
    text = estimate().to_latex()
    assert text.count(r"\\" + "\n") == 2
    assert r"roc\_auc" in text
    assert r"95 \% interval" in text
    assert (r"a\_1 \textbar{} 5 \%" in text) != (r"b\textbackslash{}2" in text)


def test_a_score_without_interval_has_a_dash():
    assert "| \u2013 |" in sobercv.naive([0, 1, 1, 0], [[0, 1], [1, 1], [1, 0], [0, 0]], "accuracy").to_markdown()
