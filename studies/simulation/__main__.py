"""`python -m studies.simulation [--quick]`: run what is missing, write results, print the table of claims."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from .claims import table_of
from .run import HERE, run, write


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m studies.simulation", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="6 sizes x 4 distributions, 20 repetitions, no files kept")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repetitions", type=int, default=500)
    parser.add_argument("--shared", action="store_true", help="one random number a sample for all configurations")
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--work", type=Path, default=Path("study-work"), help="where pieces are kept between runs")
    parser.add_argument("--output", type=Path, default=HERE, help="where results.csv is written")
    options = parser.parse_args(arguments)
    rows = run(
        options.work,
        quick=options.quick,
        seed=options.seed,
        repetitions=options.repetitions,
        shared=options.shared,
        n_jobs=options.jobs,
    )
    if not options.quick:
        options.output.mkdir(parents=True, exist_ok=True)
        write(
            rows,
            options.output / ("results-shared.csv" if options.shared else "results.csv"),
            options.seed,
            options.shared,
        )
    print(table_of(rows))


if __name__ == "__main__":
    main()
