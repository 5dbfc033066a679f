"""`python -m studies.beyond --data FOLDER`: run what is missing, write the results and the page."""

from __future__ import annotations

from collections.abc import Sequence

from ..harness import read_options, write_results
from . import page
from .run import HERE, RESULTS, run


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(
        __doc__, arguments, quick=False, data=[], judge_only=False, work="study-work/intervals", output=HERE
    )
    rows = run(options.data, options.work, quick=options.quick, make=not options.judge_only)
    if not rows:
        raise SystemExit("No data set is at hand: pass --data FOLDER, with NAME.npz files.")
    if not options.quick:
        about = {"tables": len({(row["data"], row["n"], row["sample"]) for row in rows})}
        write_results(rows, options.output / RESULTS.name, about, ".5g")
        if options.output == HERE:
            page.main()
    print(page.summary(rows))


if __name__ == "__main__":
    main()
