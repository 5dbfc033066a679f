"""`python -m studies.racing.others_run --data FOLDER [FOLDER ...]`: the races of others beside ours, and CVST.

Takes folders of data, writes results-others.csv (a row for each place, metric and rule) and results-cvst.csv;
resumable.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import sobercv
from sobercv.inference import Question

from ..intervals import data
from ..intervals.measure import build
from ..pieces import telling, whole
from ..race import replay
from ..results_file import write_results
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
        found = cheap_tables.run(options.data, options.work / "tables", places)
        for piece in pieces(options.work, found, task, {}):
            yield _others(piece)


def _others(piece: Piece) -> Piece:
    rules = {**OURS, **THEIRS, **(PAIRED if piece.place["metric"] == "accuracy" else {})}
    return piece._replace(name=f"others-{piece.name}", rules=rules)


def against_cvst(ready: data.Ready, path: Path, place: Place) -> dict[str, Any]:
    """CVST, the whole cross-validation and the default race on one sub-sample."""
    with np.load(path, allow_pickle=False) as file:
        d = dict(file)
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
    found = cheap_tables.run(options.data, options.work / "tables", places)
    folder = options.work / "cvst"
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for place in telling(found, "sub-samples by CVST", print):
        path = folder / f"{Path(place.file).stem}.json"
        if not path.exists():
            file = data.find(options.data, place.name)
            assert file is not None
            row = against_cvst(data.load(file, place.name), options.work / "tables" / place.file, place)
            with whole(path) as part:
                part.write_text(json.dumps(row))
        rows.append(json.loads(path.read_text()))
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m studies.racing.others_run", description=__doc__)
    parser.add_argument("--data", type=Path, nargs="+", required=True, help="folders of NAME.npz files")
    parser.add_argument("--samples", type=int, help="at most so many sub-samples of each data set and size")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, help="simulated tables a setting")
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--work", type=Path, default=Path("study-work/racing"), help="where pieces are kept")
    parser.add_argument("--output", type=Path, default=HERE, help="where the results are written")
    options = parser.parse_args(arguments)
    options.output.mkdir(parents=True, exist_ok=True)
    for name, rows in (
        ("others", run(options.work, list(replays(options)), options.jobs)),
        ("cvst", run_cvst(options)),
    ):
        path = options.output / f"results-{name}.csv"
        write_results(rows, path, {"folds": FOLDS}, lambda v: f"{v:.6g}" if isinstance(v, float) else v)


if __name__ == "__main__":
    main()
