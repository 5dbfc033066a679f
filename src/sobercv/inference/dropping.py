"""Drop rules: which configurations may stop before the cross-validation ends (paper, section 5).

A rule is any callable ``rule(predictions, question, round_index)`` that returns a `DropVerdict`, or None to keep all.
It sees what the configurations still in the race have predicted so far; its draws, if any, come from the question's
seed. Both rules here serve any metric through its counts, drop nothing on few predictions or groups, and never the
best. `sobercv.testing.contracts.DropRuleContract` tests a rule. Two methods are optional:
``check(predictions, question)`` refuses what the rule cannot serve, asked before any training with a table in which
nothing is predicted yet; ``for_race()`` returns a rule of its own to each race, where it must remember earlier rounds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy import special

from ..containers import Array, check_level
from ..errors import SoberError
from ..metrics import Scorer, blocks
from ..predictions import Predictions
from .question import Question
from .selection import Described, apply, best, margin
from .tables import spread
from .units import Units

#: Groups that must have been predicted before a configuration is dropped: two tell next to nothing of how much a lead
#: varies between groups, and one tells nothing at all, as every resample of it is the same.
MIN_GROUPS = 3
#: `PredictiveDrop`: fewer samples than this are few; then so many predictions are needed, else so many, or with a zone.
SMALL, MANY, FEW, FEW_WITH_ZONE = 80, 50, 20, 30


@dataclass(frozen=True, eq=False)
class DropVerdict:
    """What a drop rule decided."""

    keep: Array  # bool [C]
    p: Array  # how sure the rule is that each configuration is worse than the best [C]; 0 where no test was made
    best: int  # position of the best configuration so far; -1 where no test was made

    @classmethod
    def of(cls, keep: Array, p: Array, best: int) -> DropVerdict:
        """Keep these, and the best in any case."""
        keep[best] = True
        return cls(keep, p, best)

    @classmethod
    def keep_all(cls, n_configurations: int) -> DropVerdict:
        """Keep all configurations, without a test."""
        return cls(np.ones(n_configurations, bool), np.zeros(n_configurations), -1)


class DropRule(Protocol):
    """Decides after every round of a race which configurations stay."""

    def __call__(self, predictions: Predictions, question: Question, round_index: int) -> DropVerdict | None:
        """Look at all predictions so far; the same ones, question and round must give the same verdict."""


@dataclass(frozen=True, eq=False)
class Standing:
    """A race after a round: what has been predicted, the best so far, and draws of the units.

    Samples are many, so that the bootstrap's standard error of a lead is known well and a lead is normal. Groups may be
    few: there the standard error is that of `n - 1` degrees of freedom, and the lead has Student's distribution.
    """

    table: Predictions  # what has been predicted
    question: Question  # settled for its target
    scorer: Scorer
    units: Units
    lead: Array  # of the best over each configuration, on all that has been predicted [C]
    top: int  # position of the best

    @classmethod
    def of(cls, predictions: Predictions, question: Question, round_index: int, enough: int) -> Standing | None:
        """Look at a race; None where too few samples or groups have been predicted, or there is no best."""
        table = predictions.only_seen()
        units = Units(table.n_samples, question.seed, "drop", (round_index,), groups=table.groups)
        too_few = table.n_samples < enough or (units.clustered and units.n < MIN_GROUPS)
        if too_few or table.n_configurations < 2:
            return None
        question = question.for_target(table.target)
        scorer = question.bind(table)
        whole = scorer.scores(np.ones((1, table.n_samples), np.uint8))
        # A rule in standard errors has none in the middle of a race: there the highest score is the best.
        rule = best if question.needs_standard_errors else question.rule_for(table.configurations)
        top = int(apply(rule, whole, question.first.unit)[0])
        return None if top < 0 else cls(table, question, scorer, units, whole[0, top] - whole[0], top)

    def among(self, member: Array) -> Standing:
        """Keep some of the configurations, bool [C], one of which is the best."""
        some = self.table.take_configurations(member)
        top = int(member[: self.top].sum())
        return replace(self, table=some, scorer=self.question.bind(some), lead=self.lead[member], top=top)

    def scores(self, start: int, stop: int) -> Array:
        """Scores of all configurations in resamples start to stop - 1 [B, C]."""
        n_threads = self.question.n_threads
        cut = [(start + a, start + b) for a, b in blocks.ranges(stop - start, self.table.n_samples, n_threads)]
        return np.concatenate(blocks.run(lambda a, b: self.scorer.scores(self.units.counts(a, b)), cut, n_threads))

    def certainty(self, scores: Array, more: float = 0.0, scale: float = 1.0) -> Array:
        """How sure each lead, with `more` added, is one: by the spread of leads in resamples [B, C], times `scale`."""
        n, few = self.units.n, self.units.clustered
        # A bootstrap divides by the number of units, and not by one less, which matters where they are few.
        widening = float(np.sqrt(n / (n - 1))) if few else 1.0
        with np.errstate(invalid="ignore", divide="ignore"):
            z = (self.lead + more) / (spread(scores[:, [self.top]] - scores) * (widening * scale))
        z = np.where(np.isnan(z), 0.0, z)
        return np.asarray(special.stdtr(n - 1, z) if few else special.ndtr(z))


class PredictiveDrop(Described):
    """Drop configurations that are unlikely to overtake the best with the samples that are left.

    Which configuration wins a cross-validation is a fact about its samples, of which a part has been predicted: the
    fewer are left, the less can still happen. The lead of the best over another, on all samples, is predicted from the
    lead so far: its standard error is that of the bootstrap, times sqrt(1 - n / N) where n of N samples have been
    predicted.

    Where samples come in groups, groups are counted: with g of G predicted, nothing is dropped while g < 3; then the
    standard error is that of the bootstrap of groups times sqrt(g / (g - 1)) sqrt(1 - g / G), and the chance is that of
    Student's distribution with g - 1 degrees of freedom.

    Parameters
    ----------
    chance : float, default=0.01
        Drop a configuration when the chance that it overtakes the best is below this.
    zone : float, default=0
        Indifference: drop a configuration when it is unlikely to overtake the best by more than this many standard
        errors of the best score. More is dropped, and the winner may be one that is as good as the best. Advised for
        AUC and accuracy; by R2 and C-index a zone of 0.2 cost more than that on real data (docs/evidence/racing.md).
    min_predictions : int, optional
        Drop nothing before this many samples have predictions, from three groups or more where there are groups.
        Default: 20 (30 with a zone), or 50 where there are fewer than 80 samples: on so few the correction for the
        dropped fails.
    n_bootstraps : int, default=200
        Resamples for the standard errors.

    Examples
    --------
    >>> import sobercv
    >>> sobercv.PredictiveDrop(0.015, zone=0.2)
    PredictiveDrop(chance=0.015, zone=0.2, n_bootstraps=200)
    """

    def __init__(
        self, chance: float = 0.01, zone: float = 0.0, min_predictions: int | None = None, n_bootstraps: int = 200
    ) -> None:
        if not 0.0 < chance < 0.5:
            raise SoberError("E108", f"`chance` must lie between 0 and 0.5; got {chance!r}. Write 0.01 for 1 %.")
        if not zone >= 0.0:
            raise SoberError("E108", f"`zone` must be 0 or more standard errors; got {zone!r}. Write 0.1.")
        check_sizes(min_predictions or 0, n_bootstraps, 2)
        self.chance, self.zone = chance, zone
        self.min_predictions, self.n_bootstraps = min_predictions, n_bootstraps

    def __call__(self, predictions: Predictions, question: Question, round_index: int) -> DropVerdict:
        """Test every configuration of the table against the best of them; samples to come are in it, not yet seen."""
        enough = self.min_predictions
        if enough is None:
            enough = MANY if predictions.n_samples < SMALL else FEW_WITH_ZONE if self.zone else FEW
        race = Standing.of(predictions, question, round_index, enough)
        # Share of the units, over all repeats, that is still to be predicted; of a group, by the share of its samples.
        left = 1.0 - float(predictions.seen.mean())
        if race is not None and predictions.groups is not None:
            unit = Units(predictions.n_samples, 0, groups=predictions.groups).of_entry
            left = 1.0 - float(np.mean([np.bincount(unit, here) / np.bincount(unit) for here in predictions.seen.T]))
        if race is None or left <= 0:
            return DropVerdict.keep_all(predictions.n_configurations)
        scores = race.scores(0, question.first.affordable(self.n_bootstraps, len(race.lead)))
        # On all samples the score of the best varies less than on those seen so far.
        indifferent = self.zone * spread(scores[:, [race.top]])[0] * np.sqrt(1.0 - left)
        p = race.certainty(scores, indifferent, np.sqrt(left))
        # Equals of the best stay, whatever the zone.
        return DropVerdict.of((1.0 - p >= self.chance) | (race.lead <= 0), p, race.top)

    @property
    def reason(self) -> str:
        """Why a configuration was dropped, for the methods section of a paper."""
        by = f" by more than {self.zone:g} standard errors" if self.zone else ""
        return f"had less than a {100 * self.chance:g} % chance of overtaking the best{by} on the remaining samples"


class BootstrapDrop(Described):
    """Drop configurations that are worse than the current best in nearly all bootstrap resamples (BCED-CV, BBCD-CV).

    Parameters
    ----------
    threshold : float, default=0.99
        Drop a configuration when the share of resamples in which it scores strictly worse than the best exceeds this.
    min_predictions : int, default=50
        Drop nothing before this many samples have predictions: the paper lost up to 9 % of AUC without that guard.
    n_bootstraps : int, default=1000

    Notes
    -----
    Where samples come in groups, groups are resampled, and few of them have few resamples: a configuration that is
    worse in each of three groups is worse in all resamples. So nothing is dropped before three groups have predictions,
    and only what Student's test of the lead with one degree of freedom less than there are groups drops as well.

    Examples
    --------
    >>> import sobercv
    >>> sobercv.BootstrapDrop(threshold=0.95)
    BootstrapDrop(threshold=0.95, min_predictions=50, n_bootstraps=1000)
    """

    def __init__(self, threshold: float = 0.99, min_predictions: int = 50, n_bootstraps: int = 1000) -> None:
        check_sizes(min_predictions, n_bootstraps, 1)
        self.threshold = check_level(threshold, "threshold", usual=0.99)
        self.min_predictions, self.n_bootstraps = min_predictions, n_bootstraps

    def __call__(self, predictions: Predictions, question: Question, round_index: int) -> DropVerdict:
        """Test all against the best, on draws of this round alone, so that a resumed run drops the same ones."""
        race = Standing.of(predictions, question, round_index, self.min_predictions)
        worse, defined = (0, np.zeros(1)) if race is None else self._compare(race)
        if race is None or not defined.any():
            return DropVerdict.keep_all(predictions.n_configurations)
        p = worse / defined
        if race.units.clustered:
            doubtful = (p > self.threshold) | (np.arange(len(p)) == race.top)
            some = race.among(doubtful)
            n = question.first.affordable(self.n_bootstraps, len(some.lead))
            p[doubtful] = np.minimum(p[doubtful], some.certainty(some.scores(0, n)))
        return DropVerdict.of(p <= self.threshold, p, race.top)

    def _compare(self, race: Standing) -> tuple[Array, Array]:
        """In how many resamples each configuration is worse than the best, and in how many that is defined [C].

        Where a function is called for every score, what would stay even if it were worse in all resamples to come is
        not looked at again. Most are certain after a hundred of a thousand; only those that are dropped need nearly
        all, and each of them just once in a race.
        """
        n, called = self.n_bootstraps, race.question.first.max_calls is not None
        worse, defined = np.zeros((2, len(race.lead)), np.int64)
        is_open = np.ones(len(race.lead), bool)
        for start, stop in blocks.cut(n, blocks.UNIT if called else n):
            is_open[race.top] = True
            some = race if is_open.all() else race.among(is_open)
            scores = some.scores(start, stop)
            lead = scores[:, some.top]
            known = ~np.isnan(lead)
            with np.errstate(invalid="ignore"):
                below = scores < (lead - margin(lead, some.scorer.metric.unit))[:, None]
            worse[is_open] += below[known].sum(axis=0)
            defined[is_open] += known.sum()
            is_open &= worse + n - stop > self.threshold * (defined + n - stop)
            if not is_open.any():
                break
        return worse, defined

    @property
    def reason(self) -> str:
        """Why a configuration was dropped, for the methods section of a paper."""
        share = f"{100 * self.threshold:g} %"
        return f"scored below the best in more than {share} of bootstrap samples of the predictions made so far"


def check_sizes(min_predictions: int, n_bootstraps: int, fewest: int) -> None:
    """Refuse numbers of predictions and of resamples that are too small."""
    if min_predictions < 0 or n_bootstraps < fewest:
        raise SoberError(
            "E108",
            f"`min_predictions` must be 0 or more and `n_bootstraps` {fewest} or more; got {min_predictions} and "
            f"{n_bootstraps}.",
        )
