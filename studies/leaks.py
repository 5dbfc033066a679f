"""How often the leak screen of `sober check` is wrong: false alarms on clean tables, planted leaks that it misses.

An alarm is the warning W806; where honest columns are as good as a leak, the screen names all of them in a question.

    python -m studies.leaks --data FOLDER

Clean are all tables of the folder as they are. A leak is planted into 299 columns of a table (all columns where it has
fewer, filled up with noise): the outcome plus noise, just so much that it reaches a given score alone.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from sobercv.checks.leaks import leaks, single_scores
from sobercv.tables import Dataset, assign

AUCS = (0.95, 0.97, 0.99)
MOST_CELLS = 40_000_000


def read(path: Path) -> Dataset:
    """Read one table of the folder, at most `MOST_CELLS` cells of it."""
    with np.load(path, allow_pickle=False) as file:
        held = dict(file)
    X: Any = held.get("X")
    if X is None:
        X = sparse.csr_matrix((held["data"], held["indices"], held["indptr"]), shape=tuple(held["shape"]))
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


def main() -> None:
    """Print one line per table, and the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--repetitions", type=int, default=5)
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    alarms, n_tables = 0, 0
    found: dict[float, list[str]] = {auc: [] for auc in AUCS}
    print(f"{'table':<24} {'task':<11} {'rows':>6} {'columns':>7} {'best':>6} {'second':>6}  alarm    found at {AUCS}")
    for path in sorted(given.data.glob("*.npz")):
        data = read(path)
        alone = sorted(single_scores(data.X.iloc[:2000], data.y[:2000], data.task).values())[::-1]
        alarm = any(note.code == "W806" for note in leaks(data))
        alarms, n_tables = alarms + alarm, n_tables + 1
        told = []
        if data.task == "binary":
            for auc in AUCS:
                hits = []
                for _ in range(given.repetitions):
                    naming = [note.code for note in leaks(planted(data, auc, rng)) if "leak" in note.columns]
                    hits.append(naming[0] if naming else "")
                found[auc] += hits
                told.append(f"{hits.count('W806')}+{hits.count('S801')}/{len(hits)}")
        print(
            f"{path.stem:<24} {data.task:<11} {data.n_rows:>6} {data.X.shape[1]:>7} {alone[0]:>6.3f} {alone[1]:>6.3f}  "
            f"{'ALARM' if alarm else '-':<8} {' '.join(told)}",
            flush=True,
        )
    print(f"{alarms} false alarms on {n_tables} clean tables")
    for auc, hits in found.items():
        print(
            f"leaks of AUC {auc}: of {len(hits)}, {hits.count('W806')} named by a warning, {hits.count('S801')} by a "
            f"question, {hits.count('')} missed"
        )


if __name__ == "__main__":
    main()
