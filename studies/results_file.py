"""The file of a study's results: one CSV, and beside it what it was made with.

Takes rows and how to write a number, gives two files, and reads them back; computes nothing.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn

import sobercv


def write_results(
    rows: Sequence[Mapping[str, Any]], path: Path, about: Mapping[str, Any], written: Callable[[Any], Any]
) -> None:
    """Write results as CSV, and beside them what they are about, with the versions that they depend on."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({name: written(value) for name, value in row.items()} for row in rows)
    versions = {
        "sober": sobercv.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "python": sys.version.split()[0],
    }
    path.with_suffix(".json").write_text(json.dumps({**about, **versions}, indent=1) + "\n")


def read_results(path: Path, text: Collection[str] = ("data",)) -> list[dict[str, Any]]:
    """Read results back: numbers, but for the columns that hold names."""
    with path.open(newline="") as file:
        return [{k: v if k in text else float(v) for k, v in row.items()} for row in csv.DictReader(file)]
