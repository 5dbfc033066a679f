"""Run the study on real data: a piece for each sub-data set, on all cores, resumable; one small CSV at the end.

Takes a scale and data, gives rows: one for each sub-data set.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import joblib

from ..pieces import whole
from ..results_file import read_results, write_results
from .data import Source, fits, load, sub_sample
from .design import FOLDS, SCALES, Scale, one_sub_sample

HERE = Path(__file__).parent


def _piece(source: Source, n: int, sample: int, scale: Scale, seed: int, path: Path) -> None:
    X, y = load(source)
    start = time.process_time()
    numbers = one_sub_sample(sub_sample(X, y, n, sample, seed), scale, seed * 1009 + sample)
    row = {"data": source.name, "n": n, "sample": sample, **numbers, "seconds": time.process_time() - start}
    with whole(path) as part:
        part.write_text(json.dumps(row))


def run(
    work: Path,
    found: list[Source],
    *,
    scale: str,
    seed: int = 0,
    n_jobs: int = -1,
    say: Callable[[str], None] = print,
) -> list[dict[str, Any]]:
    """Run what is missing in the work folder, then read all of it.

    Results depend on the seed alone, not on the number of jobs or on interruptions.
    """
    amount = SCALES[scale]
    work.mkdir(parents=True, exist_ok=True)
    pieces, left_out = [], []
    for source in found:
        X, y = load(source)
        for n in amount.sizes:
            if not fits(y, n, FOLDS):
                left_out.append(f"{source.name} with N = {n}")
                continue
            for sample in range(amount.how_many(n, X.shape[1])):
                path = work / f"{scale}-{seed}-{source.name}-{n:03d}-{sample:02d}.json"
                pieces.append((source, n, sample, amount, seed, path))
    if left_out:
        say(f"left out, as the pool of 30 % or a class is too small: {', '.join(left_out)}")
    # The first sub-samples of all data first, so that an early look sees a bit of everything; large ones before small.
    pieces.sort(key=lambda p: (p[2], -p[1]))
    todo = [p for p in pieces if not p[5].exists()]
    there = len(pieces) - len(todo)
    say(f"{len(found)} data sets, {len(pieces)} sub-data sets; {there} are there already{_took(scale)}")
    start = told = time.perf_counter()
    results = joblib.Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator_unordered")(
        joblib.delayed(_piece)(*piece) for piece in todo
    )
    for done, _ in enumerate(results, 1):
        if time.perf_counter() - told > 30:
            told = time.perf_counter()
            say(_progress(done, len(todo), told - start))
    say(f"trained in {(time.perf_counter() - start) / 60:.1f} min")
    rows = [json.loads(piece[5].read_text()) for piece in pieces]
    return sorted(rows, key=lambda r: (r["data"], r["n"], r["sample"]))


def _took(scale: str) -> str:
    """Say what the committed run of a scale took; nothing where there is none."""
    path = HERE / f"results-{scale}.csv"
    if not path.exists():
        return ""
    hours = sum(row["seconds"] for row in read_results(path)) / 3600
    return f"; the scale {scale!r} took {hours:.1f} hours of CPU time"


def _progress(done: int, of: int, seconds: float) -> str:
    """Say how far it is, and how long the rest takes if it is like what was done (large ones come first)."""
    left = seconds / done * (of - done)
    return f"{done} of {of} after {seconds / 60:.1f} min; {left / 60:.0f} min left at most"


def write(rows: list[dict[str, Any]], path: Path, *, scale: str, seed: int, found: list[Source]) -> None:
    """Write the results, and what they were made with beside them."""
    about = {
        "scale": scale,
        **asdict(SCALES[scale]),
        "seed": seed,
        "data": [source.name for source in found],
        "only a part of": [source.name for source in found if source.is_partial],
    }
    write_results(rows, path, about, lambda v: f"{v:.6g}" if isinstance(v, float) else v)
