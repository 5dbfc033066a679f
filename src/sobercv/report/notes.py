"""What the reader should know: notes of checks and of the estimate, and what a finished search tells about itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..containers import Array, is_number
from ..errors import Note
from ..inference import Estimate
from ..search.results import estimate_of, unreached
from ..training.race import UNREACHED
from .charts import MOST_CLASSES
from .evidence import Evidence
from .records import Chart
from .words import between, count, digits_for, metric_label, number, percent

#: Score of a guess that knows nothing but the frequencies.
GUESSING = {
    **dict.fromkeys(("roc_auc", "roc_auc_ovr", "roc_auc_ovo", "roc_auc_ovr_weighted", "roc_auc_ovo_weighted"), 0.5),
    "concordance_index": 0.5,
    "r2": 0.0,
    "matthews_corrcoef": 0.0,
}
#: A winner that won a smaller share of the resamples is one of several.
OFTEN = 0.5
#: The notes that are found after a run, as against those of checks before it.
AFTER_THE_RUN = ("W701", "W702", "W711")
#: Those that belong into the limitations of a paper: few units, rare events, related rows, leaks, an incomplete run.
LIMITATIONS = (*AFTER_THE_RUN, "W201", "W203", "W204", "W205", "W301", "W601", "W804", "W806", "W811", "W813")


def notes(search: Any, checked: Iterable[Note] = ()) -> list[Note]:
    """Collect what checks found, what the estimates noted (under the same code, instead), and what numbers say."""
    estimates = search.estimate_.values() if search.multimetric_ else [search.estimate_]
    once = dict.fromkeys(note for estimate in estimates for note in estimate.notes)
    noted = [note for note in once if note.code != "W217"]  # no caveat; the chart of the race says it
    said = {note.code for note in noted}
    found = [*(note for note in checked if note.code not in said), *noted]
    failures, total, table = search.race_.failures, len(search.race_.status), search.predictions_
    n_late = sum(cause.message == UNREACHED for cause in failures.values())
    if n_failed := len(failures) - n_late:
        text = f"{n_failed:,} of {count(total, 'configuration')} failed and were set aside; see Failures."
        found.append(Note("W204", text))
    if n_late:
        found.append(Note("W204", unreached(n_late, total)))
    first, chance = estimate_of(search), None
    if first.metric == "balanced_accuracy" and table.n_classes:
        chance = 1.0 / float(table.n_classes)
    elif first.metric == "accuracy" and table.y.ndim == 1:
        chance = float(np.bincount(table.y).max() / table.n_samples)
    edge = None if n_late else edge_of_grid(search)  # of a grid that was tried
    return [*found, *judged(first, chance), *([] if edge is None else [edge])]


def judged(estimate: Estimate, chance: float | None = None) -> list[Note]:
    """Say where the interval reaches `chance`, the score of guessing, and where the winner seldom won."""
    chance, found = GUESSING.get(estimate.metric) if chance is None else chance, []
    if chance is not None and estimate.interval is not None and estimate.interval[0] <= chance:
        digits = digits_for((*estimate.interval, chance))
        text = (
            f"The interval of {metric_label(estimate.metric, estimate.positive)}, "
            f"{between(estimate.interval, digits)}, is not entirely above {number(chance, digits)}, the score of "
            "guessing."
        )
        found.append(Note("W701", text))
    share = float(win_shares(estimate)[estimate.configurations == estimate.winner].sum())
    if share < OFTEN:
        text = (
            f"The winner won only {percent(share)} of the resamples: other configurations are about as good, so read "
            "little into its parameters. The honest score accounts for this."
        )
        found.append(Note("W702", text))
    return found


def win_shares(estimate: Estimate) -> Array:
    """Share of the resamples that each configuration won [C]; NaN where it is not known."""
    counts = estimate.win_counts
    if counts is None or not counts.sum():
        return np.full(len(estimate.configurations), np.nan)
    return np.asarray(counts / counts.sum())


def edge_of_grid(search: Any) -> Note | None:
    """Say which parameters of the winner have the least or the greatest value that was tried."""
    winner, told, same = dict(search.best_params_), [], []
    numbers = [name for name, value in winner.items() if is_number(value)]
    for params in search.cv_results_["params"]:  # those that differ from the winner in numbers only
        others = (repr(params.get(name)) == repr(value) for name, value in winner.items() if name not in numbers)
        if params.keys() == winner.keys() and all(others):
            same.append(params)
    for name in numbers:
        value, is_whole = float(winner[name]), isinstance(winner[name], (int, np.integer))
        values = sorted({float(params[name]) for params in same if is_number(params[name])})
        if len(values) < 3 or values[0] < value < values[-1]:
            continue
        is_least = value == values[0]  # nothing lies beyond some edges: counts end at 1, shares at 0 and 1
        if value <= is_whole if is_least else value == 1.0 and values[0] >= 0.0 and not is_whole:
            continue
        which = f"{name.rpartition('__')[2]} {winner[name]:.4g} is the {'smallest' if is_least else 'largest'}"
        told.append(f"{which} of {values[0]:.4g} to {values[-1]:.4g}")
    if not told:
        return None
    beyond = "Values beyond it may be better; a larger grid or preset tries them."
    return Note("W711", f"The winner is at the edge of what was tried: {'; '.join(told)}. {beyond}")


def missing_charts(evidence: Evidence, charts: tuple[Chart, ...]) -> list[Note]:
    """Say which charts the reader may miss, and what would bring them."""
    found, is_classes = [], evidence.classes is not None
    if is_classes and evidence.scores is None:
        found.append(
            "Only labels of the winner are known, so there is no ROC curve: the model predicts no probabilities or "
            'scores, or they were not kept (in Python, pass keep="all" or name roc_auc as a metric).'
        )
    elif is_classes and "predict_proba" not in evidence.responses:
        found.append(
            "Charts and tables that need probabilities are left out: the winner predicts none, or they were not kept "
            '(in Python, pass keep="all"). With neg_log_loss as a second metric, sober fit keeps them, and calibrates '
            "models that have none."
        )
    if is_classes and all(chart.name != "confusion" for chart in charts):
        found.append(f"With more than {MOST_CLASSES} classes there is no confusion matrix, and only a few ROC curves.")
    if evidence.task == "survival" and not charts:
        found.append("No risks were kept, or no sample had the event, so there are no survival curves.")
    return [Note("W704", text) for text in found]
