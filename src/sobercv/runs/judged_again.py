"""judge_again: a finished run by other metrics, at the winner that it chose.

Takes a run folder and names of metrics, gives estimates; trains nothing and writes nothing. The run's own metric
selects in every resample, as it did; the others judge what it selects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .. import metrics
from ..checks.planned_search import positive_label
from ..errors import SoberError
from ..inference import Estimate, Question, best_with_threshold
from ..inference.bootstrap import corrected
from ..inference.tables import open_table
from ..predictions import Predictions
from ..targets import Target, task_name
from .folder import RunFolder
from .predictions_file import stored_predictions
from .record import RESULTS, RunRecord


def judge_again(
    folder: RunFolder, names: Sequence[str], positive: str | None = None, jobs: int | None = None
) -> tuple[RunRecord, dict[str, Estimate]]:
    """Judge the winner of a run by other metrics.

    `names`: all metrics of the run where there are none. `positive`: the positive class, for metrics that judge;
    default: the run's own. Refused where the metric that selected depends on it, because another class would select
    another winner. Returns the record of the run, and estimates by metric.
    """
    results = RunRecord.read(folder)
    settings = results.settings
    own = [score.metric for score in (results.score, *results.others)]
    wanted = [metrics.get(name) for name in names or own]
    asked = {metric.name: metric for metric in (metrics.get(own[0]), *wanted)}
    table = stored_predictions(folder, task_name(str(results.data["task"])))
    classes = [] if table.classes is None else table.classes.tolist()
    label = positive_label(classes, list(asked.values()), positive or settings.positive)
    if positive is not None:
        _check_positive(asked[own[0]], label, positive_label(classes, [asked[own[0]]], settings.positive))
    table = table if label is None else _with_positive(table, label)
    for metric in asked.values():
        metric.check_target(table.target)
        _check_kept(metric, table)
    select = best_with_threshold() if settings.tune_threshold else "best"
    question = Question.ask(
        list(asked.values()), select=select, aggregate=settings.aggregate, stratify=settings.stratify,
        within_folds=settings.within_folds, interval=settings.interval, random_state=settings.seed, n_jobs=jobs,
    )  # fmt: skip
    found = corrected(open_table(table, question))
    if not any(row.is_winner and row.index == found[own[0]].winner for row in results.summary.configurations):
        raise folder.damaged(RESULTS, "its winner is not that of predictions.parquet")
    return results, {metric.name: found[metric.name] for metric in wanted}


def _check_positive(selecting: metrics.Metric, label: Any, own: Any) -> None:
    """Refuse a positive class with which the run would have selected by another score; of 0 and 1 it is 1."""
    own = 1 if own is None else own
    if selecting.depends_on_positive and selecting.pos_label is None and str(label) != str(own):
        raise SoberError(
            "E808",
            f"The run selected by {selecting.name} of {str(own)!r}; by {selecting.name} of {str(label)!r} it may have "
            f"selected another winner. Leave --positive out, or run sober fit with --positive {label}.",
        )


def _check_kept(metric: metrics.Metric, table: Predictions) -> None:
    for part in (table, *table.dropped):
        lacking = [each for each in metric.wanted if not set(each) & set(part.responses)]
        if lacking and not (lacking[0] == ("predict",) and "predict_proba" in part.responses):
            raise SoberError(
                "E116",
                f"{metric.name} is computed from {' or '.join(lacking[0])}, and of some of its models the run kept "
                f"only {', '.join(part.responses)}. Name the metric at sober fit, after the one that selects: models "
                "that cannot give it are then left out.",
            )


def _with_positive(table: Predictions, label: str) -> Predictions:
    """Make a class the positive one; that is the second, of which single scores are."""
    classes = table.target.classes
    assert classes is not None
    if classes.tolist().index(label) == 1:
        positive = replace(table.target, positive=1)
        return replace(table, target=positive, dropped=tuple(replace(g, target=positive) for g in table.dropped))
    turned = {"predict": lambda v: 1 - v, "predict_proba": lambda v: 1.0 - v, "decision_function": lambda v: -v}
    return replace(
        table,
        dropped=tuple(_with_positive(group, label) for group in table.dropped),
        target=Target(table.task, 1 - table.y, classes[::-1], 1),
        responses={name: turned[name](values) for name, values in table.responses.items()},
    )
