"""Drop rules of the related work, for metrics that are means over samples of a bounded loss.

`HoeffdingDrop` and `BernsteinDrop` race by concentration inequalities (Maron and Moore 1994; Mnih, Szepesvari and
Audibert 2008): they hold for any correlation, and are slow to drop. `ConfidenceDrop` is cross-validation with
confidence (Lei 2020). `BettingDrop` drops the winner of this cross-validation with at most a stated chance.
"""

from __future__ import annotations

import numpy as np

from ..containers import Array, check_level, whole_number
from ..errors import SoberError
from ..inference import DropVerdict, Question
from ..inference.dropping import check_sizes
from ..inference.selection import Described
from ..inference.units import Units
from ..metrics import blocks
from ..predictions import Predictions
from ..seeds import generator

_BETS = ("loss", "bet", "square", "wealth", "peak")  # the state of the bets, by configuration id
_TOGETHER = 256  # samples scored at a time: each by counts that hold it alone


class _OnLosses(Described):
    """A rule on the losses of single samples; refuses what is not a mean over samples of something bounded."""

    by_groups = False  # whether it can take groups as wholes

    def check(self, predictions: Predictions, question: Question) -> None:
        """Refuse a metric, or samples that count in another way; `predictions` may be without any."""
        metric, use = question.first, "Write drop=sobercv.PredictiveDrop(), which"
        if not metric.linear or not np.isfinite(metric.range).all() or question.aggregate == "fold":
            raise SoberError(
                "E114",
                f"{self} works for means over samples of a bounded loss, such as accuracy and neg_brier_score, pooled; "
                f"got {metric.name}, aggregate={question.aggregate!r}. {use} works for every metric.",
            )
        got = {
            f"{predictions.n_repeats} repeats": predictions.n_repeats > 1,
            "weights": predictions.sample_weight is not None,
            "groups": predictions.groups is not None and not self.by_groups,
        }
        unfit = ", ".join(what for what, is_there in got.items() if is_there)
        if unfit:
            raise SoberError("E114", f"{self} needs samples that count once each; got {unfit}. {use} supports them.")


def row_losses(table: Predictions, question: Question) -> Array:
    """Loss of every sample by itself, 0 the best and 1 the worst possible [N, C]."""
    low, high = question.for_target(table.target).first.range
    parts = [table.take_rows(np.arange(*ends)) for ends in blocks.cut(table.n_samples, _TOGETHER)]
    scores = np.concatenate([question.bind(part).scores(np.eye(part.n_samples, dtype=np.uint8)) for part in parts])
    return (high - scores) / (high - low)


class HoeffdingDrop(_OnLosses):
    """Drop configurations whose interval by Hoeffding's inequality lies below that of the best.

    Parameters
    ----------
    chance : float, default=0.05
        Upper bound of the probability that any interval of the race misses, where folds are as many as rounds.
    rounds : int, default=10
        Looks that share the chance.
    """

    def __init__(self, chance: float = 0.05, rounds: int = 10) -> None:
        self.chance = check_level(chance, "chance", usual=0.05)
        self.rounds = whole_number("rounds", rounds, " Write the number of folds.")

    def __call__(self, predictions: Predictions, question: Question, round_index: int) -> DropVerdict:
        """Compare the intervals of the mean losses."""
        self.check(predictions, question)
        losses = row_losses(predictions.only_seen(), question)
        mean, n = losses.mean(axis=0), len(losses)
        best = int(np.argmin(mean))
        half = self._half_width(losses, n, np.log(2 * losses.shape[1] * self.rounds / self.chance))
        keep = mean - half <= mean[best] + half[best]
        return DropVerdict(keep, np.where(keep, 0.0, 1.0 - self.chance), best)

    def _half_width(self, losses: Array, n: int, log: float) -> Array:
        return np.full(losses.shape[1], np.sqrt(log / (2 * n)))


class BernsteinDrop(HoeffdingDrop):
    """Drop configurations whose interval by the empirical Bernstein inequality lies below that of the best.

    Parameters
    ----------
    chance : float, default=0.05
    rounds : int, default=10
    """

    def _half_width(self, losses: Array, n: int, log: float) -> Array:
        log += np.log(1.5)  # the inequality has 3 / chance where Hoeffding's has 2
        return losses.std(axis=0) * np.sqrt(2 * log / n) + 3 * log / n


class ConfidenceDrop(_OnLosses):
    """Drop configurations for which it is refuted that no other is better.

    The largest studentised difference to another is compared with its distribution under Gaussian multipliers, which
    keeps the correlations of configurations.

    Parameters
    ----------
    level : float, default=0.01
        Of the test, for each configuration.
    min_predictions : int, default=50
    n_bootstraps : int, default=200
    """

    def __init__(self, level: float = 0.01, min_predictions: int = 50, n_bootstraps: int = 200) -> None:
        check_sizes(min_predictions, n_bootstraps, 1)
        self.level = check_level(level, "level", usual=0.01)
        self.min_predictions, self.n_bootstraps = min_predictions, n_bootstraps

    def __call__(self, predictions: Predictions, question: Question, round_index: int) -> DropVerdict:
        """Test every configuration against all others."""
        self.check(predictions, question)
        table = predictions.only_seen()
        c = table.n_configurations
        if table.n_samples < self.min_predictions or c < 2:
            return DropVerdict.keep_all(c)
        losses = row_losses(table, question)
        draws = generator(question.seed, "multipliers", round_index).standard_normal((self.n_bootstraps, len(losses)))
        p = np.array([_refuted(losses, j, draws) for j in range(c)])
        mean = losses.mean(axis=0)
        best = int(np.argmin(mean))
        keep = (p >= self.level) | (mean <= mean[best])
        return DropVerdict(keep, 1.0 - p, best)


def _refuted(losses: Array, j: int, draws: Array) -> float:
    """p-value of "no other has a smaller expected loss than j"; losses [n, C], multipliers [B, n]."""
    n = len(losses)
    difference = losses[:, [j]] - np.delete(losses, j, axis=1)
    mean, spread = difference.mean(axis=0), difference.std(axis=0)
    differs = spread > 0
    if not differs.any():
        return 0.0 if (mean > 0).any() else 1.0
    standard = (difference[:, differs] - mean[differs]) / spread[differs]
    observed = float(np.max(np.sqrt(n) * mean[differs] / spread[differs]))
    return float(np.mean((draws @ standard / np.sqrt(n)).max(axis=1) >= observed))


class BettingDrop(_OnLosses):
    """Drop configurations against which enough has been won by betting that the leader is better.

    For each configuration a bet is placed, sample by sample, that it is worse than the leader. Against the
    configuration that will win the bets are unfavourable, and by Ville's inequality the wealth ever reaches 1 / chance
    with at most that chance: no correction for the number of configurations or of looks is needed. The samples must
    come in random order, as they do in shuffled folds; groups are bet on as wholes.

    Parameters
    ----------
    chance : float, default=0.05
        Upper bound of the probability that the winner of the whole cross-validation is dropped.
    """

    by_groups = True
    _memory: dict[str, Array] | None = None  # of the rule of one race: the units bet on, and the state of the bets

    def __init__(self, chance: float = 0.05) -> None:
        self.chance = check_level(chance, "chance", usual=0.05)

    def for_race(self) -> BettingDrop:
        """Return a rule that remembers its bets through one race: the leader of a round may be dropped in the next."""
        rule = BettingDrop(self.chance)
        rule._memory = {}
        return rule

    def __call__(self, predictions: Predictions, question: Question, round_index: int) -> DropVerdict:
        """Bet on the new units (without a race, on all), and drop configurations against which enough was won."""
        self.check(predictions, question)
        who, rows = predictions.configurations, predictions.rows
        units = Units(predictions.n_samples, question.seed, groups=predictions.groups)
        unit, n = units.of_entry, units.n
        memory = {} if self._memory is None else self._memory
        if not memory:
            memory.update({name: np.zeros(int(who.max()) + 1) for name in _BETS}, done=np.zeros(n, bool))
        losses = np.zeros((n, len(who)))
        np.add.at(losses, unit[rows], row_losses(predictions.only_seen(), question) / np.bincount(unit).max())
        whole = np.bincount(unit[rows], minlength=n) == np.bincount(unit, minlength=n)
        new = generator(question.seed, "bets", round_index).permutation(np.flatnonzero(whole & ~memory["done"]))
        mine = {name: memory[name][who] for name in _BETS}
        for t, u in enumerate(new, int(memory["done"].sum())):
            _bet(mine, losses[u], t, n)
        for name, values in mine.items():
            memory[name][who] = values
        memory["done"][new] = True
        best = int(np.argmin(mine["loss"]))
        keep = (mine["peak"] < -np.log(self.chance)) | (mine["loss"] <= mine["loss"][best])
        return DropVerdict(keep, 1.0 - np.exp(-np.maximum(mine["peak"], 0.0)), best)


def _bet(state: dict[str, Array], loss: Array, t: int, n: int) -> None:
    """Bet on one unit, after t of n: losses [C] of this unit are looked at only when the stakes are set."""
    leader = int(np.argmin(state["loss"]))
    behind = state["loss"] - state["loss"][leader]
    # A configuration that will win must make up for its lag: over the units left, its mean difference is at most this.
    fair = -behind / (n - t)
    edge = behind / max(t, 1) - fair
    spread = (state["square"] + 0.25) / (t + 1) - (state["bet"] / (t + 1)) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        stake = np.clip(edge / (spread + edge**2), 0.0, np.where(fair > -1.0, 0.5 / (1.0 + fair), 0.0))
        difference = loss - loss[leader]
        state["wealth"] += np.where(fair < -1.0, np.inf, np.log1p(stake * (difference - fair)))  # cannot win any more
    state["bet"] += difference
    state["square"] += difference**2
    state["loss"] += loss
    np.maximum(state["peak"], state["wealth"], out=state["peak"])
