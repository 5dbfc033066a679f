"""assign: which column is the target, which tells patients apart, what is left to learn from.

Refuses in one sentence what no model could learn; what is only doubtful is for `checks`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..containers import Array
from ..errors import Note, SoberError
from ..targets import LARGEST, MOST_CLASSES, guess_task, obvious_positive, survival_of
from .naming import closest, listed, named_like, quoted
from .settings import Settings, checked
from .tool_columns import correctable


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table whose columns have their roles."""

    X: Any  # what models may see [N, P]
    y: Array  # labels, numbers, or records of (event, time) [N]
    groups: Array | None  # rows of one patient share a value [N]
    task: str
    target: tuple[str, ...]  # the name of the target, or of time and event
    rows: Array  # which rows of the table were kept, counted from 0 [N]
    n_without_target: int  # rows left out because their target is missing
    roles: dict[str, str]  # columns that are not in X, and why
    notes: tuple[Note, ...]
    ignored: Any  # no model sees these columns, but checks say what they would have predicted [N, .]
    weight: Array | None  # how much each row counts in fits and scores [N]

    @property
    def n_rows(self) -> int:
        """Number of rows, N."""
        return len(self.rows)

    @property
    def fit_arguments(self) -> dict[str, Array]:
        """What a preset's pipeline needs beside X and y: the weights, for its last step."""
        return {} if self.weight is None else {"model__sample_weight": self.weight}

    @property
    def n_groups(self) -> int:
        """Number of groups; 0 where rows are independent."""
        return 0 if self.groups is None else int(self.groups.max()) + 1

    def n_folds(self, cv: int | str) -> int:
        """Return the number of folds: one per group if asked for by "groups", or where there are fewer groups."""
        if cv == "groups" and self.groups is None:
            raise SoberError("E808", "--cv groups holds out one group at a time. Name the groups with --group COLUMN.")
        if self.groups is not None and (cv == "groups" or self.n_groups < int(cv)):
            return self.n_groups
        return int(cv)

    @property
    def classes(self) -> list[Any]:
        """The sorted labels, where the target holds classes."""
        return np.unique(self.y).tolist() if self.task in ("binary", "multiclass") else []


def assign(frame: Any, settings: Settings | None = None, **given: Any) -> Dataset:
    """Give the columns of a table their roles, by `Settings` or by names of theirs."""
    settings = settings or Settings(**checked(given))
    check_target(settings, frame)
    names, others = settings.target_names, settings.roles()
    for name in others:
        find(frame, name)
    keep = ~frame[names].isna().any(axis=1).to_numpy()
    if not keep.any():
        named = " and ".join(repr(name[:60]) for name in names)
        raise SoberError("E112", f"The target {named} is missing in every row. Name another column.")
    kept = frame.loc[keep]
    if len(names) == 2:
        y, task, notes = _survival(kept, names[0], names[1], settings.event_value)
    else:
        y, task, notes = _labels_or_numbers(kept[names[0]].infer_objects(), names[0], settings.task)
    X = kept.drop(columns=list(others)).reset_index(drop=True)
    by, groups = settings.group or settings.id, None
    if by is not None:
        if n := int(kept[by].isna().sum()):
            rows = "row" if n == 1 else "rows"
            raise SoberError("E107", f"{by!r} is missing in {n} {rows}. Fill in every row, or leave those rows out.")
        codes = kept[by].astype(str).factorize()[0]
        if settings.group is not None or codes.max() + 1 < len(codes):  # an id that occurs once makes no groups
            groups = np.asarray(codes)
    return Dataset(
        X, y, groups, task, tuple(names), np.flatnonzero(keep), int((~keep).sum()), others, notes,
        kept[[c for c, role in others.items() if role == "ignored"]].reset_index(drop=True),
        None if settings.weight is None else _amounts(kept[settings.weight], "weight", "E107"),
    )  # fmt: skip


def find(frame: Any, name: str) -> None:
    """Refuse a name that is no column of the frame, and say which is meant."""
    columns = [str(c) for c in frame.columns]
    if name in columns:
        if name in frame.attrs.get("named_twice", ()):
            raise SoberError("E804", f"Several columns are called {name!r}. Rename all but one.")
        return
    close = closest(name, columns)
    hint = f"Did you mean {' or '.join(map(repr, close))}?" if close else listed(columns)
    raise SoberError("E804", f"There is no column {name[:60]!r}. {hint}")


#: Beginnings of words, in several languages, that name a time until an event, and an event.
TIME_NAME = re.compile(
    r"surv|os$|ttp$|ttd$|[pdre]fs$|time|tte$|follow|fup|fu[0-9]*$|zeit|ueberleb|uberleb|beobacht|dauer|duree|duration|suivi|"
    r"temps|tiempo|seguim|tempo|days?$|tage|months?$|monat|weeks?$|woch|jours|mois|dias|meses|giorni|mesi"
)
EVENT_NAME = re.compile(
    r"event|ereignis|status|dead|death|died|deceas|vital|censor|cens|zensier|verstorb|gestorb|tod|deces|mort|muert|fallec|"
    r"relaps|recur|rezidiv|progress"
)


def check_target(settings: Settings, frame: Any) -> None:
    """Refuse roles of the target that do not go together; list the columns where none is named."""
    columns = frame.columns
    target, time, event, task = settings.target, settings.time, settings.event, settings.task
    times = {time, event} - {None}
    wrong = ""
    if (target and (times or task == "survival")) or (times and task not in (None, "survival")):
        wrong = "--target is for classes and numbers, --time and --event are for survival. Give one of them, not both, "
        wrong += "and no --task of the other."
    elif settings.event_value is not None and event is None:
        wrong = "--event-value says which value of --event COLUMN is the event. Name that column, too."
    elif not target and not times:
        wrong = f"Say what to predict: --target COLUMN, or --time COLUMN and --event COLUMN. {listed(columns)}"
        wrong = f"{wrong} {correctable(frame)}".strip()
    elif times and None in (time, event):
        lacks, pattern = ("event", EVENT_NAME) if event is None else ("time", TIME_NAME)
        likely = [n for n in named_like(pattern, columns) if n not in times]
        guess = f"Judging by its name it may be {' or '.join(map(repr, likely[:3]))}." if likely else listed(columns)
        wrong = f"Survival needs both: --{lacks} COLUMN is missing. {guess}"
    elif times and time == event:
        wrong = f"--time and --event name the same column, {time!r}. Name two."
    if wrong:
        raise SoberError("E808", wrong)


# ---- the values of roles -------------------------------------------------------------------------------------------
def kind_of(dtype: Any) -> str:
    """Return date, flag, number or text."""
    return {"M": "date", "b": "flag", "i": "number", "u": "number", "f": "number"}.get(dtype.kind, "text")


def _labels_or_numbers(column: Any, name: str, task: str | None) -> tuple[Array, str, tuple[Note, ...]]:
    """Return the target, a column without gaps, as labels or numbers, its task, and a note where that is a guess."""
    kind, hint = kind_of(column.dtype), "Name a column with classes or numbers."
    values = column.to_numpy()
    if kind == "text":
        values = column.map(str).to_numpy(dtype=object)
        words = [v for v in values if not re.fullmatch(r"\s*[+-]?[0-9]*[.,]?[0-9]+([eE][+-]?[0-9]+)?\s*", v)]
        hint = f"Most are numbers; correct or remove {words[0][:30]!r}." if 0 < 2 * len(words) <= len(values) else hint
    elif kind == "number" and values.dtype == object:  # some of pandas' own types
        values = values.astype(np.float64)
    distinct, guess, wrong = np.unique(values), guess_task(values), ""
    found = task or guess.task
    if kind == "date":
        wrong = "holds dates. The target must be a class or a number."
    elif kind == "number" and not np.isfinite(distinct).all():
        wrong = "holds infinite values. Replace them, or leave those rows out."
    elif len(distinct) == 1:
        wrong = f"is {str(distinct[0])[:40]!r} in every row, so nothing can be learned."
    elif found == "regression" and kind == "text":
        wrong = f"is text, but a regression needs numbers. {hint}"
    elif found == "regression" and kind == "number" and np.abs(distinct).max() > LARGEST:
        wrong = f"holds numbers beyond {LARGEST:g}, whose squares overflow. Scale it down."
    elif found == "binary" and len(distinct) != 2:
        wrong = f"has {len(distinct)} classes, not 2. Choose --task multiclass or regression."
    elif found != "regression" and kind == "number" and not np.array_equal(distinct, np.round(distinct)):
        wrong = "holds fractions, so it is not a class. Choose --task regression."
    elif kind == "text" and len(distinct) > max(MOST_CLASSES, len(values) // 3):
        wrong = f"is text with {len(distinct)} different values in {len(values)} rows. {hint}"
    if wrong:
        raise SoberError("E112", f"The target {name!r} {wrong}")
    if found == "regression":
        read, other, values = "numbers", "multiclass", values.astype(np.float64)
    else:
        read, other, found = "classes", "regression", "binary" if len(distinct) == 2 else "multiclass"
        if values.dtype.kind == "f" and np.abs(distinct).max() < 2**63:
            values = values.astype(np.int64)  # whole numbers that became floats because of gaps
    text = f"The target has {len(distinct)} different whole numbers and is read as {read}. If wrong: --task {other}."
    return values, found, () if task or guess.is_sure else (Note("S801", text),)


_FLAGS = {"0", "1", "True", "False"}
#: Beginnings of words that name the opposite of an event: 1 or yes may mean that it was not seen.
NO_EVENT_NAME = re.compile(r"cens|zensier|alive|surviv|ueberleb|uberleb|lebt|lebend|viv")


def _survival(kept: Any, time: str, event: str, value: str | None) -> tuple[Array, str, tuple[Note, ...]]:
    """Return records of (event, time), and the task; where `value` says which cause is meant, others are not seen."""
    written, notes = kept[event].astype(object).map(_written), tuple[Note, ...]()
    counts = written.value_counts().sort_index()
    is_number = kind_of(kept[event].dtype) == "number"
    if is_number and len(counts) > MOST_CLASSES and _FLAGS.issuperset(map(_written, kept[time])):
        text = f"The time {time[:40]!r} holds only 0 and 1, and the event {event[:40]!r} {len(counts)} different "
        text += f"numbers, so they seem to be swapped. Write --time {quoted(event)} --event {quoted(time)}."
        raise SoberError("E112", text)
    if value is None:
        value, notes = _observed(counts, event)
    wanted = _written(value)
    if (n := counts.get(wanted, 0)) < 2:
        text = f"The event {event[:40]!r} is {wanted[:30]!r} in {'one row' if n else 'no row'}: it holds "
        raise SoberError("E112", f"{text}{_counted(counts)}. At least two events are needed.")
    others = counts.drop(wanted)
    causes = others.drop(["0", "False"], errors="ignore")
    if len(causes) and len(others) > 1:
        verb = "counts" if len(causes) == 1 else "count"
        text = f"Only {wanted[:30]!r} of {event[:40]!r} counts as the event; {_counted(causes)} {verb} as censored. "
        text += "Competing risks are ignored: the model ranks the risk of this cause as if the others did not exist."
        notes = (Note("W813", text, (event,)),)
    times = _amounts(kept[time], "time", "E112")
    if len(np.unique(times)) == 1:
        raise SoberError("E112", f"The time {time!r} is the same in every row, so nothing can be learned.")
    return survival_of(np.column_stack([written == wanted, times])), "survival", notes


def _observed(counts: Any, event: str) -> tuple[str, tuple[Note, ...]]:
    """Return the value that means an observed event where its words leave no doubt: 1, true, yes, dead."""
    words, may_be_censored = list(counts.index), bool(named_like(NO_EVENT_NAME, [event]))
    text = f"The event {event[:40]!r} counts as observed where it is "
    if _FLAGS.issuperset(words):
        seen, other = ("True", "False") if {"True", "False"} & {*words} else ("1", "0")
        text += f"{seen}, although its name may say the opposite. If so: --event-value {other}."
        return seen, (Note("S801", text, (event,)),) if may_be_censored else ()
    value = None if may_be_censored else obvious_positive(words)
    if value is None:
        text = f"The event {event[:40]!r} must be 1 (observed) or 0 (censored); it holds {_counted(counts)}. "
        text += "Write --event-value with the one that means observed; all others then count as censored."
        raise SoberError("E112", text)
    return value, (Note("W801", f"{text}{value!r}; if wrong: --event-value.", (event,)),)


def _written(value: Any) -> str:
    """Write a code without needless zeros, so that 2, 2.0, "2" and "02" are the same."""
    return re.sub(r"^[+]?(-?)0*([0-9]+)([.]0*)?$", r"\1\2", str(value).strip())


def _counted(counts: Any, most: int = 6) -> str:
    shown = [f"{str(value)[:20]!r} ({n} {'time' if n == 1 else 'times'})" for value, n in counts.head(most).items()]
    more = f" and {len(counts) - most} others" if len(counts) > most else ""
    return ", ".join(shown) + more


def _amounts(column: Any, what: str, code: str) -> Array:
    """Return the weights or times of rows; refuse what is none, with the first row that is wrong."""
    if kind_of(column.dtype) != "number":
        raise SoberError(code, f"The {what} {column.name!r} must hold numbers; it holds other values. Convert it.")
    values = np.asarray(column.to_numpy(np.float64))
    for wrong, how in ((np.isnan(values), "missing"), (np.isinf(values), "infinite"), (values < 0, "negative")):
        if wrong.any():
            n, first = int(wrong.sum()), int(column.index[wrong][0]) + 1
            rows = f"row {first}" if n == 1 else f"{n} rows, the first of them row {first}"
            text = f"The {what} {column.name!r} is {how} in {rows} of the table. Every row needs a {what} of 0 or "
            raise SoberError(code, f"{text}more: correct the column, or leave those rows out.")
    if not values.any():
        raise SoberError(code, f"The {what} {column.name!r} is 0 in every row. Name another column.")
    return values
