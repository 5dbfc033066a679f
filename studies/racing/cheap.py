"""`python -m studies.racing.cheap --data FOLDER`: races by R2 and by concordance, on real tables.

Takes folders of data, writes results-cheap.csv (a row for each data set, size and rule) and results-near.csv (how
many configurations are about as good as the best).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sobercv import metrics

from ..harness import read_options, read_piece, write_results
from ..intervals.data import make_tables
from ..intervals.measure import build, kind_of
from . import cheap_tables
from .measure import RULES as ALL_RULES
from .measure import SHARPER, measure
from .run import HERE, Piece, Rules, piece_file, run
from .tables import FOLDS, Place

#: Those that the page judges: ranks of censored times take long.
RULES: Rules = {
    name: rule
    for name, rule in {**ALL_RULES, **SHARPER}.items()
    if name
    in ("none", "bced", "predictive .005", "predictive .01", "predictive .02", "predictive .015, zone .2, guard 30")
}


def pieces(work: Path, places: Sequence[Place], task: str, rules: Rules) -> Iterator[Piece]:
    """One for each table and metric of its task."""
    for place in places:
        for metric in cheap_tables.METRICS[task]:
            about = {"data": place.name, "n": place.n, "metric": metric, "simulated": False}
            name = f"{place.file.removesuffix('.npz')}-{metric}"
            yield Piece(name, about, rules, partial(_replayed, work / "tables" / place.file, metric, place.sample))


def _replayed(path: Path, metric: str, seed: int, rules: Rules) -> list[dict[str, Any]]:
    d = read_piece(path)
    table = build(d["y"], d["predictions"][:, :, None], kind_of(d["y"])[0], d["fold"].astype(np.int64)[:, None])
    return measure(table, _truth(d, metric), metric, rules, seed=seed)


def _truth(d: dict[str, np.ndarray], metric: str) -> np.ndarray:
    """Score of every configuration, trained on all rows, on the rows that judge [C]."""
    judges = build(d["y_judges"], d["judged"][:, :, None], kind_of(d["y"])[0])
    return np.asarray(metrics.get(metric).bind(judges, n_jobs=1).scores(np.ones((1, judges.n_samples), np.uint8))[0])


def near(work: Path, todo: Sequence[Piece], n: int) -> list[dict[str, Any]]:
    """How many configurations are about as good as the best: the share within two standard errors, by data set."""
    shares: dict[str, list[float]] = {}
    for piece in todo:
        if piece.place["n"] == n:
            error = read_piece(piece_file(work, piece))[0]["error"]
            metric = piece.place["metric"]
            truth = _truth(read_piece(work / "tables" / f"{piece.name.removesuffix(f'-{metric}')}.npz"), metric)
            shares.setdefault(piece.place["data"], []).append(float((truth.max() - truth < 2 * error).mean()))
    return [{"data": name, "n": n, "near": float(np.mean(some))} for name, some in shares.items()]


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(__doc__, arguments, data=None, samples=None, jobs=-1, work="study-work/racing", output=HERE)
    todo: list[Piece] = []
    for task, sets in (("regression", cheap_tables.REGRESSION), ("survival", cheap_tables.SURVIVAL)):
        places = cheap_tables.places(sets, options.samples)
        found = make_tables(options.data, options.work / "tables", places, cheap_tables.table)
        todo += pieces(options.work, found, task, RULES)
    rows = run(options.work, todo, options.jobs)
    for name, found_rows in (("cheap", rows), ("near", near(options.work, todo, 500))):
        write_results(found_rows, options.output / f"results-{name}.csv", {"folds": FOLDS})


if __name__ == "__main__":
    main()
