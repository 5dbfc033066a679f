"""Run the study on real data: one piece per sub-data set."""

from __future__ import annotations

import time
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from ..harness import Rows, Say, read_pieces, read_results, write_results
from .data import Source, fits, load, sub_sample
from .design import FOLDS, SCALES, Scale, one_sub_sample

HERE = Path(__file__).parent


def run(work: Path, found: list[Source], *, scale: str, seed: int = 0, n_jobs: int = -1, say: Say = print) -> Rows:
    """Run what is missing in the work folder, then read all of it.

    Results depend on the seed alone, not on the number of jobs or on interruptions.
    """
    amount = SCALES[scale]
    places, left_out = [], []
    for source in found:
        X, y = load(source)
        for n in amount.sizes:
            if fits(y, n, FOLDS):
                places += [(source, n, sample) for sample in range(amount.how_many(n, X.shape[1]))]
            else:
                left_out.append(f"{source.name} with N = {n}")
    if left_out:
        say(f"left out, as the pool of 30 % or a class is too small: {', '.join(left_out)}")
    # The first sub-samples of all data first, so that an early look sees a bit of everything; large ones before small.
    places.sort(key=lambda place: (place[2], -place[1]))
    pieces = {
        work / f"{scale}-{seed}-{source.name}-{n:03d}-{sample:02d}.json": partial(
            _piece, source, n, sample, amount, seed
        )
        for source, n, sample in places
    }
    rows = read_pieces(pieces, f"sub-data sets{_took(scale)}", n_jobs, say)
    return sorted(rows, key=lambda r: (r["data"], r["n"], r["sample"]))


def _piece(source: Source, n: int, sample: int, scale: Scale, seed: int) -> dict[str, Any]:
    start = time.process_time()
    numbers = one_sub_sample(sub_sample(*load(source), n, sample, seed), scale, seed * 1009 + sample)
    return {"data": source.name, "n": n, "sample": sample, **numbers, "seconds": time.process_time() - start}


def _took(scale: str) -> str:
    """What the committed run of a scale took; nothing where there is none."""
    path = HERE / f"results-{scale}.csv"
    if not path.exists():
        return ""
    hours = sum(row["seconds"] for row in read_results(path)) / 3600
    return f" (the scale {scale!r} took {hours:.1f} hours of CPU time)"


def write(rows: Rows, path: Path, *, scale: str, seed: int, found: list[Source]) -> None:
    """Write the results, and what they were made with beside them."""
    about = {
        "scale": scale,
        **asdict(SCALES[scale]),
        "seed": seed,
        "data": [source.name for source in found],
        "only a part of": [source.name for source in found if source.is_partial],
    }
    write_results(rows, path, about)
