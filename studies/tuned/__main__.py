"""`python -m studies.tuned`: run what is missing, write the results and the page; with --data on real tables, too."""

from __future__ import annotations

from collections.abc import Sequence

from ..harness import read_options, write_results
from . import back, page, real
from .run import BACK, BACK_SETS, HERE, REAL, RESULTS, run
from .simulated import NEW


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(
        __doc__, arguments, quick=False, seed=0, repetitions=500, work="study-work", data=[], output=HERE
    )
    rows = run(options.work, 10 if options.quick else options.repetitions, options.seed)
    found = real.run(options.data, options.work, 0.05 if options.quick else 1.0) if options.data else {}
    if not options.quick:
        about = {"seed": options.seed}
        write_results(rows, options.output / RESULTS.name, {**about, "fixed_models": True, "new": NEW}, ".6f")
        if found:
            write_results(real.summary(found), options.output / REAL.name, about, ".6f")
            write_results(back.by_share(found), options.output / BACK.name, about, ".6f")
            write_results(back.by_set(found), options.output / BACK_SETS.name, about, ".6f")
        page.main()
    for line in page.simulated_lines(rows):
        print(*line, sep="  ")


if __name__ == "__main__":
    main()
