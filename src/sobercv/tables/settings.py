"""The one table of options: names, types, defaults, help and panels of what is asked of a table, a run and its output.

The command line, sober.toml and the folder of a run take their values from here; msgspec checks types and ranges.
"""

from __future__ import annotations

import re
import reprlib
import shlex
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints

import msgspec

from ..errors import SoberError
from .naming import closest

#: Panels of the help pages; what few need is shown last.
DATA, MODEL, RUN, SCREEN, ADVANCED = "What to predict", "How to tune", "The run", "Output", "Advanced"
#: A comma between two metrics, not one between the arguments of a metric.
_OUTSIDE_BRACKETS = re.compile(r",(?![^(]*\))")
_DURATION = re.compile(r"\s*([0-9]{1,9}(?:\.[0-9]*)?)\s*(s|m|min|h|)\s*", re.I | re.A)
_UNITS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}
#: What an option may be, by the type that msgspec expects, or by its name.
_WORDS = {"bool": "true or false", "str": "text in quotes", "array": "a name or a list of names"}
_ALLOWED = {
    "cv": "a whole number, or groups", "jobs": "-1 for all cores, or a number of workers",
    "max_time": "a duration such as 90, 90s, 10m or 2h",
}  # fmt: skip
_LISTS = ("ignore", "metric", "by", "missing")
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
    event: str | None = option(None, DATA, "Survival: the column with the event, 1 observed, 0 censored.")
    event_value: str | None = option(None, ADVANCED, "Survival: the value in the event column that means observed (1).")
    id: str | None = option(None, DATA, "Identifies samples; rows with the same value stay together.")
    group: str | None = option(None, DATA, "Rows with the same value (a patient) stay together.")
    weight: str | None = option(None, ADVANCED, "Weight of each row, in fits and scores.")
    ignore: tuple[str, ...] = option((), DATA, "Columns that models must not use, such as a,b.")
    task: Literal["binary", "multiclass", "regression", "survival"] | None = option(
        None, DATA, "binary, multiclass, regression or survival; default: inferred from the target."
    )
    positive: str | None = option(None, DATA, "The positive class, where a metric depends on it.")
    sheet: str | None = option(None, DATA, "Excel: the sheet with the table.")
    decimal: Literal[".", ","] | None = option(None, ADVANCED, "The decimal mark, . or , where numbers are ambiguous.")
    header: bool | None = option(None, ADVANCED, "Whether the first row holds column names.")
    limits: Literal["value", "half", "missing"] | None = option(
        None, ADVANCED, "How to read limits such as <0.5: value, half or missing."
    )
    missing: tuple[str, ...] = option((), ADVANCED, "Words or numbers that mean missing in every column, such as -99.")
    metric: tuple[str, ...] = option(
        (), MODEL, "As in scikit-learn; separate several with commas, the first selects. Default: roc_auc, "
        "balanced_accuracy, r2 or concordance_index.", "-m", words=_METRICS,
    )  # fmt: skip
    preset: str = option(
        "standard", MODEL, "quick, standard (default), thorough or paper.", "-p", words="quick standard thorough paper"
    )
    configurations: Annotated[int, msgspec.Meta(ge=2, le=10**9)] | None = option(
        None, ADVANCED, "Try only this many of the preset's configurations (default: all)."
    )
    cv: Annotated[int, msgspec.Meta(ge=2, le=10**9)] | Literal["groups"] = option(
        10, MODEL, "Number of folds (default: 10), or groups: hold out one group at a time (automatic when "
        "there are fewer groups than folds).",
    )  # fmt: skip
    no_drop: bool = option(False, ADVANCED, "Run every configuration on every fold, hopeless ones too.")
    repeats: Annotated[int, msgspec.Meta(ge=1, le=1000)] = option(1, MODEL, "Number of CV repeats (default: 1).")
    aggregate: Literal["pooled", "fold", "within_folds"] = option(
        "pooled", ADVANCED, "Select by the score of all predictions together (pooled, default), by the mean over folds "
        "(fold), or compare only rows of the same fold in metrics that rank (within_folds).",
    )  # fmt: skip
    stratify: bool = option(False, ADVANCED, "Resample within classes or events, where some are rare.")
    tune_threshold: bool = option(
        False, MODEL, "Two classes: tune the decision threshold, for f1, balanced_accuracy and similar metrics."
    )
    by: tuple[str, ...] = option((), MODEL, "Columns whose values are scored separately, such as sex,site.")
    interval: Literal["percentile", "calibrated", "fixed_models"] = option(
        "calibrated", ADVANCED, "How the interval is computed: calibrated (default), percentile, or fixed_models for "
        "predictions of models that were trained on other rows (sober correct).",
    )  # fmt: skip
    seed: Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)] = option(
        0, RUN, "Random seed; the same seed gives the same result (default: 0)."
    )
    jobs: Annotated[int, msgspec.Meta(ge=-1024, le=1024)] = option(
        -1, RUN, "Number of workers (default: all cores). Does not change the result.", "-j"
    )
    max_time: Annotated[float, msgspec.Meta(gt=0, lt=1e13)] | None = option(
        None, RUN, "Stop after 90s, 10m or 2h and report what is complete."
    )

    @property
    def target_names(self) -> list[str]:
        """Return [target] or [time, event]; empty where neither is named."""
        return [name for name in (self.target, self.time, self.event) if name is not None]

    def split(self, known: Collection[str]) -> Settings:
        """Split lists such as a,b of columns in `ignore` and `by`, but for what is the name of one as it stands."""

        def each_of(given: Iterable[str]) -> tuple[str, ...]:
            parts = [[one] if one in known else map(str.strip, one.split(",")) for one in given]
            return tuple(dict.fromkeys(name for part in parts for name in part if name))

        return replace(self, ignore=each_of(self.ignore), by=each_of(self.by))

    def roles(self) -> dict[str, str]:
        """Return the role of every column that models must not see; the target can have no other."""
        found = dict.fromkeys(self.target_names, "target")
        named = [(self.id, "id"), (self.group, "group"), (self.weight, "weight")]
        for name, role in [*named, *((n, "ignored") for n in self.ignore)]:
            if name in found and (found[name] == "target" or role == "weight"):
                raise SoberError("E808", f"{name!r} cannot be both the {found[name]} and {role}. Name another column.")
            if name is not None:
                found.setdefault(name, role)
        return found

    def command(self) -> str:
        """Write the command that repeats the run."""
        words = ["sober", "fit", self.data or "-"]
        for each in fields(self):
            value, name = getattr(self, each.name), f"--{each.name.replace('_', '-')}"
            if each.name in ("data", "jobs", "max_time") or value == each.default:
                continue
            if isinstance(value, bool):
                words.append(name if value else name.replace("--", "--no-", 1))
            elif each.name == "metric":
                words += [name, ",".join(value)]
            else:
                for one in value if isinstance(value, tuple) else [value]:
                    words += [name, str(one)]
        return shlex.join(words)


@dataclass(frozen=True)
class Output:
    """Where results go and what is shown: options that change no result."""

    output: str | None = option(None, RUN, "Where to write.", "-o")
    fast: bool = option(False, RUN, "Leave charts and column importance out of the report.")
    no_report: bool = option(False, RUN, "No report at all.")
    json: bool = option(False, SCREEN, "Print JSON and nothing else.")
    quiet: bool = option(False, SCREEN, "Print only the result.", "-q")


#: What `checked` converts to, by the name of an option.
TYPES = get_type_hints(Settings, include_extras=True) | get_type_hints(Output, include_extras=True)


def from_toml(path: Path) -> dict[str, Any]:
    """Read a settings file: names of `Settings` and of `Output`, with dashes or underscores."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise SoberError("E808", f"{path} cannot be read ({error}). Write the settings as UTF-8 text.") from None
    except (ValueError, RecursionError) as error:  # no TOML, or numbers and brackets without end
        text = f'{path} is not valid TOML: {str(error)[:120]}. Write lines like: target = "y"'
        raise SoberError("E808", text) from None
    return checked({name.replace("-", "_"): value for name, value in found.items()}, path.name)


def checked(given: Mapping[str, Any], where: str = "") -> dict[str, Any]:
    """Convert values of options, or say which one is wrong and what is allowed; `where` is the file that holds them."""
    found = {}
    for name, value in given.items():
        if name not in TYPES:
            close = closest(name, TYPES)
            hint = f"Did you mean {close[0].replace('_', '-')!r}?" if close else "Use the names of the long options."
            subject = f"{where} has a setting" if where else "There is no setting"
            raise SoberError("E808", f"{subject} {name[:60]!r}{' that sober does not know' * bool(where)}. {hint}")
        try:
            found[name] = msgspec.convert(_plain(name, value), TYPES[name])
        except (msgspec.ValidationError, RecursionError) as error:
            try:
                shown = reprlib.repr(value)
            except ValueError:  # whole numbers of thousands of digits
                shown = "something huge"
            label = f"{where}: " if where else "--"
            said = f"{label}{name.replace('_', '-')} must be {_allowed(name, str(error))}; got {shown}."
            raise SoberError("E808", said) from None
    return found


def _plain(name: str, value: Any) -> Any:
    """Bring values that can be written in several ways into one, and no workers into what msgspec refuses."""
    if name == "max_time" and isinstance(value, str) and (written := _DURATION.fullmatch(value)):
        return float(written[1]) * _UNITS[written[2].lower()]
    if name == "event_value" and isinstance(value, (int, float)) and abs(value) < 1e300:
        return str(value)
    if name == "cv" and isinstance(value, str) and value.strip().isdecimal():
        return int(value)
    if name == "missing":  # of numbers, too
        given = value if isinstance(value, (list, tuple)) else [value]
        value = [str(v) if type(v) in (int, float) and abs(v) < 10**300 else v for v in given]
    parts = [value] if isinstance(value, str) else value
    if name not in _LISTS or not isinstance(parts, (list, tuple)) or not all(isinstance(p, str) for p in parts):
        return "none" if name == "jobs" and value == 0 else value
    if name == "missing" and (unclear := next((part for part in parts if re.search(r"\d,\d", part)), None)):
        text = f"The comma in {unclear[:60]!r} may be a decimal mark or stand between two values. Repeat --missing "
        raise SoberError("E808", f"{text}for each value; --missing -99 also matches -99,0.")
    if name in ("metric", "missing"):
        parts = [p.strip() for part in parts for p in _OUTSIDE_BRACKETS.split(part) if p.strip()]
    return list(dict.fromkeys(parts))


def choices(name: str) -> list[str]:
    """Return the words that an option can be, where its type lists them."""
    parts = get_args(TYPES[name]) or (TYPES[name],)
    return [word for part in parts for word in (get_args(part) or (part,)) if isinstance(word, str)]


def _allowed(name: str, problem: str) -> str:
    """Say in words what msgspec expected."""
    expected, bound = re.search(r"Expected `(\w+)", problem), re.search(r"(>=|<=) ([0-9.e+-]+)", problem)
    words = _WORDS.get("array" if name in _LISTS else expected[1] if expected else "", "a whole number")
    if bound:
        return f"{words} no {'less' if bound[1] == '>=' else 'more'} than {float(bound[2]):.10g}"
    return _ALLOWED.get(name) or " or ".join(choices(name)) or words
