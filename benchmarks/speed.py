"""The journey without the other tools: `BBCSearchCV` against `GridSearchCV`, in a few minutes.

Takes the data of the journey, gives for each set the time, the CPU time and the models of both. CPU seconds are judged:
both use the same cores, and other programs on the machine disturb them far less than the clock.
"""

from __future__ import annotations

from pathlib import Path

from . import peers
from .journey import FROM_FILES, PLAIN, SHIPPED, SOBER, absent, after_warm_up, mean, share
from .peers import Result
from .report import Section, number, ratio


def run(quick: bool = False, large: bool = False, data: Path | None = None) -> list[Section]:
    """Time both on every sub-sample."""
    rows, searches = [], {}
    for each in (*SHIPPED, *(FROM_FILES if data is not None else ())):
        found: list[tuple[Result, Result]] = []
        for task in each.tasks(data, quick):
            found.append((after_warm_up(peers.grid_search, task), after_warm_up(peers.bbc_search, task)))
            print(
                f"{task.name}, sub-sample {task.seed}: CPU {found[-1][0].cpu:.1f} s, {found[-1][1].cpu:.1f} s",
                flush=True,
            )
        searches[task.name] = [own for _, own in found]
        plain, own = ([pair[i] for pair in found] for i in (0, 1))
        times = {what: mean(plain, what) / mean(own, what) for what in ("seconds", "cpu", "models")}
        rows.append([
            task.name, *(number(mean(some, what)) for what in ("seconds", "cpu") for some in (plain, own)),
            f"{mean(own, 'models'):,.0f}", *(ratio(times[what]) for what in ("seconds", "cpu", "models")),
            f"{mean(own, 'held_out') - mean(plain, 'held_out'):+.4f}",
        ])  # fmt: skip
    heads = [
        "data", f"{PLAIN}, s", f"{SOBER}, s", f"{PLAIN}, CPU s", f"{SOBER}, CPU s", "models", "times faster",
        "times less CPU", "times fewer models", "hold-out gained",
    ]  # fmt: skip
    left_out = [] if data is not None else [each.name for each in FROM_FILES]
    words = "As in the journey, the same data, grids, folds and cores; means over sub-samples."
    return [
        Section(f"Speed: {SOBER} against {PLAIN}, {peers.N_JOBS} cores", heads, rows, [words, *absent(left_out)]),
        share(searches, "Speed"),
    ]
