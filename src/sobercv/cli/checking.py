"""sober check: what is in a table, what would be run, how long it takes."""

from __future__ import annotations

from typing import Any

from rich.cells import cell_len
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..checks import seconds_needed
from ..report.words import count, seconds
from ..runs.prepare import Prepared, prepare
from .arguments import Arguments
from .exit_code import BAD, DONE
from .screen import Screen, safe

WORDS = {
    "binary": "two classes",
    "multiclass": "several classes",
    "regression": "numbers",
    "survival": "survival times",
}


def check(arguments: Arguments) -> int:
    """Look at a table; exit code 2 where `fit` would refuse it."""
    screen = Screen(arguments.json, arguments.quiet)
    screen.wait("reading and checking the table")
    try:
        prepared = prepare(arguments.settings)
        screen.wait("measuring a few fits")
        planned = prepared.planned
        guess = None if planned is None else seconds_needed(planned, prepared.data, arguments.settings.jobs)
    finally:
        screen.done()
    if arguments.json:
        found = [f.to_dict() for f in prepared.findings]
        screen.result({"data": prepared.facts, "findings": found, "plan": plan_of(prepared, guess)})
    else:
        _show(screen, prepared, guess)
    return BAD if planned is None else DONE


def _show(screen: Screen, prepared: Prepared, guess: float | None) -> None:
    facts = prepared.facts
    if screen.quiet:  # only what is wrong
        screen.notes(f for f in prepared.findings if f.severity != "suggestion")
        return
    screen.facts(table_rows(facts), "The table")
    screen.out.print()
    show_columns(screen, facts["columns_read"], facts["columns"])
    if prepared.planned is not None:
        screen.out.print()
        screen.facts(_plan_rows(prepared, guess), "The plan")
    if prepared.findings:
        screen.out.print()
    screen.notes(prepared.findings)
    if prepared.planned is not None:
        screen.out.print()
        settings, keys = prepared.settings, [f["name"] for f in facts["columns_read"] if f["kind"] == "identifier"]
        if len(keys) == 1 and settings.id is None and keys[0] in prepared.data.X:
            settings = settings.with_(id=keys[0])
        screen.facts([("next", f"{settings.command()} -o run")])


def table_rows(facts: dict[str, Any]) -> list[tuple[str, Any]]:
    """Say what is in a table."""
    rows = [("file", f"{facts['file']} ({facts['format']})")]
    size = count(facts["rows"], "row")
    if facts["rows_without_target"]:
        size += f" with a target, {facts['rows_without_target']} without"
    size += f", {count(facts['columns'], 'column')} to learn from"
    kinds = (f"{n} {kind.removesuffix('s') if n == 1 else kind}" for kind, n in facts["kinds"].items())
    rows.append(("size", f"{size} ({', '.join(kinds)})"))
    if facts["missing_cells"]:
        cells = facts["rows"] * facts["columns"]
        rows.append(("gaps", f"{facts['missing_cells']:,} of {cells:,} cells are missing"))
    if facts["groups"]:
        rows.append(("groups", f"{facts['groups']:,}; rows of one group stay together"))
    if facts["weights"]:
        rows.append(("weights", f"{facts['weights'][0]:g} to {facts['weights'][1]:g}; in fits and scores"))
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
        "cv": planned.cv,
        "repeats": planned.repeats,
        "fits": planned.n_fits,
        "seconds": guess,
    }


def _plan_rows(prepared: Prepared, guess: float | None) -> list[tuple[str, Any]]:
    planned = prepared.plan
    repeats = f", repeated {planned.repeats} times" if planned.repeats > 1 else ""
    folds = f"{planned.cv} folds{', one per group' if planned.by_group else ''}"
    size = f"{count(planned.preset.n_configurations, 'configuration')}, {folds}{repeats}, and the final model"
    return [
        ("preset", planned.preset.description),
        ("metric", ", ".join(planned.scoring)),
        ("fits", f"at most {planned.n_fits:,} ({size})"),
        ("time", f"about {seconds(guess or 0.0)} without dropping, measured on a few fits; dropping often halves it"),
    ]


#: More columns than this are summed up by kind.
MOST_ROWS = 25


def show_columns(screen: Screen, facts: list[dict[str, Any]], n_features: int) -> None:
    """Print the columns of a table and how they were read; `facts` may lack some of the `n_features` to learn from."""
    rows = _one_by_one(facts) if len(facts) <= MOST_ROWS else _by_kind(facts)
    grid = Table.grid(padding=(0, 2))
    shown = [i for i in range(4) if any(row[i] for row in rows)]  # mostly, nothing was special in reading
    for i in shown:  # where the screen is narrow, names and kinds stay and the rest takes a second line
        longest = max(min(24, cell_len(safe(row[i]).plain)) for row in rows)
        if i < 2:
            grid.add_column(no_wrap=True, overflow="ellipsis", min_width=longest, max_width=24)
        else:
            grid.add_column(overflow="fold", min_width=min(longest, 12), max_width=60)
    for row in rows:
        grid.add_row(*(Text(safe(row[i]).plain, "dim" if i == 3 else "") for i in shown))
    screen.out.print(Text("The columns", "bold"))
    screen.out.print(Padding(grid, (0, 0, 0, 2), expand=False))
    more = n_features - sum(fact["role"] == "feature" for fact in facts)
    if more > 0:
        screen.out.print(Text(f"  and {count(more, 'column')} more", "dim"))


def _one_by_one(facts: list[dict[str, Any]]) -> list[tuple[str, str, str, str]]:
    return [(fact["name"], _kind(fact), fact["read_as"], _values(fact)) for fact in facts]


def _by_kind(facts: list[dict[str, Any]]) -> list[tuple[str, str, str, str]]:
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for fact in facts:
        groups.setdefault((_kind(fact), fact["read_as"]), []).append(fact)
    rows = []
    for (kind, read_as), members in groups.items():
        if len(members) == 1:
            rows += _one_by_one(members)
        else:
            names = ", ".join(fact["name"] for fact in members[:3]) + (", ..." if len(members) > 3 else "")
            rows.append((count(len(members), "column"), kind, read_as, names))
    return rows


def _kind(fact: dict[str, Any]) -> str:
    return str(fact["kind"]) if fact["role"] == "feature" else f"{fact['role']}: {fact['kind']}"


def _values(fact: dict[str, Any]) -> str:
    missing = f"{fact['n_missing']:,} missing" if fact["n_missing"] else ""
    return ", ".join(part for part in (fact["values"], missing) if part)
