"""A claim of the paper, our number, and whether they agree.

Claims are plain data, and are shown as a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    """One sentence of the paper that can be checked.

    Attributes
    ----------
    where : str
        Section or figure.
    says : str
        What the paper says, in our words.
    paper : str
        Its number or direction.
    ours : str
        Our number, with its Monte Carlo error where it has one.
    agrees : bool or None
        None where our number is too uncertain to tell.
    comment : str
        Why not, where not; or what the number is.
    """

    where: str
    says: str
    paper: str
    ours: str
    agrees: bool | None
    comment: str = ""

    def __post_init__(self) -> None:
        if self.agrees is not None:  # comparisons of arrays give numpy's booleans, which are not True nor False
            object.__setattr__(self, "agrees", bool(self.agrees))


def told(short_by: float, error: float) -> bool | None:
    """Whether a number agrees, by how much it falls short of that; None where two standard errors would carry it there.

    Parameters
    ----------
    short_by : float
        Zero or less where it agrees.
    error : float
        One standard error.
    """
    if short_by <= 0:
        return True
    return None if short_by <= 2 * error else False


LOUD = {True: "agrees     ", False: "DISAGREES  ", None: "cannot tell"}
WORDS = {True: "yes", False: "NO", None: "cannot tell"}
HEADS = ("where", "the paper says", "paper", "ours", "agrees", "comment")


def _cells(claim: Claim) -> tuple[str, ...]:
    return (claim.where, claim.says, claim.paper, claim.ours, WORDS[claim.agrees], claim.comment)


def as_rows(claims: Sequence[Claim]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Heads and rows of a table of claims."""
    return HEADS, [_cells(claim) for claim in claims]


def as_text(claims: Sequence[Claim]) -> str:
    """The claims for a terminal: one line each, whether it agrees first."""
    lines = [
        f"{LOUD[c.agrees]}  {c.says}: paper {c.paper}, ours {c.ours}" + (f" ({c.comment})" if c.comment else "")
        for c in claims
    ]
    return "\n".join([*lines, summary(claims)])


def summary(claims: Sequence[Claim]) -> str:
    """How many hold, in one phrase."""
    agreeing, unclear = (sum(c.agrees is answer for c in claims) for answer in (True, None))
    more = f", {unclear} cannot be told" if unclear else ""
    return f"{agreeing} of {len(claims)} agree{more}"
