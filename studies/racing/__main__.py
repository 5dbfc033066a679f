"""`python -m studies.racing --data FOLDER`: run what is missing, write results, print the rules.

Without a folder only simulated tables are raced.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..harness import read_options, write_results
from . import tables
from .rows import overview
from .run import HERE, REPETITIONS, real, run, simulated


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(
        __doc__, arguments, quick=False, data=[], repetitions=REPETITIONS, samples=None, jobs=-1,
        work="study-work/racing", output=HERE,
    )  # fmt: skip
    pieces = list(simulated(2 if options.quick else options.repetitions))
    if options.data:
        found = tables.run(options.data, options.work / "tables", tables.places(options.samples))
        pieces += real(options.work, found)
    rows = run(options.work, pieces, options.jobs)
    if not options.quick:
        about = {"repetitions": options.repetitions, "configurations of real tables": 108, "folds": tables.FOLDS}
        write_results(rows, options.output / "results.csv", about)
    print(overview(rows))


if __name__ == "__main__":
    main()
