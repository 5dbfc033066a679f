"""Thresholds: the configuration and the cut of its scores that together score best, found anew in every resample.

For scores or probabilities of two classes and a metric of true and false positives. A sample is positive from the
threshold on. The threshold lies midway between the scores of two samples that are present, so that it knows nothing of
those that are absent; tied samples fall on the same side. Where the cross-validation was repeated, one threshold serves
all repeats: it is tuned on the scores of all of them together, as the final model scores a sample once and not as a
mean of models.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from inspect import signature
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ...containers import Array, check_level
from ...errors import SoberError
from ...metrics import Metric, blocks
from ...predictions import Predictions
from ...targets import Target
from ..selection import TIE, best
from .contract import Decision, Decisions, SelectionProcedure

if TYPE_CHECKING:
    from ..question import Question

SCORES = ("predict_proba", "decision_function")
_VECTOR = 64  # resamples are scanned in whole vectors
_FEW = 20  # resamples that a range of thresholds is made of
#: Thresholds that every score reaches, and that none does.
_ENDS = {
    "predict_proba": (0.0, float(np.nextafter(1.0, 2.0))),
    "decision_function": (float(np.finfo(np.float64).min), float(np.finfo(np.float64).max)),
}


@dataclass(frozen=True)
class Threshold(Decision):
    """A configuration that predicts the positive class from a threshold on."""

    configuration: int  # its id
    value: float  # the threshold
    response: str  # what is compared with it: predict_proba or decision_function
    positive: Any  # the class that is predicted from the threshold on
    #: The middle 95 % of the thresholds of resamples in which the same configuration won; None where they are few.
    range: tuple[float, float] | None = None
    kind = "threshold"

    def shown(self) -> str:
        if self.value == _ENDS[self.response][1]:
            return f"never {self.positive!r}: no threshold scores better"
        if self.value == _ENDS[self.response][0]:
            return f"always {self.positive!r}: no threshold scores better"
        what = "probability" if self.response == "predict_proba" else "decision value"
        varies = f" ({self.range[0]:.4g} to {self.range[1]:.4g} over resamples)" if self.range else ""
        return f"{self.positive!r} at a {what} of {self.value:.4g} or more{varies}"

    def to_dict(self) -> dict[str, Any]:
        plain = super().to_dict()
        plain["threshold"] = plain.pop("value")
        return plain


class best_with_threshold(SelectionProcedure):
    """Select the configuration and its decision threshold together, and correct for both.

    For metrics of true and false positives: f1, fbeta, jaccard, accuracy, balanced_accuracy, youden, matthews_corrcoef,
    neg_cost, and, with a constraint, sensitivity (recall), specificity and precision (ppv).

    Parameters
    ----------
    min_precision : float, optional
        Only thresholds with at least this precision.
    at_sensitivity : float, optional
        Only thresholds with at least this sensitivity.
    at_specificity : float, optional
        Only thresholds with at least this specificity.

    Notes
    -----
    A threshold is one of probabilities where there are any, else of decision values.

    Constraints hold on the samples that a threshold is tuned on, not on new ones: list them after the selecting metric,
    as in ``metric=["sensitivity", "specificity"]``, to see how well they are kept.

    Examples
    --------
    >>> import sobercv
    >>> from sobercv.testing import simulate
    >>> data = simulate.binormal_auc(n=100, c=20, seed=1)
    >>> estimate = sobercv.bbc(data.y, data.predictions, "f1", select=sobercv.best_with_threshold())
    >>> bool(estimate.value < estimate.naive)
    True
    """

    makes_labels = True
    about = (
        "The threshold was tuned on these predictions: {}. The bootstrap tuned it again in every resample, so the "
        "score is corrected for that."
    )

    def __init__(
        self,
        *,
        min_precision: float | None = None,
        at_sensitivity: float | None = None,
        at_specificity: float | None = None,
    ) -> None:
        self.min_precision, self.at_sensitivity, self.at_specificity = min_precision, at_sensitivity, at_specificity
        for name in signature(type(self)).parameters:
            if getattr(self, name) is not None:
                check_level(getattr(self, name), name, usual=0.9, may_be_one=True)
        self.allowed: tuple[str, ...] = SCORES  # what the threshold may be one of, best first

    def check(self, question: Question) -> None:
        first = question.first
        if first.at_cuts is None:
            raise SoberError(
                "E114",
                "A threshold is tuned for a metric of true and false positives, such as f1, balanced_accuracy, youden, "
                f"matthews_corrcoef, accuracy or neg_cost(missed=5); {first.name} is not one. Choose one of them.",
            )
        needed = first.at_cuts.one_sided
        if needed and all(getattr(self, name) is None for name in needed):
            advice = f"add a constraint. Write best_with_threshold({needed[0]}=0.9)."
            raise SoberError("E114", f"{first.name} alone has no best threshold: {advice}")

    def wanted(self, metric: Metric) -> tuple[tuple[str, ...], ...]:
        return (self.allowed,)

    def check_table(self, target: Target) -> None:
        if target.n_classes != 2:
            raise SoberError("E114", f"A threshold separates two classes; `y` has {target.n_classes}. Leave it out.")

    def for_estimator(self, estimator: Any) -> Self:
        """Take probabilities, unless an estimator has decision values alone: all configurations share one scale."""
        values = hasattr(estimator, "decision_function") and not hasattr(estimator, "predict_proba")
        made = copy(self)
        made.allowed = ("decision_function" if values else "predict_proba",)
        return made

    def bind(self, predictions: Predictions, question: Question) -> Self:
        """Sort the samples of every configuration once; one scan of all cuts serves all resamples."""
        self.check_table(predictions.target)
        response = next((name for name in self.allowed if name in predictions.responses), None)
        if response is None:
            raise SoberError(
                "E116",
                f"A threshold needs {' or '.join(self.allowed)}; the table holds only "
                f"{', '.join(predictions.responses)}. Pass scores or probabilities instead of labels.",
            )
        bound = copy(self)
        bound._sort(predictions, question.metrics, response)
        return bound

    def _sort(self, table: Predictions, metrics: Sequence[Metric], response: str) -> None:
        from ...metrics.kernels.cuts import make_cuts  # numba takes a while to import

        metric = metrics[0]
        assert metric.at_cuts is not None
        self.table, self.response, self._formula, self._unit = table, response, metric.at_cuts, metric.unit
        self._asks_scores = any("predict" not in each.responses for each in metrics)
        self._k = metric.positive_index(table.target)
        values = np.moveaxis(table.responses[response], 1, 0)  # [C, N, R]
        if self._k == 0:  # the table holds scores of the second class
            values = 1.0 - values if response == "predict_proba" else -values
        # What a repeat has not predicted lies below all others, and never counts.
        values = np.where(table.seen, values, -np.inf)
        n, repeats = table.seen.shape
        self._scores = np.ascontiguousarray(values.reshape(-1, n * repeats), np.float64)  # [C, N R]
        self._positive = np.repeat(table.y == self._k, repeats)
        self._weight = None if table.sample_weight is None else np.repeat(table.sample_weight, repeats)
        self._samples, self._actions = np.empty(self._scores.shape, np.int32), np.empty(self._scores.shape, np.int8)
        # Equal scores are taken together, so that their order changes no count; sums of weights it may round.
        order = np.argsort(self._scores, axis=1, kind=None if self._weight is None else "stable")
        make_cuts(order, self._scores, self._positive, self._samples, self._actions)

    def decide(self, counts: Array) -> Decisions:
        """Find the best cut of every configuration, select by it, and place the threshold of the winner."""
        counts = self._of_repeats(counts)
        step = len(counts) if self._weight is None else _VECTOR  # numbers with a point take eight times the memory
        scores = np.concatenate([self._best(counts[a:b]) for a, b in blocks.cut(len(counts), step)])
        winners = best(scores, unit=self._unit)
        return Decisions(winners, scores, self._placed(counts, winners))

    def predictions(self, decisions: Decisions) -> Predictions:
        """Return the labels, and the scores where a metric asks for them."""
        return self._labelled(np.maximum(decisions.winners, 0), decisions.tuned)

    def decision(self, final: Decisions, winners: Array, tuned: Array) -> Threshold:
        """Return the threshold, and the range of those of resamples in which the same configuration won."""
        winner = int(final.winners[0])
        same = np.sort(tuned[winners == winner])
        ends = np.quantile(same, (0.025, 0.975), method="inverted_cdf") if len(same) >= _FEW else None
        return Threshold(
            configuration=int(self.table.configurations[winner]),
            value=float(final.tuned[0]),
            response=self.response,
            positive=self.table.target.labels[self._k],
            range=None if ends is None else (float(ends[0]), float(ends[1])),
        )

    def _of_repeats(self, counts: Array) -> Array:
        """Counts of samples as those of their predictions, one per repeat: [B, N] -> [B, N R]."""
        if self.table.n_repeats == 1 and self.table.is_complete:
            return counts
        return (counts[:, :, None] * self.table.seen).reshape(len(counts), -1)

    def _best(self, counts: Array) -> Array:
        """The best score over all cuts, of every configuration in every resample [B, C]; NaN where there is none."""
        from ...metrics.kernels.cuts import best_cuts

        n_resamples, n = counts.shape
        wide = -(-n_resamples // _VECTOR) * _VECTOR
        numbers, floors = self._numbers(counts, wide)
        if self._weight is None:
            turned = np.zeros((n, wide), counts.dtype)
            turned[:, :n_resamples] = counts.T
            kind: Any = np.uint16 if counts.sum(axis=1, dtype=np.int64).max(initial=0) < 2**16 else np.uint32
        else:
            turned, kind = np.zeros((n, wide)), np.float64
            turned[:, :n_resamples] = counts.T * self._weight[:, None]
        out = np.empty((len(self._scores), n_resamples))
        bounded = any(floor is not None for floor in (self.min_precision, self.at_sensitivity, self.at_specificity))
        best_cuts(
            self._formula.kind, self._samples, self._actions, turned, turned.ctypes.data, numbers, floors,
            self.min_precision or 0.0, bounded, np.empty(wide, kind), np.empty(wide, kind), out,
        )  # fmt: skip
        return out.T

    def _placed(self, counts: Array, picked: Array) -> Array:
        """The threshold of configuration picked[b] in resample b [B]."""
        from ...metrics.kernels.cuts import place_cuts

        numbers, floors = self._numbers(counts, len(counts))
        weight = np.ones(counts.shape[1]) if self._weight is None else self._weight
        out = np.empty(len(counts))
        place_cuts(
            self._formula.kind, self._samples, self._actions, self._scores, counts, weight, numbers, floors,
            self.min_precision or 0.0, picked.astype(np.int64), TIE, np.array([-np.inf, np.inf]), out,
        )  # fmt: skip
        return np.clip(out, *_ENDS[self.response])  # infinite where no sample parts from another

    def _numbers(self, counts: Array, wide: int) -> tuple[Array, Array]:
        """Numbers of the formula [4, B]; the least true and the most false positives that are allowed [2, B]."""
        sides = np.zeros((2, wide))
        for side, here in zip(sides, (self._positive, ~self._positive), strict=True):
            if self._weight is None:
                side[: len(counts)] = counts[:, here].sum(axis=1, dtype=np.float64)
            else:  # row by row, because a product of all rounds by the number of rows
                side[: len(counts)] = [row.astype(np.float64) @ self._weight[here] for row in counts[:, here]]
        least = (self.at_sensitivity or 0.0) * sides[0] * (1.0 - 1e-12)  # rounding must not cost a sample
        most = (1.0 - (self.at_specificity or 0.0)) * sides[1] + 1e-12 * sides[1]
        return self._formula.coefficients(*sides), np.stack([least, most])

    def alternatives(self) -> Predictions:
        c = np.arange(len(self._scores))
        once = np.ones((len(c), self.table.n_samples), np.uint8)
        return self._labelled(c, self._placed(self._of_repeats(once), c))

    def _labelled(self, columns: Array, thresholds: Array) -> Predictions:
        """Return these columns as configurations that predict by these thresholds; NaN predicts no positive."""
        reached = self._scores[columns] >= np.where(np.isnan(thresholds), np.inf, thresholds)[:, None]  # [B, N R]
        labels = np.where(reached, self._k, 1 - self._k).astype(np.int8).reshape(len(columns), *self.table.seen.shape)
        responses = {"predict": np.moveaxis(labels, 0, 1)}  # [N, B, R]
        if self._asks_scores:
            responses[self.response] = self.table.responses[self.response][:, columns]
        return replace(self.table, responses=responses, configurations=np.arange(len(columns)))
