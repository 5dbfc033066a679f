"""For tests of your own: simulated predictions with known truth, and contract suites to subclass."""

from . import contracts, simulate

__all__ = ["contracts", "simulate"]
