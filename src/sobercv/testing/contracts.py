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
        """A row's winner does not depend on the other rows: every resample selects on its own."""
        scores = self._scores()
        together = np.asarray(self.rule()(scores))
        alone = [int(np.asarray(self.rule()(row[None]))[0]) for row in scores]
        assert together.tolist() == alone

    def test_is_deterministic(self) -> None:
        """The same scores give the same winners."""
        assert np.array_equal(self.rule()(self._scores()), self.rule()(self._scores()))


class MetricContract(ABC):
    """What every metric must do; subclass it and define `metric` and `predictions`."""

    @abstractmethod
    def metric(self) -> Metric:
        """Return the metric to test."""

    @abstractmethod
    def predictions(self) -> Predictions:
        """Return a table that the metric can score."""

    def test_shape(self) -> None:
        """[B, N] becomes [B, C]."""
        table = self.predictions()
        scores = self.metric().scores(table, _counts(table.n_samples))
        assert scores.shape == (6, table.n_configurations)

    def test_counts_are_repetitions(self) -> None:
        """Scoring with counts equals scoring the repeated rows."""
        table = self.predictions()
        counts = _counts(table.n_samples)
        scores = self.metric().scores(table, counts)
        for row, score in zip(counts, scores, strict=True):
            repeated = table.take_rows(np.repeat(np.arange(table.n_samples), row))
            again = self.metric().scores(repeated, np.ones((1, repeated.n_samples), np.int64))[0]
            np.testing.assert_allclose(score, again, rtol=1e-10, atol=1e-12)

    def test_picked_is_a_part_of_scores(self) -> None:
        """Scoring winners only gives the same numbers as scoring all configurations."""
        table = self.predictions()
        counts = _counts(table.n_samples)
        winners = np.arange(len(counts)) % table.n_configurations
        all_scores = self.metric().scores(table, counts)[np.arange(len(counts)), winners]
        np.testing.assert_allclose(self.metric().picked(table, counts, winners), all_scores, rtol=1e-10, atol=1e-12)

    def test_configurations_do_not_matter_to_each_other(self) -> None:
        """A configuration's score is the same when it is alone."""
        table = self.predictions()
        counts = _counts(table.n_samples)
        scores = self.metric().scores(table, counts)
        alone = self.metric().scores(table.take_configurations(np.array([0])), counts)
        np.testing.assert_allclose(scores[:, :1], alone, rtol=1e-10, atol=1e-12)

    def test_stays_in_range(self) -> None:
        """Scores lie within the range that the metric declares."""
        table = self.predictions()
        scores = self.metric().scores(table, _counts(table.n_samples))
        low, high = self.metric().range
        assert np.nanmin(scores) >= low - 1e-12
        assert np.nanmax(scores) <= high + 1e-12


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

    def _keep(self, table: Predictions, seed: int, round_index: int) -> Any:
        return self.rule()(table, Question.ask("accuracy", random_state=seed), round_index).keep

    def test_keeps_the_best(self) -> None:
        """The configuration with the highest score stays."""
        table, best = self._table()
        keep = self._keep(table, 0, 0)
        assert keep.shape == (12,)
        assert keep[best]

    def test_order_does_not_matter(self) -> None:
        """Who is dropped does not depend on where it stands."""
        table, _ = self._table()
        order = np.arange(12)[::-1]
        turned = self._keep(table.take_configurations(order), 0, 0)
        assert np.array_equal(turned[order], self._keep(table, 0, 0))

    def test_equals_are_treated_equally(self) -> None:
        """A copy of a configuration is kept or dropped with it."""
        table, _ = self._table()
        keep = self._keep(table.take_configurations(np.repeat(np.arange(12), 2)), 0, 0)
        assert np.array_equal(keep[::2], keep[1::2])

    def test_equals_are_kept(self) -> None:
        """Copies of the best stay: dropping one of them would be a choice by position."""
        table, best = self._table()
        assert self._keep(table.take_configurations(np.repeat(best, 3)), 0, 0).all()

    def test_is_deterministic(self) -> None:
        """The same seed and round drop the same configurations."""
        table, _ = self._table()
        first, second = (self._keep(table, 3, 2) for _ in range(2))
        assert np.array_equal(first, second)
