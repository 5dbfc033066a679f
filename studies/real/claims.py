"""Every sentence of section 6.2 that holds a number or a direction, checked against our results.

Takes the rows of a results file (one for each sub-data set), gives claims.
"""

from __future__ import annotations

from dataclasses import replace

from ..claims import Claim, as_text
from .bias_claims import bias_claims
from .dropping_claims import dropping_claims
from .interval_claims import interval_claims
from .measures import Rows

#: Fewer sub-data sets than this cannot tell that a claim is wrong.
ENOUGH = 30


def claims(rows: Rows) -> list[Claim]:
    """All claims of the section that the results can speak to."""
    found = [*bias_claims(rows), *dropping_claims(rows), *interval_claims(rows)]
    return found if len(rows) >= ENOUGH else [replace(c, agrees=c.agrees or None) for c in found]


def table_of(rows: Rows) -> str:
    """The claims for a terminal."""
    return as_text(claims(rows))
