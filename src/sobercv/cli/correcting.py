"""sober correct: the honest score of what another tool has tuned."""

from __future__ import annotations

import warnings
from typing import Any

from ..errors import SoberWarning
from ..importers import correct as corrected
from ..importers import recognise
from ..report.words import count, digits_for
from ..runs.settings import Settings
from ..tables import ReadingOptions, Roles, read
from .ending import DONE
from .screen import Screen, honest


def correct(given: dict[str, Any], *, force: bool, json: bool, quiet: bool) -> int:
    """Correct and show."""
    screen = Screen(json, quiet)
    settings = Settings.of(given)
    table = read(str(settings.data), ReadingOptions(settings.sheet, settings.decimal, settings.header))
    imported = recognise(table.frame, Roles.of(settings))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SoberWarning)
        found = corrected(imported, settings.metric, seed=settings.seed, jobs=settings.jobs, force=force)
    notes = [(note.code, note.text) for note in (*table.notes, *found.notes)]
    notes += [(w.message.code, w.message.message) for w in caught if isinstance(w.message, SoberWarning)]
    scores: list[dict[str, Any]] = [
        {
            "metric": e.metric,
            "honest": e.value,
            "interval": None if e.interval is None else list(e.interval),
            "confidence_level": e.confidence_level,
            "naive": e.naive,
            "optimism": e.optimism,
        }
        for e in found.estimates.values()
    ]
    size = f"{count(found.first.n_samples, 'row')}, {count(found.first.n_configurations, 'configuration')}"
    size += f", {imported.n_repeats} repeats" if imported.n_repeats > 1 else ""
    if json:
        screen.result({
            "tool": imported.tool, "score": scores[0], "others": scores[1:], "winner": found.name,
            "n_rows": found.first.n_samples, "n_configurations": found.first.n_configurations,
            "notes": [{"code": code, "message": text} for code, text in notes],
        })  # fmt: skip
        return DONE
    screen.findings(notes)
    for score in scores:
        known = [score["honest"], score["naive"], *(score["interval"] or [])]
        rows = honest(score, digits_for(known))
        if score is scores[0] and not quiet:
            rows += [("winner", found.name), ("read as", f"{imported.tool}: {size}")]
        screen.facts(rows)
    return DONE
