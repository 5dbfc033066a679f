"""Other protocols that judge finished predictions: plain cross-validation, Tibshirani and Tibshirani, nested selection.

Each has the options in `OPTIONS`, as `sobercv.bbc` documents them, and no interval.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import SoberError, warn
from ..inference import Estimate
from ..inference.tables import ARRAYS, Table, answer
from .power_law import power_law
from .weighted_means import weighted_means

OPTIONS = {*ARRAYS, "select", "aggregate", "random_state", "n_jobs"}


def naive(y: Any, predictions: Any, metric: Any = "roc_auc", **options: Any) -> Any:
    """Score the winner as plain cross-validation does: optimistic, since this score selected it.

    CVT; paper, algorithm 2.

    Parameters
    ----------
    y, predictions, metric
        As for `bbc`.
    **options
        `folds`, `groups`, `sample_weight`, `pos_label`, `select`, `aggregate`, `random_state`
        and `n_jobs`, as for `bbc`.

    Returns
    -------
    Estimate, or a dict of them by metric
        Without interval.

    Examples
    --------
    >>> import sobercv
    >>> y = [0, 0, 1, 1]
    >>> sobercv.naive(y, [[0, 1], [0, 0], [1, 1], [0, 1]], "accuracy").value  # two configurations
    0.75
    """
    return _asked("naive", y, predictions, metric, options)


def tibshirani(y: Any, predictions: Any, metric: Any = "roc_auc", **options: Any) -> Any:
    """Correct by Tibshirani and Tibshirani's method: subtract the mean advantage of each fold's own choice.

    TT; paper, algorithm 4. `folds` are needed; all else is as for `naive`.

    Examples
    --------
    >>> import sobercv
    >>> from sobercv.testing import simulate
    >>> data = simulate.beta_accuracy(n=100, c=50, seed=1)
    >>> found = sobercv.tibshirani(data.y, data.predictions, "accuracy", folds=data.folds)
    >>> bool(found.value < found.naive)
    True
    """
    return _asked("tt", y, predictions, metric, options)


def nested(y: Any, predictions: Any, metric: Any = "roc_auc", **options: Any) -> Any:
    """Select on all folds but one and score on that one; the mean over folds, as in the paper's simulation.

    This is nested cross-validation without training again; `sobercv.compare` trains again. `folds` are needed; all else
    is as for `naive`.
    """
    return _asked("ncv", y, predictions, metric, options)


def _asked(protocol: str, y: Any, predictions: Any, metric: Any, options: dict[str, Any]) -> Any:
    unknown = sorted(options.keys() - OPTIONS)
    if unknown:
        raise TypeError(f"There is no option {unknown[0]!r} here; the options are {', '.join(sorted(OPTIONS))}.")
    n_dropped = sum(len(part.configurations) for part in getattr(predictions, "dropped", ()))
    if n_dropped and protocol != "naive":  # whose score is that of the winner alone
        text = f"{n_dropped} configurations were dropped early and took no part: each would need a score on every fold."
        warn("W204", f"{text} Search with drop=None to compare all.")
    return answer(partial(judged, protocol=protocol), y, predictions, metric, race=False, **options)


#: What a protocol says of a table: for each metric (or for the first alone) a score, and of how many folds or draws it
#: is the mean though they are undefined.
Claims = list[tuple[float, int]]


def judged(table: Table, protocol: str) -> dict[str, Estimate]:
    """Judge the winner of a table: an estimate without draws by metric."""
    winner, found = table.winner(), {}
    for k, (value, n_undefined) in enumerate(PROTOCOLS[protocol](table)):
        scores = table.wholes[k]
        about = {"scores": scores, "naive": float(scores[winner]), "method": protocol, "n_undefined": n_undefined}
        found[table.question.metrics[k].name] = table.estimate(k, winner, value=value, **about)
    return found


def tibshirani_scores(table: Table) -> Claims:
    """Take off what the rule's choice in each fold, by the metric that selects, is better by on average."""
    winner, folds = table.winner(), table.fold_scores()
    chosen = table.select(folds[0])
    found = []
    for metric, by_fold, whole in zip(table.question.metrics, folds, table.wholes, strict=True):
        lead, n_undefined = mean_of_folds(_taken(by_fold, chosen) - by_fold[:, winner], metric.name)
        found.append((float(whole[winner] - lead), n_undefined))
    return found


def nested_scores(table: Table) -> Claims:
    """Select without each fold, judge on it."""
    folds, n_repeats = table.fold_scores(), table.predictions.n_repeats
    if n_repeats > 1:
        raise SoberError("E114", f"`nested` works on one repeat; got {n_repeats}. Pass them one by one.")
    fold_of = table.predictions.fold_of[:, 0]
    kept = (fold_of != np.unique(fold_of)[:, None]).view(np.uint8)  # [K, N]: everything but one fold
    chosen = table.select(table.scorers[0].scores(kept))
    each = zip(folds, table.question.metrics, strict=True)
    return [mean_of_folds(_taken(by_fold, chosen), metric.name) for by_fold, metric in each]


def _taken(by_fold: Array, chosen: Array) -> Array:
    """Score on each fold [K, C] of what was chosen for it [K]; NaN where nothing was (-1)."""
    return np.where(chosen >= 0, by_fold[np.arange(len(by_fold)), chosen], np.nan)


def mean_of_folds(scores: Array, name: str) -> tuple[float, int]:
    """Mean of the scores [K] that are defined, and how many are not."""
    defined = scores[~np.isnan(scores)]
    if not len(defined):
        raise SoberError("E109", f"{name} is undefined on every fold. Use fewer folds, or sobercv.bbc.")
    return float(defined.mean()), len(scores) - len(defined)


PROTOCOLS: dict[str, Callable[[Table], Claims]] = {
    "naive": lambda table: [(float(scores[table.winner()]), 0) for scores in table.wholes],
    "tt": tibshirani_scores,
    "ncv": nested_scores,
    "wmc": lambda table: weighted_means(table)[:1],
    "wmcs": lambda table: weighted_means(table)[1:],
    "ipl": power_law,
}
