"""What is said of kinds of models: who left the race early is not called as good as the winner."""

from types import SimpleNamespace

import numpy as np
import pytest

from sobercv.report.families_table import _sentence


def family(name, members, *, near):
    gap = SimpleNamespace(confidence_level=0.95)
    return SimpleNamespace(name=name, configurations=np.array(members), may_be_as_good=near, difference=gap)


def said(status, near):
    search = SimpleNamespace(best_index_=0, race_=SimpleNamespace(status=np.array(status)))
    kinds = [
        family("ridge", [0, 1], near=True),
        family("forests", [2], near=near),
        family("baseline", [3, 4], near=near),
    ]
    return _sentence(search, kinds)


@pytest.mark.parametrize(
    ("status", "near", "ends"),
    [
        (["finished"] * 5, True, "2 other kinds may be as good as the winner: forests, baseline."),
        (["finished"] * 3 + ["dropped"] * 2, True,
         "1 other kind may be as good as the winner: forests. Left the race early with hardly a chance to "
         "win; few samples judge them, so that their wide intervals say little: "
         "baseline."),
        (["finished"] * 3 + ["dropped", "failed"], False,
         "The other kinds that stayed in the race are worse than the winner by more than chance explains. Left the "
         "race early with hardly a chance to win; few samples judge them, so that their wide intervals say little: baseline."),
        (["finished"] + ["dropped"] * 4, True,
         "because choosing among fewer costs less. Left the race early with hardly a chance to win; "
         "few samples judge them, so that their wide intervals say little: forests, "
         "baseline."),
    ],
)  # fmt: skip
def test_who_may_be_as_good(status, near, ends):
    assert said(status, near).endswith(ends)
    assert "  " not in said(status, near)
