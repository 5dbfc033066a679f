"""Judge the tables of several classes, numbers and survival times; the tables are those of the study of intervals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..harness import Rows, Say
from ..intervals import tables
from ..intervals.run import QUICK, judge_tables
from .measure import judge

HERE = Path(__file__).parent
RESULTS = HERE / "results.csv"
NAMES = (*tables.CLASSES, *tables.REGRESSION, *tables.SURVIVAL)


def run(folders: Sequence[Path], work: Path, *, quick: bool = False, make: bool = True, say: Say = print) -> Rows:
    """Judge all tables, one row per table and metric; missing tables are made first, unless `make` is False."""
    todo = tables.places(NAMES, QUICK if quick else 1.0)
    found = judge_tables(folders, work, todo, "beyond", judge, make=make, say=say)
    rows = [{"data": p.name, "n": p.n, "sample": p.sample, **row} for p, judged in found for row in judged]
    return sorted(rows, key=lambda row: (row["kind"], row["metric"], row["data"], row["n"], row["sample"]))
