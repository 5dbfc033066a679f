"""sober check: what is in a table, what would be run, how long it takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rich.text import Text

from ..checks import seconds_needed
from ..report.words import count, seconds
from ..runs.prepare import Prepared, prepare
from ..tables import Settings
from ..tables.facts import ColumnFacts
from .exit_code import BAD, DONE
from .screen import Columns, Screen

#: Where the screen is narrow, names and kinds stay and the rest takes a second line.
SHORT: dict[str, Any] = {"no_wrap": True, "overflow": "ellipsis", "max_width": 24}
LONG: dict[str, Any] = {"overflow": "fold", "min_width": 12, "max_width": 60}
COLUMNS: Columns = (SHORT, SHORT, LONG, {**LONG, "style": "dim"})
#: More columns than this are summed up by kind.
MOST_ROWS = 25


def check(given: dict[str, Any]) -> int:
    """Look at a table; exit code 2 where `fit` would refuse it."""
    screen = Screen(given)
    with screen.waiting("reading and checking the table"):
        prepared = prepare(Settings(**given["asked"]), must_run=False)
    planned, guess = prepared.plan, 0.0
    if planned is not None:
        with screen.waiting("measuring a few fits"):
            guess = seconds_needed(planned, prepared.data, prepared.settings)
    if screen.json:
        plan = None if planned is None else {
            "preset": planned.preset.name, "metric": planned.scoring,
            "configurations": planned.preset.n_configurations, "cv": planned.cv, "repeats": prepared.settings.repeats,
            "fits": planned.n_fits, "seconds": guess,
        }  # fmt: skip
        found = [f.to_dict() for f in prepared.findings]
        screen.result({"data": prepared.facts, "findings": found, "plan": plan})
    elif screen.quiet:  # only what is wrong
        screen.notes((f for f in prepared.findings if f.severity != "suggestion"), always=True)
    else:
        _show(screen, prepared, guess)
    return BAD if planned is None else DONE


def _show(screen: Screen, prepared: Prepared, guess: float) -> None:
    facts, planned, settings = prepared.facts, prepared.plan, prepared.settings
    size = count(facts["rows"], "row")
    if facts["rows_without_target"]:
        size += f" with a target, {facts['rows_without_target']} without"
    kinds = (f"{n} {kind.removesuffix('s') if n == 1 else kind}" for kind, n in facts["kinds"].items())
    if "events" in facts:
        target = f"survival times, {count(facts['events'], 'event')} observed"
    elif "range" in facts:
        target = f"numbers from {facts['range'][0]:g} to {facts['range'][1]:g}"
    else:
        shown = [f"{label[:30]}: {n:,}" for label, n in facts["classes"].items()]
        target = f"{len(shown)} classes ({', '.join(shown[:6])}{', ...' if len(shown) > 6 else ''})"
    low, high = facts["weights"] or (0, 0)
    cells = f"{facts['missing_cells']:,} of {facts['rows'] * facts['columns']:,} cells are missing"
    rows = {
        "file": f"{facts['file']} ({facts['format']})",
        "size": f"{size}, {count(facts['columns'], 'column')} to learn from ({', '.join(kinds)})",
        "gaps": cells if facts["missing_cells"] else "",
        "groups": f"{facts['groups']:,}; rows of one group stay together" if facts["groups"] else "",
        "weights": f"{low:g} to {high:g}; in fits and scores" if high else "",
        "target": f"{' and '.join(facts['target'])}: {target}",
    }
    screen.facts([row for row in rows.items() if row[1]], "The table")
    screen.out.print()
    show_columns(screen, facts["columns_read"], facts["columns"])
    if planned is not None:
        screen.out.print()
        folds = f"{planned.cv} folds{', one per group' * (planned.cv == prepared.data.n_groups)}"
        folds += f", repeated {settings.repeats} times" if settings.repeats > 1 else ""
        size = f"{count(planned.preset.n_configurations, 'configuration')}, {folds}, and the final model"
        about = f"training about {seconds(guess)} without dropping, measured on a few fits (dropping often halves it)"
        rows = {
            "preset": planned.preset.description, "metric": ", ".join(planned.scoring),
            "fits": f"at most {planned.n_fits:,} ({size})", "time": about,
            "": "then up to a minute or so for charts and column importance",
        }  # fmt: skip
        keys = [f["name"] for f in facts["columns_read"] if f["kind"] == "identifier"]
        if len(keys) == 1 and settings.id is None and keys[0] in prepared.data.X:
            settings = replace(settings, id=keys[0])
        screen.facts(rows.items(), "The plan")
    if prepared.findings:
        screen.out.print()
    screen.notes(prepared.findings)
    if planned is not None:
        screen.out.print()
        screen.facts([("next", f"{settings.command()} -o run")])


def show_columns(screen: Screen, facts: list[ColumnFacts], n_features: int) -> None:
    """Print the columns of a table and how they were read; `facts` may lack some of the `n_features` to learn from."""
    rows = []
    for fact in facts:
        kind = str(fact["kind"]) if fact["role"] == "feature" else f"{fact['role']}: {fact['kind']}"
        missing = f"{fact['n_missing']:,} missing" if fact["n_missing"] else ""
        rows.append((fact["name"], kind, fact["read_as"], ", ".join(filter(None, (fact["values"], missing)))))
    if len(rows) > MOST_ROWS:  # those that were read alike are one
        groups: dict[Any, list[Any]] = {}
        for row in rows:
            groups.setdefault(row[1:3], []).append(row)
        rows = []
        for alike in groups.values():
            names = ", ".join(row[0] for row in alike[:3]) + (", ..." if len(alike) > 3 else "")
            rows.append(alike[0] if len(alike) == 1 else (count(len(alike), "column"), *alike[0][1:3], names))
    shown = [i for i in range(4) if any(row[i] for row in rows)]  # mostly, nothing was special in reading
    screen.facts([[row[i] for i in shown] for row in rows], "The columns", [COLUMNS[i] for i in shown])
    more = n_features - sum(fact["role"] == "feature" for fact in facts)
    if more > 0:
        screen.out.print(Text(f"  and {count(more, 'column')} more", "dim"))
