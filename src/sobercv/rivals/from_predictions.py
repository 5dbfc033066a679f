"""Other protocols that judge finished predictions: plain cross-validation, Tibshirani and Tibshirani, nested selection.

Each has the options in `OPTIONS`, as `sobercv.bbc` documents them, and no interval.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import SoberError
from ..inference import Estimate, Question
from ..inference.estimate import with_names
from ..inference.question import MetricLike
from ..inference.tables import ARRAYS, Table, open_table

OPTIONS = {*ARRAYS, "select", "aggregate", "within_folds", "random_state", "n_jobs"}


def naive(y: Any, predictions: Any, metric: Any = "roc_auc", **options: Any) -> Any:
    """Score the winner as plain cross-validation does: optimistic, since this score selected it.

    CVT; paper, algorithm 2.

    Parameters
    ----------
    y, predictions, metric
        As for `bbc`.
    **options
        `folds`, `groups`, `sample_weight`, `pos_label`, `select`, `aggregate`, `within_folds`, `random_state`
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
    return _judged(naive_scores, y, predictions, metric, **options)


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
    return _judged(tibshirani_scores, y, predictions, metric, **options)


def nested(y: Any, predictions: Any, metric: MetricLike = "roc_auc", **options: Any) -> Estimate:
    """Select on all folds but one and score on that one; the mean over folds, as in the paper's simulation.

    This is nested cross-validation without training again; `sobercv.compare` trains again. `folds`
    are needed, and one metric is judged; all else is as for `naive`.
    """
    return _judged(nested_scores, y, predictions, metric, **options)


def _judged(
    protocol: Callable[[Table], dict[str, Estimate]], y: Any, predictions: Any, metric: Any, **given: Any
) -> Any:
    """Open what a user passed, and judge it."""
    unknown = sorted(given.keys() - OPTIONS)
    if unknown:
        raise TypeError(f"There is no option {unknown[0]!r} here; the options are {', '.join(sorted(OPTIONS))}.")
    arrays = {name: given.pop(name, None) for name in ARRAYS}
    question = Question.ask(metric, **given)
    found = with_names(protocol(open_table(predictions, question, y=y, race=False, **arrays)), predictions)
    return found if question.several else next(iter(found.values()))


# ---- the protocols ---------------------------------------------------------------------------------------------------
def naive_scores(table: Table) -> dict[str, Estimate]:
    """Judge the winner by the scores that selected it."""
    winner = table.winner()
    return {
        metric.name: estimate_of(table, "naive", float(table.wholes[k][winner]), k)
        for k, metric in enumerate(table.question.metrics)
    }


def tibshirani_scores(table: Table) -> dict[str, Estimate]:
    """Take off what the configuration that the rule selects in each fold is better by, on average.

    The metric that selects selects in the folds, too; the other metrics judge the same choices.
    """
    need_folds(table, "tibshirani")
    winner, folds = table.winner(), table.fold_scores()
    chosen = table.select(folds[0])  # one per fold; -1 where the first metric is undefined
    found = {}
    for k, (metric, by_fold) in enumerate(zip(table.question.metrics, folds, strict=True)):
        lead = by_fold[np.arange(len(by_fold)), chosen] - by_fold[:, winner]  # [K]
        defined = (chosen >= 0) & ~np.isnan(lead)
        if not defined.any():
            raise SoberError(
                "E109", f"{metric.name} is undefined on every fold, so TT cannot be computed. Use sobercv.bbc."
            )
        value = float(table.wholes[k][winner] - lead[defined].mean())
        found[metric.name] = estimate_of(table, "tt", value, k, int((~defined).sum()))
    return found


def nested_scores(table: Table) -> dict[str, Estimate]:
    """Select without each fold, judge on it."""
    need_folds(table, "nested")
    name, n_repeats = table.question.first.name, table.predictions.n_repeats
    if n_repeats > 1:
        raise SoberError("E114", f"`nested` works on one repeat; got {n_repeats}. Pass them one by one.")
    fold_of = table.predictions.fold_of[:, 0]
    kept = (fold_of != np.unique(fold_of)[:, None]).view(np.uint8)  # [K, N]: everything but one fold
    chosen = table.select(table.scorers[0].scores(kept))
    by_fold = table.fold_scores()[0][np.arange(len(kept)), chosen]
    by_fold = by_fold[(chosen >= 0) & ~np.isnan(by_fold)]
    if len(by_fold) == 0:
        raise SoberError("E109", f"{name} is undefined on every fold. Use fewer folds, or sobercv.bbc.")
    return {name: estimate_of(table, "ncv", float(by_fold.mean()), 0, len(kept) - len(by_fold))}


def need_folds(table: Table, protocol: str) -> None:
    """Refuse a table whose folds are not known."""
    if not table.predictions.folds_known:
        raise SoberError(
            "E113", f"`{protocol}` compares folds, so it needs to know them. Pass `folds=`, one entry per sample."
        )


def estimate_of(table: Table, method: str, value: float, metric: int = 0, n_undefined: int = 0) -> Estimate:
    """Make an estimate without draws, at the winner of the whole table."""
    return table.estimate(metric, table.winner(), value, table.wholes[metric], method=method, n_undefined=n_undefined)
