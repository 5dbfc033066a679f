import json

import pytest

from .estimates import RECORD, calls, plain

RECORDED = json.loads(RECORD.read_text())


def same(found, recorded):
    # Sums of a linear algebra library may differ in the last bits between processors, and nothing else may.
    if isinstance(recorded, dict):
        assert found.keys() == recorded.keys()
        for key in recorded:
            same(found[key], recorded[key])
    elif isinstance(recorded, list):
        assert len(found) == len(recorded)
        for one, other in zip(found, recorded, strict=True):
            same(one, other)
    elif not isinstance(recorded, float):
        assert found == recorded
    else:
        assert found == pytest.approx(recorded, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("name", calls())
def test_estimate_is_the_recorded_one(name):
    same(plain(calls()[name]()), RECORDED[name])


def test_every_recorded_call_is_made():
    assert set(RECORDED) == set(calls())
