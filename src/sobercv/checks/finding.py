"""Finding: one thing that a check has seen, with a stable code.

Takes a code and a sentence; the first letter of the code is the severity. Never prints.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import CODES, SoberError

SEVERITIES = {"E": "error", "W": "warning", "S": "suggestion"}


@dataclass(frozen=True)
class Finding:
    """One thing that a check has seen.

    Attributes
    ----------
    code : str
        A key of `sobercv.errors.CODES`; E is an error, W a warning, S a suggestion.
    message : str
        What was seen, and what to do.
    columns : tuple of str
        The columns that it is about.
    """

    code: str
    message: str
    columns: tuple[str, ...] = ()

    @property
    def severity(self) -> str:
        """Give "error", "warning" or "suggestion"."""
        return SEVERITIES[self.code[0]]

    @property
    def title(self) -> str:
        """The title of the code's page."""
        return CODES[self.code]

    def to_dict(self) -> dict[str, object]:
        """Plain data, ready for JSON."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "columns": list(self.columns),
        }


def stop_at_errors(findings: Iterable[Finding]) -> None:
    """Raise the first error among findings, if there is one."""
    for finding in findings:
        if finding.severity == "error":
            raise SoberError(finding.code, finding.message)


def some(names: Iterable[str], most: int = 3) -> str:
    """Write the first few of many names, cut where they are long."""
    every = [repr(n if len(n) <= 40 else n[:39] + "\u2026") for n in names]
    return ", ".join(every[:most]) + (f" and {len(every) - most} more" if len(every) > most else "")
