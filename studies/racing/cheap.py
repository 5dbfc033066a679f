"""`python -m studies.racing.cheap --data FOLDER [FOLDER ...]`: races by R2 and by concordance, on real tables.

Takes folders of data, writes results-cheap.csv (a row for each data set, size and rule) and results-near.csv (how
many configurations are about as good as the best); resumable.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sobercv import metrics

from ..intervals.measure import build, kind_of
from ..results_file import write_results
from . import cheap_tables
from .measure import RULES as ALL_RULES
from .measure import SHARPER, measure
from .run import HERE, Piece, Rules, run
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
    with np.load(path, allow_pickle=False) as file:
        d = dict(file)
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
            error = json.loads((work / "pieces" / f"{piece.name}.json").read_text())[0]["error"]
            with np.load(work / "tables" / f"{piece.name.removesuffix('-' + piece.place['metric'])}.npz") as file:
                truth = _truth(dict(file), piece.place["metric"])
            shares.setdefault(piece.place["data"], []).append(float((truth.max() - truth < 2 * error).mean()))
    return [{"data": name, "n": n, "near": float(np.mean(some))} for name, some in shares.items()]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m studies.racing.cheap", description=__doc__)
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="folders of NAME.npz files")
    parser.add_argument("--samples", type=int, help="at most so many sub-samples of each data set and size")
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--work", type=Path, default=Path("study-work/racing"), help="where pieces are kept")
    parser.add_argument("--output", type=Path, default=HERE, help="where results-cheap.csv is written")
    options = parser.parse_args(arguments)
    todo: list[Piece] = []
    for task, sets in (("regression", cheap_tables.REGRESSION), ("survival", cheap_tables.SURVIVAL)):
        places = cheap_tables.places(sets, options.samples)
        found = cheap_tables.run(options.data, options.work / "tables", places)
        todo += pieces(options.work, found, task, RULES)
    rows = run(options.work, todo, options.jobs)
    options.output.mkdir(parents=True, exist_ok=True)
    for name, found_rows in (("cheap", rows), ("near", near(options.work, todo, 500))):
        path = options.output / f"results-{name}.csv"
        write_results(found_rows, path, {"folds": FOLDS}, lambda v: f"{v:.6g}" if isinstance(v, float) else v)


if __name__ == "__main__":
    main()
