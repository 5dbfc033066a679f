"""One fit after the other, in this process."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from ..fit.experiment import Experiment
from ..fit.prefix import fit_predict_shared
from ..fit.task import Outcome
from .base import Pool, Report
from .batches import Batch


class SerialPool(Pool):
    """Runs fits in the thread that waits for them; a fit under way cannot be ended."""

    cuts = False

    def __init__(self) -> None:
        self._experiment: Experiment | None = None
        self._waiting: deque[tuple[int, Iterator[Outcome]]] = deque()

    def start(self, experiment: Experiment, n_fits: int) -> SerialPool:
        """Take the experiment."""
        self._experiment = experiment
        return self

    @property
    def n_free(self) -> int:
        """One batch at a time."""
        return 0 if self._waiting else 1

    def submit(self, key: int, batch: Batch, is_speculative: bool = False) -> None:
        """Take a batch; it is fitted while somebody waits."""
        assert self._experiment is not None
        experiment = self._experiment
        self._waiting.append((key, (outcome for task in batch for outcome in fit_predict_shared(experiment, task))))

    def wait(self, seconds: float) -> list[Report]:
        """Fit once."""
        key, outcomes = self._waiting[0]
        outcome = next(outcomes, None)
        if outcome is not None:
            return [Report(key, [outcome], is_done=False)]
        self._waiting.popleft()
        return [Report(key, [])]

    def stop(self) -> list[Report]:
        """Forget all batches."""
        self._waiting.clear()
        return []
