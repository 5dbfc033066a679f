"""What the reader should know, each with a code that has a page.

Takes a finished search, what checks of its table found and what the report could not show; gives notes, suggestions
last. Never judges anew what was judged before.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import Note
from ..search.failures import unreached
from ..training.race import UNREACHED
from .diagnostics import diagnostics
from .search_records import estimates_of, wins_of_winner
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


def notes(search: Any, checked: Iterable[Note] = ()) -> tuple[Note, ...]:
    """Collect what was noted before and during the search, and what its numbers say.

    Parameters
    ----------
    search : BBCSearchCV
        Fitted.
    checked : iterable of Note
        What checks of the table found. What the estimate itself says under the same code is said once.
    """
    noted = list(dict.fromkeys(note for estimate in estimates_of(search) for note in estimate.notes))
    noted = [note for note in noted if note.code != "W217"]  # no caveat; the chart of the race says it
    said = {note.code for note in noted}
    found = [*(note for note in checked if note.code not in said), *noted]
    failures = search.race_.failures
    if failures:
        total = len(search.race_.status)
        text = f"{len(failures):,} of {count(total, 'configuration')} failed and were set aside; see Failures."
        if all(cause.message == UNREACHED for cause in failures.values()):
            text = unreached(len(failures), total)
        found.append(Note("W303", text))
    found += [note for note in (_guessing(search), _unstable(search)) if note is not None]
    found += diagnostics(search)
    return in_order(found)


def in_order(found: Iterable[Note]) -> tuple[Note, ...]:
    """Put suggestions last."""
    return tuple(sorted(found, key=lambda note: note.severity == "suggestion"))


def _guessing(search: Any) -> Note | None:
    estimate = estimates_of(search)[0]
    chance = GUESSING.get(estimate.metric)
    if estimate.metric == "balanced_accuracy" and search.predictions_.n_classes:
        chance = 1.0 / search.predictions_.n_classes
    if estimate.metric == "accuracy" and search.predictions_.y.ndim == 1:
        chance = float(np.bincount(search.predictions_.y).max() / search.predictions_.n_samples)
    if chance is None or estimate.interval is None or estimate.interval[0] > chance:
        return None
    digits = digits_for((*estimate.interval, chance))
    return Note(
        "W701",
        f"The interval of {metric_label(estimate.metric, estimate.positive)}, "
        f"{between(estimate.interval, digits)}, reaches down to {number(chance, digits)}, which is what guessing "
        "would score.",
    )


def _unstable(search: Any) -> Note | None:
    estimate = estimates_of(search)[0]
    share = wins_of_winner(estimate)
    if share is None or share >= OFTEN:
        return None
    return Note(
        "W702",
        f"The winner won only {percent(share)} of the resamples: other configurations are about as good, so read "
        "little into its parameters. The honest score allows for this.",
    )
