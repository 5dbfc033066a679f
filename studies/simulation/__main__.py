"""`python -m studies.simulation`: run what is missing, write results, print the table of claims."""

from __future__ import annotations

from collections.abc import Sequence

from ..harness import read_options, write_results
from .claims import table_of
from .run import HERE, run


def main(arguments: Sequence[str] | None = None) -> None:
    shared = {"action": "store_true", "help": "one random number per sample for all configurations"}
    options = read_options(
        __doc__, arguments, {"shared": shared}, quick=False, seed=0, repetitions=500, jobs=-1, work="study-work",
        output=HERE,
    )  # fmt: skip
    rows = run(
        options.work, quick=options.quick, seed=options.seed, repetitions=options.repetitions, shared=options.shared,
        n_jobs=options.jobs,
    )  # fmt: skip
    if not options.quick:
        name = "results-shared.csv" if options.shared else "results.csv"
        write_results(rows, options.output / name, {"seed": options.seed, "shared draws": options.shared})
    print(table_of(rows))


if __name__ == "__main__":
    main()
