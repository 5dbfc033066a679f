"""ReadingOptions: what a user may say about a file that cannot tell it itself.

Takes options, checks them; never reads.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import SoberError

_DECIMALS = {".": ".", "point": ".", "dot": ".", ",": ",", "comma": ","}


@dataclass(frozen=True)
class ReadingOptions:
    """How to read a file, where it can be read in two ways.

    Attributes
    ----------
    sheet : str, optional
        Of a workbook.
    decimal : {".", ","}, optional
        The decimal mark of columns that can be read in two ways; also "point" and "comma".
    header : bool, optional
        Whether the first row holds the names; looked at unless given.
    """

    sheet: str | None = None
    decimal: str | None = None
    header: bool | None = None

    def __post_init__(self) -> None:
        if self.decimal is not None:
            known = _DECIMALS.get(self.decimal.strip().lower())
            if known is None:
                raise SoberError("E808", f"--decimal takes . or , (point or comma); got {self.decimal[:20]!r}.")
            object.__setattr__(self, "decimal", known)
