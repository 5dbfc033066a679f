"""Every sentence of section 6.2 that holds a number or a direction, checked against our results.

Takes the rows of a results file (one for each sub-data set), gives claims.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..claims import Claim, as_text
from .bias_claims import bias_claims, nested_claims
from .dropping_claims import dropping_claims
from .interval_claims import interval_claims
from .measures import Rows
from .width_claims import width_claims

#: Fewer sub-data sets than this cannot tell that a claim is wrong.
ENOUGH = 30


def claims(rows: Rows, wide: Sequence[dict[str, Any]] = (), nested: Sequence[dict[str, Any]] = ()) -> list[Claim]:
    """All claims of the section that the results can speak to.

    `wide` are rows of all 610 configurations, `nested` more rows of the two places where the paper names NCV's bias.
    """
    instead = {claim.says: claim for claim in [*width_claims(list(wide)), *nested_claims(list(nested))]}
    found = [*bias_claims(rows), *dropping_claims(rows), *interval_claims(rows)]
    found = [instead.get(claim.says, claim) for claim in found]
    return found if len(rows) >= ENOUGH else [replace(c, agrees=c.agrees or None) for c in found]


def table_of(rows: Rows) -> str:
    """The claims for a terminal."""
    return as_text(claims(rows))
