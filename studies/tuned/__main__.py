"""`python -m studies.tuned --work FOLDER`: run what is missing, write the results and the page."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from . import back, page, real
from .run import BACK, BACK_SETS, HERE, REAL, run, write
from .simulated import NEW


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m studies.tuned", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10 repetitions, no files kept but the pieces")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repetitions", type=int, default=500)
    parser.add_argument("--work", type=Path, default=Path("study-work"), help="where pieces are kept between runs")
    parser.add_argument("--data", type=Path, help="a folder of NAME.npz files: real data, too")
    parser.add_argument("--tables", type=Path, help="where tables of real data are kept (the work folder's `tables`)")
    parser.add_argument("--output", type=Path, default=HERE, help="where results.csv is written")
    options = parser.parse_args(arguments)
    rows = run(options.work, 10 if options.quick else options.repetitions, options.seed)
    found = {}
    if options.data:
        made = options.tables or options.work / "tables"
        found = real.run([options.data], made, options.work / "real", 0.05 if options.quick else 1.0)
    if not options.quick:
        options.output.mkdir(parents=True, exist_ok=True)
        write(rows, options.output / "results.csv", options.seed, fixed_models=True, new=NEW)
        if found:
            write(real.summary(found), options.output / REAL.name, options.seed)
            write(back.by_share(found), options.output / BACK.name, options.seed)
            write(back.by_set(found), options.output / BACK_SETS.name, options.seed)
        page.main()
    for line in page.simulated_lines(rows):
        print(*line, sep="  ")


if __name__ == "__main__":
    main()
