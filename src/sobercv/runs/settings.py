"""The one table of options: names, types, defaults, help and panels of what a run and its output are asked for.

The command line, sober.toml and the folder of a run take their values from here; msgspec checks types and ranges, and
unknown names and wrong values are refused in one sentence.
"""

from __future__ import annotations

import difflib
import re
import shlex
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_type_hints

import msgspec

from ..errors import SoberError

T = TypeVar("T")
#: Panels of the help pages; what few need is shown last.
DATA, MODEL, RUN, SCREEN, ADVANCED = "What to predict", "How to tune", "The run", "The screen", "Advanced"
#: A comma between two metrics, not one between the arguments of a metric.
_OUTSIDE_BRACKETS = re.compile(r",(?![^(]*\))")
_UNITS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}
_WORDS = {
    "int": "a whole number", "float": "a number", "bool": "true or false", "str": "text in quotes",
    "array": "a name or a list of names",
}  # fmt: skip
_BOUNDS = {">": "above", ">=": "no less than", "<=": "no more than"}
_LISTS = frozenset({"ignore", "metric", "by"})
#: Names that the shell completes; every scoring name of scikit-learn works.
_METRICS = (
    "roc_auc average_precision accuracy balanced_accuracy f1 f1_macro roc_auc_ovr neg_log_loss neg_brier_score "
    "matthews_corrcoef r2 neg_mean_absolute_error neg_mean_squared_error neg_root_mean_squared_error concordance_index"
)


def option(default: Any, panel: str, help: str, *short: str, words: str = "") -> Any:
    """Describe an option, called after its field; `words` are those that the shell completes, beside literals."""
    return field(default=default, metadata={"panel": panel, "help": help, "short": short, "words": words.split()})


@dataclass(frozen=True)
class Settings:
    """What a run is a run of; names are those of the long options, and `max_time` is in seconds."""

    data: str | None = None
    target: str | None = option(None, DATA, "The column to predict.", "-t")
    time: str | None = option(None, DATA, "Survival: the column with the time.")
    event: str | None = option(None, DATA, "Survival: the column with the event, 1 seen, 0 not.")
    event_value: str | None = option(None, ADVANCED, "Survival: what the event column holds if seen (1).")
    id: str | None = option(None, DATA, "Identifies samples; rows that share it stay together.")
    group: str | None = option(None, DATA, "Rows that share it (a patient) stay together.")
    weight: str | None = option(None, ADVANCED, "How much each row counts, in fits and in scores.")
    ignore: tuple[str, ...] = option((), DATA, "A column that models must not see; can be repeated.")
    task: str | None = option(
        None, DATA, "binary, multiclass, regression or survival; default: inferred from the target.",
        words="binary multiclass regression survival",
    )  # fmt: skip
    positive: str | None = option(None, DATA, "The positive class, where a metric depends on it.")
    sheet: str | None = option(None, DATA, "Excel: the sheet with the table.")
    decimal: str | None = option(None, ADVANCED, "The decimal mark, . or , where numbers are ambiguous.")
    header: bool | None = option(None, ADVANCED, "Whether the first row has names.")
    limits: Literal["value", "half", "missing"] | None = option(
        None, ADVANCED, "What limits such as <0.5 count as: value, half or missing."
    )
    limit_flags: bool = option(False, ADVANCED, "Add a column that marks limits such as <0.5.")
    metric: tuple[str, ...] = option(
        (), MODEL, "As in scikit-learn; several with commas, the first selects. Default: roc_auc, balanced_accuracy, "
        "r2 or concordance_index.", "-m", words=_METRICS,
    )  # fmt: skip
    preset: str = option(
        "standard", MODEL, "quick, standard (default), thorough or paper.", "-p", words="quick standard thorough paper"
    )
    configurations: Annotated[int, msgspec.Meta(ge=2, le=10**9)] | None = option(
        None, ADVANCED, "Try this many of the preset (default: all)."
    )
    cv: Annotated[int, msgspec.Meta(ge=2, le=10**9)] | Literal["groups"] = option(
        10, MODEL, "Number of folds (default: 10), or groups: hold out one group at a time, as is done by itself where "
        "there are fewer groups than folds.",
    )  # fmt: skip
    no_drop: bool = option(False, ADVANCED, "Run every configuration on every fold, hopeless ones too.")
    repeats: Annotated[int, msgspec.Meta(ge=1, le=1000)] = option(1, MODEL, "Number of CV repeats (default: 1).")
    aggregate: Literal["pooled", "fold"] = option(
        "pooled", ADVANCED, "Select by the score of all predictions together (pooled, default) or by the mean over "
        "folds (fold).",
    )  # fmt: skip
    stratify: bool = option(False, ADVANCED, "Resample within classes or events, where some are rare.")
    within_folds: bool = option(False, ADVANCED, "Metrics that rank compare only rows of the same fold.")
    tune_threshold: bool = option(
        False, MODEL, "Two classes: tune the decision threshold, for f1, balanced_accuracy and the like."
    )
    by: tuple[str, ...] = option((), MODEL, "Columns whose values are scored apart, such as sex,site.")
    interval: Literal["percentile", "calibrated"] = option(
        "calibrated", ADVANCED, "How the interval is made: calibrated (default) or percentile."
    )
    seed: Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)] = option(
        0, RUN, "The same number gives the same result (default: 0)."
    )
    jobs: Annotated[int, msgspec.Meta(ge=-1024, le=1024)] = option(
        -1, RUN, "Workers (default: all cores). Changes no result.", "-j"
    )
    max_time: Annotated[float, msgspec.Meta(gt=0)] | None = option(
        None, RUN, "End the whole command after 90s, 10m or 2h, with what is there."
    )

    @classmethod
    def of(cls, *layers: Mapping[str, Any]) -> Settings:
        """Join layers, the most general first; None in a later one leaves a value as it is."""
        given: dict[str, Any] = {}
        for layer in layers:
            check_names(layer, names_of(cls))
            given.update({name: value for name, value in layer.items() if value not in (None, (), [])})
        return _checked(cls, given)

    def with_(self, **changes: Any) -> Settings:
        """Return a copy with other values."""
        return replace(self, **{name: getattr(_checked(Settings, {name: v}), name) for name, v in changes.items()})

    def command(self) -> str:
        """Write the command that repeats the run."""
        words = ["sober", "fit", self.data or "-"]
        for each in fields(self):
            value, name = getattr(self, each.name), f"--{each.name.replace('_', '-')}"
            if each.name in ("data", "jobs", "max_time") or value == each.default or value is None:
                continue
            if isinstance(value, bool):
                words.append(name if value else name.replace("--", "--no-", 1))
                continue
            values = value if isinstance(value, tuple) else [value]
            for one in [",".join(values)] if each.name == "metric" else values:
                words += [name, str(one)]
        return shlex.join(words)


@dataclass(frozen=True)
class Output:
    """Where results go and what is shown: options that change no result."""

    output: str | None = option(None, RUN, "Where to write.", "-o")
    fast: bool = option(False, RUN, "A report without charts and without the importance of columns.")
    no_report: bool = option(False, RUN, "No report at all.")
    json: bool = option(False, SCREEN, "Print JSON and nothing else.")
    quiet: bool = option(False, SCREEN, "Print only the result.", "-q")

    @property
    def report(self) -> str:
        """How much of a report is wanted: "full", "fast" or "none"."""
        return "none" if self.no_report else "fast" if self.fast else "full"


def names_of(kind: Any) -> list[str]:
    """List the options of `Settings` or `Output`."""
    return [each.name for each in fields(kind)]


def check_names(given: Iterable[str], names: list[str], where: str = "") -> None:
    """Refuse a name that no setting has, and say which one is meant."""
    for name in given:
        if name not in names:
            close = difflib.get_close_matches(str(name), names, 1)
            hint = f"Did you mean {close[0].replace('_', '-')!r}?" if close else "Names are those of the long options."
            subject = f"{where} has a setting" if where else "There is no setting"
            raise SoberError("E808", f"{subject} {str(name)[:60]!r}{' that sober does not know' * bool(where)}. {hint}")


def from_toml(path: Path) -> dict[str, Any]:
    """Read a settings file: names of `Settings` and of `Output`, with dashes or underscores."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise SoberError("E808", f"{path} cannot be read ({error}). Write the settings as UTF-8 text.") from None
    except (ValueError, RecursionError) as error:  # no TOML, or numbers and brackets without end
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)[:120]
        raise SoberError("E808", f'{path} is not valid TOML: {reason}. Write lines like: target = "y"') from None
    named = {name.replace("-", "_"): value for name, value in found.items()}
    check_names(named, names_of(Settings) + names_of(Output), path.name)
    values: dict[str, Any] = {}
    for kind in (Settings, Output):
        part = {name: value for name, value in named.items() if name in names_of(kind)}
        checked = _checked(kind, part, path.name)
        values |= {name: getattr(checked, name) for name in part}
    return values


def seconds_of(value: Any, where: str = "") -> float:
    """Read a duration: seconds, or a number with s, m or h behind it."""
    text = value if isinstance(value, str) else _shown(value)
    match = re.fullmatch(r"\s*([0-9]{1,9}(?:\.[0-9]*)?)\s*(s|m|min|h|)\s*", text, re.I | re.A)
    if isinstance(value, bool) or match is None or float(match[1]) == 0:
        raise _wrong("max_time", "a duration such as 90, 90s, 10m or 2h", value, where)
    return float(match[1]) * _UNITS[match[2].lower()]


def _checked(kind: type[T], given: Mapping[str, Any], where: str = "") -> T:
    """Convert plain values, or say which one is wrong and what is allowed."""
    plain = dict(given)
    if plain.get("max_time") is not None:
        plain["max_time"] = seconds_of(plain["max_time"], where)
    if isinstance(plain.get("event_value"), (int, float)):
        plain["event_value"] = str(plain["event_value"])
    if isinstance(plain.get("cv"), str) and plain["cv"].strip().isdecimal():
        plain["cv"] = int(plain["cv"])
    for name in _LISTS & plain.keys():
        plain[name] = _names(plain[name], split=name != "ignore")
    if plain.get("jobs") == 0:
        raise _wrong("jobs", "-1 for all cores, or a number of workers", 0, where)
    try:
        return msgspec.convert(plain, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        found = re.search(r"at `\$\.(\w+)", str(error))
        name = found[1] if found else next(iter(plain))
        raise _wrong(name, _allowed(kind, name, str(error)), given[name], where) from None


def _names(value: Any, split: bool) -> Any:
    parts = [value] if isinstance(value, str) else value
    if not isinstance(parts, (list, tuple)) or not all(isinstance(p, str) for p in parts):
        return value  # msgspec says what is wrong
    if split:
        parts = [p.strip() for part in parts for p in _OUTSIDE_BRACKETS.split(part) if p.strip()]
    return tuple(dict.fromkeys(parts))


def _allowed(kind: Any, name: str, problem: str) -> str:
    """Say in words what msgspec expected."""
    choices = get_args(get_type_hints(kind).get(name))
    if choices and all(isinstance(choice, str) for choice in choices):
        return " or ".join(choices)
    expected, bound = re.search(r"Expected `(\w+)", problem), re.search(r"(>=|<=|>) ([0-9.e+-]+)", problem)
    word = "array" if name in _LISTS else expected[1] if expected and expected[1] in _WORDS else "int"
    words = _WORDS[word] + (", or groups" if name == "cv" and not bound else "")
    return words + (f" {_BOUNDS[bound[1]]} {float(bound[2]):.10g}" if bound else "")


def _wrong(name: str, allowed: str, value: Any, where: str = "") -> SoberError:
    label = f"{where}: {name.replace('_', '-')}" if where else f"--{name.replace('_', '-')}"
    return SoberError("E808", f"{label} must be {allowed}; got {_shown(value)}.")


def _shown(value: Any) -> str:
    """Write a value for a message, cut where it is long."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # whole numbers of thousands of digits, lists in lists without end
        return "something huge"
    return text if len(text) <= 60 else f"{text[:57]}..."
