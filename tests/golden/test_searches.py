import json

import pytest

from .searches import RECORD, calls, plain
from .test_estimates import same

RECORDED = json.loads(RECORD.read_text())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", calls())
def test_search_is_the_recorded_one(name):
    same(plain(calls()[name]()), RECORDED[name])


def test_every_recorded_search_is_made():
    assert set(RECORDED) == set(calls())
