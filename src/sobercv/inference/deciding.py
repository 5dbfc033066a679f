"""BBC for decisions: a procedure decides anew in every resample, and its decision is judged on what is absent.

Takes a table in memory whose question holds a `SelectionProcedure`, gives estimates; knows no procedure by name. The
loop of `bbc`, for whatever predicts like a configuration, with three differences: a sample that was drawn several times
is decided on once, labels of all resamples are judged together, and the estimate goes a tenth of the way back to the
naive score. docs/tuned.md says what each is worth.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..containers import Array
from ..errors import SoberError
from ..metrics import Metric, Scorer, blocks
from ..metrics.part import as_counts
from ..predictions import Predictions
from .drawn import Judged, estimates
from .estimate import Estimate
from .gathering import Spread, sums_by_unit
from .intervals import STEADIER
from .procedures import Decisions, SelectionProcedure
from .tables import MemoryTable, Table

#: The final decision was tuned on N samples, those that are judged on the 0.63 N of a resample, and are a little worse.
#: So far back towards the naive score; chosen on real data, judged on other data (docs/tuned.md).
BACK = 0.1
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
    judge = DecisionJudge(table, procedure)
    done = blocks.run(judge, _pieces(table), table.question.n_threads)
    labels = np.sum([counted for _, _, counted in done], axis=0)
    judged = judge.together(Judged.joined([part for part, _, _ in done]), labels)
    judged = replace(judged, back=BACK if procedure.counts_once else 0.0)
    decision = judge.final.decision([decisions for _, decisions, _ in done])
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
    decider : Decider
        The procedure bound to the table.
    final : Decisions
        The one decision on the whole table.
    winner : int
        Position of the configuration that it is for, or of the best one alone.
    alone : list of array [C]
        For each metric the score of every configuration, decided on alone, on all samples.
    wholes : list of array [C]
        The same with the score of the decision in the place of the winner's.
    """

    def __init__(self, table: MemoryTable, procedure: SelectionProcedure) -> None:
        self._table, self._procedure = table, procedure
        self.decider = decider = procedure.bind(table.predictions, table.question)
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

    def __call__(self, start: int, stop: int) -> tuple[Judged, Decisions, Array]:
        """Decide and judge on resamples start to stop - 1; with the labels of what is absent, see `together`."""
        counts = self._table.counts(start, stop)
        decisions = self.decider.decide((counts > 0).view(np.uint8) if self._procedure.counts_once else counts)
        absent = (counts == 0).view(np.uint8)
        each = np.where(decisions.winners < 0, -1, np.arange(len(counts)))
        predicted = decisions.predictions()
        draws = [scorer.picked(absent, each) for scorer in self._bound(predicted)]
        spread = None if self._table.question.interval == "percentile" else self._spread(counts, absent, decisions)
        return Judged(decisions.winners, draws, spread), decisions, self.labels(predicted, absent, each)

    def labels(self, predicted: Predictions, absent: Array, each: Array) -> Array:
        """How often each absent sample was given each label, int [K, N]; nothing where no labels are made."""
        if not self._procedure.makes_labels:
            return np.zeros((0, self._table.n_samples), np.int64)
        labels = np.moveaxis(predicted.responses["predict"], 1, 0)  # [B, N, R]
        told = ((absent > 0) & (each >= 0)[:, None])[:, :, None] & predicted.seen
        return np.stack([(told & (labels == k)).sum(axis=(0, 2)) for k in range(self._table.target.n_classes)])

    def together(self, judged: Judged, labels: Array) -> Judged:
        """Judge the labels of all resamples together, where labels are made.

        A share of few samples, such as F1 of the few positives that are absent from a resample, is lower on average
        than that of many.
        """
        if not self._procedure.makes_labels:
            return judged
        values, first = [], np.zeros(1, np.int64)
        absent = as_counts(labels.sum(axis=0)[None])
        for k, (metric, draws) in enumerate(zip(self._table.question.metrics, judged.draws, strict=True)):
            by_labels = self._judges_labels(metric) and bool(np.isfinite(draws).any())
            values.append(self._score_labels(labels, metric) if by_labels else None)
            if by_labels and judged.spread is not None:
                judged.spread.own[k] = self._fixed[k].picked(absent, first)
        return replace(judged, together=values)

    def _judges_labels(self, metric: Metric) -> bool:
        return self._procedure.makes_labels and "predict" in metric.responses

    def _score_labels(self, labels: Array, metric: Metric) -> float:
        """Score a table in which each sample stands once with every label, as often as it was given it."""
        k, n = labels.shape
        given = np.repeat(np.arange(k, dtype=np.int8), n)[:, None, None]
        table = self._table.predictions.take_repeat(0).take_rows(np.tile(np.arange(n), k))
        all_seen = np.ones((k * n, 1), bool)
        table = replace(table, responses={"predict": given}, seen=all_seen, configurations=np.arange(1))
        return float(self._table.question.bind(table, metric).scores(as_counts(labels.reshape(1, -1)))[0, 0])

    def _spread(self, counts: Array, absent: Array, decisions: Decisions) -> Spread:
        """What Wilson's interval needs: how the final decision scores, in bag and out of bag."""
        same = np.zeros(len(counts), np.int64)
        unknown = np.full(len(counts), np.nan)  # `together` says it of all resamples at once
        own = [unknown if self._judges_labels(s.metric) else s.picked(absent, same) for s in self._fixed]
        inside, *others = [scorer.picked(counts, same) for scorer in self._fixed]
        off = (decisions.scores - self.wholes[0]) / (STEADIER if self._procedure.counts_once else 1.0)
        off[:, self.winner] = inside - self.wholes[0][self.winner]
        return Spread(own, others, sums_by_unit(off))
