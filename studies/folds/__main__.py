"""`python -m studies.folds --data FOLDER`: make the searches that are missing, judge all, write the page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from ..harness import read_options, read_pieces, write_results
from ..intervals.data import make_tables
from . import judging, page, tables

HERE = Path(__file__).parent


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the study."""
    options = read_options(
        __doc__, arguments, data=None, work="study-work/folds", samples=tables.SAMPLES, repetitions=100
    )
    work = options.work
    found = make_tables(options.data, work, tables.places(options.samples), tables.table)
    pieces = {(work / place.file).with_suffix(".json"): partial(judging.real, work, place) for place in found}
    rows = [row for piece in read_pieces(pieces, "searches to judge") for row in piece]
    about = {"samples": options.samples, "repetitions": options.repetitions}
    write_results(rows, HERE / "results-real.csv", about, ".5g")
    write_results(judging.simulations(options.repetitions), HERE / "results-simulated.csv", about, ".5g")
    page.write()


if __name__ == "__main__":
    main()
