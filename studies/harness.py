"""What every study shares: its options, its pieces in a work folder, and the file of its results.

A study is a set of pieces. Each piece is one file in a work folder, complete or absent: a study that was stopped
continues where it was, and several processes may work in one folder. Results are one CSV with a JSON file beside it.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import scipy
import sklearn

import sobercv

Rows = list[dict[str, Any]]
Say = Callable[[str], None]

OPTIONS: dict[str, dict[str, Any]] = {
    "quick": {"action": "store_true", "help": "a small run; no results are written"},
    "data": {"type": Path, "action": "extend", "nargs": "+", "help": "folders of NAME.npz files"},
    "work": {"type": Path, "help": "where pieces are kept between runs"},
    "output": {"type": Path, "help": "where the results are written"},
    "judge_only": {"action": "store_true", "help": "make nothing, judge what is in the work folder"},
    "repetitions": {"type": int, "help": "simulated tables per setting"},
    "samples": {"type": int, "help": "sub-samples per data set and size"},
    "seed": {"type": int},
    "jobs": {"type": int, "help": "processes; -1: one per core"},
}


def read_options(
    doc: str, arguments: Sequence[str] | None, more: Mapping[str, Mapping[str, Any]] = {}, **defaults: Any
) -> argparse.Namespace:
    """Read the options of a study.

    Parameters
    ----------
    doc : str
        What the study does; begins with its command in backticks.
    arguments : sequence of str or None
    more : mapping
        Options of this study alone, as in `OPTIONS`.
    **defaults
        Names of `OPTIONS` that the study has, with their defaults. ``data=None`` asks for a folder.
    """
    parser = argparse.ArgumentParser(prog=doc.split("`")[1].split(" [")[0].split(" --")[0], description=doc)
    for name, default in defaults.items():
        required = {"required": True} if name == "data" and default is None else {"default": default}
        parser.add_argument(f"--{name.replace('_', '-')}", **OPTIONS[name], **required)
    for name, kind in more.items():
        parser.add_argument(f"--{name.replace('_', '-')}", **kind)
    return parser.parse_args(arguments)


# ---- pieces ----
def make_missing(
    pieces: Mapping[Path, Callable[[], Any]], what: str = "pieces", n_jobs: int = 1, say: Say = print
) -> None:
    """Make the files that are missing.

    Parameters
    ----------
    pieces : mapping of Path to callable
        What each file holds: arrays by name (NAME.npz), or anything that JSON can hold (NAME.json). In the order in
        which they are made; picklable where there are several jobs.
    what : str
        What the pieces are called in messages.
    n_jobs : int
    say : callable
        Receives messages about progress.
    """
    missing = [path for path in pieces if not path.exists()]
    say(f"{len(pieces)} {what}; {len(missing)} are missing")
    calls = (joblib.delayed(make_piece)(path, pieces[path]) for path in missing)
    made = joblib.Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator_unordered")(calls)
    start = told = time.perf_counter()
    for done, _ in enumerate(made, 1):
        if time.perf_counter() - told > 60:
            told = time.perf_counter()
            say(f"{done} of {len(missing)} {what} after {(told - start) / 60:.1f} min")


def make_piece(path: Path, make: Callable[[], Any]) -> None:
    """Make one file, unless another process has made it meanwhile."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole(path) as part:
        if path.suffix == ".npz":
            np.savez_compressed(part, **make())
        else:
            part.write_text(json.dumps(make()))


def read_piece(path: Path) -> Any:
    """Read what a piece holds."""
    if path.suffix != ".npz":
        return json.loads(path.read_text())
    with np.load(path, allow_pickle=False) as file:
        return dict(file)


def read_pieces(
    pieces: Mapping[Path, Callable[[], Any]], what: str = "pieces", n_jobs: int = 1, say: Say = print
) -> list[Any]:
    """Make the files that are missing, then read all of them, in order."""
    make_missing(pieces, what, n_jobs, say)
    return [read_piece(path) for path in pieces]


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yield the path of a file to write, with the same suffix; it gets its name when it is complete."""
    part = path.with_name(f".{path.stem}.{os.getpid()}.tmp{path.suffix}")
    yield part
    part.rename(path)


# ---- results ----
def write_results(rows: Sequence[Mapping[str, Any]], path: Path, about: Mapping[str, Any], digits: str = ".6g") -> None:
    """Write results as CSV, and beside them what they are about, with the versions that they depend on.

    Whole numbers are written without a point, other numbers with so many digits.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({name: _written(value, digits) for name, value in row.items()} for row in rows)
    versions = {
        "sober": sobercv.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "python": sys.version.split()[0],
    }
    path.with_suffix(".json").write_text(json.dumps({**about, **versions}, indent=1) + "\n")


def _written(value: Any, digits: str) -> Any:
    return f"{value:{digits}}" if isinstance(value, float) else value


def read_results(path: Path) -> Rows:
    """Read results back: a column holds numbers, truths, or text."""
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    columns = {name: _read([line[name] for line in lines]) for name in (lines[0] if lines else ())}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _read(cells: Iterable[str]) -> Sequence[Any]:
    cells = list(cells)
    if set(cells) <= {"True", "False"}:
        return [cell == "True" for cell in cells]
    try:
        return [float(cell) for cell in cells]
    except ValueError:
        return cells


def read_about(path: Path) -> dict[str, Any]:
    """What the results of a file were made with."""
    return json.loads(path.with_suffix(".json").read_text())  # type: ignore[no-any-return]
