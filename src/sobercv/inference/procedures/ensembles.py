"""Ensembles: mixes of configurations, put together anew in every resample.

Every configuration gets a weight: none is negative, and they add up to 1.
Greedy selection and stacking minimise the squared error of the mix (for classes the Brier score) on what is present,
whatever metric judges: it is smooth, so that there is less to fit by chance than in a rank or a share.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from ...containers import Array, whole_number
from ...errors import SoberError
from ...metrics import Metric
from ...predictions import Predictions
from ..selection import best
from .contract import Decision, Decisions, SelectionProcedure

if TYPE_CHECKING:
    from ..question import Question

_MOST_MEMBERS = 6  # that are named on the screen
_MOST_STEPS = 20_000  # of stacking: far more than it ever takes


@dataclass(frozen=True)
class Mix(Decision):
    """A weighted mean of configurations."""

    configurations: tuple[int, ...]  # id of each member, that of the largest weight first
    weights: tuple[float, ...]  # they add up to 1
    names: tuple[str, ...] = ()  # their columns, where the predictions came with names
    kind = "mix"

    def shown(self) -> str:
        pairs = list(zip(self.names or self.configurations, self.weights, strict=True))
        named = ", ".join(f"{configuration} ({weight:.2g})" for configuration, weight in pairs[:_MOST_MEMBERS])
        more = f" and {len(pairs) - _MOST_MEMBERS} more" if len(pairs) > _MOST_MEMBERS else ""
        return f"mix of {len(pairs)} configurations, by weight: {named}{more}"

    def named(self, names: Sequence[str]) -> Mix:
        return replace(self, names=tuple(names[configuration] for configuration in self.configurations))


class Ensemble(SelectionProcedure):
    """Mix configurations. The best one alone is judged beside the mix, and is the winner; weights are tuned."""

    stands_beside = True
    about = (
        "The ensemble was built on these predictions. The bootstrap rebuilt it in every resample, so the score is "
        "corrected for that."
    )

    @abstractmethod
    def weights(self, counts: Array, scores: Array) -> Array:
        """Weights [C] for one resample, by its counts [N] and the score of every configuration on it [C]."""

    def check(self, question: Question) -> None:
        if question.first.task == "survival":
            raise SoberError("E114", "Risks of models have no common scale and cannot be mixed. Write select='best'.")

    def wanted(self, metric: Metric) -> tuple[tuple[str, ...], ...]:
        """Probabilities; numbers are what a metric of regression asks for already."""
        return (("predict_proba",),) if metric.task == "classification" else ()

    def bind(self, predictions: Predictions, question: Question) -> Self:
        needed = "predict" if predictions.task == "regression" else "predict_proba"
        if needed not in predictions.responses:
            held = ", ".join(predictions.responses)
            raise SoberError(
                "E116", f"An ensemble is a mean of {needed}; the table holds only {held}. Pass probabilities."
            )
        bound = copy(self)
        bound._bind(replace(predictions, responses={needed: predictions.responses[needed]}), needed, question)
        return bound

    def _bind(self, table: Predictions, response: str, question: Question) -> None:
        self.table, self._response, self.scorer = table, response, question.bind(table)
        values = np.moveaxis(np.asarray(table.responses[response], np.float64), 1, -1)  # [N, R(, K), C]
        self._shape = values.shape[:-1]
        self._columns = np.ascontiguousarray(values.reshape(-1, values.shape[-1]))  # [M, C]
        truth: Array = table.y
        if values.ndim == 4:  # a row for each class
            truth = table.y[:, None, None] == np.arange(values.shape[2])
        elif values.ndim == 3:
            truth = table.y[:, None]
        here = table.seen if values.ndim == 3 else table.seen[:, :, None]
        weight = np.ones(table.n_samples) if table.sample_weight is None else table.sample_weight
        known = np.broadcast_to(here, self._shape).reshape(-1)
        self._sample = np.repeat(np.arange(table.n_samples), len(known) // table.n_samples)[known]
        truth = np.broadcast_to(truth, self._shape).reshape(-1)[known]
        self._errors = self._columns[known] - truth[:, None].astype(np.float64)  # [M, C]
        self._weight = weight[self._sample]

    def decide(self, counts: Array) -> Decisions:
        scores = self.scorer.scores(counts)
        weights = [self.weights(row, score) for row, score in zip(counts, scores, strict=True)]
        return Decisions(best(scores, unit=self.scorer.metric.unit), scores, np.stack(weights))

    def minimised(self, kernel: str, counts: Array, steps: int) -> Array:
        """Weights [C] that a kernel finds in so many steps for the squared error on what is present."""
        from ...metrics.kernels import fits  # numba takes a while to import

        weight = counts[self._sample] * self._weight
        present = weight > 0
        errors, weight = self._errors[present], weight[present]
        total, found = float(weight.sum()), np.zeros(self._columns.shape[1])
        products = np.zeros((len(found), len(found)))  # of the errors of all pairs, a mean over samples
        if total > 0:
            products = (errors * (weight / total)[:, None]).T @ errors
        getattr(fits, kernel)(products, steps, found)
        return found

    def predictions(self, decisions: Decisions) -> Predictions:
        """Mix the responses; one product each, so that no mix depends on others."""
        columns = [(self._columns @ row).reshape(self._shape) for row in decisions.tuned]
        values = np.stack(columns, axis=1)  # [N, B, R(, K)]
        return replace(self.table, responses={self._response: values}, configurations=np.arange(len(columns)))

    def decision(self, final: Decisions, winners: Array, tuned: Array) -> Mix:
        weights = final.tuned[0]
        order = np.argsort(-weights, kind="stable")[: int((weights > 0).sum())]
        return Mix(tuple(self.table.configurations[order].tolist()), tuple(float(w) for w in weights[order]))

    def alternatives(self) -> Predictions:
        return self.table


class greedy_ensemble(Ensemble):
    """Add configurations one by one, with replacement, each the one that helps most (Caruana et al. 2004).

    Parameters
    ----------
    size : int, default=25
        How many are added; the best of the mixes on the way is taken.

    Examples
    --------
    >>> import numpy as np, sobercv
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=60)
    >>> predictions = y[:, None] + rng.normal(size=(60, 5))
    >>> estimate = sobercv.bbc(y, predictions, "r2", select=sobercv.greedy_ensemble())
    >>> bool(estimate.value > estimate.single.value)
    True
    """

    def __init__(self, size: int = 25) -> None:
        self.size = whole_number("size", size)

    def weights(self, counts: Array, scores: Array) -> Array:
        return self.minimised("greedy_mix", counts, self.size)


class stacked_ensemble(Ensemble):
    """Take the weights, none negative and with the sum 1, whose mix has the smallest squared error."""

    def weights(self, counts: Array, scores: Array) -> Array:
        return self.minimised("least_squares_mix", counts, _MOST_STEPS)


class average_of_best(Ensemble):
    """Take the plain mean of the configurations that score best by the metric that selects.

    Parameters
    ----------
    k : int, default=5
        How many; all, where there are fewer.
    """

    def __init__(self, k: int = 5) -> None:
        self.k = whole_number("k", k)

    def weights(self, counts: Array, scores: Array) -> Array:
        """Take the best, then the best of the rest; of equals the first."""
        left, found = np.array(scores, np.float64), np.zeros(len(scores))
        for _ in range(min(self.k, int((~np.isnan(scores)).sum()))):
            chosen = int(best(left[None], unit=self.scorer.metric.unit)[0])
            found[chosen], left[chosen] = 1.0, np.nan
        return found / max(found.sum(), 1.0)
