"""Drop by betting, with a guarantee: the winner of this cross-validation is dropped with at most a stated chance.

For each configuration a bet is placed, sample by sample, that it is worse than the leader. Against the configuration
that will win the bets are unfavourable, and by Ville's inequality the wealth ever reaches 1 / chance with at most that
chance: no correction for the number of configurations or of looks is needed. The samples must come in random order, as
they do in shuffled folds; groups are bet on as wholes.
"""

from __future__ import annotations

import numpy as np

from ..containers import Array
from ..inference import DropVerdict, Question
from ..inference.intervals import check_level
from ..predictions import Predictions
from ..seeds import generator
from .row_losses import check_row_means, row_losses


class BettingDrop:
    """Drop configurations against which enough has been won by betting that the leader is better.

    For metrics that are means over samples of a bounded loss: accuracy, Brier score and the like.

    Parameters
    ----------
    chance : float, default=0.05
        Upper bound of the probability that the winner of the whole cross-validation is dropped.

    Examples
    --------
    >>> import sobercv
    >>> sobercv.BettingDrop()
    BettingDrop(chance=0.05)
    """

    def __init__(self, chance: float = 0.05) -> None:
        self.chance = check_level(chance, "chance")

    def check(self, predictions: Predictions, question: Question) -> None:
        """Refuse what cannot be bet on; `predictions` may be without any."""
        check_row_means("BettingDrop", predictions, question, by_groups=True)

    def for_race(self) -> Bets:
        """Return a rule that remembers its bets through one race: the leader of a round may be dropped in the next."""
        return Bets(self.chance)

    def __call__(self, predictions: Predictions, question: Question, round_index: int) -> DropVerdict:
        """Bet on all that has been predicted, as if it were one round."""
        return self.for_race()(predictions, question, round_index)

    def __repr__(self) -> str:
        return f"BettingDrop(chance={self.chance})"


class Bets:
    """The bets of one race.

    Parameters
    ----------
    chance : float
    """

    def __init__(self, chance: float) -> None:
        self._limit = -np.log(chance)
        self._done = np.zeros(0, bool)  # units that have been bet on
        self._state: dict[str, Array] = {}  # by configuration id

    def __call__(self, predictions: Predictions, question: Question, round_index: int) -> DropVerdict:
        """Bet on the new units, and drop configurations against which enough was won."""
        check_row_means("BettingDrop", predictions, question, by_groups=True)
        who, c = predictions.configurations, predictions.n_configurations
        rows = predictions.rows
        unit = np.arange(predictions.n_samples) if predictions.groups is None else predictions.groups
        unit = np.unique(unit, return_inverse=True)[1].reshape(-1)
        n_units, largest = int(unit.max()) + 1, int(np.bincount(unit).max())
        if not self._state:
            self._done = np.zeros(n_units, bool)
            self._state = {name: np.zeros(int(who.max()) + 1) for name in ("loss", "bet", "square", "wealth", "peak")}
        losses = np.zeros((n_units, c))
        np.add.at(losses, unit[rows], row_losses(predictions.only_seen(), question) / largest)
        whole = np.bincount(unit[rows], minlength=n_units) == np.bincount(unit, minlength=n_units)
        new = np.flatnonzero(whole & ~self._done)
        new = generator(question.seed, "bets", round_index).permutation(new)
        mine = {name: values[who] for name, values in self._state.items()}
        for t, u in enumerate(new, int(self._done.sum())):
            _bet(mine, losses[u], t, n_units)
        for name, values in mine.items():
            self._state[name][who] = values
        self._done[new] = True
        best = int(np.argmin(mine["loss"]))
        keep = mine["peak"] < self._limit
        keep[mine["loss"] <= mine["loss"][best]] = True
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
