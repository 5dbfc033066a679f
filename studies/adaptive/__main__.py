"""`python -m studies.adaptive`: run what is missing, write the results and the page."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ..results_file import write_results
from . import page, real
from .measure import BOOTSTRAPS
from .run import REPETITIONS, run, summarise

RESULTS = Path(__file__).parent / "results.csv"
REAL = RESULTS.with_name("results-real.csv")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study."""
    parser = argparse.ArgumentParser(prog="python -m studies.adaptive", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="25 problems of 50 trials a cell, no files kept")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--summarise", action="store_true", help="run nothing, take what is in the work folder")
    parser.add_argument("--data", type=Path, help="a folder of NAME.npz files: real data, too")
    parser.add_argument("--real", type=int, default=10, metavar="N", help="sub-samples of each real set and size")
    parser.add_argument("--work", type=Path, default=Path("study-work"), help="where pieces are kept between runs")
    parser.add_argument("--output", type=Path, default=RESULTS.parent, help="where results.csv is written")
    for trials, repetitions in REPETITIONS.items():
        words = f"repetitions with {trials} trials (0: none)"
        parser.add_argument(f"--with-{trials}", type=int, default=repetitions, metavar="N", help=words)
    options = parser.parse_args(arguments)
    results = options.output / RESULTS.name
    wanted = {trials: getattr(options, f"with_{trials}") for trials in REPETITIONS}
    if options.quick:
        wanted = {trials: 25 if trials == min(wanted) else 0 for trials in wanted}
    rows = run(options.work, seed=options.seed, repetitions=wanted, make=not options.summarise)
    found = real.run(options.data, options.work, options.real, options.seed) if options.data else []
    if options.quick:
        print(*("  ".join(line) for line in page.bias_lines(rows)), sep="\n")
        return
    options.output.mkdir(parents=True, exist_ok=True)
    about = {"seed": options.seed, "bootstraps": BOOTSTRAPS}
    write_results(rows, results, about, _written)
    if found:
        claims = [summarise(n, real.TRIALS, claims) for n, claims in found]
        write_results(claims, options.output / REAL.name, {**about, "sets": len(real.SETS)}, _written)
    if results == RESULTS:
        page.main()


def _written(value: float) -> object:
    return value if float(value).is_integer() else f"{value:.6g}"


if __name__ == "__main__":
    main()
