"""Deadline: when a command must have ended, and how much of the time each phase may take."""

from __future__ import annotations

import math
from time import monotonic

#: How much later than asked for a command may end, to write files whole: the larger of seconds and a share of the time.
LATE_SECONDS, LATE_SHARE = 10.0, 0.10
#: What is kept for judging, the final model and the report, out of the time left when training begins: this share,
#: but no more than so many seconds and a small share of a long time.
AFTER_SHARE, AFTER_SECONDS, AFTER_LONG = 0.4, 60.0, 0.05
#: Seconds that training gets at the least, as far as the tolerance goes.
FIRST_FITS = 5.0


class Deadline:
    """The end of a command, so many seconds (default: never) after it began, by `time.monotonic` (default: now)."""

    def __init__(self, seconds: float | None = None, began: float | None = None) -> None:
        self.seconds = math.inf if seconds is None else seconds
        self.tolerance = max(LATE_SECONDS, LATE_SHARE * self.seconds)  # seconds by which the command may be late
        self._end = self.seconds + (monotonic() if began is None else began)

    @property
    def left(self) -> float:
        """Seconds until the end; negative after it, infinite where there is none."""
        return self._end - monotonic()

    def share(self, part: float) -> float:
        """Return a part, between 0 and 1, of what is left; 0 after the end, infinite where there is none."""
        return max(0.0, part * self.left)

    def for_training(self) -> float | None:
        """Seconds that the race may take, so that the rest gets its share; None where there is no end."""
        if self.seconds == math.inf:
            return None
        left = max(self.left, 0.0)
        after = min(AFTER_SHARE * left, AFTER_SECONDS + AFTER_LONG * left)
        # Where hardly any time is left, half of the tolerance goes to the first fits: a number is worth more than the
        # rest. A search refuses zero; it ends at once either way.
        return max(left - after, min(FIRST_FITS, self.left + self.tolerance / 2), 0.001)
