"""`python -m studies.excess --data FOLDER`: train and judge what is missing; then results and pages are written."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from .run import fill, places


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m studies.excess", description=__doc__)
    parser.add_argument("--data", type=Path, action="append", default=[], help="a folder of NAME.npz files")
    parser.add_argument("--work", type=Path, default=Path("study-work/excess"), help="where rows.csv is kept")
    options = parser.parse_args(arguments)
    options.work.mkdir(parents=True, exist_ok=True)
    fill(options.data, options.work / "rows.csv", places())


if __name__ == "__main__":
    main()
