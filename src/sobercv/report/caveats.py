"""What the reader should know, each with a code that has a page.

Takes a finished search and what the report could not show, gives caveats; never judges anew what was judged before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import CODES
from .findings import estimates_of, wins_of_winner
from .records import Caveat
from .words import between, count, digits_for, metric_label, number, percent

#: Score of a guess that knows nothing but the frequencies.
GUESSING = {
    "roc_auc": 0.5,
    "roc_auc_ovr": 0.5,
    "roc_auc_ovo": 0.5,
    "roc_auc_ovr_weighted": 0.5,
    "roc_auc_ovo_weighted": 0.5,
    "concordance_index": 0.5,
    "r2": 0.0,
    "matthews_corrcoef": 0.0,
}
OFTEN = 0.5


def caveat(code: str, text: str) -> Caveat:
    """Make a caveat whose title is the code's."""
    return Caveat(code, CODES.get(code, ""), text)


def caveats(search: Any, left_out: tuple[Caveat, ...] = ()) -> tuple[Caveat, ...]:
    """Collect what was noted during the search, what its numbers say, and what the report lacks."""
    estimates = estimates_of(search)
    noted = dict.fromkeys(note for estimate in estimates for note in estimate.notes)
    found = [caveat(note.code, note.text) for note in noted]
    failures = search.race_.failures
    if failures:
        total = len(search.race_.status)
        text = f"{len(failures):,} of {count(total, 'configuration')} failed and were set aside; see Failures."
        found.append(caveat("W303", text))
    guess = _guessing(search)
    found += [] if guess is None else [guess]
    unstable = _unstable(search)
    found += [] if unstable is None else [unstable]
    return (*found, *left_out)


def _guessing(search: Any) -> Caveat | None:
    estimate = estimates_of(search)[0]
    chance = GUESSING.get(estimate.metric)
    if estimate.metric == "balanced_accuracy":
        chance = 1.0 / search.predictions_.n_classes
    if estimate.metric == "accuracy":
        chance = float(np.bincount(search.predictions_.y).max() / search.predictions_.n_samples)
    if chance is None or estimate.interval is None or estimate.interval[0] > chance:
        return None
    digits = digits_for((*estimate.interval, chance))
    return caveat(
        "W701",
        f"The interval of {metric_label(estimate.metric)}, {between(estimate.interval, digits)}, reaches down to "
        f"{number(chance, digits)}, which is what guessing would score.",
    )


def _unstable(search: Any) -> Caveat | None:
    estimate = estimates_of(search)[0]
    share = wins_of_winner(estimate)
    if share is None or share >= OFTEN:
        return None
    return caveat(
        "W702",
        f"The winner won only {percent(share)} of the resamples: other configurations are about as good, so read "
        "little into its parameters. The honest score allows for this.",
    )
