"""`python -m studies.racing.others_run --data FOLDER`: the races of others beside ours, and CVST.

Takes folders of data, writes results-others.csv (a row for each place, metric and rule) and results-cvst.csv.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import sobercv
from sobercv.inference import Question

from ..harness import read_options, read_piece, read_pieces, write_results
from ..intervals import data
from ..intervals.measure import build
from ..race import replay
from . import cheap_tables
from .cheap import pieces
from .cvst import cvst
from .others import AnovaRace, FRace, InTurn, PairedPower
from .run import HERE, Piece, Rules, run, simulated
from .tables import FOLDS, Place

OURS: Rules = {"none": None, "bced": sobercv.BootstrapDrop(), "predictive .01": sobercv.PredictiveDrop()}
THEIRS: Any = {"anova": AnovaRace(), "f-race": FRace(), "forgiving": InTurn(), "aggressive": InTurn(forgiving=False)}
PAIRED: Any = {"paired with power": PairedPower()}
REPETITIONS = 20
SMALL = 50  # configurations of the simulated tables
#: Sub-samples of each set and size for CVST.
CVST_SAMPLES = 4


def replays(options: argparse.Namespace) -> Iterator[Piece]:
    """Simulated tables, then real ones of all three tasks."""
    for piece in simulated(options.repetitions):
        if f" c={SMALL} " in piece.place["data"]:
            yield _others(piece)
    for task, sets in (
        ("classification", cheap_tables.CLASSES),
        ("regression", cheap_tables.REGRESSION),
        ("survival", cheap_tables.SURVIVAL),
    ):
        places = cheap_tables.places(sets, options.samples)
        found = data.make_tables(options.data, options.work / "tables", places, cheap_tables.table)
        for piece in pieces(options.work, found, task, {}):
            yield _others(piece)


def _others(piece: Piece) -> Piece:
    rules = {**OURS, **THEIRS, **(PAIRED if piece.place["metric"] == "accuracy" else {})}
    return piece._replace(name=f"others-{piece.name}", rules=rules)


def against_cvst(folders: Sequence[Path], path: Path, place: Place) -> dict[str, Any]:
    """CVST, the whole cross-validation and the default race on one sub-sample."""
    ready, d = data.read(folders, place.name), read_piece(path)
    # The rows of the table in their own order, which is random: the same draw as `cheap_tables.table` makes.
    rng = np.random.default_rng([place.n, place.sample, *place.name.encode()])
    rows = rng.permutation(len(ready.y))[: place.n]
    assert (ready.y[rows] == d["y"]).all()

    def right(train: np.ndarray, test: np.ndarray) -> np.ndarray:
        return (cheap_tables.fit(ready, rows[train], rows[test], place.sample) > 0.5) == (d["y"][test, None] == 1)

    c = d["predictions"].shape[1]
    found = cvst(place.n, c, right)
    truth = ((d["judged"] > 0.5) == (d["y_judges"][:, None] == 1)).mean(axis=0)
    table = build(d["y"], d["predictions"][:, :, None], "classification", d["fold"].astype(np.int64)[:, None])
    scores = ((d["predictions"] > 0.5) == (d["y"][:, None] == 1)).mean(axis=0)
    full = int(scores.argmax())
    raced = replay(table, sobercv.PredictiveDrop(), Question.ask("accuracy", random_state=place.sample))
    alive = raced.survivors.configurations
    returned = int(alive[scores[alive].argmax()])
    error = float(np.sqrt(max(scores[full] * (1 - scores[full]), 1e-9) / place.n))
    everything = c * FOLDS
    return {
        "data": place.name, "n": place.n, "configurations": c,
        "models, cvst": found.models / everything, "rows, cvst": found.rows / (everything * place.n * (1 - 1 / FOLDS)),
        "steps": found.steps, "lost, cvst": float(truth[full] - truth[found.winner]) / error,
        "models, race": raced.models, "lost, race": float(truth[full] - truth[returned]) / error,
    }  # fmt: skip


def run_cvst(options: argparse.Namespace) -> list[dict[str, Any]]:
    """CVST on the tables of classes."""
    places = cheap_tables.places(cheap_tables.CLASSES, CVST_SAMPLES)
    found = data.make_tables(options.data, options.work / "tables", places, cheap_tables.table)
    pieces = {
        options.work / "cvst" / f"{Path(place.file).stem}.json": partial(
            against_cvst, options.data, options.work / "tables" / place.file, place
        )
        for place in found
    }
    return read_pieces(pieces, "sub-samples by CVST")


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(
        __doc__, arguments, data=None, samples=None, repetitions=REPETITIONS, jobs=-1, work="study-work/racing",
        output=HERE,
    )  # fmt: skip
    for name, rows in (
        ("others", run(options.work, list(replays(options)), options.jobs)),
        ("cvst", run_cvst(options)),
    ):
        write_results(rows, options.output / f"results-{name}.csv", {"folds": FOLDS})


if __name__ == "__main__":
    main()
