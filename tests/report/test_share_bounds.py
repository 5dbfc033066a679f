"""Shares of nothing and of everything: Wilson's bounds, as his formula gives them, and nothing else is changed."""

import math

import numpy as np
import pytest

from sobercv.report.charts import confusion, decision
from sobercv.report.evidence import Evidence

Z = 1.959963984540054


def wilson(successes, n):
    """The textbook formula."""
    p = successes / n
    middle = (p + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    return middle - half, middle + half


@pytest.mark.parametrize("n", [2, 7, 40, 1000])
def test_nothing_and_everything_have_wilsons_bounds(n):
    shown = np.array([0.0, 1.0, 0.5, np.nan])
    seen = np.ones((n, 1), bool)
    evidence = Evidence(y=np.zeros(n), responses={}, seen=seen, weight=np.ones(n), groups=None, classes=None,
                        task="classification", level=0.95, seed=0)  # fmt: skip
    _, low, high = evidence.share_band(lambda *_: shown, [seen] * 4)
    np.testing.assert_allclose([low[0], high[0]], [0, wilson(0, n)[1]], atol=1e-12)
    np.testing.assert_allclose([low[1], high[1]], [wilson(n, n)[0], 1], atol=1e-12)
    assert (low[2], high[2]) == (0.5, 0.5)
    assert np.isnan([low[3], high[3]]).all()


def perfect(groups=None):
    y = np.repeat([0, 1], [30, 10])
    chance = np.where(y == 1, 0.9, 0.1)[:, None]
    return Evidence(
        y=y, responses={"predict": y[:, None], "predict_proba": chance}, seen=np.ones((40, 1), bool), weight=np.ones(40),
        groups=groups, classes=np.array(["well", "ill"]), task="classification", level=0.95, seed=0,
    )  # fmt: skip


def test_nobody_is_quite_sure_of_a_perfect_table():
    chart, table = confusion(perfect())
    assert [box.tint for box in chart.boxes] == [1.0, 0.0, 0.0, 1.0]
    assert table.rows[1][1] == f"100 ({100 * wilson(30, 30)[0]:.0f}\u2013100)"
    assert table.rows[2][1] == f"0 (0\u2013{100 * wilson(0, 10)[1]:.0f})"
    row = next(row for row in decision(perfect())[1].rows if row[0] == "0.5")
    assert row[2:4] == ("100 (72\u2013100)", "100 (89\u2013100)")


def test_groups_count_as_one_each():
    _, table = confusion(perfect(groups=np.repeat(np.arange(8), 5)))
    assert table.rows[1][1] == f"100 ({100 * wilson(6, 6)[0]:.0f}\u2013100)"
