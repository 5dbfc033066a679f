"""Question: what is asked of a table of predictions, checked once and passed whole.

The options that users type become one immutable object that every protocol, drop rule and table receives: the rule that
picks the winner is the rule inside the bootstrap because both read it here. It never sees a prediction.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

from .. import seeds, threads
from ..containers import Array, check_level, whole_number
from ..errors import SoberError
from ..metrics import Metric, Scorer
from ..metrics import get as get_metric
from ..metrics.contract import Aggregate
from ..predictions import Predictions
from .intervals import INTERVALS
from .procedures import SelectionProcedure
from .selection import RULES, SelectionRule, best

MetricLike = str | Metric | Callable[..., Any]

ALLOWED: dict[str, Collection[str]] = {
    "aggregate": get_args(Aggregate),
    "by": ("sample", "fold"),
    "interval": INTERVALS,
}
#: What `select=` takes when it is called.
_TO_CALL = ("simplest_within", "best_with_threshold", "greedy_ensemble", "stacked_ensemble", "average_of_best")
#: What a procedure goes with: all else has no meaning, or has not been tested, where more than a column is selected.
_WITH_PROCEDURE = {"aggregate": "pooled", "by": "sample"}


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked. Make it with `Question.ask`; `dataclasses.replace` gives a checked variant."""

    metrics: tuple[Metric, ...]  # the first selects, all judge
    select: SelectionRule = best
    aggregate: Aggregate = "pooled"
    by: Literal["sample", "fold"] = "sample"  # what is resampled
    interval: str = "calibrated"
    stratify: bool = False
    n_bootstraps: int = 1000
    level: float = 0.95  # of the interval
    seed: int = 0  # the root seed of all draws
    n_jobs: int | None = None  # threads; changes no answer
    several: bool = False  # whether a list of metrics was given, so that a dict of answers is expected
    procedure: SelectionProcedure | None = None  # what selects more than a column, in the place of the rule
    first: Metric = field(init=False)  # the metric that selects
    n_threads: int = field(init=False)
    fixed_models: bool = field(init=False)  # whether the models were trained on other data: nothing was cross-validated
    needs_folds: bool = field(init=False)  # whether the question means nothing without folds
    needs_standard_errors: bool = field(init=False)  # whether the rule must be told those of the configurations
    makes_labels: bool = field(init=False)  # whether the procedure makes labels, so that none need be predicted

    @classmethod
    def ask(
        cls,
        metric: MetricLike | Sequence[MetricLike],
        *,
        select: str | SelectionRule | SelectionProcedure = "best",
        confidence_level: float = 0.95,
        random_state: Any = 0,
        **options: Any,
    ) -> Question:
        """Read the options of `sobercv.bbc`; check all that needs no data."""
        several = isinstance(metric, (list, tuple))
        many: list[Any] = list(metric) if isinstance(metric, (list, tuple)) else [metric]
        if isinstance(select, SelectionProcedure):
            options["procedure"], select = select, best
        if unknown := options.keys() - {each.name for each in fields(cls)}:
            text = f"There is no option {min(unknown)!r} here. The options are those of sobercv.bbc after `metric`."
            raise SoberError("E122", text)
        return cls(
            tuple(map(get_metric, many)),
            select=RULES.get(select, select) if isinstance(select, str) else select,  # type: ignore[arg-type]
            level=confidence_level,
            seed=seeds.root(random_state),
            several=several,
            **options,
        )

    def __post_init__(self) -> None:
        if not self.metrics:
            raise SoberError("E105", "`metric` is an empty list. Name at least one metric.")
        names = [metric.name for metric in self.metrics]
        for name in (name for name in names if names.count(name) > 1):
            advice = 'List each once, or name a function: sobercv.make_metric(function, name="...").'
            raise SoberError("E105", f"{names.count(name)} of the metrics are called {name!r}. {advice}")
        for name, values in ALLOWED.items():
            if getattr(self, name) not in values:
                allowed = " or ".join(f'"{value}"' for value in values)
                raise SoberError("E122", f"`{name}` must be {allowed}; got {getattr(self, name)!r}.")
        if isinstance(self.select, type) or not callable(self.select):
            advice = 'Write select="best".'
            given = getattr(self.select, "__name__", self.select)
            if given in _TO_CALL:  # named or passed, but not called
                advice = f"Write select=sobercv.{given}()."
            known = '"best", simplest_within(...), best_with_threshold(), an ensemble or a callable'
            raise SoberError("E122", f"`select` must be {known}; got {given!r}. {advice}")
        whole_number("n_bootstraps", self.n_bootstraps, " Write 1000.")
        check_level(self.level)
        for problem in self._problems():
            raise SoberError("E114", problem)
        self.__dict__.update(
            # folds are scored one by one, so that the winner is picked by their mean
            aggregate="fold" if self.by == "fold" else self.aggregate,
            first=self.metrics[0],
            n_threads=threads.count(self.n_jobs),
            fixed_models=self.interval == "fixed_models",
            needs_folds=self.by == "fold" or self.aggregate != "pooled",
            needs_standard_errors=bool(getattr(self.select, "needs_standard_errors", False)),
            makes_labels=self.procedure is not None and self.procedure.makes_labels,
        )
        if self.procedure is not None:
            self.procedure.check(self)

    def _problems(self) -> Iterator[str]:
        """What cannot be meant, in sentences."""
        if self.by == "fold" and self.stratify:
            yield '`stratify` draws samples within classes; by="fold" draws folds. Leave one of them out.'
        if self.stratify and self.metrics[0].task == "regression":
            yield "`stratify=True` is for classes and survival; the target is a number. Leave it out."
        name = self.metrics[0].name
        if not self.metrics[0].selects:
            yield f'{name} has no "higher is better" direction, so it cannot select. List it after one that does.'
        if self.aggregate == "within_folds" and not any(metric.pools_scores for metric in self.metrics):
            yield f'aggregate="within_folds" is for metrics that rank samples; {name} does not, roc_auc does.'
        for option, value in _WITH_PROCEDURE.items():
            if self.procedure is not None and getattr(self, option) != value:
                given = getattr(self, option)
                yield f"{self.procedure!r} works only with {option}={value!r}; got {given!r}. Leave it out."

    def for_target(self, y: Any) -> Question:
        """Settle the task of metrics that leave it open, by looking at the target."""
        settled = tuple(metric.for_target(y) for metric in self.metrics)
        same = all(a is b for a, b in zip(settled, self.metrics, strict=True))
        return self if same else replace(self, metrics=settled)

    def rule_for(self, configurations: Array) -> SelectionRule:
        """Return the selection rule for a table that holds these of the configurations."""
        if self.procedure is not None:
            advice = 'more than one column, which only sobercv.bbc and BBCSearchCV can judge. Write select="best".'
            raise SoberError("E114", f"{self.procedure!r} selects {advice}")
        told = getattr(self.select, "for_configurations", None)
        return self.select if told is None else told(configurations)

    def bind(self, table: Predictions, metric: Metric | None = None, *, pooled: bool = False) -> Scorer:
        """Bind one metric (default: the one that selects) to a table; `pooled` takes no mean over folds."""
        metric = self.first if metric is None else metric
        aggregate = self.aggregate
        # Among several metrics only those that rank can compare within folds.
        if (pooled and aggregate == "fold") or (aggregate == "within_folds" and not metric.pools_scores):
            aggregate = "pooled"
        return metric.bind(table, aggregate=aggregate, n_jobs=self.n_jobs)
