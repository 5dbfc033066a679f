"""Schema: what every column of a table holds and how it is written.

`Schema.infer` recognises it, and asks where a number can be read in two ways; `Schema.apply` converts text to a frame,
at prediction as in training. Whatever loses information is a note.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from ..errors import Note, SoberError
from .cells import Cells
from .column import GERMAN, LIMITS, PLAIN, SIGN_NAMES, WHOLE, Column, Marks, are_limits, read_text, readings
from .naming import held_by, some
from .settings import Settings

#: Limits in more rows than this, and in a larger share of the rows, are more than a few: the user is asked.
FEW_LIMITS, FEW_LIMITS_SHARE = 5, 0.05


class Schema(msgspec.Struct, frozen=True):
    """How a table is read."""

    columns: dict[str, Column]
    has_header: bool = True
    missing: tuple[str, ...] = ()  # words and numbers that the user named as gaps, in every column

    @classmethod
    def infer(cls, cells: Cells, settings: Settings) -> tuple[Schema, tuple[Note, ...]]:
        """Recognise the columns of a table; ids and groups stay text, and columns without a role are features."""
        roles: dict[str, Any] = settings.split(cells.columns).roles()
        possible: dict[str, list[Column]] = {}
        strays: dict[str, list[str]] = {}  # by column, the cells that keep it from being numbers
        for name in cells.columns:
            possible[name], strays[name] = readings(cells, name, roles.get(name, "feature"))
        wanted = _decimal_mark(cells, possible, settings.decimal)
        # Dates that can be read in one order only say which one the others have.
        sure = {found[0].date_format[:5] for found in possible.values() if len(found) == 1 and found[0].date_format}
        says_day = bool(sure & {"%d/%m", "%d-%m"}) and not sure & {"%m/%d", "%m-%d"}
        day_first = wanted == "," or cells.suggests_commas or says_day
        chosen = {name: _choose(cells, name, found, wanted, day_first) for name, found in possible.items()}
        for name, column in chosen.items():
            if column.limits and settings.limits is not None:
                chosen[name] = replace(column, limits=settings.limits)
            elif column.limits and column.role != "ignored":
                example, n = _limits(cells, name)
                if n > max(FEW_LIMITS, FEW_LIMITS_SHARE * cells.n_rows):
                    text = f"Column {name[:40]!r} holds limits such as {example!r} in {n} of {cells.n_rows} rows. "
                    text += "Choose how to read them: --limits value (the limit itself), --limits half (of a lower "
                    text += "limit) or --limits missing."
                    raise SoberError("E808", text)
        unsure_dates = [name for name, found in possible.items() if found[0].kind == "date" and len(found) > 1]
        schema = cls(chosen, settings.header is not False, settings.missing)
        return schema, tuple(_inferred(cells, chosen, strays, unsure_dates))

    def apply(self, cells: Cells) -> tuple[Any, tuple[Note, ...]]:
        """Convert the columns that both have; values that do not fit become gaps, and a note counts them."""
        made: dict[str, Any] = {}
        lost: dict[str, list[str]] = {}
        gaps = pd.to_numeric(pd.Series(self.missing, dtype=object), errors="coerce").dropna()
        for name in [name for name in cells.columns if name in self.columns]:
            column, known, bad = self.columns[name], cells.kinds.get(name), list[str]()
            is_plain = column.marks == PLAIN or (column.marks == WHOLE and not len(cells.pointed(name)))
            if column.kind == "number" and name in cells.plain_numbers and is_plain:
                made[name] = cells.plain_numbers[name]
            elif known == column.kind and known in ("date", "number"):
                made[name] = cells.columns[name].to_pandas()
            else:
                made[name], bad = read_text(cells.text(name), column)
            if column.kind == "number" and len(gaps) and (is_gap := np.isin(made[name], gaps)).any():
                made[name] = np.where(is_gap, np.nan, made[name])
            if bad:
                lost[name] = bad
            if bad and 2 * len(bad) > cells.distinct(name)[1].sum():
                how = column.described or "in a file with decimal commas" * (column.marks == WHOLE)
                how = f" ({how})" if how else ""
                what = {"number": "numeric", "date": "a date", "boolean": "true or false"}[column.kind]
                text = f"Column {name[:40]!r} was {what}{how} in training but contains {bad[0][:30]!r} now"
                raise SoberError("E804", f"{text}; correct the file.")
        frame = pd.DataFrame(made, index=pd.RangeIndex(cells.n_rows))
        frame.attrs["named_twice"] = cells.named_twice
        frame.attrs["not_read"] = [name for name in cells.columns if name not in self.columns]
        texts = [name for name in made if self.columns[name].kind == "text" and self.columns[name].role == "feature"]
        retyped = [name for name in texts if cells.kinds.get(name) in ("number", "date")]
        more = ". Read as text; check whether leading zeros were lost."
        notes = held_by("W844", retyped, "numbers or dates now but held text in training", more)
        if lost:
            which = _which({name: (len(bad), bad[:1]) for name, bad in lost.items()})
            text = f"Values that do not match the kind of their column in training are treated as missing: {which}."
            notes = [Note("W844", text, (*lost,)), *notes]
        return frame, tuple(notes)


def _which(cells: Mapping[str, tuple[int, Sequence[str]]]) -> str:
    """Write how many cells of which columns are meant, with examples."""
    parts = [f"{n} of {name[:40]!r} ({', '.join(repr(v[:20]) for v in values)})" for name, (n, values) in cells.items()]
    return ", ".join(parts[:4]) + (f" and {len(parts) - 4} more columns" if len(parts) > 4 else "")


def _decimal_mark(cells: Cells, possible: dict[str, list[Column]], decimal: str | None) -> str | None:
    """Return the decimal mark of the file: "." or ",", "plain" where nothing speaks for commas, None in doubt."""
    numbers = {n: found for n, found in possible.items() if found[0].kind == "number" and n not in cells.kinds}
    seen = {found[0].marks.decimal for found in numbers.values() if len(found) == 1 and found[0].marks != PLAIN}
    has_commas = "," in seen or decimal == "," or cells.suggests_commas
    in_doubt = has_commas or any(len(found) > 1 for found in numbers.values())
    for name, found in numbers.items() if in_doubt else ():
        if len(found) > 1 or found[0].marks != PLAIN:
            continue
        with_point = cells.pointed(name)
        if not len(with_point):
            possible[name] = [replace(found[0], marks=WHOLE)] if has_commas else found
        elif name in cells.plain_numbers:
            if has_commas and GERMAN.fit(with_point):  # among decimal commas 1.234 may be a thousand and more
                possible[name] = [found[0], replace(found[0], marks=GERMAN)]
            else:
                seen.add(".")
    if len(seen) == 1:
        return decimal or seen.pop()
    return decimal or (None if seen or cells.suggests_commas else "plain")


def _choose(cells: Cells, name: str, found: Sequence[Column], wanted: str | None, day_first: bool) -> Column:
    """Choose the reading of a column: the only one, or the one that fits the rest of the file."""
    if len(found) == 1 or found[0].role == "ignored":
        return found[0]
    if found[0].kind == "date":
        return found[day_first]
    for column in found:
        if column.marks.decimal == wanted or (wanted == "plain" and column.marks == PLAIN):
            return column
    example = max(cells.examples(name, found[0].gaps), key=len)
    numbers = [f"{read_text(pa.array([example]), column)[0][0]:g}" for column in found[:2]]
    how = ", ".join(f"--decimal {way.marks.decimal} for {number}" for way, number in zip(found, numbers, strict=False))
    text = f"Column {name[:40]!r} holds {example[:20]!r}, which can be {' or '.join(numbers)}. Write {how}."
    raise SoberError("E808", text)


def _limits(cells: Cells, name: str) -> tuple[str, int]:
    """Return the first limit of a column, and how many rows hold one."""
    values, counts = cells.distinct(name)
    is_limit = are_limits(values)
    return values.filter(pa.array(is_limit))[0].as_py(), int(counts[is_limit].sum())


def _inferred(
    cells: Cells, columns: Mapping[str, Column], strays: Mapping[str, list[str]], unsure_dates: Sequence[str]
) -> Iterable[Note]:
    """Return notes on what was recognised; `unsure_dates` could begin with the day or the month."""
    stray = {name: found for name, found in strays.items() if found}
    words = some([word[:20] for values in stray.values() for word in values])
    what = "It is" if len(stray) == 1 else "They are"
    more = f". {what} read as categories; correct or clear such cells."
    yield from held_by("W844", [*stray], f"numbers and other cells ({words})", more)
    if limited := [name for name, column in columns.items() if column.limits]:
        example, n = _limits(cells, limited[0])
        what = f"limits such as {example!r} (in {n} of {cells.n_rows} rows)"
        yield from held_by("W844", limited, what, f". They are read as {LIMITS[columns[limited[0]].limits]}.")
    groups: dict[Marks, list[str]] = {}
    for name, column in columns.items():
        if column.marks not in (PLAIN, WHOLE):
            groups.setdefault(column.marks, []).append(name)
    for marks, names in groups.items():
        values = pa.array(cells.examples(names[0], columns[names[0]].gaps))
        special = values.filter(pc.and_not(marks.matches(values), PLAIN.matches(values)))
        example = special[:1] if len(special) else values[:1]
        number = read_text(example, columns[names[0]])[0][0]
        signs = [] if marks.decimal == "." else ["decimal commas"]
        signs += [f"{SIGN_NAMES[marks.thousands]}s between thousands"] if marks.thousands else []
        more = f". {example[0].as_py()!r} is read as {number:.15g}."
        yield from held_by("W801", names, " and ".join(signs), more)
    gappy = [name for name, column in columns.items() if column.missing]
    words = some(sorted({word for name in gappy for word in columns[name].missing}))
    yield from held_by("W801", gappy, f"words treated as missing ({words})", ".")
    if codes := [n for n, column in columns.items() if column.is_code and n not in stray and n not in cells.kinds]:
        zeros = next((f" (such as {v[:20]!r})" for v in cells.examples(codes[0], ()) if v.startswith("0")), "")
        yield from held_by("W801", codes, "codes, read as categories", f"{zeros}.")
    if unsure_dates:
        order = "day first, as in files with decimal commas or other dates of this file"
        order = order if columns[unsure_dates[0]].date_format.startswith("%d") else "month first"
        more = f". Read {order}; write dates like 2026-12-31 if that is wrong."
        yield from held_by("W801", unsure_dates, "dates that could begin with the day or the month", more)
    for name, column in columns.items():  # labels of the target that are written differently and become one number
        if column.role == "target" and column.kind == "number" and name not in cells.kinds:
            values = pd.Series(cells.examples(name, column.gaps)[:100], dtype=object)
            spelled = values.groupby(read_text(pa.array(values, pa.string()), column)[0], sort=False).agg(list)
            same = [each for each in spelled if len(each) > 1]
            if same and len(spelled) <= 20:
                text = f"The target {name[:40]!r} holds {some(same[0])}, which are read as the same number."
                yield Note("W801", text, (name,))


def unseen(cells: Cells, columns: Mapping[str, Column], frame: Any) -> list[Note]:
    """Return a note on what the rows of training did not hold: other categories, columns without any value."""
    new: dict[str, tuple[int, Sequence[str]]] = {}
    for name in [name for name, column in columns.items() if name in cells.columns and column.levels]:
        values, counts = cells.distinct(name)
        known = pa.array([*columns[name].levels, *columns[name].gaps])
        is_new = ~np.asarray(pc.is_in(values, value_set=known))
        if is_new.any():
            new[name] = int(counts[is_new].sum()), values.filter(pa.array(is_new))[:3].to_pylist()
    empty = [str(c) for c, is_empty in frame.isna().all().items() if is_empty and columns[c].role == "feature"]
    parts = [f"categories not seen in training: {_which(new)}"] if new else []
    parts += [f"no value at all in {some(empty, 4)}"] if empty else []
    text = f"The new rows hold {'; '.join(parts)}. The model learns nothing from such values."
    return [Note("W844", text, (*new, *empty))] if parts else []
