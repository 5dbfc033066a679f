"""From settings to a run that could begin: read the table, look at it, plan, write down what is going to be run."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from .. import metrics
from ..checks import check_dataset, plan_search
from ..checks.planned_search import DEFAULT_METRICS
from ..containers import Array
from ..errors import Note, SoberError, SoberWarning
from ..inference import Question, best_with_threshold
from ..report.subgroups import MOST as MOST_SUBGROUPS
from ..report.summary import FEW_GROUPS, versions
from ..tables import Dataset, Settings, Table, assign, read
from ..tables.facts import TableFacts, facts_of
from ..tables.roles import find
from .folder import SETTINGS, RunFolder
from .record import Begun


@dataclass(frozen=True, eq=False)
class Prepared:
    """A run that could begin."""

    settings: Settings
    table: Table
    data: Dataset
    facts: TableFacts  # what is in the table, as plain data
    findings: list[Note]  # of the checks of the table
    plan: Any  # the `PlannedSearch`; None where errors among the findings forbid to begin, and `sober check` looks on
    subgroups: dict[str, Array]  # by column, the subgroup of each row [N]


def judging(settings: Settings) -> dict[str, Any]:
    """Return how a search is judged, by the names that the library gives these options."""
    return {
        "select": best_with_threshold() if settings.tune_threshold else "best",
        "aggregate": settings.aggregate,
        "stratify": settings.stratify,
        "interval": settings.interval,
        "random_state": settings.seed,
    }


def prepare(settings: Settings, sha256: str | None = None, must_run: bool = True) -> Prepared:
    """Read the table, look at it, and plan.

    `sha256` is the fingerprint that the data must have. `must_run`: raise the first error that the checks found.
    """
    asked = [metrics.get(name) for name in settings.metric]  # a wrong one is reported before the table is read
    if settings.tune_threshold:
        if not asked:
            raise SoberError(
                "E114",
                "--tune-threshold needs the metric that the threshold is tuned for. Write --metric balanced_accuracy, "
                'or f1, youden, matthews_corrcoef, accuracy or "neg_cost(missed=5)".',
            )
        Question.ask(settings.metric[0], **judging(settings))  # refuses what no threshold can be tuned for
    table = read(str(settings.data), settings)
    if sha256 is not None and table.sha256 != sha256:
        raise SoberError(
            "E502",
            f"{table.name} has changed since the run began, so its stored fits belong to other data. Name the right "
            "file with --data, or start a new run.",
        )
    settings = settings.split(table.frame.columns)
    data = assign(table.frame, settings)
    folds = data.n_folds(settings.cv)
    if folds == data.n_groups and not (settings.cv == folds >= FEW_GROUPS):
        # Samples of different centres are not ranked against each other: their levels differ, and a new centre is one.
        ranks = asked or [metrics.get(DEFAULT_METRICS[data.task])]
        if settings.aggregate == "pooled" and any(metric.pools_scores for metric in ranks):
            settings = replace(settings, aggregate="within_folds")
        settings = replace(settings, cv="groups")
    subgroups, notes = {}, [*table.notes]
    for name in dict.fromkeys((*settings.by, *filter(None, [settings.group]))):
        find(table.frame, name)
        labels = table.frame[name].iloc[data.rows]
        labels = labels.astype(str).astype(object).where(labels.notna().to_numpy(), "missing").to_numpy()
        n = len(set(labels.tolist()))
        if 2 <= n <= MOST_SUBGROUPS:
            subgroups[name] = labels
        elif name in settings.by:
            text = f"--by {name} has {n:,} different values; 2 to {MOST_SUBGROUPS} can be scored separately. "
            notes.append(Note("E808", f"{text}Group them into classes first.", (name,)))
    findings = check_dataset(data, cv=folds, notes=notes)
    errors = [found for found in findings if found.severity == "error"]
    if errors and must_run:
        raise SoberError(errors[0].code, errors[0].text)
    plan = None if errors else plan_search(data, settings)
    return Prepared(settings, table, data, facts_of(table, data), findings, plan, subgroups)


def begin(folder: RunFolder, prepared: Prepared) -> Prepared:
    """Write down what is going to be run, so that it can be resumed; return it with the absolute path of its data."""
    table, path = prepared.table, prepared.table.path
    if path is None:  # what came by standard input is kept in the folder
        path = folder / f"data.{'csv' if table.format in ('csv', 'tsv') else table.format}"
        folder.write(path.name, table.raw)
    settings = replace(prepared.settings, data=str(path.resolve()))
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
