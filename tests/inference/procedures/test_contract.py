"""Every procedure keeps the contract, and the loop for decisions gives the bits of the loop for columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import sobercv
from sobercv.inference import Question, best
from sobercv.inference.procedures import Decision, Decisions, SelectionProcedure
from sobercv.inference.selection import apply
from sobercv.testing import simulate

from .contract import SelectionProcedureContract


@dataclass(frozen=True)
class Column(Decision):
    configuration: int

    def shown(self):
        return ""

    def to_dict(self):
        return {"kind": "column", "configuration": self.configuration}


class by_rule(SelectionProcedure):
    """A rule as a procedure: the smallest example of one."""

    counts_once = False

    def __init__(self, rule):
        self.rule = rule

    def bind(self, predictions, question):
        bound = by_rule(self.rule)
        bound._table, bound._scorer = predictions, question.bind(predictions)
        return bound

    def decide(self, counts):
        scores = self._scorer.scores(counts)
        winners = apply(self.rule, scores, self._scorer.metric.unit)
        return Decisions(winners, scores, winners)

    def predictions(self, decisions):
        return self._table.take_configurations(np.maximum(decisions.winners, 0))

    def decision(self, final, winners, tuned):
        return Column(int(self._table.configurations[final.winners[0]]))

    def alternatives(self):
        return self._table

    def __repr__(self):
        return "by_rule(best)"


class Case(SelectionProcedureContract):
    metric = "roc_auc"

    def question(self):
        return Question.ask(self.metric, select=self.procedure())

    def predictions(self):
        data = simulate.binormal_auc(n=60, c=6, seed=3)
        chances = np.round(1 / (1 + np.exp(-data.predictions)), 2)  # with ties
        return sobercv.Predictions.build(data.y, {"predict_proba": chances}, task="classification")


class TestColumns(Case):
    def procedure(self):
        return by_rule(best)


class TestThreshold(Case):
    metric = "f1"

    def procedure(self):
        return sobercv.best_with_threshold()


class TestThresholdWithFloors(Case):
    metric = "sensitivity"

    def procedure(self):
        return sobercv.best_with_threshold(at_specificity=0.6)


class TestGreedy(Case):
    def procedure(self):
        return sobercv.greedy_ensemble(size=7)


class TestStacked(Case):
    def procedure(self):
        return sobercv.stacked_ensemble()


class TestAverage(Case):
    def procedure(self):
        return sobercv.average_of_best(k=3)


@pytest.mark.parametrize("metric", ["roc_auc", "accuracy", "neg_log_loss"])
def test_columns_give_the_bits_of_the_rule(metric):
    table = Case.predictions(None)
    rule = sobercv.bbc(None, table, [metric, "neg_brier_score"], n_bootstraps=100)
    procedure = sobercv.bbc(None, table, [metric, "neg_brier_score"], n_bootstraps=100, select=by_rule(best))
    for name, estimate in rule.items():
        other = procedure[name]
        np.testing.assert_array_equal(estimate.draws, other.draws)
        assert (estimate.value, estimate.winner) == (other.value, other.winner)
        assert estimate.naive == pytest.approx(other.naive, abs=1e-14)  # a column alone is multiplied in another shape
        np.testing.assert_allclose(estimate.interval, other.interval, atol=1e-12)
