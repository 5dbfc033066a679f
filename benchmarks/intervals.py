"""What an interval costs: `sobercv.bbc` with the calibrated interval against percentiles, by CPU seconds."""

from __future__ import annotations

from functools import partial

import sobercv

from . import timing
from .problems import METRICS, problem
from .report import Goal, Section, number, ratio

LIMIT = 1.5  # times the seconds of percentiles
SIZES = ((100, 50), (500, 100), (500, 610))


def run(quick: bool = False, large: bool = False) -> list[Section]:
    rows, goals = [], []
    for n, c in SIZES[1:2] if quick else SIZES:
        for metric in METRICS:
            made = problem(metric, n, c)
            ask = partial(sobercv.bbc, made.y, made.predictions, metric)
            taken: dict[str, list[float]] = {"percentile": [], "calibrated": []}
            for _ in range(3 if quick else 9):  # in turns, because others use the machine, too
                for interval, times in taken.items():
                    times.append(timing.seconds_and_work(partial(ask, interval=interval))[1])
            paper, calibrated = (min(times) for times in taken.values())
            rows.append(
                [f"{n} x {c}", metric, number(1000 * paper), number(1000 * calibrated), ratio(calibrated / paper)]
            )
            goals.append(Goal(f"{metric}, {n} x {c}, times percentiles", calibrated / paper, LIMIT, True, "x"))
    return [
        Section(
            "Intervals: calibrated against percentiles, 1,000 resamples",
            ["N x C", "metric", "percentile, ms", "calibrated, ms", "calibrated/percentile"],
            rows,
            goals,
            ["CPU seconds of one call on one thread, the shortest of nine."],
        )
    ]
