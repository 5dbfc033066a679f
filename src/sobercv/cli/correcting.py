"""sober correct: the honest score of what another tool has tuned, and a finished run by other metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from .. import metrics
from ..checks.planned_search import positive_label
from ..correction import holds_fold_scores, judge, read_frame, without_row_names
from ..errors import Note, SoberError
from ..importers import ImportedPredictions, recognise
from ..importers import correct as corrected
from ..importers.correction import classes_of, names_no_class
from ..importers.mljar import is_mljar, read_mljar
from ..inference import Estimate
from ..report.search_records import score_of
from ..report.words import count
from ..runs.folder import RunFolder
from ..runs.judged_again import judge_again
from ..runs.prepare import noted
from ..runs.settings import Settings
from ..tables import ReadingOptions, Roles, read
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
    if not Path(given["predictions"]).is_dir():
        roles = Roles.of(settings)
        how = ReadingOptions(settings.sheet, settings.decimal, settings.header)
        table = read(given["predictions"], how, roles=roles)
        frame = without_row_names(table.frame)
        _check_ignored(frame, settings)
        if settings.target is None and holds_fold_scores(frame):
            return _from_folds(screen, frame, table.notes, settings)
        imported = recognise(frame, roles)
        imported = replace(imported, notes=(*table.notes, *imported.notes))
    else:
        imported = read_mljar(given["predictions"])
    with noted() as warned:
        found = corrected(
            imported, settings.metric, seed=settings.seed, jobs=settings.jobs, force=given["force"],
            aggregate=settings.aggregate, stratify=settings.stratify, within_folds=settings.within_folds,
            interval=settings.interval, fixed_models=given["fixed_models"],
            pos_label=_positive(imported, settings),
        )  # fmt: skip
    notes = [*found.notes, *warned]
    scores = [score_of(estimate) for estimate in found.estimates.values()]
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
            if settings.aggregate == "pooled":
                rows += [("", "plain CV pools the folds; most tools print the mean over folds, which can differ")]
        screen.facts(rows)
    return DONE


def _check_ignored(frame: Any, settings: Settings) -> None:
    """Refuse to ignore what is neither a column nor, in a long table, the name of a configuration."""
    named = {str(value) for column in frame.select_dtypes(exclude="number") for value in frame[column].unique()}
    unknown = [name for name in settings.ignore if name not in frame.columns and name not in named]
    if unknown:
        raise SoberError(
            "E804", f"There is no column {unknown[0]!r} to ignore. The table has {', '.join(map(str, frame.columns))}."
        )


def _from_folds(screen: Screen, frame: Any, read_notes: Sequence[Note], settings: Settings) -> int:
    """Correct scores by fold, where no predictions are known."""
    if len(settings.metric) > 1:
        raise SoberError("E114", "Fold scores are corrected by the metric that selected. Give one --metric.")
    measure = settings.metric[0] if settings.metric else None
    found = read_frame(frame.drop(columns=list(settings.ignore), errors="ignore"), measure)
    estimates = judge(found, random_state=settings.seed)
    first = next(iter(estimates.values()))
    notes = [*read_notes, *first.notes]
    scores = [score_of(estimate) for estimate in estimates.values()]
    size = f"{count(len(found.first), 'fold')}, {count(first.n_configurations, 'configuration')}"
    if screen.json:
        screen.result({
            "tool": "fold scores", "score": asdict(scores[0]), "others": [asdict(s) for s in scores[1:]],
            "winner": first._winner(), "n_folds": first.n_folds, "n_configurations": first.n_configurations,
            "warnings": [note.to_dict() for note in notes],
        })  # fmt: skip
        return DONE
    if screen.talks:
        screen.notes(notes)
    rows = [
        *honest(scores[0]),
        *([] if screen.quiet else [("winner", first._winner()), ("read as", f"fold scores: {size}")]),
    ]
    screen.facts(rows)
    for score in scores[1:]:
        screen.facts(honest(score))
    return DONE


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
    scores = [score_of(estimate) for estimate in found.values()]
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
    if settings.positive is None and names_no_class(imported):
        return None
    return positive_label(classes_of(imported), [metrics.get(name) for name in settings.metric], settings.positive)
