"""`python -m studies.intervals --data FOLDER [--quick]`: run what is missing, write results and docs/intervals.md."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ..results_file import write_results
from .coverage import by_excess, summarise
from .page import EXCESS, REAL, REPEATED, SIMULATED, headline, write_page
from .run import HERE, REPETITIONS, run_real, run_simulated


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m studies.intervals", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="one table of each set, 12 settings; no results are written"
    )
    parser.add_argument(
        "--data", type=Path, action="append", default=[], help="a folder of NAME.npz files; may be given several times"
    )
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, help="simulated tables of each setting")
    parser.add_argument("--judge-only", action="store_true", help="judge the tables of the work folder, make no others")
    parser.add_argument("--work", type=Path, default=Path("study-work/intervals"), help="where pieces are kept")
    parser.add_argument("--output", type=Path, default=HERE, help="where the results are written")
    options = parser.parse_args(arguments)
    real = run_real(options.data, options.work, quick=options.quick, make=not options.judge_only, say=print)
    made = run_simulated(options.work, quick=options.quick, repetitions=options.repetitions, say=print)
    simulated = summarise(made, SIMULATED)
    once = [row for row in real if row["repeats"] == 1]
    by_set, chosen = summarise(once, REAL), by_excess(once)
    repeated = summarise([row for row in real if row["most repeats"] > 1], REPEATED)
    if not options.quick:
        options.output.mkdir(parents=True, exist_ok=True)
        about = {"repetitions": options.repetitions, "tables": len({(r["set"], r["n"], r["sample"]) for r in real})}
        for name, rows in (("real", by_set), ("repeats", repeated), ("simulated", simulated), (EXCESS, chosen)):
            if rows:
                write_results(rows, options.output / f"results-{name}.csv", about, written)
        if options.output == HERE and real:
            write_page()
    print(headline(by_set, simulated))


def written(value: object) -> object:
    """Numbers with as many digits as they have a meaning for."""
    return f"{value:.4g}" if isinstance(value, float) else value


if __name__ == "__main__":
    main()
