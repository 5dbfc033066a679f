"""`python -m studies.real.width --data FOLDER`: all 610 configurations, cross-validated once, on few sub-data sets.

What depends on how many configurations compete: the bias of TT, what dropping saves and what it costs, with equals kept
(ours) and with equals dropped (the paper's likely rule). Pieces are kept in a work folder, so that a run that was ended
goes on where it stopped. Nested cross-validation and repeats are left out. Writes `results-width.csv`.
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
from sobercv.inference import Question

from ..pieces import telling, whole
from ..race import replay
from ..results_file import write_results
from .data import Source, fits, load, sources, sub_sample
from .design import BOOTSTRAPS, FOLDS, METRIC, Scale, space, truths
from .run import HERE
from .ties import drop_equals

RESULTS = HERE / "results-width.csv"
TREES = 1000


def one(source: Source, n: int, sample: int, seed: int, trees: int = TREES) -> dict[str, Any]:
    """Cross-validate everything on one sub-data set, and race it both ways."""
    part = sub_sample(*load(source), n, sample, seed)
    start, place = time.process_time(), seed * 1009 + sample
    options: dict[str, Any] = {"random_state": place, "n_bootstraps": BOOTSTRAPS, "n_jobs": 1, "interval": "percentile"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few samples are the point here
        pipeline, grid = space(Scale(1, 1, trees, everything=True), part.X, part.y)
        search = sobercv.BBCSearchCV(pipeline, grid, scoring=METRIC, cv=FOLDS, drop=None, refit=False, **options).fit(
            part.X, part.y
        )
        table, bbc = search.predictions_, search.estimate_
        row: dict[str, Any] = {"data": source.name, "n": n, "sample": sample, "configurations": table.n_configurations}
        row |= {"trees": trees, "naive": bbc.naive, "bbc": bbc.value}
        row["tt"] = sobercv.tibshirani(None, table, METRIC, n_jobs=1).value
        winners = {"bbc": bbc.winner}
        strict = sobercv.BootstrapDrop(threshold=0.99, min_predictions=0, n_bootstraps=BOOTSTRAPS)
        for name, rule in (("strict", strict), ("equals", drop_equals)):
            raced = replay(table, rule, Question.ask(METRIC, random_state=place))
            found = sobercv.bbc(None, raced.survivors, METRIC, **options)
            row |= {name: found.value, f"alive {name}": raced.alive[1], f"models {name}": raced.models}
            winners[name] = found.winner
        judged = truths(search, part, set(winners.values()))
    row |= {f"truth {name}": judged[winner] for name, winner in winners.items()}
    return row | {"seconds": time.process_time() - start}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m studies.real.width", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="a folder of NAME.npz files")
    parser.add_argument("--sets", nargs="+", help="names of data sets; all that are at hand unless named")
    parser.add_argument("--sizes", type=int, nargs="+", default=[20])
    parser.add_argument("--samples", type=int, default=3)
    parser.add_argument("--trees", type=int, default=TREES, help="in every forest; the paper grows 1,000")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path, default=Path("study-work"), help="where pieces are kept between runs")
    parser.add_argument("--output", type=Path, default=HERE, help="where results-width.csv is written")
    options = parser.parse_args(arguments)
    options.work.mkdir(parents=True, exist_ok=True)
    found = [source for source in sources(options.data, False)[0] if source.name in (options.sets or [source.name])]
    places = [
        (source, n, sample)
        for sample in range(options.samples)
        for n in options.sizes
        for source in found
        if fits(load(source)[1], n, FOLDS)
    ]
    for source, n, sample in telling(places, "sub-data sets", print):
        path = options.work / f"width-{options.seed}-{source.name}-{n:03d}-{sample:02d}.json"
        if not path.exists():
            with whole(path) as part:
                part.write_text(json.dumps(one(source, n, sample, options.seed, options.trees)))
    gather(options.work, options.output / RESULTS.name, options.seed)


def gather(work: Path, path: Path, seed: int) -> None:
    """Write all pieces of a seed that are there."""
    rows = [json.loads(piece.read_text()) for piece in sorted(work.glob(f"width-{seed}-*.json"))]
    write_results(rows, path, {"seed": seed}, lambda value: f"{value:.6g}" if isinstance(value, float) else value)


if __name__ == "__main__":
    main()
