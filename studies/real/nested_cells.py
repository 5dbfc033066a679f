"""`python -m studies.real.nested_cells --data FOLDER`: nested cross-validation where the paper names a data set.

The paper says by how much NCV is off for dexter and madeline at N = 40. The small scale has one and three sub-data sets
there; this runs as many as the paper does, with the configurations of the small scale, one repeat. Pieces are kept in a
work folder, so that a run that was ended goes on where it stopped. Writes `results-nested.csv`.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import sobercv

from ..harness import read_options, read_pieces, write_results
from .data import Source, load, sources, sub_sample
from .design import BOOTSTRAPS, FOLDS, METRIC, SCALES, space, truths
from .run import HERE

RESULTS = HERE / "results-nested.csv"
SETS, N, SAMPLES = ("madeline", "dexter"), 40, 20


def one(source: Source, n: int, sample: int, seed: int) -> dict[str, Any]:
    """Nested and plain cross-validation of one sub-data set, on the same folds."""
    part = sub_sample(*load(source), n, sample, seed)
    start = time.process_time()
    options: dict[str, Any] = {"scoring": METRIC, "n_jobs": 1, "n_bootstraps": BOOTSTRAPS, "interval": "percentile"}
    options["random_state"] = seed * 1009 + sample
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few samples are the point here
        pipeline, grid = space(SCALES["small"], part.X, part.y)
        search = sobercv.BBCSearchCV(pipeline, grid, cv=FOLDS, drop=None, refit=False, **options).fit(part.X, part.y)
        nested = sobercv.compare(pipeline, grid, part.X, part.y, protocols=("ncv",), cv=search.splits_, **options)
        bbc = search.estimate_
        row = {"naive": bbc.naive, "bbc": bbc.value, "ncv": nested["ncv"].score}
        row["truth bbc"] = truths(search, part, {bbc.winner})[bbc.winner]
    return {"data": source.name, "n": n, "sample": sample, **row, "seconds": time.process_time() - start}


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(__doc__, arguments, data=None, samples=SAMPLES, seed=0, work="study-work", output=HERE)
    pieces = {
        options.work / f"nested-{options.seed}-{source.name}-{sample:02d}.json": partial(
            one, source, N, sample, options.seed
        )
        for sample in range(options.samples)
        for source in sources(options.data)[0]
        if source.name in SETS
    }
    rows = sorted(read_pieces(pieces, "sub-data sets"), key=lambda row: (row["data"], row["sample"]))
    write_results(rows, options.output / RESULTS.name, {"seed": options.seed})


if __name__ == "__main__":
    main()
