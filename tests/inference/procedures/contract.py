"""What every selection procedure must do: subclass the suite and define `procedure`, `question` and `predictions`."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from sobercv.containers import Array
from sobercv.inference import Question, SelectionProcedure
from sobercv.predictions import Predictions


def some_counts(n: int) -> Array:
    """Six resamples of n samples [6, N]."""
    rng = np.random.default_rng(0)
    return np.stack([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(6)]).astype(np.uint8)


class SelectionProcedureContract(ABC):
    """What every selection procedure must do; subclass it and define `procedure`, `question` and `predictions`."""

    @abstractmethod
    def procedure(self) -> SelectionProcedure:
        """Return the procedure to test."""

    @abstractmethod
    def question(self) -> Question:
        """Return a question that it serves."""

    @abstractmethod
    def predictions(self) -> Predictions:
        """Return a table that it can decide on, of one repeat."""

    def _predicted(self, table: Predictions, counts: Array) -> list[Array]:
        """Decide, and return all that the decisions predict."""
        decider = self.procedure().bind(table, self.question())
        decided = decider.predictions(decider.decide(counts))
        assert decided.n_configurations == len(counts)
        return [np.asarray(values, np.float64) for values in decided.responses.values()]

    def test_gives_a_valid_configuration_for_each_row(self) -> None:
        """One position below C for each row, and a score for every configuration."""
        table = self.predictions()
        found = self.procedure().bind(table, self.question()).decide(some_counts(table.n_samples))
        assert found.winners.shape == (6,)
        assert ((found.winners >= 0) & (found.winners < table.n_configurations)).all()
        assert found.scores.shape == (6, table.n_configurations)

    def test_resamples_are_independent(self) -> None:
        """A decision does not depend on the other resamples, to the last bit."""
        table = self.predictions()
        counts = some_counts(table.n_samples)
        apart = [self._predicted(table, row[None]) for row in counts]
        for together, *alone in zip(self._predicted(table, counts), *apart, strict=True):
            assert np.array_equal(together, np.concatenate(alone, axis=1))

    def test_what_is_absent_does_not_matter(self) -> None:
        """Whatever the absent samples hold, the decision is the same: what judges it has had no say."""
        table = self.predictions()
        for row in some_counts(table.n_samples):
            present = np.flatnonzero(row)
            shuffled = np.arange(table.n_samples)
            shuffled[row == 0] = np.roll(shuffled[row == 0], 1)
            other = table.take_rows(shuffled)  # each absent sample takes the place of another
            before = self._predicted(table, row[None])
            after = self._predicted(other, row[None])
            for one, two in zip(before, after, strict=True):
                assert np.array_equal(one[present], two[present])
                assert np.array_equal(one[shuffled], two)

    def test_counts_are_repetitions(self) -> None:
        """Deciding with counts equals deciding on the repeated rows."""
        table = self.predictions()
        for row in some_counts(table.n_samples):
            rows = np.repeat(np.arange(table.n_samples), row)
            ones = np.ones((1, len(rows)), np.uint8)
            for with_counts, repeated in zip(
                self._predicted(table, row[None]), self._predicted(table.take_rows(rows), ones), strict=True
            ):
                np.testing.assert_allclose(with_counts[rows], repeated, rtol=1e-8, atol=1e-9)
