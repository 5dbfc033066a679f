"""The schema is the record: what fits is built, what does not is named by its place."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sobercv.errors import SoberError
from sobercv.runs.schema import checked


@dataclass(frozen=True)
class Inner:
    size: float
    label: str = "none"


@dataclass(frozen=True)
class Outer:
    name: str
    n: int
    is_on: bool
    inner: tuple[Inner, ...]
    best: Inner | None
    counts: Mapping[str, int]
    rest: Any = None

    def __post_init__(self):
        if self.n == 13:
            raise ValueError("`n` brings bad luck")


GOOD = {
    "name": "a", "n": 1, "is_on": True, "inner": [{"size": 1}, {"size": None, "label": "b"}], "best": None,
    "counts": {"x": 1}, "rest": [{}], "more": "is left alone",
}  # fmt: skip


def test_what_fits_is_built():
    found = checked(Outer, json.loads(json.dumps(GOOD)), Path("run/a.json"))
    assert found.inner[0] == Inner(1.0)
    assert math.isnan(found.inner[1].size)
    assert found.best is None
    assert (found.counts, found.rest) == ({"x": 1}, [{}])


BAD = [
    ({"name": 1}, "name must be text, but is 1"),
    ({"n": 1.5}, "n must be a whole number"),
    ({"n": True}, "n must be a whole number"),
    ({"n": 10**30}, "ordinary size"),
    ({"n": 13}, "bad luck"),
    ({"is_on": 1}, "is_on must be true or false"),
    ({"inner": {}}, "inner must be a list"),
    ({"inner": [{}]}, r"inner\[0\] lacks 'size'"),
    ({"inner": [{"size": "big"}]}, r"inner\[0\].size must be a number, but is 'big'"),
    ({"inner": [{"size": 1e308}]}, "ordinary size"),
    ({"inner": [{"size": math.inf}]}, "ordinary size"),
    ({"inner": [{"size": 10**400}]}, "ordinary size"),
    ({"best": []}, "best must be an object"),
    ({"best": {"size": 1, "label": None}}, "best.label must be text"),
    ({"counts": {"x": "one"}}, "counts.x must be a whole number"),
    ({"counts": [1]}, "counts must be an object"),
    ({"name": ["x" * 1000]}, "name must be text"),
]


@pytest.mark.parametrize(("change", "said"), BAD, ids=range(len(BAD)))
def test_what_does_not_fit_is_named(change, said):
    with pytest.raises(SoberError, match=said) as caught:
        checked(Outer, GOOD | change, Path("run/a.json"))
    assert caught.value.code == "E809"
    assert "sober resume run" in caught.value.message
    assert len(caught.value.message) < 250


def test_a_missing_field_is_named():
    with pytest.raises(SoberError, match="the file lacks 'n'"):
        checked(Outer, {k: v for k, v in GOOD.items() if k != "n"}, Path("a.json"))
    with pytest.raises(SoberError, match="the file must be an object"):
        checked(Outer, [], Path("a.json"))
