"""What the reader should know, each with a code that has a page: suggestions last.

What checks of the table and the estimate noted, and what a finished search tells about itself: values on the edge of
their grids, a fold unlike the others, a winner that seldom won, an interval that reaches guessing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy import stats

from ..containers import Array
from ..errors import Note
from ..inference import Estimate
from ..search.results import unreached
from ..training.race import UNREACHED
from . import class_charts
from .evidence import Evidence
from .facts import estimates_of, wins_of_winner
from .records import Chart
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

    `checked` is what checks of the table found; what the estimate says under the same code is said once.
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
        found.append(Note("W204", text))
    found += judged(estimates_of(search)[0], _chance_of_a_guess(search))
    found += diagnostics(search)
    return in_order(found)


def judged(estimate: Estimate, chance: float | None = None) -> list[Note]:
    """Say where the interval reaches guessing, or where the winner seldom won."""
    chance = GUESSING.get(estimate.metric) if chance is None else chance
    return [note for note in (_guessing(estimate, chance), _unstable(estimate)) if note is not None]


def in_order(found: Iterable[Note]) -> tuple[Note, ...]:
    """Put suggestions last."""
    return tuple(sorted(found, key=lambda note: note.severity == "suggestion"))


def _chance_of_a_guess(search: Any) -> float | None:
    """What a guess would score that knows nothing but the frequencies of classes."""
    name, table = estimates_of(search)[0].metric, search.predictions_
    if name == "balanced_accuracy" and table.n_classes:
        return 1.0 / float(table.n_classes)
    if name == "accuracy" and table.y.ndim == 1:
        return float(np.bincount(table.y).max() / table.n_samples)
    return None


def _guessing(estimate: Estimate, chance: float | None) -> Note | None:
    if chance is None or estimate.interval is None or estimate.interval[0] > chance:
        return None
    digits = digits_for((*estimate.interval, chance))
    return Note(
        "W701",
        f"The interval of {metric_label(estimate.metric, estimate.positive)}, "
        f"{between(estimate.interval, digits)}, reaches down to {number(chance, digits)}, which is what guessing "
        "would score.",
    )


def _unstable(estimate: Estimate) -> Note | None:
    share = wins_of_winner(estimate)
    if share is None or share >= OFTEN:
        return None
    return Note(
        "W702",
        f"The winner won only {percent(share)} of the resamples: other configurations are about as good, so read "
        "little into its parameters. The honest score allows for this.",
    )


#: The notes that are found after a run, as against those of checks before it.
AFTER_THE_RUN = ("W203", "W701", "W702", "W711")
#: Those that belong into the limitations of a paper: few units, rare events, related rows, leaks, an incomplete run.
LIMITATIONS = (*AFTER_THE_RUN, "W201", "W204", "W205", "W301", "W601", "W804", "W806", "W811", "W813")
#: So unlikely must a fold's score be, given the others, after allowing for their number.
RARE = 0.001
LEAST_FOLDS = 5


def diagnostics(search: Any) -> list[Note]:
    """Look for what a reader would want to change before the next run."""
    return [note for note in (edge_of_grid(search), fold_unlike_others(search)) if note is not None]


def edge_of_grid(search: Any) -> Note | None:
    """Say which parameters of the winner have the least or the greatest value that was tried."""
    winner, told = dict(search.best_params_), []
    same = [p for p in search.cv_results_["params"] if _is_same_kind(p, winner)]
    for name, value in winner.items():
        values = sorted({float(p[name]) for p in same if _is_number(p.get(name))}) if _is_number(value) else []
        if len(values) < 3 or values[0] < float(value) < values[-1] or _is_natural(float(value), value, values):
            continue
        which = "least" if float(value) == values[0] else "greatest"
        told.append(f"{name.rpartition('__')[2]} {value:.4g} is the {which} of {values[0]:.4g} to {values[-1]:.4g}")
    if not told:
        return None
    return Note(
        "W711",
        f"The winner lies on the edge of what was tried: {'; '.join(told)}. Values beyond may be better still: extend "
        "the grid to that side, or take a larger preset.",
    )


def fold_unlike_others(search: Any) -> Note | None:
    """Say which fold's score lies far from those of all others, by Student's test of one against the rest."""
    scores = _fold_scores(search)
    k = len(scores)
    if k < LEAST_FOLDS or np.isnan(scores).any():
        return None
    chances = np.array([_chance(scores, i) for i in range(k)])
    worst = int(np.argmin(chances))
    if chances[worst] * k >= RARE:
        return None
    others = np.delete(scores, worst)
    digits = digits_for(scores.tolist())
    return Note(
        "W203",
        f"Fold {worst + 1} is unlike the others: the winner scores {number(float(scores[worst]), digits)} on it, and "
        f"{number(float(others.min()), digits)} to {number(float(others.max()), digits)} on the other {k - 1}. Look at "
        "what is special about its rows.",
    )


def _fold_scores(search: Any) -> Array:
    """Scores of the winner by fold, of the first repeat."""
    estimate = estimates_of(search)[0]
    tail = estimate.metric if search.multimetric_ else "score"
    n = search.n_splits_ // search.predictions_.n_repeats
    return np.array([search.cv_results_[f"split{i}_test_{tail}"][search.best_index_] for i in range(n)], np.float64)


def _chance(scores: Array, i: int) -> float:
    """Chance of a score as far from the mean of the others as this one."""
    others = np.delete(scores, i)
    spread = float(others.std(ddof=1))
    if spread < 1e-9:  # scores of a few samples can all be equal
        return 1.0
    distance = abs(scores[i] - others.mean()) / (spread * np.sqrt(1 + 1 / len(others)))
    return float(2 * stats.t.sf(distance, len(others) - 1))


def _is_same_kind(params: Mapping[str, Any], winner: Mapping[str, Any]) -> bool:
    """Whether a configuration differs from the winner in numbers only."""
    return params.keys() == winner.keys() and all(
        _is_number(value) or params[name] is value or repr(params[name]) == repr(value)
        for name, value in winner.items()
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _is_natural(value: float, written: Any, values: list[float]) -> bool:
    """Whether nothing lies beyond an edge: counts end at 1, shares at 0 and 1."""
    whole = isinstance(written, (int, np.integer))
    if value == values[0] and value <= (1.0 if whole else 0.0):
        return True
    return value == values[-1] == 1.0 and values[0] >= 0.0 and not whole


def missing_charts(evidence: Evidence, charts: tuple[Chart, ...]) -> list[Note]:
    """Say which charts the reader may miss, and what would bring them."""
    shown, found = {chart.name for chart in charts}, []
    if evidence.task == "classification" and evidence.scores() is None:
        found.append(
            "Of the winner only labels are known, so there is no ROC curve: it gives neither probabilities nor scores, "
            'or they were not kept (in Python, pass keep="all" or name roc_auc as a metric).'
        )
    elif evidence.classes is not None and "predict_proba" not in evidence.responses:
        two = ", so there is no calibration curve, no decision curve and no table of thresholds"
        found.append(
            f"The winner gives no probabilities{two if len(evidence.classes) == 2 else ', only classes and scores'}. "
            "With neg_log_loss as a second metric, sober fit calibrates such models."
        )
    if evidence.task == "classification" and "confusion" not in shown:
        most = class_charts.MOST_CLASSES
        found.append(f"With more than {most} classes there is no confusion matrix, and ROC curves for some only.")
    if evidence.task == "survival" and not charts:
        why = "The search kept no risks" if "predict" not in evidence.responses else "No sample had the event"
        found.append(f"{why}, so there are no survival curves.")
    return [Note("W704", text) for text in found]
