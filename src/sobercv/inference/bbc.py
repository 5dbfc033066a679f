"""BBC-CV: bootstrap the out-of-sample predictions, re-select in each resample, score on what was left out.

Predictions of any tool become an `Estimate`; nothing is trained. Paper: section 4, algorithm 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .bootstrap import corrected
from .procedures import SelectionProcedure
from .question import MetricLike
from .selection import SelectionRule
from .tables import answer


def bbc(
    y: Any,
    predictions: Any,
    metric: MetricLike | Sequence[MetricLike] = "roc_auc",
    *,
    groups: Any = None,
    folds: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    select: str | SelectionRule | SelectionProcedure = "best",
    aggregate: str = "pooled",
    by: str = "sample",
    interval: str = "calibrated",
    n_bootstraps: int = 1000,
    confidence_level: float = 0.95,
    stratify: bool = False,
    counts: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Any:
    """Correct the score of the best of many configurations for having been picked as the best.

    Parameters
    ----------
    y : array-like [N]
        The truth: class labels of any type, numbers, or a survival target (scikit-survival's structured array or two
        columns). Ignored when `predictions` is a `Predictions`.
    predictions : array-like [N, C], [N, C, R] or [N, C, R, K], dict of those, or Predictions
        Out-of-sample predictions: N samples, C configurations, R repeats, K classes. numpy, pandas or polars. A masked
        array marks an incomplete cross-validation; configurations that are NaN in whole folds (pruned trials, where
        `folds` are given) or everywhere are left out, and a note says so. A dict has one array for each of "predict",
        "predict_proba" and "decision_function". All of them must fit in memory.
    metric : str, Metric, callable, or a list of them
        The first selects; all are judged at the same winner, and a list gives a dict of estimates.
    groups : array-like [N], optional
        Samples of one group (patient, site) are resampled together.
    folds : array-like [N] or [N, R], optional
        The fold in which each sample was held out. Needed by `by="fold"` and by every `aggregate` but "pooled".
    sample_weight : array-like [N], optional
        Counts in every metric.
    pos_label : label, optional
        The positive one of two classes. Precision, recall, F1 and the like are of it, and one score or probability per
        sample is that of it. Default: scores are those of the greater label, and precision and the like are of
        the label 1, as in scikit-learn.
    select : {"best"}, simplest_within(...), best_with_threshold(...), an ensemble or callable, default="best"
        The rule that picked the winner; re-run in every resample. A callable maps scores [B, C] to winners [B]. What
        selects more than a column (a threshold, a mix of configurations) is a `sobercv.inference.SelectionProcedure`.
    aggregate : {"pooled", "fold", "within_folds"}, default="pooled"
        Score all samples together, or take the mean over folds as scikit-learn does. With "within_folds" metrics that
        rank compare only samples of the same fold and repeat.
    by : {"sample", "fold"}, default="sample"
        Resample samples (BBC-CV) or folds (BBC-F).
    interval : {"calibrated", "fixed_models", "percentile"}, default="calibrated"
        The calibrated interval, which knows the metric's range and that a cross-validated score errs more than a
        bootstrap of samples shows, or the paper's percentiles of the draws. How each is made, and how often it covers:
        docs/evidence/intervals.md. Predictions alone do not tell how unstable the models are: the calibrated interval
        assumes what suits most, and is too narrow for, say, a lasso with more features than samples. A search can
        measure it (`pair_models` of `BBCSearchCV`). "fixed_models" is the calibrated interval of models that were
        trained on other data (a test set, an external cohort): nothing was cross-validated, so that it is narrower.
    n_bootstraps : int, default=1000
    confidence_level : float, default=0.95
    stratify : bool, default=False
        Draw within classes (or within events and censored), so that none is ever missing.
    counts : int array [B, N], optional
        Draws to use instead of our own ([B, K] with `by="fold"`): replays another tool's resamples.
    random_state : int, numpy generator or None, default=0
        The same number gives the same bits. None draws afresh; `Estimate.seed` tells what was drawn.
    n_jobs : int, optional
        Threads, as in scikit-learn: None is 1, -1 all cores. Changes no result.

    Returns
    -------
    Estimate, or dict of str to Estimate when `metric` is a list

    References
    ----------
    Tsamardinos, Greasidou, Borboudakis (2018). Bootstrapping the out-of-sample predictions for efficient and accurate
    cross-validation. Machine Learning 107, 1895-1922.

    Examples
    --------
    >>> import sobercv
    >>> from sobercv.testing import simulate
    >>> data = simulate.beta_accuracy(n=100, c=50, seed=1)
    >>> estimate = sobercv.bbc(data.y, data.predictions, "accuracy")
    >>> bool(estimate.value < estimate.naive)
    True
    """
    return answer(corrected, **locals())
