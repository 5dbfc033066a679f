"""Early dropping on real data: how many models it saves, and whether the winner is as good.

Command line: `python -m benchmarks.dropping --data FOLDER [--sets a,b] [--samples 3] [--jobs 2] [--write [FILE]]`. The
folder holds `<name>.npz` files with X and y. A sub-sample of 500 rows is tuned with and without dropping, on the same
folds; all other rows judge the two winners.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectPercentile
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import sobercv

from . import report

SETS = ("sylvine", "madeline", "jasmine", "madelon", "gina")
N = 500
FOLDS = 10
RATIOS = (2.0, 10.0)  # what the paper found at N = 500: 2 to 5, up to 10

PIPELINE = Pipeline([("scale", StandardScaler()), ("choose", SelectPercentile()), ("model", GaussianNB())])
_CHOOSE = {"choose__percentile": [2, 10, 30, 100]}
GRID: list[dict[str, list[Any]]] = [
    {**_CHOOSE, "model": [LogisticRegression(max_iter=200)], "model__C": [0.001, 0.01, 0.1, 1.0, 10.0]},
    {**_CHOOSE, "model": [SVC()], "model__C": [0.1, 1.0, 10.0], "model__gamma": ["scale", 0.01, 0.1]},
    {**_CHOOSE, "model": [RandomForestClassifier(50, random_state=0)], "model__min_samples_leaf": [1, 5]},
    {**_CHOOSE, "model": [DecisionTreeClassifier(random_state=0)], "model__min_samples_leaf": [1, 5, 10, 25]},
    {**_CHOOSE, "model": [KNeighborsClassifier()], "model__n_neighbors": [1, 5, 15, 45]},
    {**_CHOOSE, "model": [GaussianNB()], "model__var_smoothing": [1e-9, 0.01, 0.1]},
]


@dataclass(frozen=True)
class Run:
    """One search on one sub-sample."""

    models: int
    seconds: float
    auc: float
    error: float  # standard error of the hold-out AUC
    honest: float
    winner: int
    configurations: int


def tune(X: Any, y: Any, X_rest: Any, y_rest: Any, drop: Any, n_jobs: int) -> Run:
    """Tune on the sub-sample, judge the winner on the rest."""
    search = sobercv.BBCSearchCV(PIPELINE, GRID, scoring="roc_auc", cv=FOLDS, drop=drop, n_jobs=n_jobs)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constant columns
        search.fit(X, y)
    seconds = time.perf_counter() - start
    model = search.best_estimator_
    scores = (
        model.decision_function(X_rest) if hasattr(model, "decision_function") else model.predict_proba(X_rest)[:, 1]
    )
    return Run(
        search.n_fits_, seconds, roc_auc_score(y_rest, scores), standard_error(y_rest, scores),
        search.estimate_.value, search.best_index_, len(search.race_.status),
    )  # fmt: skip


def standard_error(y: Any, scores: Any) -> float:
    """Standard error of an AUC (DeLong, DeLong and Clarke-Pearson 1988)."""
    positive, negative = np.sort(scores[y == 1]), np.sort(scores[y != 1])

    def placements(ones: Any, others: Any) -> Any:
        below, up_to = (np.searchsorted(others, ones, side=side) for side in ("left", "right"))
        return (below + up_to) / 2 / len(others)

    parts = (placements(positive, negative), placements(negative, positive))
    return float(np.sqrt(sum(part.var(ddof=1) / len(part) for part in parts)))


def sub_samples(path: Path, how_many: int) -> Iterator[tuple[Any, Any, Any, Any]]:
    with np.load(path, allow_pickle=False) as file:
        X, y = file["X"].astype(np.float64), file["y"].astype(int)
    for seed in range(how_many):
        X_some, X_rest, y_some, y_rest = train_test_split(X, y, train_size=N, stratify=y, random_state=seed)
        yield X_some, y_some, X_rest, y_rest


def section(data: Path, sets: list[str], how_many: int, n_jobs: int) -> report.Section:
    rows, everything, goals = [], [], []
    X, y, *_ = next(sub_samples(data / f"{sets[0]}.npz", 1))
    sobercv.BBCSearchCV(PIPELINE, {}, cv=2, n_jobs=n_jobs, n_bootstraps=50).fit(X, y)  # starts workers, loads kernels
    for name in sets:
        pairs = []
        for seed, part in enumerate(sub_samples(data / f"{name}.npz", how_many)):
            pairs.append((tune(*part, None, n_jobs), tune(*part, "bced", n_jobs)))
            full, dropped = pairs[-1]
            print(
                f"{name} {seed}: {full.models} models and {dropped.models}, hold-out {full.auc:.4f} and "
                f"{dropped.auc:.4f} (standard error {full.error:.4f}), {full.seconds:.1f} s and "
                f"{dropped.seconds:.1f} s",
                flush=True,
            )
        everything += pairs
        rows.append(_row(name, pairs))
        loss = float(np.mean([a.auc - b.auc for a, b in pairs]))
        error = float(np.mean([a.error for a, _ in pairs]))
        goals.append(report.Goal(f"{name}, hold-out AUC lost, in standard errors", loss / error, 1.0, True))
        goals.append(report.Goal(f"{name}, times fewer models", _ratio(pairs), RATIOS[0], False, "x"))
    rows.append(_row("all", everything))
    configurations = everything[0][0].configurations
    same = sum(a.winner == b.winner for a, b in everything)
    ratios = [a.models / b.models for a, b in everything]
    within = sum(abs(a.auc - b.auc) <= a.error for a, b in everything)
    return report.Section(
        f"Early dropping: N = {N}, {configurations} configurations, {FOLDS} folds",
        [
            "data", "models", "with dropping", "times fewer", "hold-out AUC", "with dropping", "standard error",
            "honest AUC", "with dropping", "seconds", "with dropping",
        ],
        rows,
        goals,
        [
            f"Each line is the mean of {how_many} sub-samples of {N} rows (the last line of all {len(everything)}), "
            "tuned with `BBCSearchCV(..., drop=None)` and `drop='bced'` on the same folds; the rows left over are the "
            "hold-out. Models: fits by the search, the final one included. Standard error: DeLong's, of one hold-out "
            "AUC. Honest AUC: `estimate_.value`, what the search itself claims.",
            f"The two searches picked the same configuration in {same} of {len(everything)} sub-samples; the two "
            f"winners' hold-out AUC differed by at most one standard error in {within}. Single sub-samples needed "
            f"{min(ratios):.1f} to {max(ratios):.1f} times fewer models.",
        ],
    )  # fmt: skip


def _ratio(pairs: list[tuple[Run, Run]]) -> float:
    return sum(a.models for a, _ in pairs) / sum(b.models for _, b in pairs)


def _row(name: str, pairs: list[tuple[Run, Run]]) -> list[str]:
    def mean(which: int, what: str) -> float:
        return float(np.mean([getattr(pair[which], what) for pair in pairs]))

    return [
        name, f"{mean(0, 'models'):,.0f}", f"{mean(1, 'models'):,.0f}", report.ratio(_ratio(pairs)),
        f"{mean(0, 'auc'):.4f}", f"{mean(1, 'auc'):.4f}", f"{mean(0, 'error'):.4f}",
        f"{mean(0, 'honest'):.4f}", f"{mean(1, 'honest'):.4f}",
        f"{mean(0, 'seconds'):.1f}", f"{mean(1, 'seconds'):.1f}",
    ]  # fmt: skip


PAGE = """# Early dropping on real data
The paper's rule (`drop="bced"`) stops training configurations that are worse than the best in more than 99 % of the
bootstrap resamples (BCED-CV; the journal version of the paper calls it BBCD-CV). How many models does that save, and
what does it cost? [Races](racing.md) compares it with the default, which saves more.

{table}
Search space: a scaler, a univariate choice of 2, 10, 30 or 100 % of the columns, and logistic regression, SVM with
radial kernel, random forest, decision tree, nearest neighbours or naive Bayes with a few settings each.

Written by this command, where the folder holds the public data sets as `<name>.npz` files (X, y); they are not part of
the project:

```bash
python -m benchmarks.dropping --data ../shared/data --write
```

{machine}
"""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dropping", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the .npz files")
    parser.add_argument("--sets", default=",".join(SETS), help="names of files, with commas")
    parser.add_argument("--samples", type=int, default=3, help="sub-samples of each set")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", nargs="?", const="docs/dropping.md", metavar="FILE", help="keep the page")
    arguments = parser.parse_args()
    about = report.machine(os.getloadavg()[0])
    print("\n".join(about), end="\n\n", flush=True)
    found = section(arguments.data, arguments.sets.split(","), arguments.samples, arguments.jobs)
    print(report.as_text(found))
    if arguments.write:
        table = report.as_markdown([found]) + "\n"
        machine = "\n".join(f"- {line}" for line in about)
        Path(arguments.write).write_text(PAGE.format(table=table, machine=machine))


if __name__ == "__main__":
    main()
