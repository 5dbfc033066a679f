"""Real data: what is claimed of thresholds, mixes and families on small samples, and the truth on thousands of others.

Takes the tables of `studies.intervals` (out-of-fold predictions of 27 configurations on a sub-sample, and those of the
refitted models for rows that nobody was trained on), gives one row for each kind of tuning and size; never trains but
to make tables that are missing.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import sobercv
from sobercv.metrics import get

from ..harness import Say, read_piece, read_pieces
from ..intervals import tables
from .simulated import TUNED

LINEAR = range(8)  # the family: penalised linear models stand first among the configurations
FEWEST_JUDGES = 1000
#: Sizes that are told together.
SIZES = {"40": (40, 60), "100": (80, 100), "200 to 500": (200, 500)}


def run(folders: Sequence[Path], work: Path, samples: float = 1.0, say: Say = print) -> dict[tables.Place, np.ndarray]:
    """Judge every table once: for each the claims of `one_table`.

    Parameters
    ----------
    folders : sequence of Path
        Of NAME.npz files.
    work : Path
        Keeps tables, in its folder `tables`, and what was found in them.
    samples : float
        Share of the sub-samples that are looked at.
    """
    todo = [place for place in tables.places(list(tables.BINARY), samples) if place.repeats == 1]
    places = tables.run(folders, work / "tables", todo, say)
    pieces = {work / "real" / f"real-{p.file}": partial(_piece, work / "tables" / p.file) for p in places}
    found = zip(places, read_pieces(pieces, "tables to judge", say=say), strict=True)
    return {place: piece["rows"] for place, piece in found if len(piece["rows"])}


def _piece(path: Path) -> dict[str, np.ndarray]:
    return {"rows": one_table(path)}


def one_table(path: Path) -> np.ndarray:
    """For each kind of tuning naive, corrected, lower and upper end, truth; nothing where few rows tell the truth."""
    table = arrays(path)
    if table is None:
        return np.empty((0, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.array([_claim(name, *table) for name in TUNED])


def arrays(path: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
    """The target and the predictions [N, C] of a table, and of the rows that judge; None where few judge."""
    y, p, y_new, p_new = (read_piece(path)[name] for name in ("y", "predictions", "y_judges", "judged"))
    if len(y_new) < FEWEST_JUDGES:
        return None
    return y, p[:, :, 0].astype(np.float64), y_new, p_new.astype(np.float64)


def _claim(name: str, y: np.ndarray, p: np.ndarray, y_new: np.ndarray, p_new: np.ndarray) -> list[float]:
    select, metric, resamples = TUNED[name]
    if name.startswith("family"):
        gap = sobercv.difference(y, p, metric, first=LINEAR, n_bootstraps=resamples)
        first, second = (_score(metric, y_new, p_new[:, one.winner]) for one in (gap.first, gap.second))
        found, truth = (gap.first, first) if name == "family" else (gap, first - second)
        assert found.interval is not None
        return [found.naive, found.value, *found.interval, truth]
    estimate = sobercv.bbc(y, p, metric, select=select, n_bootstraps=resamples)
    assert estimate.interval is not None
    return [estimate.naive, estimate.value, *estimate.interval, true_score(estimate.decision, metric, y_new, p_new)]


def true_score(decision: Any, metric: str, y_new: np.ndarray, p_new: np.ndarray) -> float:
    """Give the score of a threshold or a mix on rows that nobody was trained on."""
    if hasattr(decision, "value"):
        return _score(metric, y_new, (p_new[:, decision.configuration] >= decision.value).astype(int))
    return _score(metric, y_new, p_new[:, list(decision.configurations)] @ np.array(decision.weights))


def _score(metric: str, y: np.ndarray, new: np.ndarray) -> float:
    table = sobercv.Predictions.build(y, new[:, None], task="classification")
    return float(get(metric).scores(table, np.ones((1, len(y)), np.uint8))[0, 0])


def summary(found: dict[tables.Place, np.ndarray]) -> list[dict[str, Any]]:
    """One row for each kind of tuning and size; standard errors take the sets, not the tables, to be independent."""
    rows = []
    for k, name in enumerate(TUNED):
        for size, (least, most) in SIZES.items():
            here = {place: claims[k] for place, claims in found.items() if least <= place.n <= most}
            if here:
                rows.append({"tuned": name, "n": size, **_row(here)})
    return rows


def standard_error(off: np.ndarray, names: np.ndarray) -> float:
    """Of a mean over tables, whose data sets are independent, and not the tables of one set."""
    sets = np.unique(names)
    of_set = np.array([(off[names == name] - off.mean()).sum() for name in sets])
    return float(np.sqrt((of_set**2).sum() * len(sets) / max(len(sets) - 1, 1)) / len(off))


def _row(here: dict[tables.Place, np.ndarray]) -> dict[str, Any]:
    naive, value, low, high, truth = np.array(list(here.values())).T
    names = np.array([place.name for place in here])
    off = value - truth
    return {
        "tables": len(here),
        "sets": len(np.unique(names)),
        "truth": truth.mean(),
        "naive_bias": (naive - truth).mean(),
        "bias": off.mean(),
        "bias_error": standard_error(off, names),
        "naive_error": np.abs(naive - truth).mean(),
        "error": np.abs(off).mean(),
        "covers": ((low <= truth) & (truth <= high)).mean(),
    }
