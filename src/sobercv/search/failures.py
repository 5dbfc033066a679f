"""What is said of configurations that failed: one warning, which scikit-learn's users can filter by its class as well.

Takes the log of a race, gives a warning; never decides who failed.
"""

from __future__ import annotations

from collections.abc import Sequence

from sklearn.exceptions import FitFailedWarning

from ..errors import SoberWarning, warn
from ..inference.estimate import shown
from ..training import Configuration, RaceLog
from ..training.race import UNREACHED


class FailedConfigurations(SoberWarning, FitFailedWarning):  # type: ignore[misc]
    """Some configurations failed: a warning of sober, and scikit-learn's `FitFailedWarning`."""


def unreached(n: int, total: int) -> str:
    """Say that nothing is wrong with those that were set aside but that there was no time for them."""
    return (
        f"{n:,} of {total:,} configurations were not reached before the time was over and are set aside: for their "
        "place, not for their score."
    )


def report_failures(log: RaceLog, configurations: Sequence[Configuration]) -> None:
    """Warn once, with the first cause, where configurations failed."""
    if not log.failures:
        return
    if all(cause.message == UNREACHED for cause in log.failures.values()):
        warn("W303", unreached(len(log.failures), len(log.status)), FailedConfigurations)
        return
    first, cause = next(iter(log.failures.items()))
    params = configurations[first].params
    which = f"configuration {first} ({shown(params)})" if params else f"configuration {first}"
    warn(
        "W303",
        f"{len(log.failures)} of {len(log.status)} configurations failed and were set aside; the first is "
        f"{which}, {str(cause).rstrip('.')}. See race_.failures.",
        FailedConfigurations,
    )
