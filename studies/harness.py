"""What every study shares: its design in pieces, one runner that resumes, and the files of its results.

A study is a module with `PARTS` (what is measured) and `PAGES` (what the docs show of it). A part names its pieces, and
says what one piece holds; a piece is one file of a work folder, complete or absent, so that a run that was stopped
continues, and several processes may share a folder. Results are CSV files in `studies/results`, each with a JSON file
that holds what it was made with.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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
Row = dict[str, Any]
Key = tuple[Any, ...]


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
        files = [folder / f"{name}.npz" for folder in self.data for name in names]
        found = next((file for file in files if file.exists()), None)
        if found is None:
            raise Absent(names[0])
        return found

    def kept(self, name: str, make: Callable[[], Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
        """Arrays of the work folder; made first where they are missing."""
        path = self.work / "tables" / f"{name}.npz"
        if not path.exists():
            arrays = make()
            with whole(path) as part:
                np.savez_compressed(part, **arrays)
        with np.load(path, allow_pickle=False) as file:
            return dict(file)


def joined(found: Mapping[Key, list[Row]]) -> list[Row]:
    """The rows of all pieces."""
    return [row for rows in found.values() for row in rows]


def ordered(found: Mapping[Key, list[Row]]) -> list[Row]:
    """The rows of all pieces, in the order of their keys."""
    return [row for key in sorted(found) for row in found[key]]


@dataclass(frozen=True)
class Part:
    """What is measured and kept together.

    Attributes
    ----------
    design : callable
        Gives the keys of all pieces, those first that an early look should see.
    piece : callable
        ``piece(options, *key)``: what a piece holds, in terms of JSON.
    results : callable
        Gives the rows of the results file from the pieces by key; or several files by name.
    digits : str
        Format of numbers that are not whole.
    about : mapping
        What the results depend on, beside versions.
    """

    design: Callable[[], Iterable[Key]]
    piece: Callable[..., Any]
    results: Callable[[dict[Key, Any]], list[Row] | dict[str, list[Row]]] = joined
    digits: str = "%.6g"
    about: Mapping[str, Any] = field(default_factory=dict)


def run(study: str, name: str, part: Part, options: Options) -> dict[str, list[Row]]:
    """Make the pieces that are missing, and write the results of all; the rows by the name of their file.

    Results depend neither on the number of processes nor on interruptions.
    """
    keys = list(part.design())[: options.first]
    paths = {key: options.work / study / name / file_name(key) for key in keys}
    missing = [key for key in keys if not paths[key].exists()]
    print(f"{study}, {name}: {len(keys)} pieces; {len(missing)} are missing")
    calls = (joblib.delayed(_make)(paths[key], part.piece, options, key) for key in missing)
    made = joblib.Parallel(n_jobs=options.jobs, batch_size=1, return_as="generator_unordered")(calls)
    start = told = time.perf_counter()
    absent = set()
    for done, lacking in enumerate(made, 1):
        absent |= {lacking} - {None}
        if time.perf_counter() - told > 60:
            told = time.perf_counter()
            print(f"{done} of {len(missing)} pieces after {(told - start) / 60:.1f} min", flush=True)
    if absent:
        print(f"left out, as they are not in the folders of --data: {', '.join(sorted(absent))}")
    found = {key: json.loads(path.read_text()) for key, path in paths.items() if path.exists()}
    if not found:
        return {}
    rows = part.results(found)
    files = rows if isinstance(rows, dict) else {name: rows}
    output = options.work if absent else options.output  # an incomplete design must not replace committed results
    for file, lines in files.items():
        path = output / f"{results_name(study, file)}.csv"
        write_results(lines, path, part, len(found))
        print(f"{len(lines)} rows in {path}")
    return files


def results_name(study: str, part: str) -> str:
    """The main part of a study has its name."""
    return study if part == "main" else f"{study}-{part}"


def file_name(key: Key) -> str:
    """Short, and no two keys have the same."""
    return re.sub(r"[^\w.=+-]+", "_", "-".join(str(value) for value in key)) + ".json"


def _make(path: Path, piece: Callable[..., Any], options: Options, key: Key) -> str | None:
    """Make one piece, unless another process has made it meanwhile; return the data set that it lacks."""
    if path.exists():
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # few samples are the point of most studies
            held = piece(options, *key)
    except Absent as error:
        return str(error)
    with whole(path) as part:
        part.write_text(json.dumps(held, default=_plain))
    return None


def _plain(value: Any) -> Any:
    return value.tolist()  # numpy's numbers and arrays


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yield the path of a file to write, with the same suffix; it gets its name when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.stem}.{os.getpid()}.tmp{path.suffix}")
    yield part
    part.rename(path)


def write_results(rows: Sequence[Row], path: Path, part: Part, pieces: int) -> None:
    """Write results as CSV, and beside them what they were made with."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_csv(path, index=False, float_format=part.digits)
    versions = {
        "sober": sobercv.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "python": sys.version.split()[0],
    }
    path.with_suffix(".json").write_text(json.dumps({**part.about, "pieces": pieces, **versions}, indent=1) + "\n")


def read_results(name: str, folder: Path = RESULTS) -> pd.DataFrame:
    """Read results back; `name` is that of a study, or of a study and a part."""
    return pd.read_csv(folder / f"{name}.csv", keep_default_na=False, na_values=["", "nan"])


def read_about(name: str) -> dict[str, Any]:
    """What the results of a file were made with."""
    return json.loads((RESULTS / f"{name}.json").read_text())
