"""BBC for decisions: a procedure decides anew in every resample, and its decision is judged on what is absent.

Takes a table in memory whose question holds a `SelectionProcedure`, gives estimates; knows no procedure by name. The
loop of `bbc`, for whatever predicts like a configuration.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..metrics import Scorer, blocks
from ..predictions import Predictions
from .drawn import Judged, estimates
from .estimate import Estimate
from .gathering import Spread, sums_by_unit
from .procedures import Decider, Decisions, SelectionProcedure
from .tables import MemoryTable, Table

_CELLS = 1 << 25  # predictions of decisions that are held at a time


def decided(table: Table, procedure: SelectionProcedure) -> dict[str, Estimate]:
    """Decide on the whole table, decide and judge anew in every resample: an estimate for each metric."""
    if type(table) is not MemoryTable:
        raise SoberError(
            "E121",
            f"{procedure!r} decides on predictions that are in memory, all of the same samples, and resampled by "
            'sample. Pass them as a numpy array, write by="sample", and leave out count_dropped.',
        )
    procedure.check(table.question)
    judge = DecisionJudge(table, procedure.bind(table.predictions, table.question))
    done = blocks.run(judge, _pieces(table), table.question.n_threads)
    judged = Judged.joined([part for part, _ in done])
    decision = judge.final.decision([decisions for _, decisions in done])
    noted = procedure.notes(decision)
    return {
        name: replace(estimate, scores=alone, decision=decision, notes=(*estimate.notes, *noted))
        for (name, estimate), alone in zip(
            estimates(table, judge.wholes, judge.winner, judged).items(), judge.alone, strict=True
        )
    }


def _pieces(table: Table) -> list[tuple[int, int]]:
    """Cut the blocks of a table so that the predictions of a block's decisions stay small."""
    size = max(blocks.UNIT, _CELLS // table.n_samples // blocks.UNIT * blocks.UNIT)
    return [(start + a, start + b) for start, stop in table.cut() for a, b in blocks.cut(stop - start, size)]


class DecisionJudge:
    """A procedure at work on one table: called with a range of resamples, it decides on them and judges.

    Attributes
    ----------
    final : Decisions
        The one decision on the whole table.
    winner : int
        Position of the configuration that it is for, or of the best one alone.
    alone : list of array [C]
        For each metric the score of every configuration, decided on alone, on all samples.
    wholes : list of array [C]
        The same with the score of the decision in the place of the winner's.
    """

    def __init__(self, table: MemoryTable, decider: Decider) -> None:
        self._table, self._decider = table, decider
        everybody = np.ones((1, table.n_samples), np.uint8)
        self.final = decider.decide(everybody)
        self.winner = int(self.final.winners[0])
        if self.winner < 0:
            raise SoberError(
                "E109",
                f"{table.question.first.name} is undefined on these samples, or no cut keeps the floors asked for, so "
                "nothing can be selected. Check `y`, or lower the floors.",
            )
        self.alone = [scorer.scores(everybody)[0] for scorer in self._bound(decider.alternatives())]
        self._fixed = self._bound(self.final.predictions())
        first = np.zeros(1, np.int64)
        self.wholes = [
            np.where(np.arange(len(alone)) == self.winner, scorer.picked(everybody, first), alone)
            for alone, scorer in zip(self.alone, self._fixed, strict=True)
        ]

    def _bound(self, predictions: Predictions) -> list[Scorer]:
        question = self._table.question
        return [question.bind(predictions, metric) for metric in question.metrics]

    def __call__(self, start: int, stop: int) -> tuple[Judged, Decisions]:
        """Decide and judge on resamples start to stop - 1."""
        counts = self._table.counts(start, stop)
        decisions = self._decider.decide(counts)
        absent = (counts == 0).view(np.uint8)
        each = np.where(decisions.winners < 0, -1, np.arange(len(counts)))
        draws = [scorer.picked(absent, each) for scorer in self._bound(decisions.predictions())]
        spread = None if self._table.question.interval == "percentile" else self._spread(counts, absent, decisions)
        return Judged(decisions.winners, draws, spread), decisions

    def _spread(self, counts: Array, absent: Array, decisions: Decisions) -> Spread:
        """What Wilson's interval needs: how the final decision scores, in bag and out of bag."""
        same = np.zeros(len(counts), np.int64)
        own = [scorer.picked(absent, same) for scorer in self._fixed]
        inside, *others = [scorer.picked(counts, same) for scorer in self._fixed]
        in_bag = np.array(decisions.scores, np.float64)
        in_bag[:, self.winner] = inside
        return Spread(own, others, sums_by_unit(in_bag - self.wholes[0]))
