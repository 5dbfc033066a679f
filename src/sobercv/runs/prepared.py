"""From settings to a run that could begin: read the table, look at it, plan.

Takes `Settings`, gives a `Prepared` run; never trains and never writes.
"""

from __future__ import annotations

from dataclasses import dataclass

from .. import metrics
from ..checks import PlannedSearch, check_dataset, plan_search
from ..errors import Note, SoberError
from ..inference import Question, best_with_threshold
from ..tables import Dataset, ReadingOptions, Roles, Table, assign, read
from ..tables.source_bytes import check_source
from ..targets import Target, task_name
from .settings import Settings


@dataclass(frozen=True, eq=False)
class Prepared:
    """A run that could begin.

    Attributes
    ----------
    settings : Settings
    table : Table
    data : Dataset
    findings : list of Note
        Errors among them forbid to begin.
    planned : PlannedSearch or None
        None where errors forbid to plan.
    """

    settings: Settings
    table: Table
    data: Dataset
    findings: list[Note]
    planned: PlannedSearch | None

    @property
    def plan(self) -> PlannedSearch:
        """The plan of a run that may begin; raises the first error of one that may not."""
        if self.planned is None:
            first = next(f for f in self.findings if f.severity == "error")
            raise SoberError(first.code, first.text)
        return self.planned


def prepare(settings: Settings, sha256: str | None = None) -> Prepared:
    """Read the table, look at it, and plan.

    Parameters
    ----------
    settings : Settings
    sha256 : str, optional
        The fingerprint that the data must have.
    """
    check_source(settings.data)
    for name in settings.metric:  # a wrong one is heard of before the table is read
        metrics.get(name)
    if settings.tune_threshold:
        _check_threshold(settings)
    table = read(str(settings.data), ReadingOptions(settings.sheet, settings.decimal, settings.header))
    if sha256 is not None and table.sha256 != sha256:
        raise SoberError(
            "E811",
            f"{table.name} has changed since the run began, so its stored fits belong to other data. Name the right "
            "file with --data, or begin a new run.",
        )
    data = assign(table.frame, Roles.of(settings))
    findings = check_dataset(data, cv=settings.cv, notes=[*table.notes, *data.notes])
    planned = None
    if not any(f.severity == "error" for f in findings):
        planned = plan_search(
            data, preset=settings.preset, scoring=settings.metric, cv=settings.cv, repeats=settings.repeats,
            seed=settings.seed, configurations=settings.configurations, positive=settings.positive,
            probabilities=settings.tune_threshold,
        )  # fmt: skip
    if settings.tune_threshold and planned is not None:
        target = Target.read(data.y, task_name(data.task), pos_label=planned.positive)
        best_with_threshold().check_table(target, settings.repeats)
    return Prepared(settings, table, data, findings, planned)


def _check_threshold(settings: Settings) -> None:
    """Refuse a metric that no threshold is tuned for; the usual one of two classes is none."""
    if not settings.metric:
        raise SoberError(
            "E121",
            "--tune-threshold needs the metric that the threshold is tuned for. Write --metric balanced_accuracy, or "
            'f1, youden, matthews_corrcoef, accuracy or "neg_cost(missed=5)".',
        )
    Question.ask(
        settings.metric[0], select=best_with_threshold(), aggregate=settings.aggregate,
        within_folds=settings.within_folds,
    )  # fmt: skip
