"""`python -m studies.beyond --data FOLDER [--quick]`: run what is missing, write the results and the page."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from . import page
from .run import HERE, RESULTS, run, write


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m studies.beyond", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one table of each set and size; no results are written")
    parser.add_argument(
        "--data", type=Path, action="append", default=[], help="a folder of NAME.npz files; may be given several times"
    )
    parser.add_argument("--judge-only", action="store_true", help="judge the tables of the work folder, make no others")
    parser.add_argument("--work", type=Path, default=Path("study-work/intervals"), help="where pieces are kept")
    parser.add_argument("--output", type=Path, default=HERE, help="where results.csv is written")
    options = parser.parse_args(arguments)
    rows = run(options.data, options.work, quick=options.quick, make=not options.judge_only)
    if not rows:
        raise SystemExit("No data set is at hand: pass --data FOLDER, with NAME.npz files.")
    if not options.quick:
        options.output.mkdir(parents=True, exist_ok=True)
        write(rows, options.output / RESULTS.name)
        if options.output == HERE:
            page.main()
    print(page.summary(rows))


if __name__ == "__main__":
    main()
