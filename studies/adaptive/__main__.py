"""`python -m studies.adaptive`: run what is missing, write the results and the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..harness import read_options, write_results
from . import page, real
from .measure import BOOTSTRAPS
from .run import REPETITIONS, run, summarise

RESULTS = Path(__file__).parent / "results.csv"
REAL = RESULTS.with_name("results-real.csv")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study; with --data on real data, too."""
    more = {
        f"with_{trials}": {"type": int, "default": some, "help": f"repetitions with {trials} trials (0: none)"}
        for trials, some in REPETITIONS.items()
    }
    options = read_options(
        __doc__, arguments, more, quick=False, seed=0, judge_only=False, data=[], samples=10, work="study-work",
        output=RESULTS.parent,
    )  # fmt: skip
    wanted = {trials: getattr(options, f"with_{trials}") for trials in REPETITIONS}
    if options.quick:
        wanted = {trials: 25 if trials == min(wanted) else 0 for trials in wanted}
    rows = run(options.work, seed=options.seed, repetitions=wanted, make=not options.judge_only)
    found = real.run(options.data, options.work, options.samples, options.seed) if options.data else []
    if options.quick:
        print(*("  ".join(line) for line in page.bias_lines(rows)), sep="\n")
        return
    about = {"seed": options.seed, "bootstraps": BOOTSTRAPS}
    write_results(rows, options.output / RESULTS.name, about)
    if found:
        claims = [summarise(n, real.TRIALS, claims) for n, claims in found]
        write_results(claims, options.output / REAL.name, {**about, "sets": len(real.SETS)})
    if options.output == RESULTS.parent:
        page.main()


if __name__ == "__main__":
    main()
