"""Contract suites: subclass one, name your object, and pytest checks what the library relies on.

For a metric, a drop rule or a selection rule of yours; plain asserts only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from ..containers import Array
from ..inference import Question
from ..metrics import Metric
from ..predictions import Predictions
from ..seeds import generator
from . import simulate


def _counts(n: int) -> Array:
    """Six resamples of n samples [6, N]."""
    rng = generator(0, "contract")
    return np.stack([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(6)]).astype(np.uint8)


def _same(found: Array, expected: Array) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


class SelectionRuleContract(ABC):
    """What every selection rule must do; subclass it and define `rule`."""

    @abstractmethod
    def rule(self) -> Any:
        """Return the rule to test."""

    def _scores(self) -> Array:
        return generator(0, "contract selection").normal(size=(7, 5))

    def test_gives_one_valid_index_for_each_row(self) -> None:
        """One integer below C for each row."""
        winners = np.asarray(self.rule()(self._scores()))
        assert winners.shape == (7,)
        assert winners.dtype.kind in "iu"
        assert winners.min() >= 0
        assert winners.max() < 5

    def test_rows_are_independent(self) -> None:
        """A row's winner does not depend on the other rows, nor on what was asked before."""
        scores = self._scores()
        together = np.asarray(self.rule()(scores))
        alone = [int(np.asarray(self.rule()(row[None]))[0]) for row in scores]
        assert together.tolist() == alone
        assert np.array_equal(self.rule()(scores), together)


class MetricContract(ABC):
    """What every metric must do; subclass it and define `metric` and `predictions`."""

    @abstractmethod
    def metric(self) -> Metric:
        """Return the metric to test."""

    @abstractmethod
    def predictions(self) -> Predictions:
        """Return a table that the metric can score."""

    def _scored(self) -> tuple[Predictions, Array, Array]:
        table = self.predictions()
        counts = _counts(table.n_samples)
        return table, counts, self.metric().scores(table, counts)

    def test_shape_and_range(self) -> None:
        """[B, N] becomes [B, C], within the range that the metric declares."""
        table, _, scores = self._scored()
        assert scores.shape == (6, table.n_configurations)
        low, high = self.metric().range
        assert np.nanmin(scores) >= low - 1e-12
        assert np.nanmax(scores) <= high + 1e-12

    def test_counts_are_repetitions(self) -> None:
        """Scoring with counts equals scoring the repeated rows."""
        table, counts, scores = self._scored()
        for row, score in zip(counts, scores, strict=True):
            repeated = table.take_rows(np.repeat(np.arange(table.n_samples), row))
            again = self.metric().scores(repeated, np.ones((1, repeated.n_samples), np.int64))[0]
            _same(score, again)

    def test_picked_is_a_part_of_scores(self) -> None:
        """Scoring winners only gives the same numbers as scoring all configurations."""
        table, counts, scores = self._scored()
        winners = np.arange(len(counts)) % table.n_configurations
        _same(self.metric().bind(table).picked(counts, winners), scores[np.arange(len(counts)), winners])

    def test_configurations_do_not_matter_to_each_other(self) -> None:
        """A configuration's score is the same when it is alone."""
        table, counts, scores = self._scored()
        _same(scores[:, :1], self.metric().scores(table.take_configurations(np.array([0])), counts))


class DropRuleContract(ABC):
    """What every drop rule must do; subclass it and define `rule`, see `sobercv.inference.DropRule`."""

    @abstractmethod
    def rule(self) -> Any:
        """Return the rule to test."""

    def _table(self) -> tuple[Predictions, int]:
        """Return a table with six in ten samples predicted, and the position of its best configuration."""
        data = simulate.beta_accuracy(n=200, c=12, a=3, b=3, seed=5)
        table = Predictions.build(data.y, data.predictions, task="classification", folds=data.folds)
        table = replace(table, seen=(data.folds < 6)[:, None])
        so_far = table.only_seen()
        scores = Question.ask("accuracy").bind(so_far).scores(np.ones((1, so_far.n_samples), np.uint8))[0]
        return table, int(scores.argmax())

    def _keep(self, table: Predictions, seed: int = 0, round_index: int = 0) -> Any:
        return self.rule()(table, Question.ask("accuracy", random_state=seed), round_index).keep

    def test_keeps_the_best(self) -> None:
        """The configuration with the highest score stays."""
        table, best = self._table()
        keep = self._keep(table)
        assert keep.shape == (12,)
        assert keep[best]

    def test_order_does_not_matter(self) -> None:
        """Who is dropped does not depend on where it stands."""
        table, _ = self._table()
        order = np.arange(12)[::-1]
        assert np.array_equal(self._keep(table.take_configurations(order))[order], self._keep(table))

    def test_equals_are_treated_equally(self) -> None:
        """A copy is kept or dropped with its original; copies of the best stay, whatever their position."""
        table, best = self._table()
        keep = self._keep(table.take_configurations(np.repeat(np.arange(12), 2)))
        assert np.array_equal(keep[::2], keep[1::2])
        assert self._keep(table.take_configurations(np.repeat(best, 3))).all()

    def test_is_deterministic(self) -> None:
        """The same seed and round drop the same configurations."""
        table, _ = self._table()
        assert np.array_equal(self._keep(table, 3, 2), self._keep(table, 3, 2))
