"""What all tables that are read in blocks share: the vectors that go with the samples, checked, and their draws.

Takes a `Source` and what goes with its samples (truth, groups, weights): those are held in memory, in few bytes a
sample; predictions never are. Gives no scores: how those are gathered is each table's own.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from ... import sources
from ...containers import Array, codes_of, weights_of
from ...errors import Note, SoberError
from ...predictions import Predictions, folds_of
from ...sources import Source
from ...targets import Target
from .. import notes
from ..question import Question
from ..resample import Bootstrap, Draws, Replayed
from .base import Table
from .inputs import Inputs
from .memory import MOST_UNITS, MemoryTable
from .reading import Reading


class StreamedTable(Table):
    """Predictions of which only blocks are in memory.

    Parameters
    ----------
    source : Source
    response : str
        The name that the user gave the predictions; "" for none.
    inputs : Inputs
        What goes with the samples; columns of the source where it has names.
    question : Question
    """

    def __init__(self, source: Source, response: str, inputs: Inputs, question: Question) -> None:
        given = {name: getattr(inputs, name) for name in ("y", "groups", "folds", "sample_weight")}
        found = {name: sources.vector(values, source) for name, values in given.items()}
        self.source = source.without([taken for _, names in found.values() for taken in names])
        self.truth, groups, self.folds, weight = (values for values, _ in found.values())
        _check_shape(self.source, self.truth)
        n, c = self.source.shape
        self.question = question.for_target(self.truth)
        self.target = Target.read(self.truth, self.question.first.task, pos_label=inputs.pos_label, compact=True)
        self.groups = None if groups is None else codes_of(groups, n, "groups")
        self.weight = weights_of(weight, n)
        self.n_samples, self.configurations = n, np.arange(c)
        self.n_groups = None if self.groups is None else int(self.groups.max()) + 1
        self.reading = Reading(self.target.take(slice(0)), self.question.responses, response)
        self._check_classes()
        self.check_size()
        self.check_folds(self.folds is not None)
        self.fold_of = folds_of(self.folds, n, 1) if self.question.by == "fold" else np.zeros((n, 1), np.int64)
        self.n_resamples = int(self.question.n_bootstraps)
        self.draws: Draws = Bootstrap(n, self.question.seed, groups=self.groups, strata=self._strata())
        if inputs.counts is not None and self.question.by == "sample":
            self.draws = Replayed.of(inputs.counts, n)
            self.n_resamples = self.draws.n_resamples

    @classmethod
    def suits(cls, inputs: Inputs, question: Question) -> bool:
        """Whether this is a way to answer the question; the first table that says so is taken."""
        return True

    @property
    def n_configurations(self) -> int:
        """Number of columns of the source."""
        return len(self.configurations)

    def _strata(self) -> Array | None:
        if not self.question.stratify:
            return None
        y = self.target.values
        return y["event"].astype(np.int64) if self.target.classes is None else y

    def _check_classes(self) -> None:
        k = self.target.n_classes
        for metric in self.question.metrics:
            metric.check_target(self.target)
            if k > 2 and metric.responses[0] != "predict":
                raise SoberError(
                    "E118",
                    f"{metric.name} of {k} classes needs a probability for each class, [N, C, R, K], which has to fit "
                    "in memory. Pass a numpy array, or labels and a metric such as accuracy.",
                )

    def bind(self, configurations: Array) -> MemoryTable:
        """Read these configurations, as a table in memory."""
        first, last = int(configurations[0]), int(configurations[-1]) + 1
        together = last - first == len(configurations)
        values = self.source.columns(slice(first, last) if together else configurations)
        table = Predictions.build(
            self.target,
            {self.reading.response: values} if self.reading.response else values,
            task=self.target.task,
            responses=self.reading.responses,
            groups=self.groups,
            folds=self.folds,
            sample_weight=self.weight,
        )
        return MemoryTable(table, self.question)

    @property
    def n_folds(self) -> float:
        """Look at the folds as they were given."""
        n_folds = 0 if self.folds is None else len(np.unique(self.folds))
        return n_folds if n_folds > 1 else 0

    def kurtoses(self, winner: int) -> list[float]:
        """Read the winner's column, where it is short enough to matter."""
        if self.n_units > MOST_UNITS:
            return super().kurtoses(winner)
        return self.bind(np.array([winner])).kurtoses(0)

    def common_notes(self, kinds: Collection[str]) -> list[Note]:
        """What is special about the samples, and about how blocks were read: the responses in `kinds`."""
        self.reading.check_kinds(kinds)
        found = notes.on_size(self.n_configurations, 0, self.n_samples, self.n_groups)
        labels = notes.from_probabilities(self.question.metrics, set(kinds) - {"predict"} or {"predict"})
        return found if labels is None else [*found, labels]


def _check_shape(source: Source, truth: Any) -> None:
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
