"""Question: what is asked of a table of predictions, checked once and passed whole.

Takes the options that users type, gives one immutable noun that every protocol, drop rule and table of scores receives:
the rule that picks the winner is the rule inside the bootstrap because both read it here. Never sees a prediction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict, TypeVar, Unpack

import numpy as np

from .. import seeds, threads
from ..containers import Array
from ..errors import SoberError
from ..metrics import Metric, Scorer
from ..metrics import get as get_metric
from ..metrics.by_name import settle
from ..metrics.contract import Aggregate
from ..predictions import Predictions
from .intervals import check_level
from .procedures import SelectionProcedure
from .selection import SelectionRule, best, narrowed, needs_standard_errors, rule_of

MetricLike = str | Metric | Callable[..., Any]
Answer = TypeVar("Answer")

ALLOWED = {
    "aggregate": ("pooled", "fold"),
    "by": ("sample", "fold"),
    "method": ("bbc", "632+"),
    "interval": ("percentile", "calibrated"),
}


class Options(TypedDict, total=False):
    """What can be asked beside the metric, by the names that users type; `sobercv.bbc` documents them."""

    select: str | SelectionRule | SelectionProcedure
    aggregate: str
    by: str
    within_folds: bool
    stratify: bool
    interval: str
    fixed_models: bool
    n_bootstraps: int
    confidence_level: float
    random_state: Any
    n_jobs: int | None


class SearchOptions(Options, total=False):
    """What a search can ask for besides; `Estimate.as_632plus` gives others the same."""

    method: str


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked. Make it with `Question.ask`; `dataclasses.replace` gives a checked variant.

    Attributes
    ----------
    metrics : tuple of Metric
        The first selects, all judge.
    select : callable
        The selection rule; see `rule_for`.
    procedure : SelectionProcedure or None
        What selects more than a column, and then takes the place of the rule.
    aggregate : {"pooled", "fold"}
    by : {"sample", "fold"}
        What is resampled.
    method : {"bbc", "632+"}
    interval : {"percentile", "calibrated"}
    fixed_models : bool
        Whether the models were trained on other data, so that nothing was cross-validated.
    within_folds, stratify : bool
    n_bootstraps : int
    level : float
        Of the interval.
    seed : int
        The root seed of all draws.
    n_jobs : int or None
        Threads; changes no answer.
    several : bool
        Whether a list of metrics was given, so that a dict of answers is expected.
    """

    metrics: tuple[Metric, ...]
    select: SelectionRule = best
    aggregate: Aggregate = "pooled"
    by: Literal["sample", "fold"] = "sample"
    method: Literal["bbc", "632+"] = "bbc"
    interval: Literal["percentile", "calibrated"] = "calibrated"
    fixed_models: bool = False
    within_folds: bool = False
    stratify: bool = False
    n_bootstraps: int = 1000
    level: float = 0.95
    seed: int = 0
    n_jobs: int | None = None
    several: bool = False
    procedure: SelectionProcedure | None = None

    @classmethod
    def ask(cls, metric: MetricLike | Sequence[MetricLike], **options: Unpack[SearchOptions]) -> Question:
        """Read the options of `sobercv.bbc` and its rivals, and check all that needs no data."""
        several = isinstance(metric, (list, tuple))
        many: list[Any] = list(metric) if isinstance(metric, (list, tuple)) else [metric]
        given: dict[str, Any] = dict(options)
        given["seed"] = seeds.root(given.pop("random_state", 0))
        selects = given.get("select", "best")
        if isinstance(selects, SelectionProcedure):
            selects, given["procedure"] = best, selects
        given["select"] = rule_of(selects)
        given["level"] = given.pop("confidence_level", 0.95)
        return cls(tuple(get_metric(m) for m in many), **given, several=several)

    def __post_init__(self) -> None:
        for name, values in ALLOWED.items():
            if getattr(self, name) not in values:
                allowed = " or ".join(f'"{value}"' for value in values)
                if (name, getattr(self, name)) == ("interval", "wilson"):
                    allowed = f'{allowed} (what was called "wilson" is "calibrated" now)'
                raise SoberError("E122", f"`{name}` must be {allowed}; got {getattr(self, name)!r}.")
        n = self.n_bootstraps
        if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
            raise SoberError("E108", f"`n_bootstraps` must be a whole number of 1 or more; got {n!r}. Write 1000.")
        check_level(self.level)
        threads.count(self.n_jobs)
        if not self.metrics:
            raise SoberError("E105", "`metric` is an empty list. Name at least one metric.")
        self._check_names()
        self._check_together()
        if self.procedure is not None:
            self._check_procedure(self.procedure)
        if self.by == "fold":  # folds are scored one by one, so that the winner is picked by their mean
            object.__setattr__(self, "aggregate", "fold")

    def _check_names(self) -> None:
        """Refuse metrics of one name: answers are kept by name, and one would replace the other."""
        names = [metric.name for metric in self.metrics]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise SoberError(
                "E105",
                f"{names.count(twice)} of the metrics are called {twice!r}, and estimates are kept by name. Name a "
                'function with sobercv.make_metric(function, name="..."), or list each metric once.',
            )

    def _check_together(self) -> None:
        if self.fixed_models and self.interval != "calibrated":
            raise SoberError(
                "E114",
                '`fixed_models` narrows the interval "calibrated"; the interval "percentile" does not know it. Leave '
                'it out, or write interval="calibrated".',
            )
        if self.by == "fold" and self.stratify:
            raise SoberError(
                "E114", '`stratify` draws samples within classes; by="fold" draws folds. Leave one of them out.'
            )
        if self.stratify and getattr(self.first, "task", None) == "regression":
            raise SoberError(
                "E114", "`stratify=True` is for classes and survival; the target is a number. Leave it out."
            )
        if not self.first.selects:
            raise SoberError(
                "E114",
                f'{self.first.name} has no "higher is better" direction, so it cannot select. List it after the metric '
                "that selects.",
            )
        if self.within_folds and not any(metric.pools_scores for metric in self.metrics):
            raise SoberError(
                "E114",
                f"`within_folds` is for metrics that rank samples; {self.first.name} does not, roc_auc and others do. "
                "Leave it out.",
            )

    def _check_procedure(self, procedure: SelectionProcedure) -> None:
        """Refuse what has no meaning, or has not been tested, where more than a column is selected."""
        usual = {"aggregate": "pooled", "by": "sample", "method": "bbc", "within_folds": False}
        for name, value in usual.items():
            if getattr(self, name) != value:
                raise SoberError(
                    "E114", f"{procedure!r} goes with {name}={value!r} only; got {getattr(self, name)!r}. Leave it out."
                )
        procedure.check(self)

    # ---- what it comes to ----------------------------------------------------------------------------------------
    @property
    def first(self) -> Metric:
        """The metric that selects."""
        return self.metrics[0]

    @property
    def n_threads(self) -> int:
        """Threads that the answer may use."""
        return threads.count(self.n_jobs)

    @property
    def needs_standard_errors(self) -> bool:
        """Whether the rule must be told the standard error of each configuration."""
        return needs_standard_errors(self.select)

    @property
    def needs_folds(self) -> bool:
        """Whether the question means nothing without folds."""
        return self.aggregate == "fold" or self.within_folds

    @property
    def responses(self) -> tuple[str, ...]:
        """How a bare array is read when several metrics share it: probabilities serve all, labels only some."""
        wanted = () if self.procedure is None else self.procedure.wanted(self.first)
        if wanted:
            return wanted[0]
        asked = (metric.responses for metric in self.metrics if metric.responses[0] != "predict")
        return next(asked, self.first.responses)

    @property
    def makes_labels(self) -> bool:
        """Whether labels are made of scores by what is selected, so that none need be predicted."""
        return self.procedure is not None and self.procedure.makes_labels

    def for_target(self, y: Any) -> Question:
        """Settle the task of metrics that leave it open, by looking at the target."""
        settled = tuple(settle(metric, y) for metric in self.metrics)
        same = all(a is b for a, b in zip(settled, self.metrics, strict=True))
        return self if same else replace(self, metrics=settled)

    def by_the_first(self) -> Question:
        """Ask by the metric that selects alone."""
        return replace(self, metrics=self.metrics[:1], several=False)

    def rule_for(self, configurations: Array) -> SelectionRule:
        """Return the selection rule for a table that holds these of the configurations."""
        if self.procedure is not None:
            raise SoberError(
                "E114",
                f"{self.procedure!r} selects more than a column, which sobercv.bbc and BBCSearchCV know how to judge, "
                'and nothing else. Write select="best".',
            )
        return narrowed(self.select, configurations)

    def bind(self, table: Predictions, metric: Metric | None = None) -> Scorer:
        """Bind one metric, the one that selects unless named, to a table."""
        metric = self.first if metric is None else metric
        # Among several metrics only those that rank can compare within folds.
        within_folds = self.within_folds and metric.pools_scores
        return metric.bind(table, aggregate=self.aggregate, within_folds=within_folds, n_jobs=self.n_jobs)

    def answer(self, found: dict[str, Answer]) -> Any:
        """Return answers by metric as they were asked for: a dict of them, or the only one."""
        return found if self.several else next(iter(found.values()))
