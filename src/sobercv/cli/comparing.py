"""sober compare: the protocols side by side."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

from ..comparison import PROTOCOLS
from ..comparison import compare as compared
from ..errors import SoberError
from ..report.words import count
from ..runs import prepare
from ..runs.noted import noted
from .arguments import Arguments
from .exit_code import DONE
from .screen import Screen, safe

DEFAULT = "naive,tt,ncv,bbc,bced"


def compare(arguments: Arguments, protocols: str | None) -> int:
    """Run the protocols on one table and print what each claims."""
    screen = Screen(arguments.json, arguments.quiet)
    wanted = [p.strip().lower() for p in (DEFAULT if protocols is None else protocols).split(",") if p.strip()]
    unknown = next((p for p in wanted if p not in PROTOCOLS), None)
    if unknown is not None or not wanted:
        raise SoberError("E108", f"--protocols takes any of {', '.join(PROTOCOLS)}; got {unknown!r}.")
    prepared = prepare(arguments.settings)
    planned, data, settings = prepared.plan, prepared.data, prepared.settings
    size = f"{count(planned.preset.n_configurations, 'configuration')}, {planned.cv} folds"
    screen.say(f"{size}; nested CV needs the most models.", "dim")
    screen.wait(f"comparing {', '.join(wanted)}")
    try:
        with noted() as notes:
            found = compared(
                planned.preset.estimator, planned.preset.configurations, data.X, data.y, protocols=wanted,
                scoring=planned.scoring[0], pos_label=planned.positive, cv=planned.cv, aggregate=settings.aggregate,
                stratify=settings.stratify, within_folds=settings.within_folds, groups=data.groups,
                interval=settings.interval,
                n_jobs=settings.jobs, random_state=planned.seed,
            )  # fmt: skip
    finally:
        screen.done()
    if arguments.json:
        screen.result({**found.to_dict(), "warnings": [note.to_dict() for note in notes]})
        return DONE
    if screen.talks:
        screen.notes(notes)
    screen.out.print(_table(found))
    return DONE


def _table(found: Any) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    heads = (
        "protocol",
        found.title,
        f"{100 * found.confidence_level:g} % interval",
        "models",
        "seconds",
        "",
    )
    for head in heads:
        right = head in (found.title, "models", "seconds")
        table.add_column(safe(head), justify="right" if right else "left", no_wrap=True, overflow="ellipsis")
    for row in found.rows:
        style = "bold green" if row.protocol in ("bbc", "bced") else ""
        interval = "" if row.interval is None else f"{row.interval[0]:.3f} to {row.interval[1]:.3f}"
        cells = (
            row.protocol,
            f"{row.score:.3f}",
            interval,
            f"{row.models:,}",
            f"{row.seconds:.1f}",
            PROTOCOLS[row.protocol],
        )
        table.add_row(*(Text(cell, style if i < 3 else "dim" if i == 5 else "") for i, cell in enumerate(cells)))
    return table
