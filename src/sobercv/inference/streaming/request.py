"""What was asked for, checked, and how a block of the table is read.

Takes arguments of `sobercv.bbc`, gives the `Request` that all routes start from. What goes with the samples (truth,
groups, weights) are held in memory, in few bytes a sample; predictions never are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ... import sources
from ...containers import Array, codes_of, weights_of
from ...errors import SoberError
from ...metrics import Metric
from ...metrics import get as get_metric
from ...metrics.registry import settle
from ...predictions import Predictions
from ...responses import read_response
from ...sources import Source
from ...targets import Target
from ..resample import Bootstrap
from ..selection import Rule, rule_for
from ..table import MIN_UNITS, _wanted

ERRORS = 128  # resamples for the standard errors that some rules ask for


@dataclass(frozen=True, eq=False)
class Request:
    """One call of `sobercv.bbc` on a source."""

    source: Source
    response: str  # "" where the user named none
    truth: Any  # y as given
    metrics: list[Metric]
    select: str | Rule
    groups: Array | None
    folds: Any
    weight: Array | None
    aggregate: str
    within_folds: bool
    stratify: bool
    n_bootstraps: int
    seed: int
    n_jobs: int | None

    @property
    def n_samples(self) -> int:
        """Number of rows of the source."""
        return self.source.shape[0]

    @property
    def n_configurations(self) -> int:
        """Number of columns of the source."""
        return self.source.shape[1]

    @cached_property
    def rule(self) -> Rule:
        """The rule that selects among all configurations."""
        return rule_for(self.select, np.arange(self.n_configurations))

    @property
    def needs_standard_errors(self) -> bool:
        """Whether the rule must be told the standard error of each configuration."""
        return bool(getattr(self.rule, "needs_standard_errors", False))

    @cached_property
    def target(self) -> Target:
        """The truth, in few bytes a sample."""
        return Target.read(self.truth, self.metrics[0].task, compact=True)

    @cached_property
    def n_groups(self) -> int | None:
        """Number of groups; None where samples are drawn one by one."""
        return None if self.groups is None else int(self.groups.max()) + 1

    def bootstrap(self) -> Bootstrap:
        """The draws, the same as in memory."""
        strata = None
        if self.stratify:
            y, classes = self.target.values, self.target.classes
            if self.metrics[0].task == "regression":
                raise SoberError(
                    "E114", "`stratify=True` is for classes and survival; the target is a number. Leave it out."
                )
            strata = y["event"].astype(np.int64) if classes is None else y
        return Bootstrap(self.n_samples, self.seed, groups=self.groups, strata=strata)

    def reading(self) -> Reading:
        """How blocks are read."""
        return Reading(self.target.take(slice(0)), tuple(_wanted(self.metrics)), self.response)


@dataclass(frozen=True, eq=False)
class Reading:
    """How numbers become labels or probabilities; small enough to travel with every block."""

    target: Target  # without its values
    responses: tuple[str, ...]
    response: str

    def table(self, values: Array, y: Array, weight: Array | None, start: int) -> Predictions:
        """Check a block as a table in memory is checked, and give it as one."""
        n = len(values)
        seen = np.ones((n, 1), bool)
        try:
            name, tensor, by_class = read_response(self.response, values[:, :, None], seen, self.target, self.responses)
            table = Predictions(
                target=replace(self.target, values=y),
                responses={name: tensor},
                seen=seen,
                fold_of=np.zeros((n, 1), np.int64),
                sample_weight=weight,
                labels_from_probabilities=by_class and self.responses[0] == "predict",
            )
        except SoberError as problem:
            raise SoberError(problem.code, f"In rows {start:,} to {start + n - 1:,}: {problem.message}") from None
        return table

    def settle(self, kinds: frozenset[bool]) -> bool:
        """Whether labels were read off probabilities, given how each block was read.

        Blocks of nothing but 0 and 1 pass for labels where others show that they are probabilities. With the classes 0
        and 1 that is the same thing; with others it is not.
        """
        if len(kinds) > 1 and not (self.target.classes is not None and self.target.classes.tolist() == [0, 1]):
            raise SoberError(
                "E110",
                "`predictions` looks like labels in some blocks and like probabilities in others. Say which it is: "
                'pass {"predict": ...} or {"predict_proba": ...}.',
            )
        return True in kinds


def prepare(
    y: Any,
    source: Source,
    response: str,
    metric: Any,
    *,
    groups: Any,
    folds: Any,
    sample_weight: Any,
    select: str | Rule,
    aggregate: str,
    within_folds: bool,
    stratify: bool,
    n_bootstraps: int,
    seed: int,
    n_jobs: int | None,
) -> Request:
    """Check everything that can be checked before predictions are read."""
    given = {"y": y, "groups": groups, "folds": folds, "sample_weight": sample_weight}
    found = {name: sources.vector(values, source, name) for name, values in given.items()}
    source = source.without([taken for _, names in found.values() for taken in names])
    truth, groups, folds, sample_weight = (values for values, _ in found.values())
    n, c = source.shape
    if c == 0:
        raise SoberError("E101", "`predictions` holds no configuration. Pass at least one column.")
    if truth is None or np.ndim(truth) == 0:
        raise SoberError("E101", "`y` must have one entry a sample. Pass an array, or the name of a Parquet column.")
    if len(truth) != n:
        turned = " It looks transposed: pass predictions.T." if c == len(truth) else ""
        raise SoberError(
            "E101", f"`predictions` has {n} rows but `y` has {len(truth)}. Both need one row a sample.{turned}"
        )
    if aggregate not in ("pooled", "fold"):
        raise SoberError("E108", f'`aggregate` must be "pooled" or "fold"; got {aggregate!r}.')
    many = list(metric) if isinstance(metric, (list, tuple)) else [metric]
    if not many:
        raise SoberError("E105", "`metric` is an empty list. Name at least one metric.")
    metrics = [settle(get_metric(m), truth) for m in many]
    request = Request(
        source,
        response,
        truth,
        metrics,
        select,
        None if groups is None else codes_of(groups, n, "groups"),
        folds,
        weights_of(sample_weight, n),
        aggregate,
        within_folds,
        stratify,
        n_bootstraps,
        seed,
        n_jobs,
    )
    _check(request)
    return request


def _check(request: Request) -> None:
    k = request.target.n_classes
    for metric in request.metrics:
        metric.check_target(request.target)
        if k > 2 and metric.responses[0] != "predict":
            raise SoberError(
                "E118",
                f"{metric.name} of {k} classes needs a probability for each class, [N, C, R, K], which has to fit in "
                "memory. Pass a numpy array, or labels and a metric such as accuracy.",
            )
    units = request.n_samples if request.n_groups is None else request.n_groups
    if units < MIN_UNITS:
        what = "samples" if request.n_groups is None else "groups"
        raise SoberError(
            "E106", f"A bootstrap needs at least {MIN_UNITS} {what} with predictions; got {units}. Collect more data."
        )
