"""One profile for everybody: the same examples in every run, so that a red test is a change and not the weather."""

import sys

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "sober", derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=False
)
settings.load_profile("sober")


@pytest.fixture(autouse=True)
def _no_figures_left_over():
    """A figure that one test leaves open must not be another test's problem."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
