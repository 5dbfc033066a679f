"""`python -m studies.real.nested_cells --data FOLDER`: nested cross-validation where the paper names a data set.

The paper says by how much NCV is off for dexter and madeline at N = 40. The small scale has one and three sub-data sets
there; this runs as many as the paper does, with the configurations of the small scale, one repeat. Pieces are kept in a
work folder, so that a run that was ended goes on where it stopped. Writes `results-nested.csv`.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sobercv

from ..pieces import telling, whole
from ..results_file import write_results
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
    parser = argparse.ArgumentParser(prog="python -m studies.real.nested_cells", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="a folder of NAME.npz files")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path, default=Path("study-work"), help="where pieces are kept between runs")
    parser.add_argument("--output", type=Path, default=HERE, help="where results-nested.csv is written")
    options = parser.parse_args(arguments)
    options.work.mkdir(parents=True, exist_ok=True)
    found = [source for source in sources(options.data, False)[0] if source.name in SETS]
    paths = {
        (source, sample): options.work / f"nested-{options.seed}-{source.name}-{sample:02d}.json"
        for sample in range(options.samples)
        for source in found
    }
    for (source, sample), path in telling(list(paths.items()), "sub-data sets", print):
        if not path.exists():
            with whole(path) as part:
                part.write_text(json.dumps(one(source, N, sample, options.seed)))
    rows = [json.loads(path.read_text()) for path in paths.values()]
    rows.sort(key=lambda row: (row["data"], row["sample"]))
    about = {"seed": options.seed}
    write_results(rows, options.output / RESULTS.name, about, lambda v: f"{v:.6g}" if isinstance(v, float) else v)


if __name__ == "__main__":
    main()
