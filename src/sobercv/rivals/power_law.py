"""Selection on ever more samples, and a power law that says where that leads: IPL, as far as a table allows.

The winner of m samples is judged on the others, for several m; the
curve a - b m^-c through these scores, read at all N samples, is the estimate. Ding et al. (2014) also train on m
samples, at the price of as many models again for each m; here all models are those of the cross-validation.
"""

from __future__ import annotations

import numpy as np

from .. import seeds
from ..containers import Array
from ..errors import SoberError
from ..inference.tables import Table

#: Shares of the samples on which a winner is selected, and how often for each.
SHARES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
N_DRAWS = 100
#: Exponents that are tried.
EXPONENTS = np.linspace(0.05, 2.0, 40)


def power_law(table: Table) -> list[tuple[float, int]]:
    """Score of a table by its first metric, and undefined draws; whole groups are selected on or judged on."""
    unit_of, n_units, scorer = table.observed.of_entry, table.observed.n, table.scorers[0]
    sizes, scores, n_undefined = [], [], 0
    for k, share in enumerate(SHARES):
        m = round(share * n_units)
        order = seeds.generator(table.question.seed, "ipl", k).random((N_DRAWS, n_units)).argsort(axis=1)
        chosen = (order < m)[:, unit_of].view(np.uint8)  # [draws, N]: m units each
        winners = table.select(scorer.scores(chosen))
        judged = np.where(winners >= 0, scorer.picked(1 - chosen, np.maximum(winners, 0)), np.nan)
        n_undefined += int(np.isnan(judged).sum())
        if not np.isnan(judged).all():
            sizes.append(m)
            scores.append(float(np.nanmean(judged)))
    if len(sizes) < 3:
        raise SoberError("E109", f"{table.question.first.name} is undefined on parts of this table: it has no curve.")
    value = float(np.clip(read_at(np.array(sizes), np.array(scores), n_units), *table.question.first.range))
    return [(value, n_undefined)]


def read_at(sizes: Array, scores: Array, n: int) -> float:
    """Fit a - b m^-c with b >= 0 to scores [M] by least squares, and read it at n; the mean where they do not rise."""
    best, value = float(np.sum((scores - scores.mean()) ** 2)), float(scores.mean())
    for c in EXPONENTS:
        x = sizes**-c
        with np.errstate(invalid="ignore"):  # of tiny tables all sizes may be one, and no curve rises
            slope = float(np.sum((x - x.mean()) * (scores - scores.mean())) / np.sum((x - x.mean()) ** 2))
        at = scores.mean() + slope * (x - x.mean())
        error = float(np.sum((scores - at) ** 2))
        if slope < 0 and error < best:
            best, value = error, float(scores.mean() + slope * (n**-c - x.mean()))
    return value
