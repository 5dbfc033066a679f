"""What the reader should know: notes of checks and of the estimate, and what a finished search tells about itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..containers import is_number
from ..errors import Note
from ..predictions import Predictions
from ..search.results import unreached
from ..training.race import UNREACHED
from .charts import MOST_CLASSES
from .evidence import Evidence
from .records import Chart, Score
from .words import count, number, percent

#: A winner that won a smaller share of the resamples is one of several.
OFTEN = 0.5
#: The notes that are found after a run, as against those of checks before it.
AFTER_THE_RUN = ("W701", "W702", "W711")
#: Those that belong into the limitations of a paper: few units, rare events, related rows, leaks, an incomplete run.
LIMITATIONS = (*AFTER_THE_RUN, "W201", "W203", "W204", "W205", "W301", "W601", "W804", "W806", "W811", "W813")


def notes(search: Any, checked: Iterable[Note] = ()) -> list[Note]:
    """Collect what checks found, what the estimates noted (under the same code, instead), and what the log says."""
    estimates = search.estimate_.values() if search.multimetric_ else [search.estimate_]
    once = dict.fromkeys(note for estimate in estimates for note in estimate.notes)
    noted = [note for note in once if note.code != "W217"]  # no caveat; the chart of the race says it
    said = {note.code for note in noted}
    found = [*(note for note in checked if note.code not in said), *noted]
    failures, total = search.race_.failures, len(search.race_.status)
    n_late = sum(cause.message == UNREACHED for cause in failures.values())
    if n_failed := len(failures) - n_late:
        text = f"{n_failed:,} of {count(total, 'configuration')} failed and were set aside; see Failures."
        found.append(Note("W204", text))
    if n_late:
        return [*found, Note("W204", unreached(n_late, total))]  # no edge of a grid was tried
    return found + edge_of_grid(search)


def judged(score: Score, share: float | None, table: Predictions | None = None) -> list[Note]:
    """Say where the interval reaches the score of guessing, and where the winner won a small `share` of resamples."""
    chance, found = {"r2": 0.0, "matthews_corrcoef": 0.0}.get(score.metric), []
    if score.metric.startswith(("roc_auc", "concordance_index")):
        chance = 0.5
    elif table is not None and table.n_classes and score.metric == "balanced_accuracy":
        chance = 1.0 / table.n_classes
    elif table is not None and table.y.ndim == 1 and score.metric == "accuracy":
        chance = float(np.bincount(table.y).max() / table.n_samples)
    if chance is not None and score.interval is not None and score.interval[0] <= chance:
        text = f"The interval of {score.label}, {score.ends}, is not entirely above {number(chance, score.digits)}"
        found.append(Note("W701", f"{text}, the score of guessing."))
    if share is not None and share < OFTEN:
        text = (
            f"The winner won only {percent(share)} of the resamples: other configurations are about as good, so read "
            "little into its parameters. The honest score accounts for this."
        )
        found.append(Note("W702", text))
    return found


def edge_of_grid(search: Any) -> list[Note]:
    """Say that a number of the winner is the least or greatest value that was tried."""
    winner, told = dict(search.best_params_), []
    numbers = [name for name, value in winner.items() if is_number(value)]

    def rest(params: Mapping[str, Any]) -> dict[str, str]:
        """What a configuration must share with the winner to be compared: all but the values of its numbers."""
        return {name: "" if name in numbers else repr(value) for name, value in params.items()}

    same = [params for params in search.cv_results_["params"] if rest(params) == rest(winner)]
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
    beyond = "Values beyond it may be better; a larger grid or preset tries them."
    return [Note("W711", f"The winner is at the edge of what was tried: {'; '.join(told)}. {beyond}")] if told else []


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
