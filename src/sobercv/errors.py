"""Exceptions and warnings, each with a stable code; nothing else.

Takes a code and a sentence that says what was given, what is allowed and what to do; never prints, never logs.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

#: Every code that the library can raise or warn with, and its title. A code names one cause; none is ever reused.
CODES: dict[str, str] = {
    "E101": "Shapes disagree",
    "E102": "Values are not finite numbers or valid probabilities",
    "E105": "Unknown metric",
    "E106": "Too few samples",
    "E107": "Groups, folds or weights do not fit the samples",
    "E108": "A number is out of range",
    "E109": "The metric is undefined everywhere",
    "E110": "A label is not among the classes",
    "E111": "No configuration has all predictions",
    "E112": "The target cannot be used",
    "E113": "A needed argument is missing",
    "E114": "Options that cannot be combined",
    "E116": "The metric or chart does not fit",
    "E117": "A function that was passed in failed",
    "E120": "The positive class is not named",
    "E122": "Unknown name",
    "E123": "A value is of the wrong type",
    "E303": "The search space cannot be used",
    "E307": "cv cannot be used",
    "E315": "Fits failed",
    "E403": "An extra is not installed",
    "E501": "The store or the run folder is in use",
    "E502": "The data or settings are not those of the run",
    "E505": "Something stored is damaged or missing",
    "E506": "The machine ran out of memory, disk space or another resource",
    "E601": "Interrupted before enough splits were complete",
    "E602": "Workers cannot run the fits",
    "E604": "Time ran out before enough splits were complete",
    "E801": "A file cannot be read",
    "E804": "No such column",
    "E808": "An option or setting is missing or unusable",
    "E809": "A file or folder cannot be used",
    "E810": "The model is not trusted",
    "E812": "Predictions are not recognised",
    "E813": "Only the winner is given",
    "E814": "Predictions are not out of sample",
    "E818": "No column to learn from",
    "E839": "An internal error in sober",
    "W201": "The interval is less exact than asked for",
    "W202": "Nothing was selected",
    "W203": "Folds differ from each other",
    "W204": "Configurations took no part in the correction",
    "W205": "Very few samples",
    "W206": "Predictions may be of another kind",
    "W210": "A scorer may not measure what you want",
    "W211": "Folds were resampled",
    "W212": "Another rule picks another configuration",
    "W217": "Dropped configurations took part in the correction",
    "W218": "A threshold or a mix was tuned on the predictions",
    "W240": "Compiled loops cannot be cached",
    "W301": "Related rows may be in training and test at once",
    "W501": "The store was deleted, moved or replaced",
    "W601": "The cross-validation is incomplete",
    "W602": "A worker or a listener failed",
    "W701": "Not shown to be better than guessing",
    "W702": "The choice rests on luck",
    "W704": "A part of the result was left out",
    "W711": "The best value is at the edge of its grid",
    "W801": "How the table was read",
    "W804": "A class or event is rare",
    "W806": "A column may be known only after the outcome",
    "W809": "A column cannot help",
    "W811": "An adaptive search",
    "W813": "Only part of the target was used",
    "W844": "Values do not match their column",
    "S801": "Worth a look in the table",
    "S802": "Repeats would help",
    "S805": "Choosing cost hardly anything",
}


class _Coded:
    """What has a code of `CODES` and a sentence."""

    def __init__(self, code: str, message: str) -> None:
        message = re.sub(r"\s*\n\s*", " ", message.strip())  # it may quote what somebody else said in several lines
        super().__init__(code, message)  # type: ignore[call-arg]  # both in args, so that it survives pickling
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return f"{self.message} [{self.code}]"


class SoberError(_Coded, ValueError):
    """A problem that the user can fix: its `code` of `CODES`, and what was given, what is allowed, what to do."""


class SoberWarning(_Coded, UserWarning):
    """Something that the user should know about a result; `code` names it forever."""


def also(kind: type[Exception]) -> type[SoberError]:
    """Return the class of errors that are a `SoberError` and of another type as well, for those who catch that one."""
    if issubclass(SoberError, kind):
        return SoberError
    try:
        return type(f"Sober{kind.__name__}", (SoberError, kind), {"__reduce__": lambda e: (_again, (kind, *e.args))})
    except TypeError:  # two types that cannot be one
        return SoberError


def _again(kind: type[Exception], code: str, message: str) -> SoberError:
    """Make an error anew from its pickle: a class that was made on the way cannot be found by its name."""
    return also(kind)(code, message)


@contextmanager
def needs(what: str, package: str) -> Iterator[None]:
    """Where an import inside fails, say what to install: "Plots need matplotlib", "'sobercv[plot]'"."""
    try:
        yield
    except ImportError:
        text = f"{what}, which is not installed. Run: pip install {package}."
        raise also(ImportError)("E403", text) from None


#: What the first letter of a code says.
SEVERITIES = {"E": "error", "W": "warning", "S": "suggestion"}


@dataclass(frozen=True)
class Note:
    """A sentence with its code: what an estimate, a check or a report carries."""

    code: str  # a key of `CODES`; E is an error, W a warning, S a suggestion
    text: str  # what the reader should know
    columns: tuple[str, ...] = ()  # of a table that it is about

    @property
    def severity(self) -> str:
        """Return "error", "warning" or "suggestion"."""
        return SEVERITIES[self.code[0]]

    @property
    def title(self) -> str:
        """The title of the code's page; empty for a code of a later release."""
        return CODES.get(self.code, "")

    def to_dict(self) -> dict[str, object]:
        """Plain data, ready for JSON."""
        return {"code": self.code, "severity": self.severity, "text": self.text, "columns": list(self.columns)}

    def __str__(self) -> str:
        return self.text


def warn(code: str, message: str, category: type[SoberWarning] = SoberWarning) -> None:
    """Warn with a code, pointing at the user's line: the first one outside of sober and scikit-learn."""
    frame, level = sys._getframe(1), 2
    passed = ("sobercv", "sklearn", "contextlib")  # the last where a context manager decorates a function of sober
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in passed:
        frame, level = frame.f_back, level + 1
    warnings.warn(category(code, message), stacklevel=level)
