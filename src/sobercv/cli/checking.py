"""sober check: what is in a table, what would be run, how long it takes."""

from __future__ import annotations

from typing import Any

from ..checks import seconds_needed
from ..report.words import count, seconds
from ..runs.train import Prepared, prepare
from ..runs.write import describe
from .column_table import show_columns
from .ending import BAD, DONE
from .request import Request
from .screen import Screen

WORDS = {
    "binary": "two classes",
    "multiclass": "several classes",
    "regression": "numbers",
    "survival": "survival times",
}


def check(request: Request) -> int:
    """Look at a table; exit code 2 where `fit` would refuse it."""
    screen = Screen(request.json, request.quiet)
    prepared = prepare(request.settings)
    planned = prepared.planned
    with screen.busy("Measuring a few fits"):
        guess = None if planned is None else seconds_needed(planned, prepared.data, request.settings.jobs)
    has_errors = planned is None
    facts = describe(prepared)
    if request.json:
        screen.result(
            {"data": facts, "findings": [f.to_dict() for f in prepared.findings], "plan": plan_of(prepared, guess)}
        )
        return BAD if has_errors else DONE
    if not request.quiet:
        screen.facts(table_rows(facts), "The table")
        screen.out.print()
        show_columns(screen, facts["columns_read"], facts["columns"])
    if planned is not None:
        screen.out.print()
        screen.facts(_plan_rows(prepared, guess), "The plan")
    if prepared.findings:
        screen.out.print()
    screen.findings([(f.code, f.text) for f in prepared.findings])
    if has_errors:
        return BAD
    if not request.quiet:
        screen.out.print()
        screen.facts([("next", f"{request.settings.command()} -o run")])
    return DONE


def table_rows(facts: dict[str, Any]) -> list[tuple[str, Any]]:
    """Say what is in a table."""
    rows = [("file", f"{facts['file']} ({facts['format']})")]
    size = count(facts["rows"], "row")
    if facts["rows_without_target"]:
        size += f" with a target, {facts['rows_without_target']} without"
    size += f", {count(facts['columns'], 'column')} to learn from"
    rows.append(("size", f"{size} ({', '.join(f'{n} {kind}' for kind, n in facts['kinds'].items())})"))
    if facts["missing_cells"]:
        cells = facts["rows"] * facts["columns"]
        rows.append(("gaps", f"{facts['missing_cells']:,} of {cells:,} cells are missing"))
    if facts["groups"]:
        rows.append(("groups", f"{facts['groups']:,}; rows of one group stay together"))
    rows.append(("target", f"{' and '.join(facts['target'])}: {WORDS[facts['task']]}{_target(facts)}"))
    return rows


def _target(facts: dict[str, Any]) -> str:
    if "events" in facts:
        return f", {count(facts['events'], 'event')} seen"
    if "range" in facts:
        return f" from {facts['range'][0]:g} to {facts['range'][1]:g}"
    shown = list(facts["classes"].items())
    return (
        " (" + ", ".join(f"{label[:30]}: {n:,}" for label, n in shown[:6]) + (", ..." if len(shown) > 6 else "") + ")"
    )


def plan_of(prepared: Prepared, guess: float | None) -> dict[str, Any] | None:
    """Give the plan as plain data."""
    planned = prepared.planned
    if planned is None:
        return None
    return {
        "preset": planned.preset.name,
        "metric": planned.scoring,
        "configurations": planned.preset.n_configurations,
        "folds": planned.folds,
        "repeats": planned.repeats,
        "fits": planned.n_fits,
        "seconds": guess,
    }


def _plan_rows(prepared: Prepared, guess: float | None) -> list[tuple[str, Any]]:
    planned = prepared.plan
    repeats = f", repeated {planned.repeats} times" if planned.repeats > 1 else ""
    return [
        ("preset", planned.preset.description),
        ("metric", ", ".join(planned.scoring)),
        (
            "fits",
            f"at most {planned.n_fits:,} ({planned.preset.n_configurations} configurations, "
            f"{planned.folds} folds{repeats})",
        ),
        ("time", f"about {seconds(guess or 0.0)} without dropping, measured on a few fits; dropping often halves it"),
    ]
