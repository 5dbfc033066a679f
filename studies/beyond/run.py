"""Run the study: make and judge the tables that are missing, each kept in a work folder.

Takes folders of data and a work folder, which may be that of the study of intervals: its tables are used as they are.
Gives one row for each table and metric; a run that was ended goes on where it stopped.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from sobercv.errors import SoberWarning

from ..intervals import tables
from ..pieces import telling, whole
from ..results_file import write_results
from .measure import judge

HERE = Path(__file__).parent
RESULTS = HERE / "results.csv"
NAMES = (*tables.CLASSES, *tables.REGRESSION, *tables.SURVIVAL)
QUICK = 0.05  # the share of the sub-data sets


def run(
    folders: Sequence[Path], work: Path, *, quick: bool = False, make: bool = True, say: Callable[[str], None] = print
) -> list[dict[str, Any]]:
    """Judge all tables; those that are missing are made first, unless `make` is False."""
    todo = tables.places(NAMES, QUICK if quick else 1.0)
    if make:
        todo = tables.run(folders, work / "tables", todo, say)
    found = [place for place in todo if (work / "tables" / place.file).exists()]
    (work / "beyond").mkdir(parents=True, exist_ok=True)
    rows = []
    for place in telling(found, "tables judged", say):
        path = work / "beyond" / f"{Path(place.file).stem}.json"
        if not path.exists():
            with whole(path) as part:
                part.write_text(json.dumps(_judged(work / "tables" / place.file)))
        about = {"data": place.name, "n": place.n, "sample": place.sample}
        rows += [{**about, **row} for row in json.loads(path.read_text())]
    return sorted(rows, key=lambda row: (row["kind"], row["metric"], row["data"], row["n"], row["sample"]))


def _judged(path: Path) -> list[dict[str, Any]]:
    with np.load(path) as file:
        table = dict(file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SoberWarning)  # few samples of a class are the point here
        return judge(table, crc32(path.name.encode()))


def write(rows: list[dict[str, Any]], path: Path) -> None:
    """Write the rows, and what they were made with; seeds are made of the names of the tables."""
    about = {"tables": len({(row["data"], row["n"], row["sample"]) for row in rows})}
    write_results(rows, path, about, lambda value: f"{value:.5g}" if isinstance(value, float) else value)
