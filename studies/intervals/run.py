"""Run the study: real tables and simulated ones, each judged once and kept; resumable, the same whatever the order.

Takes a folder of data and a work folder, gives all rows of `measure`; writes nothing but pieces in the work folder.
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

from ..pieces import telling, whole
from . import measure, simulated, tables

HERE = Path(__file__).parent
PIECE = 250  # simulated tables that are judged and kept together
REPETITIONS = 250
QUICK_REPETITIONS, QUICK_SETTINGS = 20, 12
Rows = list[dict[str, Any]]


def run_real(
    folders: Sequence[Path], work: Path, *, quick: bool, make: bool = True, say: Callable[[str], None]
) -> Rows:
    """Make and judge the tables that are missing.

    Parameters
    ----------
    folders : sequence of Path
        Of NAME.npz files.
    work : Path
        Keeps tables and what was measured on them.
    quick : bool
        One sub-sample of each set and size.
    make : bool
        False judges the tables that are there.
    """
    todo = tables.places(samples=0.05 if quick else 1.0)
    if make:
        todo = tables.run(folders, work / "tables", todo, say)
    found = [place for place in todo if (work / "tables" / place.file).exists()]
    rows: Rows = []
    for place in telling(found, "tables judged", say):
        judged = _kept(work / "judged" / f"{Path(place.file).stem}.json", lambda place=place: _judge(work, place))
        about = {"set": place.name, "n": place.n, "sample": place.sample, "most repeats": place.repeats}
        rows += [{**about, **row} for row in judged]
    return rows


def _judge(work: Path, place: tables.Place) -> Rows:
    with np.load(work / "tables" / place.file) as file:
        table = dict(file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SoberWarning)
        return measure.real(table, crc32(place.file.encode()))


def run_simulated(work: Path, *, quick: bool, repetitions: int = REPETITIONS, say: Callable[[str], None]) -> Rows:
    """Simulate and judge what is missing."""
    chosen = list(enumerate(simulated.settings()))
    if quick:
        chosen, repetitions = chosen[:: max(1, len(chosen) // QUICK_SETTINGS)], QUICK_REPETITIONS
    size = min(PIECE, repetitions)
    todo = [(first, i, setting) for first in range(0, repetitions, size) for i, setting in chosen]
    rows: Rows = []
    for first, i, setting in telling(todo, "pieces simulated", say):
        path = work / "simulated" / f"{setting.name.replace(' ', '_')}-{first:05d}-{size}.json"
        made = _kept(path, lambda i=i, first=first, s=setting: _piece(s, 1_000_003 * i + first, size))
        rows += [{"setting": setting.name, "n": setting.n, "metric": setting.metric, **row} for row in made]
    return rows


def _piece(setting: simulated.Setting, seed: int, size: int) -> Rows:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SoberWarning)
        return [measure.simulate(setting, seed + k) for k in range(size)]


def _kept(path: Path, make: Callable[[], Rows]) -> Rows:
    """Read what is there; make and keep what is not."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole(path) as part:
            part.write_text(json.dumps(make()))
    return json.loads(path.read_text())  # type: ignore[no-any-return]
