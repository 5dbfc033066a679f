"""sober compare: the protocols side by side."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from ..errors import SoberError
from ..report.words import between, count, digits_for, metric_label, number
from ..rivals.compare import PROTOCOLS
from ..rivals.compare import compare as compared
from ..runs.prepare import judging, noted, prepare
from ..tables import Settings
from .screen import SIGN, Columns, Screen

#: Where the screen is narrow, what a protocol is called in full is wrapped.
LEFT, RIGHT = {"no_wrap": True}, {"no_wrap": True, "justify": "right"}
COLUMNS: Columns = (LEFT, RIGHT, LEFT, RIGHT, RIGHT, {})
DEFAULT = "naive,tt,ncv,bbc,bced"


def compare(given: dict[str, Any]) -> None:
    """Run the protocols on one table and print what each claims."""
    screen, settings = Screen(given), Settings(**given["asked"])
    wanted = [p.strip().lower() for p in (given["protocols"] or DEFAULT).split(",") if p.strip()]
    if not wanted or not {*wanted} <= PROTOCOLS.keys():
        raise SoberError("E122", f"--protocols takes any of {', '.join(PROTOCOLS)}; got {given['protocols']!r}.")
    if len(settings.metric) > 1:
        raise SoberError("E114", f"Protocols are compared by one metric; got {', '.join(settings.metric)}. Name one.")
    prepared = prepare(settings)
    planned, data, settings = prepared.plan, prepared.data, prepared.settings
    size = f"{count(planned.preset.n_configurations, 'configuration')}, {planned.cv} folds"
    screen.say(f"{size}{'; nested CV needs the most models' if 'ncv' in wanted else ''}.", "dim")
    with screen.waiting(f"comparing {', '.join(wanted)}"), noted() as notes:
        found = compared(
            planned.preset.estimator, planned.preset.configurations, data.X, data.y, protocols=wanted,
            scoring=planned.scoring[0], pos_label=planned.positive, cv=planned.splitter, groups=data.groups,
            sample_weight=data.weight, n_jobs=settings.jobs, **judging(settings),
        )  # fmt: skip
    if screen.json:
        screen.result({**found.to_dict(), "warnings": [note.to_dict() for note in notes]})
        return
    screen.notes(notes)
    level = f"{100 * found.confidence_level:g} % interval"
    rows = [[Text(head, "dim") for head in ("protocol", "score", level, "models", "seconds", "")]]
    for row in found.rows:
        digits = digits_for([row.score, *(row.interval or ())])
        interval = "" if row.interval is None else between(row.interval, digits)
        cells = (row.protocol, number(row.score, digits), interval, f"{row.models:,}", f"{row.seconds:.1f}")
        style = "bold green" if row.protocol in ("bbc", "bced") else ""
        shown = [Text(cell, style if i < 3 else "") for i, cell in enumerate(cells)]
        rows.append([*shown, Text(PROTOCOLS[row.protocol], "dim")])
    screen.facts(rows, metric_label(found.metric, found.positive), COLUMNS)
    if found.metric.startswith("neg_"):
        screen.say(SIGN, "dim")
