"""What all fuzzers share: how many examples, how long one may take, and how many inputs were tried."""

import os
import signal
from collections import Counter
from contextlib import contextmanager

import pytest
from hypothesis import settings

SOAK = os.environ.get("SOBER_SOAK") == "1"
TRIED = Counter()  # inputs of the test that runs, by their kind
#: Seconds after which an input hangs; the first one compiles.
PATIENCE = 900


def examples(soak, usual, **options):
    return settings(max_examples=soak if SOAK else usual, **options)


@pytest.fixture(autouse=True)
def _count(record_property):
    TRIED.clear()
    yield
    for kind, n in TRIED.items():
        record_property(f"tried {kind}", n)


@contextmanager
def within_patience():
    before = signal.signal(signal.SIGALRM, _hangs)
    signal.alarm(PATIENCE)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _hangs(number, frame):
    raise AssertionError("it hangs")
