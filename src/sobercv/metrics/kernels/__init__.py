"""Compiled loops: the only home of numba.

Takes plain arrays, gives plain arrays; knows nothing of metrics, tables or signs. All kernels release the GIL, so that
threads over blocks of resamples use all cores.
"""

from .cuts import best_cuts, make_cuts, place_cuts
from .draws import draw, first_best, first_best_of_columns
from .lines import logistic_lines
from .mixes import greedy_mix, least_squares_mix
from .sorted_rows import average_precision, first_present, medians, partial_area
from .tables import expected_information
from .tallies import tally, tally_picked
from .walks import (
    FIRST,
    LOSER,
    TIED,
    WINNER,
    make_walks,
    walk_alone,
    walk_float,
    walk_int,
    walk_unequal,
    walk_unequal_alone,
)

__all__ = [
    "FIRST",
    "LOSER",
    "TIED",
    "WINNER",
    "average_precision",
    "best_cuts",
    "draw",
    "expected_information",
    "first_best",
    "first_best_of_columns",
    "first_present",
    "greedy_mix",
    "least_squares_mix",
    "logistic_lines",
    "make_cuts",
    "make_walks",
    "medians",
    "partial_area",
    "place_cuts",
    "tally",
    "tally_picked",
    "walk_alone",
    "walk_float",
    "walk_int",
    "walk_unequal",
    "walk_unequal_alone",
]
