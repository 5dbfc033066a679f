"""`python -m studies.real --data FOLDER`: run what is missing, print the table of claims.

Without a folder the data come from OpenML; a quick run without one takes what ships with scikit-learn.
"""

from __future__ import annotations

from collections.abc import Sequence

from sobercv.errors import SoberError

from ..harness import read_options
from .claims import table_of
from .data import sources
from .design import SCALES
from .run import HERE, run, write


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(
        __doc__, arguments, {"scale": {"choices": ("small", "full"), "default": "small"}}, quick=False, data=[], seed=0,
        jobs=-1, work="study-work", output=HERE,
    )  # fmt: skip
    scale = "quick" if options.quick else options.scale
    try:
        found, missing = sources(options.data, options.quick)
        rows = run(options.work, found, scale=scale, seed=options.seed, n_jobs=options.jobs)
    except SoberError as error:
        raise SystemExit(str(error)) from None
    if missing:
        print(f"left out, as they are not at hand: {', '.join(missing)}")
    if scale != "full":
        amount = SCALES[scale]
        print(
            f"left out by the scale {scale!r}: {amount.sub_samples} sub-data sets a size ({amount.costly} of "
            f"N = 500 and of wide tables) instead of 20, forests of {amount.trees} trees instead of 1000, "
            f"{rows[0]['configurations']:.0f} of 610 configurations"
        )
    if not options.quick:
        write(rows, options.output / f"results-{scale}.csv", scale=scale, seed=options.seed, found=found)
    print(table_of(rows))


if __name__ == "__main__":
    main()
