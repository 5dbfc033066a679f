"""`python -m studies.real [--scale small|full] [--quick]`: run what is missing, print the table of claims."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from sobercv.errors import SoberError

from .claims import table_of
from .data import sources
from .design import SCALES
from .run import HERE, run, write


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m studies.real", description=__doc__)
    parser.add_argument("--scale", choices=("small", "full"), default="small")
    parser.add_argument("--quick", action="store_true", help="a few minutes, no files kept; stand-ins without --data")
    parser.add_argument("--data", type=Path, help="a folder of NAME.npz files; without it, OpenML")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--work", type=Path, default=Path("study-work"), help="where pieces are kept between runs")
    parser.add_argument("--output", type=Path, default=HERE, help="where results.csv is written")
    options = parser.parse_args(arguments)
    scale = "quick" if options.quick else options.scale
    try:
        found, missing = sources(options.data, options.quick)
        rows = run(options.work, found, scale=scale, seed=options.seed, n_jobs=options.jobs)
    except SoberError as error:
        raise SystemExit(str(error)) from None
    if missing:
        print(f"left out, as they are not at hand: {', '.join(missing)}")
    if scale != "full":
        amount = SCALES[scale]
        print(
            f"left out by the scale {scale!r}: {amount.sub_samples} sub-data sets a size ({amount.costly} of "
            f"N = 500 and of wide tables) instead of 20, forests of {amount.trees} trees instead of 1000, "
            f"{rows[0]['configurations']:.0f} of 610 configurations"
        )
    if not options.quick:
        options.output.mkdir(parents=True, exist_ok=True)
        write(rows, options.output / f"results-{scale}.csv", scale=scale, seed=options.seed, found=found)
    print(table_of(rows))


if __name__ == "__main__":
    main()
