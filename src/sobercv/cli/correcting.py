"""sober correct: the honest score of what another tool has tuned."""

from __future__ import annotations

import warnings
from dataclasses import asdict
from typing import Any

from ..errors import SoberWarning
from ..importers import correct as corrected
from ..importers import recognise
from ..inference import Estimate
from ..report.words import count, digits_for
from ..runs import Settings
from ..runs.results import Honest
from ..tables import ReadingOptions, Roles, read
from .arguments import settings_of
from .exit_code import DONE
from .screen import Screen, honest


def correct(given: dict[str, Any]) -> int:
    """Correct and show."""
    screen = Screen(given["json"], given["quiet"])
    options = settings_of(given)
    settings = Settings.of({k: v for k, v in options.items() if k not in ("predictions", "force")})
    table = read(given["predictions"], ReadingOptions(settings.sheet, settings.decimal, settings.header))
    imported = recognise(table.frame, Roles.of(settings))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SoberWarning)
        found = corrected(
            imported, settings.metric, seed=settings.seed, jobs=settings.jobs, force=given["force"],
            aggregate=settings.aggregate, stratify=settings.stratify, within_folds=settings.within_folds,
        )  # fmt: skip
    notes = [(note.code, note.text) for note in (*table.notes, *found.notes)]
    notes += [(w.message.code, w.message.message) for w in caught if isinstance(w.message, SoberWarning)]
    scores = [_honest(estimate) for estimate in found.estimates.values()]
    first: Estimate = found.first
    if screen.json:
        screen.result({
            "tool": imported.tool, "score": asdict(scores[0]), "others": [asdict(s) for s in scores[1:]],
            "winner": found.name, "n_rows": first.n_samples, "n_configurations": first.n_configurations,
            "warnings": [{"code": code, "text": text} for code, text in notes],
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


def _honest(estimate: Estimate) -> Honest:
    digits = digits_for([estimate.value, estimate.naive, *(estimate.interval or ())])
    return Honest(
        estimate.metric, estimate.value, estimate.interval, estimate.confidence_level, estimate.naive,
        estimate.optimism, digits,
    )  # fmt: skip
