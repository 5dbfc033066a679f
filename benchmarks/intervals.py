"""What an interval costs: `sobercv.bbc` with the calibrated interval against percentiles, by CPU seconds."""

from __future__ import annotations

from functools import partial

import sobercv

from . import timing
from .problems import METRICS, problem
from .report import Section, number, ratio

SIZES = ((100, 50), (500, 100), (500, 610))


def run(quick: bool = False, large: bool = False) -> list[Section]:
    rows = []
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
    return [
        Section(
            "Intervals: calibrated against percentiles, 1,000 resamples",
            ["N x C", "metric", "percentile, ms", "calibrated, ms", "calibrated/percentile"],
            rows,
            ["CPU seconds of one call on one thread, the shortest of nine."],
        )
    ]
