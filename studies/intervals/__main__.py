"""`python -m studies.intervals --data FOLDER`: run what is missing, write the results and the page."""

from __future__ import annotations

from collections.abc import Sequence

from ..harness import read_options, write_results
from .coverage import by_excess, summarise
from .page import EXCESS, REAL, REPEATED, SIMULATED, headline, write_page
from .run import HERE, REPETITIONS, run_real, run_simulated


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(
        __doc__, arguments, quick=False, data=[], repetitions=REPETITIONS, judge_only=False,
        work="study-work/intervals", output=HERE,
    )  # fmt: skip
    real = run_real(options.data, options.work, quick=options.quick, make=not options.judge_only, say=print)
    made = run_simulated(options.work, quick=options.quick, repetitions=options.repetitions, say=print)
    simulated = summarise(made, SIMULATED)
    once = [row for row in real if row["repeats"] == 1]
    by_set, chosen = summarise(once, REAL), by_excess(once)
    repeated = summarise([row for row in real if row["most repeats"] > 1], REPEATED)
    if not options.quick:
        about = {"repetitions": options.repetitions, "tables": len({(r["set"], r["n"], r["sample"]) for r in real})}
        for name, rows in (("real", by_set), ("repeats", repeated), ("simulated", simulated), (EXCESS, chosen)):
            if rows:
                write_results(rows, options.output / f"results-{name}.csv", about, ".4g")
        if options.output == HERE and real:
            write_page()
    print(headline(by_set, simulated))


if __name__ == "__main__":
    main()
