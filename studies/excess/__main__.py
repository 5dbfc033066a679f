"""`python -m studies.excess --data FOLDER`: train and judge what is missing, then write results and pages.

Goes on where it stopped; `--pages` writes results and pages from the tables that are there.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from .page import RESULTS, write_page
from .run import fill, keep_results, places


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m studies.excess", description=__doc__)
    parser.add_argument("--data", type=Path, action="append", default=[], help="a folder of NAME.npz files")
    parser.add_argument("--work", type=Path, default=Path("study-work/excess"), help="where rows.csv is kept")
    parser.add_argument("--pages", action="store_true", help="train nothing")
    options = parser.parse_args(arguments)
    options.work.mkdir(parents=True, exist_ok=True)
    if not options.pages:
        fill(options.data, options.work / "rows.csv", places())
    keep_results(options.work / "rows.csv", RESULTS)
    write_page()


if __name__ == "__main__":
    main()
