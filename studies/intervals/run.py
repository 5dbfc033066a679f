"""Run the study: real tables and simulated ones, each judged once and kept; the same rows whatever the order."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

from sobercv.errors import SoberWarning

from ..harness import Rows, Say, read_piece, read_pieces
from . import measure, simulated, tables

HERE = Path(__file__).parent
PIECE = 250  # simulated tables that are judged and kept together
REPETITIONS = 250
QUICK_REPETITIONS, QUICK_SETTINGS = 20, 12
QUICK = 0.05  # the share of the sub-samples of real sets


def run_real(folders: Sequence[Path], work: Path, *, quick: bool, make: bool = True, say: Say) -> Rows:
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
    todo = tables.places(samples=QUICK if quick else 1.0)
    found = judge_tables(folders, work, todo, "judged", measure.real, make=make, say=say)
    return [
        {"set": place.name, "n": place.n, "sample": place.sample, "most repeats": place.repeats, **row}
        for place, rows in found
        for row in rows
    ]


def judge_tables(
    folders: Sequence[Path],
    work: Path,
    todo: Sequence[tables.Place],
    folder: str,
    judge: Callable[[dict[str, Any], int], Rows],
    *,
    make: bool,
    say: Say,
) -> list[tuple[tables.Place, Rows]]:
    """Judge tables, each with a seed made of its name; those that are missing are made first, unless `make` is False.

    What is found is kept in a folder of the work folder.
    """
    if make:
        todo = tables.run(folders, work / "tables", todo, say)
    found = [place for place in todo if (work / "tables" / place.file).exists()]
    pieces = {
        work / folder / f"{Path(place.file).stem}.json": partial(_judge, work / "tables" / place.file, judge)
        for place in found
    }
    return list(zip(found, read_pieces(pieces, "tables to judge", say=say), strict=True))


def _judge(path: Path, judge: Callable[[dict[str, Any], int], Rows]) -> Rows:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SoberWarning)  # few samples of a class are the point here
        return judge(read_piece(path), crc32(path.name.encode()))


def run_simulated(work: Path, *, quick: bool, repetitions: int = REPETITIONS, say: Say) -> Rows:
    """Simulate and judge what is missing."""
    chosen = list(enumerate(simulated.settings()))
    if quick:
        chosen, repetitions = chosen[:: max(1, len(chosen) // QUICK_SETTINGS)], QUICK_REPETITIONS
    size = min(PIECE, repetitions)
    todo = [(first, i, setting) for first in range(0, repetitions, size) for i, setting in chosen]
    pieces = {
        work / "simulated" / f"{setting.name.replace(' ', '_')}-{first:05d}-{size}.json": partial(
            _piece, setting, 1_000_003 * i + first, size
        )
        for first, i, setting in todo
    }
    return [
        {"setting": setting.name, "n": setting.n, "metric": setting.metric, **row}
        for (_, _, setting), made in zip(todo, read_pieces(pieces, "simulated pieces", say=say), strict=True)
        for row in made
    ]


def _piece(setting: simulated.Setting, seed: int, size: int) -> Rows:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SoberWarning)
        return [measure.simulate(setting, seed + k) for k in range(size)]
