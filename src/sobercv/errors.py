"""Exceptions and warnings, each with a stable code; nothing else.

Takes a code and a sentence that says what was given, what is allowed and what to do; never prints, never logs.
"""

from __future__ import annotations

import re
import sys
import warnings
from dataclasses import dataclass

#: Every code that the library can raise or warn with, and its title. Codes are never reused.
CODES: dict[str, str] = {
    "E101": "Shapes disagree",
    "E102": "Predictions are not finite numbers",
    "E103": "Too few classes for the metric",
    "E104": "Probabilities outside [0, 1]",
    "E105": "Unknown metric",
    "E106": "Too few samples",
    "E107": "Groups, folds or weights do not fit the samples",
    "E108": "A parameter is outside its range",
    "E109": "Every draw is undefined",
    "E110": "Predicted labels are not among the classes",
    "E111": "No configuration has all predictions",
    "E112": "The target cannot be used",
    "E113": "Folds are needed",
    "E114": "Options that do not go together",
    "E115": "A selection rule gave no valid winner",
    "E116": "The metric needs another kind of prediction",
    "E117": "The metric failed",
    "E118": "Not possible for predictions that are read in blocks",
    "E119": "An exact score does not fit in memory",
    "E120": "The positive class is not named",
    "E121": "Not possible where more than a column is selected",
    "E130": "A scorer needs the fitted model",
    "E131": "The study does not maximise one score",
    "E132": "The study has no complete trial",
    "E301": "The task cannot be told",
    "E302": "X and y do not fit together",
    "E303": "The search space cannot be read",
    "E304": "The search space is empty",
    "E305": "A distribution needs n_iter",
    "E306": "Unknown parameter",
    "E307": "cv cannot be read",
    "E308": "Too many folds",
    "E309": "Time-series splits",
    "E310": "A fold lacks a class to train on",
    "E311": "Splits cannot be used",
    "E312": "Groups are needed",
    "E313": "Repeats need an integer cv",
    "E314": "A fit gave no usable predictions",
    "E315": "Every configuration failed",
    "E316": "A drop rule gave no usable answer",
    "E401": "Unknown preset",
    "E402": "Unknown task",
    "E403": "An extra is not installed",
    "E404": "SES cannot work with this",
    "E405": "The table cannot be used by a preset",
    "E701": "The data are not those of the search",
    "E702": "A chart that this search cannot have",
    "E703": "Unknown kind of report",
    "E501": "The store is in use",
    "E502": "The store holds another run",
    "E503": "The file is no store of sober",
    "E504": "The store cannot be opened for writing",
    "E505": "The store is damaged",
    "E506": "The disk is full or fails",
    "E507": "The store is from a later release",
    "E508": "A parameter has no fingerprint",
    "E509": "The predictions of a trial are not here",
    "W201": "Many draws are undefined",
    "W202": "Only one configuration",
    "W203": "Folds live on different scales",
    "W204": "Configurations were left out",
    "W205": "Very few samples",
    "W206": "Labels were read off probabilities",
    "W207": "All other configurations left the race",
    "W208": "An AUC by histograms",
    "W210": "A loss is maximised",
    "W211": "Folds were resampled",
    "W212": "The trained configuration was picked by another rule",
    "W213": "Fewer resamples than asked for",
    "W214": "The interval is the percentile one",
    "W217": "Those who left the race early took part in the correction",
    "W218": "A threshold or a mix was tuned on the predictions",
    "W219": "The score is worse than guessing",
    "W220": "A metric that ranks was given labels",
    "W222": "Only samples that the sampler has not seen have judged",
    "W223": "Trials took no part in the correction",
    "W301": "Groups are split between training and test rows",
    "W302": "A listener failed",
    "W303": "Configurations failed",
    "W304": "A class is rarer than the folds",
    "W305": "A scorer takes no weights",
    "W701": "The interval reaches what guessing would score",
    "W702": "The winner seldom won",
    "W703": "Permutation importance was left out",
    "W704": "A chart was left out",
    "W711": "The best value lies on the edge of its grid",
    "W712": "One fold is unlike the others",
    "W713": "More samples would help",
    "W714": "More samples might help little",
    "W501": "Stored outcomes were made with other versions",
    "W502": "Stored outcomes were damaged",
    "W503": "Code that cannot be told from other code",
    "W504": "The store was deleted during the run",
    "E801": "A file cannot be read",
    "E802": "The table is empty",
    "E803": "The text is not a table",
    "E804": "No such column",
    "E805": "A column cannot play its role",
    "E806": "Too few rows for the folds",
    "E807": "The settings cannot be used",
    "E808": "Options are missing or exclude each other",
    "E809": "The run folder cannot be used",
    "E810": "The model is not trusted",
    "E811": "The data are not those of the run",
    "E812": "Predictions are not recognised",
    "E813": "Only the winner is given",
    "E814": "Predictions look in-sample",
    "E815": "A stacked ensemble is among the configurations",
    "E816": "New data lack columns",
    "E817": "Infinite values",
    "E818": "No column to learn from",
    "W801": "The file is not UTF-8",
    "W802": "Columns share a name",
    "W803": "Rows are shorter than the header",
    "W804": "Few rows of a class, or few events",
    "W805": "Duplicate rows",
    "W806": "A column alone predicts the target",
    "W807": "A column looks like an identifier",
    "W808": "A date may come after the outcome",
    "W809": "A column is constant or empty",
    "W810": "A column has more gaps than values",
    "W811": "An adaptive search",
    "W812": "An identifier occurs several times",
    "W813": "Rows without a target",
    "E830": "A run is going on in the folder",
    "E831": "The memory is not enough",
    "E832": "The system refused something",
    "E839": "An error of sober itself",
    "W830": "The folder cannot be locked",
    "W831": "The model is not sealed",
    "W832": "There is no final model",
    "E841": "A number can be read in two ways",
    "E842": "Which sheet of the workbook",
    "E843": "The first row looks like data",
    "W833": "Choosing cost a lot",
    "W841": "Decimal commas or marks between thousands",
    "W842": "Words that count as missing",
    "W843": "Dates that could begin with the day or the month",
    "W844": "New values do not fit the kind of their column",
    "W845": "Competing risks are ignored",
    "W846": "Codes are read as categories",
    "W847": "New rows hold what training did not",
    "W848": "A column of numbers holds a few cells that are none",
    "W849": "Columns that may be no predictions",
    "S801": "The target could be read in two ways",
    "S802": "Repeats would help",
    "S803": "Dates among the columns",
    "S804": "A few duplicate rows",
    "S805": "Choosing cost hardly anything",
    "E601": "Stopped before one split was complete",
    "E602": "Workers cannot be given the data",
    "E603": "No worker is left",
    "E604": "The time was over before one split was complete",
    "E605": "Fits cannot be ended here",
    "W601": "The cross-validation is incomplete",
    "W602": "A worker died",
    "W603": "Time limits are looked at between fits only",
}


class SoberError(ValueError):
    """A problem that the user can mend; `code` names it for ever.

    Parameters
    ----------
    code : str
        A key of `CODES`.
    message : str
        What was given, what is allowed, what to do.
    """

    def __init__(self, code: str, message: str) -> None:
        message = re.sub(r"\s*\n\s*", " ", message.strip())  # it may quote what somebody else said in several lines
        super().__init__(code, message)  # both in args, so that the exception survives pickling
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return f"{self.message} [{self.code}]"


def also(kind: type[Exception]) -> type[SoberError]:
    """Give the class of errors that are a `SoberError` and of another type as well, for those who catch that one."""
    if issubclass(SoberError, kind):
        return SoberError
    try:
        return type(f"Sober{kind.__name__}", (SoberError, kind), {"__reduce__": lambda e: (_again, (kind, *e.args))})
    except TypeError:  # two types that cannot be one
        return SoberError


def _again(kind: type[Exception], code: str, message: str) -> SoberError:
    """Make an error anew from its pickle: a class that was made on the way cannot be found by its name."""
    return also(kind)(code, message)


class SoberWarning(UserWarning):
    """Something that the user should know about a result; `code` names it for ever."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return f"{self.message} [{self.code}]"


#: What the first letter of a code says.
SEVERITIES = {"E": "error", "W": "warning", "S": "suggestion"}


@dataclass(frozen=True)
class Note:
    """A sentence with its code: what an estimate, a check or a report carries.

    Attributes
    ----------
    code : str
        A key of `CODES`; E is an error, W a warning, S a suggestion.
    text : str
        What the reader should know.
    columns : tuple of str
        The columns of a table that it is about, where it is about any.
    """

    code: str
    text: str
    columns: tuple[str, ...] = ()

    @property
    def severity(self) -> str:
        """Give "error", "warning" or "suggestion"."""
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
