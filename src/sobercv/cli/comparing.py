"""sober compare: the protocols side by side."""

from __future__ import annotations

import warnings
from typing import Any

from rich.table import Table
from rich.text import Text

from ..comparison import PROTOCOLS
from ..comparison import compare as compared
from ..errors import SoberError
from ..runs.train import prepare
from .ending import DONE
from .request import Request
from .screen import Screen


def compare(request: Request, protocols: str) -> int:
    """Run the protocols on one table and print what each claims."""
    screen = Screen(request.json, request.quiet)
    wanted = [p.strip().lower() for p in protocols.split(",") if p.strip()]
    unknown = next((p for p in wanted if p not in PROTOCOLS), None)
    if unknown is not None or not wanted:
        raise SoberError("E108", f"--protocols takes any of {', '.join(PROTOCOLS)}; got {unknown!r}.")
    prepared = prepare(request.settings)
    planned, data = prepared.plan, prepared.data
    screen.say(
        f"{planned.preset.n_configurations} configurations, {planned.folds} folds; nested CV needs the most models.",
        "dim",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = compared(
            planned.preset.estimator, planned.preset.configurations, data.X, data.y, protocols=wanted,
            scoring=planned.scoring[0], cv=planned.folds, groups=data.groups, n_jobs=request.settings.jobs,
            random_state=planned.seed,
        )  # fmt: skip
    if request.json:
        screen.result(found.to_dict())
        return DONE
    screen.out.print(_table(found))
    return DONE


def _table(found: Any) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    heads = ("protocol", found.metric, f"{100 * found.confidence_level:g} % interval", "models", "seconds", "")
    for head in heads:
        right = head in (found.metric, "models", "seconds")
        table.add_column(head, justify="right" if right else "left", no_wrap=True, overflow="ellipsis")
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
