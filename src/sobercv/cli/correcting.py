"""sober correct: the honest score of what another tool has tuned, and a finished run by other metrics."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import metrics
from ..checks.planned_search import positive_label
from ..errors import SoberError
from ..importers import ImportedPredictions, recognise
from ..importers import correct as corrected
from ..importers.mljar import is_mljar, read_mljar
from ..inference import Estimate
from ..report.words import count, digits_for
from ..runs import RunFolder, Settings
from ..runs.judged_again import judge_again
from ..runs.noted import noted
from ..runs.results import Honest
from ..tables import ReadingOptions, Roles, read
from ..targets import guess_task
from .arguments import settings_of
from .exit_code import DONE
from .screen import Screen, honest

#: Options that mean something for a run, whose settings say the rest.
_OF_A_RUN = ("predictions", "metric", "positive", "jobs", "json", "quiet", "force")


def correct(given: dict[str, Any]) -> int:
    """Correct and show."""
    screen = Screen(given["json"], given["quiet"])
    if Path(given["predictions"]).is_dir() and not is_mljar(given["predictions"]):
        return _again(screen, given)
    options = settings_of(given)
    settings = Settings.of({k: v for k, v in options.items() if k not in ("predictions", "force", "fixed_models")})
    imported = _imported(given["predictions"], settings)
    with noted() as warned:
        found = corrected(
            imported, settings.metric, seed=settings.seed, jobs=settings.jobs, force=given["force"],
            aggregate=settings.aggregate, stratify=settings.stratify, within_folds=settings.within_folds,
            interval=settings.interval, fixed_models=given["fixed_models"],
            pos_label=_positive(imported, settings),
        )  # fmt: skip
    notes = [*found.notes, *warned]
    scores = [_honest(estimate) for estimate in found.estimates.values()]
    first: Estimate = found.first
    if screen.json:
        screen.result({
            "tool": imported.tool, "score": asdict(scores[0]), "others": [asdict(s) for s in scores[1:]],
            "winner": found.name, "n_rows": first.n_samples, "n_configurations": first.n_configurations,
            "warnings": [note.to_dict() for note in notes],
        })  # fmt: skip
        return DONE
    if screen.talks:
        screen.notes(notes)
    size = f"{count(first.n_samples, 'row')}, {count(first.n_configurations, 'configuration')}"
    size += f", {imported.n_repeats} repeats" if imported.n_repeats > 1 else ""
    for score in scores:
        rows = honest(score)
        if score is scores[0] and not screen.quiet:
            rows += [("winner", found.name), ("read as", f"{imported.tool}: {size}")]
        screen.facts(rows)
    return DONE


def _imported(path: Any, settings: Settings) -> ImportedPredictions:
    """Read a table, or the folder of a tool; what was noticed while reading comes with it."""
    if Path(path).is_dir():
        return read_mljar(path)
    table = read(path, ReadingOptions(settings.sheet, settings.decimal, settings.header))
    imported = recognise(table.frame, Roles.of(settings))
    return replace(imported, notes=(*table.notes, *imported.notes))


def _again(screen: Screen, given: dict[str, Any]) -> int:
    """Judge a finished run by other metrics, at the winner that it chose."""
    others = [name for name, value in settings_of(given).items() if value and name not in _OF_A_RUN]
    if others:
        option = others[0].replace("_", "-")
        raise SoberError("E808", f"{given['predictions']} is a run, which knows its own --{option}. Leave it out.")
    settings = Settings.of({"metric": given["metric"]})
    with noted() as warned:
        results, found = judge_again(
            RunFolder(given["predictions"]).check(), settings.metric, given["positive"], given["jobs"]
        )
    scores = [_honest(estimate) for estimate in found.values()]
    notes = list(dict.fromkeys([*warned, *(note for estimate in found.values() for note in estimate.notes)]))
    if screen.json:
        screen.result({
            "tool": "sober", "score": asdict(scores[0]), "others": [asdict(s) for s in scores[1:]],
            "winner": results.winner, "selected_by": results.score.metric, "n_rows": results.data["rows"],
            "n_configurations": results.n_configurations, "warnings": [note.to_dict() for note in notes],
        })  # fmt: skip
        return DONE
    if screen.talks:
        screen.notes(notes)
    for score in scores:
        rows = honest(score)
        if score is scores[-1] and not screen.quiet:
            chosen = f"{results.winner}; chosen by {results.score.metric}, as in the run"
            rows += [("winner", chosen)]
        screen.facts(rows)
    return DONE


def _positive(imported: ImportedPredictions, settings: Settings) -> Any:
    kind = guess_task(imported.y).task
    classes = np.unique(imported.y).tolist() if kind == "classification" else ()
    return positive_label(classes, [metrics.get(name) for name in settings.metric], settings.positive)


def _honest(estimate: Estimate) -> Honest:
    digits = digits_for([estimate.value, estimate.naive, *(estimate.interval or ())])
    return Honest(
        estimate.metric, estimate.value, estimate.interval, estimate.confidence_level, estimate.naive,
        estimate.optimism, digits, None if estimate.positive is None else str(estimate.positive),
        estimate.interval_method,
    )  # fmt: skip
