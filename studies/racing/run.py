"""Run the study of races, one piece per table: rows of means for each place, metric and rule.

A place is a simulated setting, or a data set and a size.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from scipy import stats

import sobercv
from sobercv.inference import DropRule
from sobercv.testing import simulate

from ..harness import Rows as Results
from ..harness import Say, read_piece, read_pieces
from . import tables
from .measure import ROW_RULES, RULES, SHARPER, measure

HERE = Path(__file__).parent
REPETITIONS = 60
#: Samples, configurations, parameters of the beta distribution of true accuracies, correlation of errors.
SETTINGS = [
    (n, c, beta, rho)
    for n in (40, 100, 500)
    for c in (50, 200)
    for beta in ((9.0, 6.0), (24.0, 6.0))
    for rho in (0.0, 0.5, 0.9)
]
Rules = dict[str, DropRule | None]


class Piece(NamedTuple):
    """What is measured and kept together: one table, by one metric."""

    name: str
    place: dict[str, Any]
    rules: Rules
    measure: Callable[[Rules], Results]


def simulated(repetitions: int) -> Iterator[Piece]:
    """Tables of simulated accuracy, where the truth is known."""
    for sample in range(repetitions):
        for n, c, (a, b), rho in SETTINGS:
            name = f"beta({a:g},{b:g}) c={c} rho={rho:g}"
            place = {"data": name, "n": n, "metric": "accuracy", "simulated": True}
            rules = {**RULES, **ROW_RULES} if c <= 50 else RULES  # tests of all pairs take minutes where there are 200
            measure = partial(_simulated, n, c, a, b, rho, sample)
            yield Piece(f"sim-{n}-{c}-{a:g}-{rho:g}-{sample:03d}", place, rules, measure)


def _simulated(n: int, c: int, a: float, b: float, rho: float, sample: int, rules: Rules) -> Results:
    data = simulate.correlated_accuracy(n=n, c=c, a=a, b=b, rho=rho, seed=sample)
    table = sobercv.Predictions.build(data.y, data.predictions, task="classification", folds=data.folds)
    return measure(table, data.truth, "accuracy", rules, seed=sample)


def real(work: Path, places: Sequence[tables.Place]) -> Iterator[Piece]:
    """Tables of real sub-samples, each by AUC and by accuracy."""
    for place in places:
        for metric in ("roc_auc", "accuracy"):
            about = {"data": place.name, "n": place.n, "metric": metric, "simulated": False}
            name = f"{place.file.removesuffix('.npz')}-{metric}"
            rules = {**RULES, **SHARPER, **(ROW_RULES if metric == "accuracy" else {})}
            yield Piece(name, about, rules, partial(_real, work / "tables" / place.file, metric, place.sample))


def _real(path: Path, metric: str, seed: int, rules: Rules) -> Results:
    d = read_piece(path)
    response, ours, judged = (
        ("predict", "labels", "judged_labels")
        if metric == "accuracy"
        else ("decision_function", "scores", "judged_scores")
    )
    table = sobercv.Predictions.build(
        d["y"], {response: d[ours]}, task="classification", responses=(response,), folds=d["fold"]
    )
    truth = (
        (d[judged] == d["y_judges"][:, None]).mean(axis=0) if metric == "accuracy" else _auc(d["y_judges"], d[judged])
    )
    return measure(table, truth, metric, rules, seed=seed)


def _auc(y: np.ndarray, scores: np.ndarray) -> np.ndarray:
    ranks = stats.rankdata(scores, axis=0)
    n = int((y == 1).sum())
    return np.asarray((ranks[y == 1].sum(axis=0) - n * (n + 1) / 2) / (n * (len(y) - n)))


def run(work: Path, pieces: Sequence[Piece], n_jobs: int = 1, say: Say = print) -> Results:
    """Measure what is missing in the work folder; return the means of all of it.

    The name of a piece's file tells its rules, so that a piece with other rules is another piece.
    """
    files = {piece_file(work, piece): partial(piece.measure, piece.rules) for piece in pieces}
    found: dict[tuple[Any, ...], Results] = defaultdict(list)
    for piece, rows in zip(pieces, read_pieces(files, "tables to replay races on", n_jobs, say), strict=True):
        by_rule = {row["rule"]: row for row in rows}
        for rule in piece.rules:
            found[(*piece.place.items(), ("rule", rule))].append(against(by_rule[rule], by_rule["none"]))
    return [{**dict(key), **means(rows)} for key, rows in found.items()]


def piece_file(work: Path, piece: Piece) -> Path:
    """Where the rows of a piece are kept."""
    return work / "pieces" / f"{piece.name}-{crc32(repr(sorted(piece.rules)).encode()):08x}.json"


def against(row: dict[str, Any], none: dict[str, Any]) -> dict[str, Any]:
    """Add what the race has changed on this table: the error of the estimate, and its square."""
    before, after = none["survivors"], row["counted"]
    return {**row, "bias added": after - before, "squares added": after**2 - before**2}


def means(rows: Results) -> dict[str, float]:
    """Put the races of one place and rule together."""

    def of(name: str) -> np.ndarray:
        return np.array([float(row[name]) for row in rows])

    return {
        "tables": len(rows), "models": float(of("models").mean()), "alive": float(of("alive").mean()),
        "kept": float(of("kept").mean()), "true": float(of("true").mean()),
        # Where the winner is always right its score has no error, and nothing can be lost.
        "lost in standard errors": float(np.mean(of("lost") / np.where(of("error") > 0, of("error"), np.inf))),
        "bias of survivors": float(of("survivors").mean()), "bias with the dropped": float(of("counted").mean()),
        "squares of survivors": float((of("survivors") ** 2).mean()),
        "squares with the dropped": float((of("counted") ** 2).mean()),
        "variance of survivors": float(of("survivors").var(ddof=1)) if len(rows) > 1 else 0.0,
        "variance with the dropped": float(of("counted").var(ddof=1)) if len(rows) > 1 else 0.0,
        **{f"{name} added": float(of(f"{name} added").mean()) for name in ("bias", "squares")},
        **{
            f"variance of {name} added": float(of(f"{name} added").var(ddof=1)) if len(rows) > 1 else 0.0
            for name in ("bias", "squares")
        },
        "covered by survivors": float(of("survivors covers").mean()),
        "covered with the dropped": float(of("counted covers").mean()),
    }  # fmt: skip
