"""One whole `sobercv.bbc` against a loop over the metric, against plain numpy, and against the bare arithmetic."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial

import numpy as np

from . import limits, rivals
from .problems import METRICS, Problem, problem
from .report import Section, number, ratio
from .timing import race

N, C, B = 500, 610, 1000
CALLS = 40  # in one process
FEW_B, FEW_C = 3, 12  # resamples and configurations of the loop that are really run
LIMIT = {"roc_auc": "saxpy", "concordance_index": "saxpy"}  # the others: gemm


def run(quick: bool = False, large: bool = False) -> list[Section]:
    rounds, budget = (4, 0.5) if quick else (25, 6.0)
    few = np.linspace(0, C - 1, FEW_C).astype(int)
    some = rivals.draw(N, FEW_B)
    # One race for all, so that a busy minute of the machine hits every row and both limits alike.
    racers = {"gemm": limits.gemm(N, C, B), "saxpy": limits.saxpy(N, C, B)}
    for metric in METRICS:
        data = problem(metric, N, C)
        _agree(data, some, few)
        racers[f"{metric} sober"] = partial(data.bbc, B)
        racers[f"{metric} loop"] = partial(rivals.loop, data, some, few)
        racers[f"{metric} plain"] = partial(rivals.plain, data, None, B)
    taken = race(racers, rounds, budget)
    rows = []
    for metric in METRICS:
        sober, plain = taken[f"{metric} sober"], taken[f"{metric} plain"]
        scaled = taken[f"{metric} loop"] * (B * C + B) / (FEW_B * FEW_C)  # B * C in bag, and B winners out of bag
        limit = LIMIT.get(metric, "gemm")
        by_loop, by_plain, of_limit = scaled / sober, plain / sober, sober / taken[limit]
        rows.append(
            [
                metric,
                number(1e3 * sober),
                number(scaled),
                ratio(by_loop),
                number(1e3 * plain),
                ratio(by_plain),
                f"{limit} {number(1e3 * taken[limit])}",
                ratio(of_limit),
            ]
        )
    return [
        Section(
            f"Kernels: BBC with N = {N}, C = {C}, B = {B:,}",
            ["metric", "sober ms", "loop s", "loop/sober", "numpy ms", "numpy/sober", "limit ms", "sober/limit"],
            rows,
            [
                "sober: the whole call of `sobercv.bbc` from arrays to estimate, on all cores, after the first call.",
                f"loop: scikit-learn's metric (all pairs in numpy for the C-index, which it lacks) called for {FEW_B} "
                f"resamples of {FEW_C} configurations, and scaled up to the {B * C + B:,} calls of one BBC.",
                "numpy: the same algorithm in plain numpy, from draws to out-of-bag scores, with numpy's own BLAS "
                "threads; checked to give sober's win counts and draws on the same counts.",
                "limit: for mean-type metrics a float64 matrix product [B, N] x [N, C] on all BLAS threads; for AUC "
                "and C-index y += a x in float64, N C B elements in vectors of length B that stay in cache, on all "
                "cores. The C-index scans its samples once for each of log2(N) levels, so it has more to do than that.",
            ],
        ),
        calls(),
    ]


_CALLS = """
import json, time
from benchmarks.problems import problem
data = problem("roc_auc", {n}, {c})
taken = []
for _ in range({calls}):
    start, busy = time.perf_counter(), time.process_time()
    data.bbc({b})
    taken.append((time.perf_counter() - start, time.process_time() - busy))
print(json.dumps(taken))
"""


def calls() -> Section:
    """All calls of a fresh process, one after the other: none after the first may be slow."""
    code = _CALLS.format(n=N, c=C, b=B, calls=CALLS)
    child = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    clock, busy = zip(*json.loads(child.stdout), strict=True)
    later = [(min(t[1:]), max(t[1:])) for t in (clock, busy)]
    rows = [
        [what, number(1e3 * taken[0]), number(1e3 * low), number(1e3 * high), ratio(high / low)]
        for what, taken, (low, high) in zip(("clock", "CPU"), (clock, busy), later, strict=True)
    ]
    return Section(
        f"{CALLS} calls of AUC in one process: N = {N}, C = {C}, B = {B:,}",
        ["time", "first ms", "best later ms", "worst later ms", "worst/best"],
        rows,
        ["The first call loads the compiled loops. Other work on the machine makes single calls slower by the clock."],
    )


def _agree(data: Problem, some: np.ndarray, few: np.ndarray) -> None:
    """Refuse to time programs that compute different things. Also warms everything up."""
    data.bbc(B)
    counts = rivals.draw(N, 64, seed=1)
    scores, winners, draws = rivals.plain(data, counts, len(counts))
    estimate = data.bbc(len(counts), counts)
    np.testing.assert_allclose(draws, estimate.draws, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(np.bincount(winners, minlength=C), estimate.win_counts)
    scores, _, _ = rivals.plain(data, some, len(some))
    np.testing.assert_allclose(rivals.loop(data, some, few), scores[:, few], rtol=1e-10, atol=1e-12)
