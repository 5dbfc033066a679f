"""`python -m studies.intervals.alternatives --work FOLDER`: two ideas beside the calibrated interval.

On the tables and pieces of the study's work folder.

- **maxT**: a lower bound that holds whichever configuration is selected. `score - c error`, where c is a quantile of
  the largest studentised deviation of any configuration over resamples.
- **A factor of one's own**: how much more a cross-validated score errs than resampling shows, estimated from the table
  at hand as 1 + (variance between repeats) / (variance over resamples).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from scipy import special

from sobercv import metrics
from sobercv.inference.intervals import CROSS_VALIDATED
from sobercv.inference.units import Units

from ..harness import Rows, read_options, read_piece, read_pieces, write_results
from . import tables
from .coverage import ends, grouped, moved_out
from .measure import build, kind_of
from .run import HERE

LEVEL = 0.95
RESAMPLES = 500
KEY = ("set", "n", "metric")


def measured(table: dict[str, np.ndarray], judged: Sequence[dict[str, Any]], seed: int) -> Rows:
    """Both ideas on one table, by each metric with two ends; `judged` is what the study has found there."""
    task, _ = kind_of(table["y"])
    full = build(table["y"], table["predictions"], task, table["folds"].astype(np.int64))
    rows: Rows = []
    for row in judged:
        if row["repeats"] != 1 or not np.isfinite([row["low"], row["high"]]).all():
            continue
        once = full.take_repeat(0)
        scorer = metrics.get(row["metric"]).bind(once, n_jobs=1)
        everybody = np.ones((1, once.n_samples), np.uint8)
        whole_, drawn = scorer.scores(everybody)[0], scorer.scores(Units(once.n_samples, seed).counts(0, RESAMPLES))
        winner = int(np.nanargmax(whole_))
        error = np.nanstd(drawn, axis=0, ddof=1)
        some = error > 0
        if not some[winner]:
            continue
        furthest = np.nanmax((drawn[:, some] - whole_[some]) / error[some], axis=1)
        far = float(np.nanquantile(furthest, LEVEL)) * error[winner]
        repeats = [
            metrics.get(row["metric"]).bind(full.take_repeat(r), n_jobs=1).scores(everybody)[0, winner]
            for r in range(full.n_repeats)
        ]
        rows.append(
            {
                "metric": row["metric"], "truth": row["truth"], "truth error": row["truth error"],
                "maxT": float(whole_[winner] - far),
                "maxT, with the factor": float(whole_[winner] - far * CROSS_VALIDATED**0.5),
                "calibrated": ends(row, "calibrated", LEVEL)[2],
                "error over resamples": float(error[winner]),
                "variance between repeats": float(np.var(repeats, ddof=1)) if len(repeats) > 1 else None,
                "off": row["centre"] - row["truth"],
            }
        )  # fmt: skip
    return rows


def summarise(rows: Rows) -> Rows:
    """One row for each set, size and metric: how often each bound holds, how far it is from the truth, both factors."""
    found = []
    for key, some in grouped(rows, lambda row: tuple(row[name] for name in KEY)).items():
        line: dict[str, Any] = {**dict(zip(KEY, key, strict=True)), "tables": len(some)}
        for bound in ("maxT", "maxT, with the factor", "calibrated"):
            line[f"{bound} holds"] = _mean([_holds(row, row[bound]) for row in some])
            line[f"{bound} is off"] = _mean([row["truth"] - row[bound] for row in some])
        again = [row for row in some if row["variance between repeats"] is not None]
        line["repeated tables"] = len(again)
        line["factor of repeats"] = _mean(
            [1 + r["variance between repeats"] / r["error over resamples"] ** 2 for r in again]
        )
        line["factor of the truth"] = _mean(
            [(r["off"] ** 2 - r["truth error"] ** 2) / r["error over resamples"] ** 2 for r in some]
        )
        found.append(line)
    return found


def _holds(row: dict[str, Any], bound: float) -> bool:
    """Whether the truth is above a bound, the error of the truth allowed for as everywhere in the study."""
    centre = row["truth"] + row["off"]
    return bool(row["truth"] >= moved_out(bound, centre, special.ndtri(LEVEL) * row["truth error"]) - 1e-9)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def main(arguments: Sequence[str] | None = None) -> None:
    work = read_options(__doc__, arguments, work="study-work/intervals").work
    found = [p for p in tables.places() if (work / "judged" / f"{Path(p.file).stem}.json").exists()]
    pieces = {
        work / "alternatives" / f"{Path(place.file).stem}.json": partial(_measured, work, place) for place in found
    }
    rows = [
        {"set": place.name, "n": place.n, **row}
        for place, piece in zip(found, read_pieces(pieces, "tables"), strict=True)
        for row in piece
    ]
    write_results(summarise(rows), HERE / "results-alternatives.csv", {"tables": len(found)}, ".4g")


def _measured(work: Path, place: tables.Place) -> Rows:
    judged = read_piece(work / "judged" / f"{Path(place.file).stem}.json")
    return measured(read_piece(work / "tables" / place.file), judged, crc32(place.file.encode()))


if __name__ == "__main__":
    main()
