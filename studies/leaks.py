"""How often the leak screen of `sober check` is wrong: false alarms on clean tables, planted leaks that it misses.

An alarm is the warning W806; where honest columns are as good as a leak, the screen names all of them in a question.
Clean are all tables of the folders as they are. A leak is planted into 299 columns of a table (all columns where it has
fewer, filled up with noise): the outcome plus noise, just so much that it reaches a given score alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from sobercv.checks.leaks import leaks, single_scores
from sobercv.tables import Dataset, assign

from .harness import Key, Options, Part, Row

AUCS, REPETITIONS = (0.95, 0.97, 0.99), 5
MOST_CELLS = 40_000_000
KINDS = {"warning": "W806", "question": "S801", "missed": ""}


def read(path: Path) -> Dataset:
    """Read one table of the folder, at most `MOST_CELLS` cells of it."""
    with np.load(path, allow_pickle=False) as file:
        held = dict(file)
    X: Any = sparse.load_npz(path).tocsr() if "indptr" in held else held["X"]
    X = X[:, : max(1, MOST_CELLS // X.shape[0])]
    X = X.toarray() if sparse.issparse(X) else X
    frame = pd.DataFrame(X.astype(np.float64)).add_prefix("x")
    if "time" in held:
        return assign(frame.assign(time=held["time"], event=held["event"]), time="time", event="event")
    return assign(frame.assign(target=held["y"]), target="target")


def planted(data: Dataset, auc: float, rng: np.random.Generator) -> Dataset:
    """Put one leak among 299 columns of a table of two classes."""
    n = data.n_rows
    columns = rng.permutation(data.X.shape[1])[:299]
    frame = data.X.iloc[:, columns]
    noise = pd.DataFrame(rng.normal(size=(n, 299 - len(columns)))).add_prefix("noise")
    is_positive, errors = data.y == data.y.max(), rng.normal(size=n)
    distance = np.sqrt(2) * norm.ppf(auc)  # of two normal distributions with this AUC
    while roc_auc_score(is_positive, leak := distance * is_positive + errors) < auc:
        distance += 0.01
    return assign(
        pd.concat([frame.reset_index(drop=True), noise], axis=1).assign(leak=leak, target=data.y), target="target"
    )


def screen(options: Options, *_: str) -> list[Row]:
    """One row per table; all tables in one piece, because they share a generator."""
    rng, rows = np.random.default_rng(0), []
    for path in sorted((p for folder in options.data for p in folder.glob("*.npz")), key=lambda p: p.name):
        data = read(path)
        alone = sorted(single_scores(data.X.iloc[:2000], data.y[:2000], data.task).values())[::-1]
        row: Row = {"data": path.stem, "task": data.task, "rows": data.n_rows, "columns": data.X.shape[1]}
        row |= {"best": alone[0], "second": alone[1], "alarm": any(note.code == "W806" for note in leaks(data))}
        for auc in AUCS if data.task == "binary" else ():
            codes = []
            for _ in range(REPETITIONS):
                naming = [note.code for note in leaks(planted(data, auc, rng)) if "leak" in note.columns]
                codes.append(naming[0] if naming else "")
            row |= {f"{auc}, {kind}": codes.count(code) for kind, code in KINDS.items()}
        print(row, flush=True)
        rows.append(row)
    return rows


def results(found: dict[Key, list[Row]]) -> list[Row]:
    """Rows by table; prints the counts."""
    (rows,) = found.values()
    table = pd.DataFrame(rows)
    print(f"{table.alarm.sum()} false alarms on {len(table)} clean tables")
    for auc in AUCS:
        print(f"leaks of AUC {auc}: " + ", ".join(f"{kind} {table[f'{auc}, {kind}'].sum():.0f}" for kind in KINDS))
    return rows


PARTS = {"main": Part(lambda: [("all",)], screen, results)}
PAGES = ()
