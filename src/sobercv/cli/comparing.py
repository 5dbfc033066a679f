"""sober compare: the protocols side by side."""

from __future__ import annotations

from typing import Any, Literal

from rich.table import Table
from rich.text import Text

from ..errors import SoberError
from ..report.words import between, count, digits_for, metric_label, number
from ..rivals.compare import PROTOCOLS
from ..rivals.compare import compare as compared
from ..runs.prepare import noted, prepare
from .arguments import Arguments
from .exit_code import DONE
from .screen import Screen

DEFAULT = "naive,tt,ncv,bbc,bced"


def compare(arguments: Arguments, protocols: str | None) -> int:
    """Run the protocols on one table and print what each claims."""
    screen = Screen(arguments.json, arguments.quiet)
    wanted = [p.strip().lower() for p in (DEFAULT if protocols is None else protocols).split(",") if p.strip()]
    unknown = next((p for p in wanted if p not in PROTOCOLS), None)
    if unknown is not None or not wanted:
        raise SoberError("E122", f"--protocols takes any of {', '.join(PROTOCOLS)}; got {unknown!r}.")
    if len(arguments.settings.metric) > 1:
        raise SoberError(
            "E114", f"Protocols are compared by one metric; got {', '.join(arguments.settings.metric)}. Name one."
        )
    prepared = prepare(arguments.settings)
    planned, data, settings = prepared.plan, prepared.data, prepared.settings
    size = f"{count(planned.preset.n_configurations, 'configuration')}, {planned.cv} folds"
    screen.say(f"{size}{'; nested CV needs the most models' if 'ncv' in wanted else ''}.", "dim")
    screen.wait(f"comparing {', '.join(wanted)}")
    try:
        with noted() as notes:
            found = compared(
                planned.preset.estimator, planned.preset.configurations, data.X, data.y, protocols=wanted,
                scoring=planned.scoring[0], pos_label=planned.positive, cv=planned.splitter,
                aggregate=settings.aggregate, stratify=settings.stratify, within_folds=settings.within_folds,
                groups=data.groups, sample_weight=data.weight, interval=settings.interval, n_jobs=settings.jobs,
                random_state=planned.seed,
            )  # fmt: skip
    finally:
        screen.done()
    if arguments.json:
        screen.result({**found.to_dict(), "warnings": [note.to_dict() for note in notes]})
        return DONE
    if screen.talks:
        screen.notes(notes)
    screen.out.print(Text(metric_label(found.metric, found.positive), "bold"))
    screen.out.print(_table(found))
    return DONE


def _table(found: Any) -> Table:
    """One row a protocol; where the screen is narrow, what a protocol is called in full is wrapped."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    heads = ("protocol", "score", f"{100 * found.confidence_level:g} % interval", "models", "seconds", "")
    rows = []
    for row in found.rows:
        digits = digits_for([row.score, *(row.interval or ())])
        interval = "" if row.interval is None else between(row.interval, digits)
        numbers = (number(row.score, digits), interval, f"{row.models:,}", f"{row.seconds:.1f}")
        rows.append((row.protocol, *numbers, PROTOCOLS[row.protocol]))
    for i, head in enumerate(heads):
        width = None if not head else max(len(head), *(len(row[i]) for row in rows))
        side: Literal["left", "right"] = "right" if i in (1, 3, 4) else "left"
        table.add_column(head, justify=side, no_wrap=bool(head), min_width=width)
    for row in rows:
        style = "bold green" if row[0] in ("bbc", "bced") else ""
        table.add_row(*(Text(cell, style if i < 3 else "dim" if i == 5 else "") for i, cell in enumerate(row)))
    return table
