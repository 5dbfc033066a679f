"""From settings to a run that could begin: read the table, look at it, plan, write down what is going to be run."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .. import metrics
from ..checks import PlannedSearch, check_dataset, plan_search
from ..checks.planned_search import DEFAULT_METRICS
from ..containers import Array
from ..errors import Note, SoberError, SoberWarning
from ..inference import Question, best_with_threshold
from ..report.subgroups import MOST as MOST_SUBGROUPS
from ..report.summary import versions
from ..tables import Dataset, ReadingOptions, Roles, Table, assign, read
from ..tables.column_facts import column_facts
from ..tables.roles import find
from ..targets import Target, task_name
from .folder import SETTINGS, RunFolder
from .record import Begun
from .settings import Settings

#: Below so many groups, each is held out in turn.
FEW_GROUPS = 10


@dataclass(frozen=True, eq=False)
class Prepared:
    """A run that could begin."""

    settings: Settings
    table: Table
    data: Dataset
    findings: list[Note]  # errors among them forbid to begin
    planned: PlannedSearch | None  # None where errors forbid to plan
    subgroups: dict[str, Array]  # by column, the subgroup of each row [N]

    @property
    def plan(self) -> PlannedSearch:
        """The plan of a run that may begin; raises the first error of one that may not."""
        if self.planned is None:
            first = next(f for f in self.findings if f.severity == "error")
            raise SoberError(first.code, first.text)
        return self.planned

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What is in the table, as plain data."""
        table, data = self.table, self.data
        kinds = [_KINDS.get(dtype.kind, "text") for dtype in data.X.dtypes]
        found: dict[str, Any] = {
            "file": table.name,
            "format": table.format,
            "sha256": table.sha256,
            "rows": data.n_rows,
            "rows_without_target": data.n_without_target,
            "columns": data.X.shape[1],
            "kinds": {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)},
            "missing_cells": int(data.X.isna().sum().sum()),
            "target": list(data.target),
            "task": data.task,
            "weights": None if data.weight is None else [float(data.weight.min()), float(data.weight.max())],
            "groups": data.n_groups or None,
            "columns_read": column_facts(table, data),
        }
        if data.task == "survival":
            found["events"] = int(data.y["event"].sum())
            found["times"] = [float(v) for v in np.quantile(data.y["time"], (0.0, 0.5, 1.0))]
        elif data.classes:
            found["classes"] = {str(c): int((data.y == c).sum()) for c in data.classes}
        else:
            found["range"] = [float(data.y.min()), float(data.y.max())]
        return found


_KINDS = {"M": "dates", "b": "flags", "i": "numbers", "u": "numbers", "f": "numbers"}


def prepare(settings: Settings, sha256: str | None = None) -> Prepared:
    """Read the table, look at it, and plan; `sha256` is the fingerprint that the data must have."""
    asked = [metrics.get(name) for name in settings.metric]  # a wrong one is reported before the table is read
    if settings.tune_threshold:
        if not asked:
            raise SoberError(
                "E114",
                "--tune-threshold needs the metric that the threshold is tuned for. Write --metric balanced_accuracy, "
                'or f1, youden, matthews_corrcoef, accuracy or "neg_cost(missed=5)".',
            )
        Question.ask(  # refuses what no threshold can be tuned for
            settings.metric[0], select=best_with_threshold(), aggregate=settings.aggregate,
            within_folds=settings.within_folds,
        )  # fmt: skip
    roles = Roles.of(settings)
    table = read(str(settings.data), ReadingOptions.of(settings), roles=roles)
    if sha256 is not None and table.sha256 != sha256:
        raise SoberError(
            "E502",
            f"{table.name} has changed since the run began, so its stored fits belong to other data. Name the right "
            "file with --data, or begin a new run.",
        )
    data = assign(table.frame, roles)
    folds = data.n_folds(settings.cv)
    if data.groups is not None and folds == data.n_groups and not (settings.cv == folds >= FEW_GROUPS):
        # Samples of different centres are not ranked against each other: their levels differ, and a new centre is one.
        ranks = asked or [metrics.get(DEFAULT_METRICS[data.task])]
        settings = settings.with_(cv="groups", within_folds=any(metric.pools_scores for metric in ranks))
    subgroups = _subgroups(settings, table, data)
    findings = check_dataset(data, cv=folds, notes=[*table.notes, *data.notes])
    planned = None
    if not any(f.severity == "error" for f in findings):
        planned = plan_search(
            data, preset=settings.preset, scoring=settings.metric, cv=folds, repeats=settings.repeats,
            seed=settings.seed, configurations=settings.configurations, positive=settings.positive,
            probabilities=settings.tune_threshold,
        )  # fmt: skip
        if settings.tune_threshold:
            target = Target.read(data.y, task_name(data.task), pos_label=planned.positive)
            best_with_threshold().check_table(target, settings.repeats)
    return Prepared(settings, table, data, findings, planned, subgroups)


def _subgroups(settings: Settings, table: Table, data: Dataset) -> dict[str, Array]:
    """Labels [N] of the subgroups that are scored apart, by column: those of --by, and groups where they are few."""
    found = {}
    for name in dict.fromkeys((*settings.by, *([settings.group] if settings.group else []))):
        find(table.frame, name)
        labels = table.frame[name].iloc[data.rows].astype(str).to_numpy(object)
        n = len(set(labels.tolist()))
        if 2 <= n <= MOST_SUBGROUPS:
            found[name] = labels
        elif name in settings.by:
            raise SoberError(
                "E808", f"--by {name} has {n:,} different values; 2 to {MOST_SUBGROUPS} can be scored apart. Put them "
                "into classes first.",
            )  # fmt: skip
    return found


def begin(folder: RunFolder, prepared: Prepared) -> Prepared:
    """Write down what is going to be run, before it runs, so that it can be resumed.

    Return the run with the absolute path of its data; what came by standard input is kept in the folder.
    """
    table, path = prepared.table, prepared.table.path
    if path is None:
        path = folder / f"data.{'csv' if table.format in ('csv', 'tsv') else table.format}"
        folder.write(path.name, table.raw)
    settings = prepared.settings.with_(data=str(path.resolve()))
    folder.write_record(SETTINGS, Begun(settings, table.sha256, versions()))
    return replace(prepared, settings=settings)


@contextmanager
def noted() -> Iterator[list[Note]]:
    """Collect sober's warnings, each once, and leave other warnings out: ``with noted() as notes: ...``."""
    notes: list[Note] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", SoberWarning)
        yield notes
    said = [Note(w.message.code, w.message.message) for w in caught if isinstance(w.message, SoberWarning)]
    notes.extend(dict.fromkeys(said))
