"""`python -m studies NAME [PART ...] --data FOLDER`: measure what is missing, write results and pages."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from .harness import RESULTS, Options, results_name, run

STUDIES = ("simulation", "real", "intervals", "beyond", "folds", "racing", "tuned", "adaptive", "excess", "centres")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a study; returns an exit code."""
    parser = argparse.ArgumentParser(prog="python -m studies", description=__doc__)
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("parts", nargs="*", metavar="PART", help="default: all that have results in the repository")
    parser.add_argument("--data", type=Path, action="extend", nargs="+", default=[], help="folders of NAME.npz files")
    parser.add_argument("--work", type=Path, default=Path("study-work"), help="where pieces are kept between runs")
    parser.add_argument("--jobs", type=int, default=-1, help="processes; -1: one per core")
    parser.add_argument("--first", type=int, metavar="N", help="only N pieces of each part; writes to the work folder")
    parser.add_argument("--page", action="store_true", help="measure nothing: write the pages of committed results")
    given = parser.parse_args(arguments)
    study = import_module(f"studies.{given.study}")
    made = [name for name in study.PARTS if (RESULTS / f"{results_name(given.study, name)}.csv").exists()]
    parts = given.parts or made or list(study.PARTS)
    for name in parts:
        if name not in study.PARTS:
            parser.error(f"{given.study} has no part {name!r}; there are {', '.join(study.PARTS)}")
    output = RESULTS if given.first is None else given.work
    options = Options(given.data, given.work, given.jobs, given.first, output)
    try:
        for name in () if given.page else parts:
            run(given.study, name, study.PARTS[name], options)
    except KeyboardInterrupt:
        print("\nStopped. What is done is kept in the work folder; the same command continues from there.")
        return 130
    for page in study.PAGES if given.first is None else ():
        page().write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
