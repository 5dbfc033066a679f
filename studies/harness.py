"""What every study shares: its design in pieces, one runner that resumes, and the files of its results.

A study is a module with `PARTS` (what is measured) and `PAGES` (what the docs show of it). A part names its pieces, and
says what one piece holds; a piece is one file of a work folder, complete or absent, so that a run that was stopped
continues, and several processes may share a folder. Results are CSV files in `studies/results`, each with a JSON file
that holds what it was made with.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import scipy
import sklearn

import sobercv

RESULTS = Path(__file__).parent / "results"
Array, Rng = np.ndarray, np.random.Generator
Row = dict[str, Any]
Key = tuple[Any, ...]
Rows = pd.DataFrame


class Absent(Exception):
    """A data set is not in the folders."""


@dataclass(frozen=True)
class Options:
    """What a user says: folders of NAME.npz files, where pieces are kept, processes, and how many pieces."""

    data: Sequence[Path] = ()
    work: Path = Path("study-work")
    jobs: int = 1
    first: int | None = None
    output: Path = RESULTS

    def find(self, *names: str) -> Path:
        """The file of a data set that has one of these names."""
        for file in (folder / f"{name}.npz" for folder in self.data for name in names):
            if file.exists():
                return file
        raise Absent(names[0])

    def kept(self, name: str, make: Callable[[], Mapping[str, Array]]) -> dict[str, Array]:
        """Arrays of the work folder; made first where they are missing."""
        path = self.work / "tables" / f"{name}.npz"
        if not path.exists():
            np.savez_compressed(content := io.BytesIO(), **make())
            write(path, content.getvalue())
        with np.load(path, allow_pickle=False) as file:
            return dict(file)


def write(path: Path, content: bytes) -> None:
    """Write a file, all or nothing: it gets its name when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    part.write_bytes(content)
    part.rename(path)


@dataclass(frozen=True)
class Part:
    """What is measured and kept together."""

    keys: str  # names of what a piece is found by, which become columns of its rows
    design: Callable[[], Iterable[Key]]  # the keys of all pieces, those first that an early look should see
    measure: Callable[..., list[Row]]  # ``measure(options, *key)``: rows in terms of JSON
    results: Callable[[Rows], Rows | dict[str, Rows]] = lambda rows: rows  # of the results file; or of several by name
    digits: str = "%.6g"  # format of numbers that are not whole
    about: Mapping[str, Any] = field(default_factory=dict)  # what the results depend on, beside versions
    samples: int = 0  # where a place is measured so often, the last key is the number of the sample
    at_once: int = 1  # samples of a piece

    def pieces(self) -> list[list[Key]]:
        """What is measured together; the samples of all places come round by round."""
        if not self.samples:
            return [[key] for key in self.design()]
        rounds = [range(first, first + self.at_once) for first in range(0, self.samples, self.at_once)]
        return [[(*key, sample) for sample in some] for some in rounds for key in self.design()]

    def made(self, options: Options, piece: Iterable[Key]) -> list[Row]:
        """The rows of a piece, with their keys."""
        named = [(key, dict(zip(self.keys.split(), key, strict=True))) for key in piece]
        return [names | row for key, names in named for row in self.measure(options, *key)]


def run(study: str, name: str, part: Part, options: Options) -> dict[str, Rows]:
    """Make the pieces that are missing, and write the results of all; the rows by the name of their file.

    Results depend neither on the number of processes nor on interruptions.
    """
    pieces = part.pieces()[: options.first]
    paths = [options.work / study / name / file_name(piece[0]) for piece in pieces]
    missing = [(path, piece) for path, piece in zip(paths, pieces, strict=True) if not path.exists()]
    print(f"{study}, {name}: {len(pieces)} pieces; {len(missing)} are missing")
    calls = (joblib.delayed(_make)(path, part, options, piece) for path, piece in missing)
    absent = {lacking for lacking in joblib.Parallel(options.jobs, batch_size=1, verbose=1)(calls) if lacking}
    if absent:
        print(f"left out, as they are not in the folders of --data: {', '.join(sorted(absent))}")
    rows = [row for path in paths if path.exists() for row in json.loads(path.read_text())]
    if not rows:
        return {}
    found = part.results(pd.DataFrame(rows))
    files = found if isinstance(found, dict) else {name: found}
    output = options.work if absent else options.output  # an incomplete design must not replace committed results
    for file, some in files.items():
        path = output / f"{results_name(study, file)}.csv"
        write_results(some, path, part, len(pieces))
        print(f"{len(some)} rows in {path}")
    return files


def _make(path: Path, part: Part, options: Options, piece: Iterable[Key]) -> str | None:
    """Make one piece, unless another process has made it meanwhile; return the data set that it lacks."""
    if not path.exists():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # few samples are the point of most studies
                rows = part.made(options, piece)
        except Absent as error:
            return str(error)
        write(path, json.dumps(rows, default=lambda value: value.tolist()).encode())  # numpy's numbers and arrays
    return None


# ---- what becomes of rows ----
def grouped(rows: Rows, by: str, summarise: Callable[[Rows], Row | list[Row]], *, sort: bool = True) -> Rows:
    """One row, or several, for each value of some columns."""
    names, made = by.split(), []
    for key, some in rows.groupby(names, sort=sort):
        told, place = summarise(some), dict(zip(names, key, strict=True))
        made += [place | row | place for row in ([told] if isinstance(told, dict) else told)]
    return pd.DataFrame(made)


def ordered(rows: Rows) -> Rows:
    """By set, size and sample."""
    return rows.sort_values(list(rows.columns[:3]), kind="stable")


def bias(name: str, errors: pd.Series) -> Row:
    """Mean, standard error and root mean square of the errors of an estimate."""
    off = errors.to_numpy()
    error = off.std(ddof=1) / np.sqrt(len(off))
    return {f"bias {name}": off.mean(), f"se {name}": error, f"rmse {name}": np.sqrt((off**2).mean())}


def covers(rows: Rows, low: str = "low", high: str = "high", truth: str = "truth") -> float:
    """Share of intervals that hold the truth."""
    return float(rows[truth].between(rows[low], rows[high]).mean())


# ---- files ----
def results_name(study: str, part: str) -> str:
    """The main part of a study has its name."""
    return study if part == "main" else f"{study}-{part}"


def file_name(key: Key) -> str:
    """Short, and no two keys have the same."""
    return re.sub(r"[^\w.=+-]+", "_", "-".join(map(str, key))) + ".json"


def write_results(rows: Rows, path: Path, part: Part, pieces: int) -> None:
    """Write results as CSV, and beside them what they were made with."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows.to_csv(path, index=False, float_format=part.digits)
    modules = {"sober": sobercv, "numpy": np, "scipy": scipy, "scikit-learn": sklearn}
    versions = {name: module.__version__ for name, module in modules.items()} | {"python": sys.version.split()[0]}
    path.with_suffix(".json").write_text(json.dumps({**part.about, "pieces": pieces, **versions}, indent=1) + "\n")


def read_results(name: str, folder: Path = RESULTS) -> Rows:
    """Read results back; `name` is that of a study, or of a study and a part."""
    return pd.read_csv(folder / f"{name}.csv", keep_default_na=False, na_values=["", "nan"])
