"""`python -m studies.tuned.alternatives --data FOLDER`: other estimates of what was tuned, on the smallest tables.

Why thresholds and mixes are judged as they are: the bias and the error of each estimate on simulated tables of 60
samples and on real ones of 40 to 60, all with the same resamples.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from sobercv.inference import Question
from sobercv.inference.bootstrap import BACK, Draws, Tuned
from sobercv.inference.tables import open_table
from sobercv.metrics.contract import as_counts
from sobercv.threads import one_blas_thread

from ..harness import Rows, Say, read_options, read_pieces, write_results
from ..intervals import tables
from . import page
from .real import arrays, true_score
from .run import OTHERS
from .simulated import CONFIGURATIONS, TUNED, Setting, draw_table, truth_of

PROCEDURES = ("threshold", "threshold, F1", "greedy ensemble")
N, RESAMPLES, PIECE = 60, 120, 20
#: From 0.37 N and 0.63 N distinct samples to N, for what is lost falls as 1/n.
EXTRAPOLATED = (1 / 0.632 - 1) / (1 / 0.368 - 1 / 0.632)
ESTIMATES = (
    "plain CV",
    "as it is",
    "not a tenth back",
    "mean of the draws",
    "repetitions counted",
    "both, as for a column",
    "extrapolated to N",
    "halfway to Efron's",
    "tuned on 0.75 N",
    "tuned on 0.9 N",
    "truth of what was judged",
)
#: Shares of the samples that are tuned on in the last but one, drawn without replacement.
SHARES = (0.75, 0.9)
FEW = 10  # one in so many resamples' decisions is followed to its truth


@one_blas_thread()
def estimates(
    name: str, y: np.ndarray, p: np.ndarray, seed: int, truth: Callable[[Any], float]
) -> tuple[list[float], float]:
    """Every estimate of one table, in the order of `ESTIMATES`, and the truth that they are about."""
    select, metric, _ = TUNED[name]
    question = Question.ask(metric, select=select, n_bootstraps=RESAMPLES, random_state=seed)
    table: Any = open_table(p, question, y=y)
    judge = Tuned(table, select)
    counts = table.units.counts(0, RESAMPLES)
    naive = float(judge.wholes[0][judge.winner])

    def decided(present: np.ndarray, absent: np.ndarray) -> tuple[Any, Any, float, float]:
        """Decide on some, and give the mean of the draws of others, and the score of all of them together."""
        decisions = judge.decider.decide(as_counts(present))
        (scorer,), each, labels = judge.judges(decisions, as_counts(absent))
        draws = scorer.picked(as_counts(absent), each)
        mean = float(np.nanmean(draws))
        together = judge.value(0, Draws(decisions.winners, draws[:, None], labels=labels), mean)
        return decisions, (scorer, each), mean, together

    decisions, _, mean, once = decided(counts > 0, counts == 0)
    _, (scorer, each), plain, repeated = decided(counts, counts == 0)
    fewer = decided(counts == 1, counts == 0)[3]
    optimism = float(np.nanmean(scorer.picked(counts, each) - scorer.picked(np.ones_like(counts), each)))
    further = once + EXTRAPOLATED * (once - fewer)
    order = np.random.default_rng(seed).permuted(np.tile(np.arange(len(y)), (RESAMPLES, 1)), axis=1)
    larger = [decided(order < round(share * len(y)), order >= round(share * len(y)))[3] for share in SHARES]
    judged = [truth(_one(judge.decider, decisions, b)) for b in range(0, RESAMPLES, FEW) if decisions.winners[b] >= 0]
    found = [
        naive,
        once + BACK * (naive - once),
        once,
        mean,
        repeated,
        plain,
        further,
        (plain + naive - optimism) / 2,
        *larger,
    ]
    return [*found, float(np.mean(judged))], truth(_one(judge.decider, judge.final, 0))


def _one(decider: Any, decisions: Any, b: int) -> Any:
    """Return the decision of one resample."""
    row = slice(b, b + 1)
    final = replace(decisions, **{name: values[row] for name, values in vars(decisions).items()})
    return decider.decision(final, final.winners[:0], final.tuned[:0])


def simulated(setting: Setting, repetition: int, seed: int) -> list[float]:
    """Errors of all estimates on one simulated table."""
    y, p, distance, rng = draw_table(setting, repetition, seed)
    metric = TUNED[setting.tuned][1]
    found, truth = estimates(
        setting.tuned, y, p, repetition, lambda decision: truth_of(decision, distance, metric, rng)
    )
    return [each - truth for each in found]


def real(path: Path) -> np.ndarray:
    """Errors of all estimates on one real table [procedures, estimates]; nothing where few rows tell the truth."""
    table = arrays(path)
    if table is None:
        return np.empty((0, len(ESTIMATES)))
    y, p, y_new, p_new = table
    rows = []
    for name in PROCEDURES:
        true = partial(true_score, metric=TUNED[name][1], y_new=y_new, p_new=p_new)
        found, truth = estimates(name, y, p, 0, true)
        rows.append(np.array(found) - truth)
    return np.array(rows)


def run(folders: Sequence[Path], work: Path, repetitions: int, seed: int = 0, say: Say = print) -> Rows:
    """Run what is missing, and return one row for each procedure, kind of table and estimate."""
    settings = [Setting(name, N, c) for name in PROCEDURES for c in CONFIGURATIONS]
    places = [(setting, first) for first in range(0, repetitions, PIECE) for setting in settings]
    made = {
        work / f"alternatives-{seed}-{setting.name}-{first:04d}.npz": partial(_piece, setting, first, seed)
        for setting, first in places
    }
    small = [p for p in tables.places(list(tables.BINARY)) if p.repeats == 1 and p.n <= N]
    of_tables = {
        work / f"alternatives-{place.file}": partial(_real_piece, work / "tables" / place.file)
        for place in tables.run(folders, work / "tables", small, say)
    }
    rows = [piece["rows"] for piece in read_pieces({**made, **of_tables}, say=say)]
    of_real = np.array([some for some in rows[len(places) :] if len(some)])  # [tables, procedures, E]
    found = []
    for k, name in enumerate(PROCEDURES):
        for c in CONFIGURATIONS:
            mine = [some for (s, _), some in zip(places, rows, strict=False) if (s.tuned, s.c) == (name, c)]
            found += _rows(name, f"C = {c}", np.concatenate(mine))
        found += _rows(name, "real", of_real[:, k])
    return found


def _piece(setting: Setting, first: int, seed: int) -> dict[str, np.ndarray]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {"rows": np.array([simulated(setting, r, seed) for r in range(first, first + PIECE)])}


def _real_piece(path: Path) -> dict[str, np.ndarray]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {"rows": real(path)}


def _rows(name: str, kind: str, errors: np.ndarray) -> Rows:
    return [
        {
            "tuned": name,
            "tables": kind,
            "number": len(errors),
            "estimate": estimate,
            "bias": off.mean(),
            "bias_error": off.std(ddof=1) / np.sqrt(len(off)),
            "rmse": np.sqrt((off**2).mean()),
        }
        for estimate, off in zip(ESTIMATES, errors.T, strict=True)
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(__doc__, arguments, data=None, work="study-work", repetitions=100)
    write_results(run(options.data, options.work, options.repetitions), OTHERS, {"seed": 0}, ".6f")
    page.main()


if __name__ == "__main__":
    main()
