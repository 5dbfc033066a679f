"""What fuzzers share with the tests of the command line."""

from ..cli.conftest import finished  # noqa: F401 - a fixture
from .trying import _count  # noqa: F401 - a fixture
