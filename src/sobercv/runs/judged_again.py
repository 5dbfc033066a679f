"""judge_again: a finished run by other metrics; its own metric selects in every resample, as it did."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .. import metrics
from ..checks.planned_search import positive_label
from ..errors import SoberError, warn
from ..inference import Estimate, Question
from ..inference.bootstrap import corrected
from ..inference.intervals import CROSS_VALIDATED
from ..inference.tables import open_table
from ..report.records import Score
from ..tables.naming import quoted
from ..targets import task_name
from .folder import RunFolder
from .predictions_file import FILE, stored_predictions
from .prepare import judging
from .record import RESULTS, RunRecord


def judge_again(
    folder: RunFolder, names: Sequence[str], positive: str | None = None, jobs: int | None = None
) -> tuple[RunRecord, dict[str, Estimate]]:
    """Judge the winner of a run by other metrics (default: its own); return its record, and estimates by metric.

    `positive` is the positive class (default: the run's own), refused where another would select another winner.
    """
    results = RunRecord.read(folder)
    settings = results.settings
    own = [score.metric for score in (results.score, *results.others)]
    wanted = [metrics.get(name) for name in names or own]
    asked = {metric.name: metric for metric in (metrics.get(own[0]), *wanted)}
    classes = [1 if name == "1" else name for name in results.data.get("classes", ())]
    label = positive_label(classes, list(asked.values()), positive or settings.positive)
    try:
        table = stored_predictions(folder / FILE, task_name(results.data["task"]), label)
        found = corrected(open_table(table, Question.ask(list(asked.values()), n_jobs=jobs, **judging(settings))))
    except SoberError as error:
        lacks = "is computed from" in error.message  # unlike a metric for another kind of target
        more = " A run keeps what its metrics need: name this one in sober fit, after the one that selects."
        raise SoberError(error.code, error.message + more * lacks) from None
    except MemoryError:
        raise
    except Exception as error:  # a table that was edited may hold anything
        raise folder.damaged(FILE, f"it cannot be read, {type(error).__name__}") from error
    first, winners = found[own[0]], [row.index for row in results.summary.configurations if row.is_winner]
    if (chosen := results.score.positive) != (now := Score.of(first).positive):
        text = f"The run selected by {own[0]} for {chosen!r}; for {now!r} it may have selected another winner. Leave "
        raise SoberError("E808", f"{text}--positive out, or run sober fit with --positive {quoted(now)}.")
    if first.winner not in winners or not math.isclose(first.naive, results.score.naive, rel_tol=1e-6, abs_tol=1e-9):
        raise folder.damaged(RESULTS, f"its winner or its score is not that of {FILE}")
    excess = results.summary.excess
    if settings.interval == "calibrated" and excess not in (None, CROSS_VALIDATED):
        warn(
            "W201",
            f"The run trained its winner without each pair of folds to see how much the variance of {own[0]} must be "
            f"multiplied by ({excess:.2f}); here the usual factor ({CROSS_VALIDATED:.2f}) is used, so intervals differ "
            "a little from those of the run.",
        )
    return results, {metric.name: found[metric.name] for metric in wanted}
