"""The page about metrics is true: every metric is listed, with the arguments that it takes and the range that it has."""

import re
from pathlib import Path

import numpy as np
import pytest
import sklearn.metrics

import sobercv
from sobercv.metrics import by_name

PAGE = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text()
ROWS = {
    cells[0].strip("` "): [cell.strip("` ") for cell in cells[1:]]
    for cells in (line.strip("|").split("|") for line in PAGE.splitlines() if line.startswith("| `"))
}
SHORT = re.compile(r"_(macro|micro|weighted|ovr|ovo)$")
NEEDED = {"beta": 2, "threshold": 0.2, "time": 5, "times": [2, 5], "missed": 5}


def test_every_metric_is_listed():
    assert set(ROWS) == {name for name in by_name.METRICS if not SHORT.search(name)}


@pytest.mark.parametrize("name", sorted(ROWS))
def test_arguments_function_and_range(name):
    arguments, function, ends = ROWS[name]
    takes = by_name.parameters(by_name.METRICS[name])
    spelled = [key if p.default is p.empty else f"{key}={p.default!r}" for key, p in takes.items()]
    assert arguments == ", ".join(spelled)
    assert function in {
        "",
        *(known for known in sklearn.metrics.__all__ if by_name.name_of(getattr(sklearn.metrics, known)) == name),
    }
    metric = sobercv.metrics.get(name, **{key: NEEDED[key] for key, p in takes.items() if p.default is p.empty})
    if name not in ("net_benefit", "neg_cost"):  # whose lower ends depend on their arguments
        numbers = [float(end.replace("−", "-").replace("∞", "inf")) for end in ends.split(" to ")]
        np.testing.assert_array_equal(numbers, metric.range)
