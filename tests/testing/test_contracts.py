"""Our own metrics and rules obey the contracts that we ship; and the contracts catch those that do not."""

import numpy as np
import pytest

import sobercv
from sobercv import metrics
from sobercv.inference import DropVerdict, best
from sobercv.predictions import Predictions
from sobercv.testing.contracts import DropRuleContract, MetricContract, SelectionRuleContract

RNG = np.random.default_rng(0)
Y2, Y3 = RNG.integers(0, 2, 40), np.arange(40) % 3
P3 = RNG.dirichlet(np.ones(3), (40, 4))
TIME = np.stack([RNG.random(40) < 0.7, RNG.exponential(size=40)], axis=1)
POSITIVE = RNG.gamma(2.0, size=40)


def table_for(metric: metrics.Metric) -> Predictions:
    if metric.task == "survival":
        y, p = TIME, RNG.normal(size=(40, 4))
    elif metric.task == "regression":
        y, p = POSITIVE, RNG.gamma(2.0, size=(40, 4))
    elif metric.max_classes == 2:
        y, p = Y2, RNG.random((40, 4))
    else:
        y, p = Y3, P3
    given = {"decision_function": p} if metric.responses == ("decision_function",) else p
    return Predictions.build(y, given, task=metric.task, responses=metric.responses)


class TestEveryMetric(MetricContract):
    @pytest.fixture(autouse=True, params=metrics.names())
    def _name(self, request):
        self.name = request.param

    def metric(self):
        return metrics.get(self.name)

    def predictions(self):
        return table_for(self.metric())


def hits(y_true, y_pred):
    return np.mean(y_true == y_pred)


def ninth_decile(y_true, y_pred):
    return np.quantile(np.abs(y_true - y_pred), 0.9)


class TestGeneralMetric(TestEveryMetric):
    @pytest.fixture(autouse=True, params=[hits, ninth_decile])
    def _name(self, request):
        self.function = request.param

    def metric(self):
        loss = self.function is ninth_decile
        return metrics.make_metric(
            self.function, greater_is_better=not loss, task="regression" if loss else "classification"
        )


class TestBest(SelectionRuleContract):
    def rule(self):
        return best


class TestSimplestWithin(SelectionRuleContract):
    def rule(self):
        return sobercv.simplest_within(tolerance=0.3)


RULES = [
    sobercv.BootstrapDrop(threshold=0.95, min_predictions=10, n_bootstraps=200),
    sobercv.PredictiveDrop(),
    sobercv.PredictiveDrop(zone=0.25),
    sobercv.BettingDrop(),
    sobercv.ConfidenceDrop(),
    sobercv.HoeffdingDrop(),
    sobercv.BernsteinDrop(),
]


class TestEveryDropRule(DropRuleContract):
    @pytest.fixture(autouse=True, params=RULES, ids=repr)
    def _given(self, request):
        self.given = request.param

    def rule(self):
        return self.given

    def test_drops_somebody(self):
        table, _ = self._table()
        assert not self._keep(table, 0, 0).all()


def ignorant(part):
    """Ignore counts: the mistake that the contract exists for."""
    return lambda counts, picked=None: np.tile(part.values.mean(axis=0), (len(counts), 1))


def test_the_contract_catches_a_metric_that_ignores_counts():
    class Suite(MetricContract):
        def metric(self):
            return metrics.Metric(task="regression", core=ignorant, name="ignorant")

        def predictions(self):
            return table_for(metrics.get("r2"))

    with pytest.raises(AssertionError):
        Suite().test_counts_are_repetitions()


def test_the_contract_catches_a_rule_that_looks_at_other_rows():
    class Suite(SelectionRuleContract):
        def rule(self):
            return lambda scores: np.full(len(scores), scores.sum(axis=0).argmax())

    with pytest.raises(AssertionError):
        Suite().test_rows_are_independent()


def test_the_contract_catches_a_rule_that_drops_equals():
    def first_only(predictions, question, round_index):
        keep = np.zeros(predictions.n_configurations, bool)
        keep[0] = True
        return DropVerdict(keep, np.zeros(len(keep)), 0)

    class Suite(DropRuleContract):
        def rule(self):
            return first_only

    with pytest.raises(AssertionError):
        Suite().test_equals_are_treated_equally()
