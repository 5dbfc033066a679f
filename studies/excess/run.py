"""Which tables there are, and the file that they are kept in: one block of lines per table, appended when it is made.

Takes folders of data and a CSV, adds the tables that are missing; the same lines whatever the order.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from sklearn.datasets import load_digits

from sobercv.errors import SoberWarning

from ..harness import write_results
from ..intervals import data
from . import generators, measure, trained

#: Constants are chosen on these ...
CALIBRATION = {
    "sylvine": (50, 100, 200, 400), "jasmine": (50, 100, 200), "gina": (50, 100, 200), "cells": (50, 100, 200, 400),
    "ada_agnostic_train": (50, 100, 200), "farm_ads": (50, 100), "gisette_valid": (50, 100), "breast_gravier": (50,),
    "cells_entropy": (50, 100, 200, 400), "diabetes": (50, 100), "digits_odd": (60, 120, 240),
}  # fmt: skip
#: ... and judged on these.
JUDGING = {
    "madeline": (50, 100, 200, 400), "madelon": (50, 100, 200), "basehock": (50, 100, 200), "pcmac": (50, 100),
    "sylva_agnostic_train": (100, 200, 400), "dexter": (50, 100), "breast_cancer_wdbc": (50, 100), "arcene": (50,),
    "alzheimers": (50, 100), "ionosphere": (50, 100), "parkinsons": (50,), "prostate_singh": (50,),
    "cells_neighbor": (50, 100, 200, 400), "meats_fat": (50,), "cells_width": (50, 100, 200, 400),
    "digits": (60, 120, 240), "cells_classes": (60, 120, 240),
}  # fmt: skip
#: Sets that were added when all constants stood.
FRESH = {
    "hiva_agnostic_train": (200, 400), "permeability_qsar": (50, 100), "cells_bfr": (50, 100, 200, 400),
    "cells_fiber": (50, 100, 200, 400), "cells_skew_classes": (60, 120, 240),
}  # fmt: skip
#: Others' simulations, for which no constant was chosen either.
SIMULATED = dict.fromkeys(generators.POPULATIONS, (100, 400))
LASSO = ("10", "100", "b")  # active features, or Rink and Brannath's feature case B
SAMPLES, LASSO_SAMPLES = 32, 256
#: Further targets made of other sets' columns, and sets that ship with scikit-learn.
COLUMNS = {
    "cells_width": ("cells", "width_ch_1"), "cells_classes": ("cells", "entropy_inten_ch_4"),
    "cells_bfr": ("cells", "shape_bfr_ch_1"), "cells_fiber": ("cells", "fiber_width_ch_1"),
    "cells_skew_classes": ("cells", "skew_inten_ch_3"),
}  # fmt: skip
N_CLASSES = 8
Key = tuple[str, int, int]


def places() -> list[Key]:
    """All tables, the first of every set first."""
    found = [
        (name, n, sample)
        for name, sizes in {**CALIBRATION, **JUDGING, **FRESH, **SIMULATED}.items()
        for n in sizes
        for sample in range(SAMPLES * (2 if len(sizes) == 1 else 1))
    ]
    found += [(f"lasso_{active}", 400, sample) for active in LASSO for sample in range(LASSO_SAMPLES)]
    return sorted(found, key=lambda key: (key[2] // (48 if key[0].startswith("lasso") else 2), key))


def load(folders: Sequence[Path], name: str) -> data.Ready | None:
    """A data set, or None where it is not at hand."""
    if name.startswith("digits"):
        X, y = load_digits(return_X_y=True)
        ready = data.Ready(name, "classification", *data._numbers(X.astype(float)), y)
        return ready if name == "digits" else data.Ready(name, ready.task, ready.features, ready.similarity, y % 2)
    if name in SIMULATED:
        X, y = generators.population(name, data.MOST_ROWS)
        return data.Ready(name, generators.POPULATIONS[name], *data._numbers(X), y)
    path = data.find(folders, COLUMNS.get(name, (name,))[0])
    if path is None:
        return None
    if name not in COLUMNS:
        return data.load(path, name)
    with np.load(path, allow_pickle=False) as file:
        X, names = file["X"].astype(float), list(file["feature_names"])
    column = names.index(COLUMNS[name][1])
    y, others = X[:, column], data._numbers(np.delete(X, column, axis=1))
    if name.endswith("classes"):
        cuts = np.quantile(y, np.arange(1, N_CLASSES) / N_CLASSES)
        return data.Ready(name, "classification", *others, np.searchsorted(cuts, y).astype(np.int64))
    return data.Ready(name, "regression", *others, y)


def one(folders: Sequence[Path], key: Key) -> list[dict[str, Any]]:
    """Train and judge one table."""
    name, n, sample = key
    if name.startswith("lasso"):
        table, kind = trained.lasso(name.split("_")[1], sample, n), "binary"
    else:
        ready = load(folders, name)
        if ready is None:
            return []
        table = trained.real(ready, n, sample, heavy=sample % 8 == 2)
        kind = "regression" if ready.task == "regression" else "binary" if ready.n_classes == 2 else "classes"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SoberWarning)
        warnings.simplefilter("ignore", RuntimeWarning)
        rows = measure.judge(table, kind, crc32(repr(key).encode()))
    return [{"set": name, "n": n, "sample": sample, "kind": kind, **row} for row in rows]


def fill(folders: Sequence[Path], path: Path, todo: Sequence[Key]) -> None:
    """Append the tables that the file lacks."""
    done = {(row["set"], int(row["n"]), int(row["sample"])) for row in lines(path)}
    for key in [key for key in todo if key not in done]:
        rows = one(folders, key)
        if not rows:
            continue
        new = not path.exists()
        names = list(dict.fromkeys(name for row in rows for name in row))
        with path.open("a", newline="") as file:
            writer = csv.DictWriter(file, names, restval="", lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerows({name: _written(value) for name, value in row.items()} for row in rows)


def lines(path: Path) -> Iterator[dict[str, str]]:
    """The lines of the file."""
    if path.exists():
        with path.open(newline="") as file:
            yield from csv.DictReader(file)


def _written(value: Any) -> Any:
    if isinstance(value, (float, np.floating)):
        return "" if np.isnan(value) else f"{value:.5g}"
    return value


def keep_results(rows: Path, results: Path) -> None:
    """Copy the rows to where the pages read them, ordered, with what they were made with."""
    found = sorted(lines(rows), key=lambda r: (r["set"], int(r["n"]), int(r["sample"])))
    write_results(
        found, results, {"tables": len({(r["set"], r["n"], r["sample"]) for r in found})}, lambda value: value
    )
