"""`python -m studies.real.width --data FOLDER`: all 610 configurations, cross-validated once, on few sub-data sets.

What depends on how many configurations compete: the bias of TT, what dropping saves and what it costs, with equals kept
(ours) and with equals dropped (the paper's likely rule). Nested
cross-validation and repeats are left out. Writes `results-width.csv`.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import sobercv
from sobercv.inference import Question

from ..harness import make_missing, read_options, read_piece, write_results
from ..race import replay
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
    more: dict[str, dict[str, Any]] = {
        "sets": {"nargs": "+", "help": "names of data sets (default: all that are at hand)"},
        "sizes": {"type": int, "nargs": "+", "default": [20]},
        "trees": {"type": int, "default": TREES, "help": "in every forest; the paper grows 1,000"},
    }
    options = read_options(__doc__, arguments, more, data=None, samples=3, seed=0, work="study-work", output=HERE)
    found = [source for source in sources(options.data)[0] if source.name in (options.sets or [source.name])]
    pieces = {
        options.work / f"width-{options.seed}-{source.name}-{n:03d}-{sample:02d}.json": partial(
            one, source, n, sample, options.seed, options.trees
        )
        for sample in range(options.samples)
        for n in options.sizes
        for source in found
        if fits(load(source)[1], n, FOLDS)
    }
    make_missing(pieces, "sub-data sets")
    rows = [read_piece(path) for path in sorted(options.work.glob(f"width-{options.seed}-*.json"))]
    write_results(rows, options.output / RESULTS.name, {"seed": options.seed})


if __name__ == "__main__":
    main()
