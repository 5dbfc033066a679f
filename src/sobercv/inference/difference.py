"""Differences: two ways to select from one table, judged on the same draws.

Two selections (a rule, a procedure, or some of the configurations) from one table of predictions become the corrected
difference of what they come to, with an interval; nothing is trained. Both select on what is present in a
resample and are judged on what is absent from it, so that what is hard for both cancels.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

from .. import seeds
from ..containers import Array, as_array, check_level
from ..errors import SoberError, SoberWarning
from ..predictions import Predictions
from .bootstrap import corrected
from .estimate import Estimate
from .intervals import STEADIER, Percentile
from .procedures import SelectionProcedure
from .question import MetricLike, Question
from .selection import SelectionRule, best
from .tables import ARRAYS, Table, open_table

#: With fewer folds or groups than this, a difference is never called clear: they may all agree by chance.
FEW_UNITS = 6
#: A rule or a procedure that selects from all configurations, or the configurations that "best" selects from.
Selection = str | SelectionRule | SelectionProcedure | Sequence[int]


@dataclass(frozen=True, eq=False)
class Difference:
    """How much better one selection is than another, by the metric that selects.

    Attributes
    ----------
    value : float
        Corrected score of the first minus that of the second: `first.value - second.value`.
    interval : (float, float)
        Percentiles of the draws; with `interval="fixed_models"` nearer together, as the draws of few absent samples
        vary more than the whole table; with folds or groups wider, as Student's t is wider than the normal. It reaches
        0 where both select the same.
    first, second : Estimate
        What each selection comes to.
    draws : array [B]
        First minus second in each resample; NaN where either is undefined.
    confidence_level : float
    """

    value: float
    interval: tuple[float, float]
    first: Estimate
    second: Estimate
    draws: Array
    confidence_level: float

    @classmethod
    def of(cls, first: Estimate, second: Estimate, confidence_level: float) -> Difference:
        """Compare two estimates that were judged on the same draws."""
        assert first.draws is not None
        assert second.draws is not None
        draws = first.draws - second.draws
        if np.isnan(draws).all():
            raise SoberError("E109", "No draw scores both selections, so they cannot be compared. Use stratify=True.")
        same = (first.winner, first.decision) == (second.winner, second.decision)
        value, n_units = first.value - second.value, first.n_folds or first.n_groups
        share = (1.0 + check_level(confidence_level)) / 2.0
        low, high = Percentile(draws).bounds(share)
        # With fixed models nothing was cross-validated: draws vary more than the table's difference does, for they are
        # judged by the absent samples alone, and are drawn together; else that room is needed (docs/evidence/tuned.md).
        factor = STEADIER if first.fixed_models else 1.0
        if n_units is not None and n_units > 1:
            # A bootstrap of few folds or groups shows too little variance, by (n - 1) / n, and its quantiles are normal
            # where Student's belong.
            factor *= float(special.stdtrit(n_units - 1, share) / special.ndtri(share))
            factor *= math.sqrt(n_units / (n_units - 1))
        if factor != 1.0:
            centre = float(np.nanmean(draws))
            low, high = (centre + factor * (end - centre) for end in (low, high))
        held = (value, 0.0) if same else (value,)  # of the same choice there is no difference on the whole table
        return cls(value, (min(low, *held), max(high, *held)), first, second, draws, confidence_level)

    @property
    def naive(self) -> float:
        """What plain cross-validation says."""
        return self.first.naive - self.second.naive

    def sentence(self, other: str | None = None) -> str:
        """Say whether tuning was worth it, where `second` is a configuration that needed no choice, called `other`."""
        if other is None:
            is_first = self.second.winner == np.min(self.first.configurations)
            other = "the first configuration" if is_first else f"configuration {self.second.winner}"
        if self.first.decision is None and self.first.winner == self.second.winner:
            return f"The winner is {other}: tuning changed nothing."
        low, high = self.interval
        verdict = "clearly better than" if low > 0 else "clearly worse than" if high < 0 else "not clearly better than"
        n_units, units = self.first.n_folds or self.first.n_groups, "folds" if self.first.n_folds else "groups"
        if n_units is not None and n_units < FEW_UNITS and not low <= 0 <= high:
            verdict = f"with only {n_units} {units} that does not show that the winner differs from"
        largest = max((abs(x) for x in (self.value, low, high) if np.isfinite(x)), default=0.0)
        # Digits after the point: three for scores of about one, fewer for large errors, more for tiny ones.
        normal = largest == 0 or 0.01 <= largest < 10
        digits = 3 if normal else int(np.clip(2 - np.floor(np.log10(largest)), 0, 12))
        did = "gained" if self.value >= 0 else "changed the score by"
        gap, low_, high_ = (f"{abs(x) if x == 0 else x:.{digits}f}" for x in (self.value, low, high))
        return f"Tuning {did} {gap} ({100 * self.confidence_level:g} % interval {low_} to {high_}): {verdict} {other}."

    def __repr__(self) -> str:
        low, high = self.interval
        return f"Difference({self.first.metric}={self.value:+.4f}, interval=({low:+.4f}, {high:+.4f}))"


@dataclass(frozen=True, eq=False)
class Family:
    """The best of some configurations, beside the best of all."""

    name: str
    configurations: Array  # ids of its members
    estimate: Estimate  # the corrected score of its best
    difference: Difference  # that minus the corrected score of the best of all
    share: float  # of the resamples that one of its members won
    may_be_as_good: bool  # as the winner: whether the interval of the difference reaches 0

    def __repr__(self) -> str:
        (low, high), n = self.difference.interval, len(self.configurations)
        return (
            f"Family({self.name!r}, {n} configuration{'s' * (n != 1)}, {self.estimate.metric}="
            f"{self.estimate.value:.4f}, difference={self.difference.value:+.4f} ({low:+.4f}, {high:+.4f}))"
        )


def difference(
    y: Any,
    predictions: Any,
    metric: MetricLike = "roc_auc",
    *,
    first: Selection,
    second: Selection = "best",
    **options: Any,
) -> Difference:
    """Compare two ways to select from the same predictions, each corrected for its own selection.

    Parameters
    ----------
    y, predictions, metric
        As for `sobercv.bbc`; predictions in memory, one metric.
    first, second : "best", simplest_within(...), best_with_threshold(...), an ensemble, callable, or list of int
        What `select` of `sobercv.bbc` takes, or the indices of the configurations of which the best is taken.
    **options
        Those of `sobercv.bbc`, but for `select` and `by`.

    Notes
    -----
    Intervals of two fixed configurations that are nearly equal are too narrow, as cross-validation cannot show how
    unstable their difference is (docs/evidence/gain.md).

    Examples
    --------
    >>> import sobercv
    >>> from sobercv.testing import simulate
    >>> data = simulate.beta_accuracy(n=100, c=50, seed=1)
    >>> found = sobercv.difference(data.y, data.predictions, "accuracy", first=range(10), n_bootstraps=200)
    >>> found.value < 0 < found.interval[1] + 0.2
    True
    """
    for name in ("select", "by", "counts"):
        if name in options:
            raise SoberError("E114", f"`{name}` does not apply to a difference; pass `first` and `second` instead.")
    if isinstance(metric, (list, tuple)):
        raise SoberError("E114", "A difference uses one metric, the one that selects; got a list. Name one.")
    options["random_state"] = seeds.root(options.get("random_state", 0))  # one for both
    arrays = {name: options.pop(name, None) for name in ARRAYS}
    opened: dict[Any, Table] = {}
    found = []
    for selection in (first, second):
        # A table for each procedure: a threshold asks for scores where its metric alone would ask for labels.
        select = selection if isinstance(selection, SelectionProcedure) else "best"
        if select not in opened:
            opened[select] = open_table(predictions, Question.ask(metric, select=select, **options), y=y, **arrays)
        found.append(_judged(opened[select], None if select is selection else selection))
    return Difference.of(found[0], found[1], opened[select].question.level)


def _judged(table: Table, selection: Selection | None = None) -> Estimate:
    """Judge what is selected: by the table's own question (None), by another rule, or as the best of some."""
    question = table.question
    if isinstance(selection, str) or callable(selection):
        rule = Question.ask(question.first, select=selection).select
        table = table if rule is question.select else table.asking(replace(question, select=rule))
    elif selection is not None:
        wanted = as_array(list(selection) if np.iterable(selection) else [selection], "first or second")[0]
        missing = [c for c in wanted.tolist() if c not in table.configurations]
        if missing or not len(wanted):
            what = f"no configuration {missing[0]!r}" if missing else "none in an empty list"
            known = f"They are numbered from {table.configurations[0]} to {table.configurations[-1]}."
            raise SoberError("E122", f"A selection names configurations by their numbers; there is {what}. {known}")
        members = np.isin(table.configurations, wanted)
        if question.procedure is None:
            table = table.asking(replace(question, select=best), members)
        else:  # what is tuned beside the column is tuned for these
            table = Table(table.given.take_configurations(members), question)
    with warnings.catch_warnings():  # a family may have one member
        warnings.simplefilter("ignore", SoberWarning)
        return next(iter(corrected(table).values()))


def families(table: Predictions, question: Question, labels: Sequence[str]) -> list[Family]:
    """Judge the best of every family, the label of each configuration by its id, beside the best of all; best first.

    The first metric selects and judges, and what was dropped early takes part.
    """
    if question.by == "fold":
        raise SoberError(
            "E114", "Families are compared on predictions; here only models were scored. Name a metric of predictions."
        )
    opened = open_table(table, replace(question, metrics=question.metrics[:1], several=False))
    whole, found = _judged(opened), []
    assert whole.win_counts is not None
    of = np.array([labels[int(c)] for c in opened.configurations])
    for name in dict.fromkeys(of.tolist()):
        member = of == name
        own = _judged(opened, opened.configurations[member])
        if own.winner not in table.configurations:  # known by few samples: only its draws say how well
            assert own.draws is not None
            own = replace(own, bounds=Percentile(own.draws, range=question.first.range))
        share = float(whole.win_counts[member].sum() / max(1, whole.win_counts.sum()))
        gap = Difference.of(own, whole, question.level)
        found.append(Family(str(name), opened.configurations[member], own, gap, share, gap.interval[1] >= 0.0))
    return sorted(found, key=lambda family: -family.estimate.value)
