"""Schema: what every column of a table holds and how it is written.

`Schema.infer` recognises it from the text and from the roles of the columns; `Schema.apply` converts text to a frame,
in training as at prediction, so that new rows mean what they meant in training. Whatever loses information is a note,
and a number that can be read in two ways is a question that names the option.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from ..errors import Note, SoberError
from .column import Column, convert, readings
from .number_marks import Marks, fits
from .raw_table import USUAL_GAPS, RawTable
from .reading_notes import inferred_notes, limits_in, lost_noted, now_typed_noted, number_of

_GERMAN = Marks(",", ".")
#: Limits in more rows than this, and in a larger share of the rows, are more than a few: the user is asked.
FEW_LIMITS, FEW_LIMITS_SHARE = 5, 0.05


class Schema(msgspec.Struct, frozen=True):
    """How a table is read."""

    columns: dict[str, Column]
    has_header: bool = True

    @classmethod
    def infer(
        cls,
        raw: RawTable,
        roles: Mapping[str, Any] | None = None,
        decimal: str | None = None,
        has_header: bool = True,
        limits: str | None = None,
        limit_flags: bool = False,
    ) -> tuple[Schema, tuple[Note, ...]]:
        """Recognise the columns of a table.

        `roles`: "target", "id", "group", "weight" or "ignored" for columns that are no features. Ids and groups stay
        text. `decimal`: the decimal mark of columns that can be read in two ways. `limits`: what limits such as `<0.5`
        count as; asked for where a column has more than a few. `limit_flags`: add a column that marks them, for every
        column of features that has some.
        """
        possible = {name: readings(raw, name, (roles or {}).get(name, "feature")) for name in raw.columns}
        wanted = _decimal_mark(raw, possible, decimal)
        day_first = wanted == "," or raw.suggests_commas or _says_day_first(possible.values())
        chosen = {name: _choose(raw, name, found, wanted, day_first) for name, found in possible.items()}
        for name in [name for name, column in chosen.items() if column.limits]:
            if limits is None:
                _check_few_limits(raw, name, chosen[name])
            chosen[name] = replace(chosen[name], limits=limits or chosen[name].limits)
            if limit_flags and chosen[name].role == "feature":
                chosen[f"{name} limit"] = Column("number", flags_of=name)
        unsure_dates = [name for name, found in possible.items() if found[0].kind == "date" and len(found) > 1]
        return cls(chosen, has_header), inferred_notes(raw, chosen, unsure_dates)

    def apply(self, raw: RawTable) -> tuple[Any, tuple[Note, ...]]:
        """Convert the columns that both have; values that do not fit become gaps, and a note counts them."""
        import pandas as pd  # slow, and not needed by all who read a record

        made: dict[str, Any] = {}
        lost: dict[str, list[str]] = {}
        made_of = {column.flags_of: name for name, column in self.columns.items() if column.flags_of}
        for name in [
            *(n for n in raw.columns if n in self.columns),
            *(made_of[n] for n in raw.columns if n in made_of),
        ]:
            made[name], bad = convert(raw, name, self.columns[name])
            if bad:
                _check_some_fit(raw, name, self.columns[name], bad)
                lost[name] = bad
        frame = pd.DataFrame(made, index=pd.RangeIndex(raw.n_rows))
        frame.attrs["named_twice"] = raw.named_twice
        return frame, (*lost_noted(lost), *now_typed_noted(raw, self.columns))

    def only(self, names: Iterable[str]) -> Schema:
        """Return the schema of some of the columns."""
        return replace(self, columns={name: self.columns[name] for name in names if name in self.columns})


def _decimal_mark(raw: RawTable, possible: dict[str, list[Column]], decimal: str | None) -> str | None:
    """Return the decimal mark of the file: "." or ",", "plain" where nothing speaks for commas, None in doubt.

    Plain numbers that among decimal commas may be thousands get their second reading here.
    """
    numbers = [found for found in possible.values() if found[0].kind == "number"]
    seen = {found[0].marks.decimal for found in numbers if len(found) == 1 and not found[0].marks.is_plain}
    has_commas = "," in seen or decimal == "," or raw.suggests_commas
    if has_commas or any(len(found) > 1 for found in numbers):
        for name in [name for name, values in raw.plain_numbers.items() if values.dtype.kind == "f"]:
            found = possible[name]
            if len(found) == 1 and found[0].kind == "number":
                if has_commas and _may_be_thousands(raw, name):
                    possible[name] = [found[0], replace(found[0], marks=_GERMAN)]
                elif "." not in seen and pc.any(pc.match_substring(raw.text(name), ".")).as_py():
                    seen.add(".")
    if decimal is not None or len(seen) == 1:
        return decimal or next(iter(seen))
    return None if seen or raw.suggests_commas else "plain"


def _may_be_thousands(raw: RawTable, name: str) -> bool:
    """Whether all plain numbers of a column look like 1.234, which is a thousand and more where decimals are commas."""
    head = [cell for cell in raw.text(name).slice(0, 20).to_pylist() if cell is not None and cell not in USUAL_GAPS]
    if not all(_GERMAN.pattern.fullmatch(cell.strip()) for cell in head):  # most columns are told by their first cells
        return False
    values, _ = raw.distinct(name)
    return fits(_GERMAN, values.filter(pc.invert(pc.is_in(values, value_set=pa.array(USUAL_GAPS)))))


def _says_day_first(possible: Iterable[Sequence[Column]]) -> bool:
    """Whether dates that can be read in one order only have the day first."""
    sure = {found[0].date_format[:5] for found in possible if len(found) == 1 and found[0].date_format}
    return bool(sure & {"%d/%m", "%d-%m"}) and not sure & {"%m/%d", "%m-%d"}


def _choose(raw: RawTable, name: str, found: Sequence[Column], wanted: str | None, day_first: bool) -> Column:
    """Choose the reading of a column: the only one, or the one that fits the rest of the file."""
    if len(found) == 1 or found[0].role == "ignored":
        return found[0]
    if found[0].kind == "date":
        return found[day_first]
    for column in found:
        if column.marks.decimal == wanted or (wanted == "plain" and column.marks.is_plain):
            return column
    values, _ = raw.distinct(name)
    example = max((v for v in values.slice(0, 1000).to_pylist() if v not in found[0].gaps), key=len)
    said = [f"{number_of(example, column):g}" for column in found[:2]]
    marks = [column.marks.decimal for column in found[:2]]
    raise SoberError(
        "E808",
        f"Column {name[:40]!r} holds {example[:20]!r}, which can be {said[0]} or {said[1]}. Write "
        f"--decimal {marks[0]} for {said[0]}, --decimal {marks[1]} for {said[1]}.",
    )


def _check_few_limits(raw: RawTable, name: str, column: Column) -> None:
    found, n = limits_in(raw, name)
    if column.role == "ignored" or n <= max(FEW_LIMITS, FEW_LIMITS_SHARE * raw.n_rows):
        return
    number = number_of(found[0], column)
    half = f"half ({number / 2:g})" if found[0][0] in "<\u2264" else "half (of lower limits only)"
    raise SoberError(
        "E808",
        f"Column {name[:40]!r} holds limits such as {found[0][:20]!r} in {n} of {raw.n_rows} rows. Say what they count "
        f"as: --limits value ({number:g}), --limits {half} or --limits missing; --limit-flags adds a "
        "column that marks them.",
    )


def _check_some_fit(raw: RawTable, name: str, column: Column, bad: list[str]) -> None:
    _, counts = raw.distinct(name)
    if len(bad) * 2 > counts.sum():
        how = f" ({column.described})" if column.described else ""
        what = {"number": "numeric", "date": "a date", "boolean": "true or false"}[column.kind]
        raise SoberError(
            "E804",
            f"Column {name[:40]!r} was {what}{how} in training but contains {bad[0][:30]!r} now; correct the file.",
        )
