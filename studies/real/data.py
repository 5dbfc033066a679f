"""The data of section 6.2: from a folder, from OpenML, or stand-ins that ship with scikit-learn; pools and sub-samples.

Takes names and a seed, gives tables cut into what is tuned on and what judges; never trains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import fetch_openml, load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split

from sobercv.errors import SoberError

#: The nine data sets of the paper: name, number on OpenML, other names of a file in a folder.
PAPER: dict[str, tuple[int, tuple[str, ...]]] = {
    "christine": (41142, ()),
    "jasmine": (41143, ()),
    "philippine": (41145, ()),
    "madeline": (41144, ()),
    "sylvine": (41146, ()),
    "gisette": (41026, ("gisette_valid",)),
    "madelon": (1485, ()),
    "dexter": (4136, ()),
    "gina": (1038, ()),
}
STAND_INS = ("breast_cancer", "digits")
POOL = 0.3


@dataclass(frozen=True)
class Source:
    """A data set that can be loaded.

    Attributes
    ----------
    name : str
        As in the paper, or a stand-in.
    file : Path or None
        None loads by name.
    """

    name: str
    file: Path | None = None

    @property
    def is_partial(self) -> bool:
        """Whether the file holds only a part of the paper's data set."""
        return self.file is not None and self.file.stem != self.name


def sources(folders: Sequence[Path], quick: bool = False) -> tuple[list[Source], list[str]]:
    """Find what can be had: data sets, and the names of those of the paper that are missing.

    Without a folder the nine come from OpenML, and a quick run takes what ships with scikit-learn.
    """
    if not folders:
        return ([Source(name) for name in STAND_INS], list(PAPER)) if quick else ([Source(n) for n in PAPER], [])
    found, missing = [], []
    for name, (_, others) in PAPER.items():
        files = [folder / f"{n}.npz" for folder in folders for n in (name, *others)]
        here = next((file for file in files if file.is_file()), None)
        if here is None:
            missing.append(name)
        else:
            found.append(Source(name, here))
    if not found:
        raise SoberError(
            "E801", f"The folder {folders[0]} holds none of the paper's data sets as NAME.npz ({', '.join(PAPER)})."
        )
    return found, missing


def load(source: Source) -> tuple[Any, np.ndarray]:
    """Load a table [N, P], sparse or dense, and its classes 0 and 1."""
    if source.file is not None:
        with np.load(source.file, allow_pickle=False) as file:
            y = file["y"].astype(np.int64)
            X = sparse.load_npz(source.file).tocsr() if "indptr" in file else file["X"]
        return X.astype(np.float64), y
    if source.name == "breast_cancer":
        X, y = load_breast_cancer(return_X_y=True)
        return X, np.asarray(y == 0, dtype=np.int64)
    if source.name == "digits":
        X, y = load_digits(return_X_y=True)
        return X, np.asarray(y >= 5, dtype=np.int64)
    try:
        X, y = fetch_openml(data_id=PAPER[source.name][0], return_X_y=True, as_frame=False)
    except OSError as error:
        raise SoberError(
            "E801",
            f"The data set {source.name} could not be loaded from OpenML ({error}). Pass a folder of NAME.npz files "
            "with --data, or add --quick for data that ship with scikit-learn.",
        ) from None
    X = X.astype(np.float64)
    return X, np.asarray(y == np.unique(y)[-1], dtype=np.int64)


@dataclass(frozen=True)
class SubSample:
    """One sub-data set to tune on, and the hold-out set that knows how good the model is."""

    X: Any
    y: np.ndarray
    X_rest: Any
    y_rest: np.ndarray


def fits(y: np.ndarray, n: int, folds: int) -> bool:
    """Whether a sub-sample of this size leaves something in the pool of 30 %, and has both classes in every fold."""
    rarest = min(np.mean(y == 1), np.mean(y != 1))
    return n < int(POOL * len(y)) and round(n * rarest) >= folds


def sub_sample(X: Any, y: np.ndarray, n: int, sample: int, seed: int) -> SubSample:
    """Cut the table into pool and hold-out, the same for all samples of a seed, and draw n rows from the pool."""
    pool, rest = train_test_split(np.arange(len(y)), train_size=POOL, stratify=y, random_state=seed)
    rows, _ = train_test_split(pool, train_size=n, stratify=y[pool], random_state=(seed * 1009 + sample) * 1009 + n)
    return SubSample(X[rows], y[rows], X[rest], y[rest])
