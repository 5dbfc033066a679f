"""`python -m studies.racing [--quick] [--data FOLDER]`: run what is missing, write results, print the rules."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ..results_file import write_results
from . import tables
from .rows import overview
from .run import HERE, REPETITIONS, real, run, simulated


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m studies.racing", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="2 simulated tables a setting, no files kept")
    parser.add_argument("--data", type=Path, help="a folder of NAME.npz files; without it, simulated tables only")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, help="simulated tables a setting")
    parser.add_argument("--samples", type=int, help="at most so many sub-samples of each data set and size")
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--work", type=Path, default=Path("study-work/racing"), help="where pieces are kept")
    parser.add_argument("--output", type=Path, default=HERE, help="where results.csv is written")
    options = parser.parse_args(arguments)
    pieces = list(simulated(2 if options.quick else options.repetitions))
    if options.data is not None:
        found = tables.run(options.data, options.work / "tables", tables.places(options.samples))
        pieces += real(options.work, found)
    rows = run(options.work, pieces, options.jobs)
    if not options.quick:
        options.output.mkdir(parents=True, exist_ok=True)
        about = {"repetitions": options.repetitions, "configurations of real tables": 108, "folds": tables.FOLDS}
        write_results(rows, options.output / "results.csv", about, lambda v: f"{v:.6g}" if isinstance(v, float) else v)
    print(overview(rows))


if __name__ == "__main__":
    main()
