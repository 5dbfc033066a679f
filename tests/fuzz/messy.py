"""Strategies that write tables and settings as badly as people, programs and broken disks do."""

import gzip

from hypothesis import strategies as st

DELIMITERS = [",", ";", "\t", "|"]
LINES = ["\n", "\r\n", "\r"]
ODD = [
    "", " ", "NA", "?", "n.a.", "-", "inf", "-inf", "nan", "1e308", "-1e308", "1e999", "007", "0", "1", "TRUE", "false",
    "1,5", "1.5", "1.234", "1,234", "1.234,5", "1,234.5", "1 234,5", "1'234.5", "12345678901234567890123", "31.12.2020",
    "12/31/2020", "01/02/2020", "2020-13-45", "x", "é", "\U0001f680", '"', "'", 'a "b" c', "two\nlines", "[1, 2]", "{}",
    "=1+1", "\ufeff", "a" * 300,
]  # fmt: skip
NAMES = [
    "y",
    "Y",
    "x",
    "id",
    "patient",
    "sample",
    "fold",
    "model",
    "",
    "1",
    "2.5",
    "Unnamed: 0",
    "a",
    "b",
    "y_true",
    "prob_R",
]
cells = st.one_of(
    st.sampled_from(ODD), st.integers(-999, 999).map(str), st.floats(allow_nan=False, width=32).map(repr),
    st.sampled_from(["u", "v", "w"]), st.text(max_size=6),
)  # fmt: skip


KINDS = [
    st.integers(0, 99).map(str), st.floats(-99, 99).map(lambda v: f"{v:.2f}"),
    st.floats(0, 9999).map(lambda v: f"{v:,.1f}".translate(str.maketrans(",.", ".,"))), st.sampled_from(["u", "v", "w"]),
    st.sampled_from(["007", "07", "7", "A7"]), st.dates().map(str), st.sampled_from(["0", "1"]),
    st.sampled_from(["TRUE", "FALSE", ""]), st.sampled_from(["P1", "P2", "P3", "P4", "P5", "P6"]), cells,
]  # fmt: skip
TARGETS = [st.sampled_from(["u", "v"]), st.sampled_from(["u", "v", "w"]), st.sampled_from(["0", "1"]), *KINDS[:3]]


@st.composite
def columns(draw, n, kinds):
    """One column: of one kind, with a little of everything now and then."""
    values = draw(st.lists(draw(st.sampled_from(kinds)), min_size=n, max_size=n))
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        values[draw(st.integers(0, n - 1))] = draw(cells)
    return values


def quoted(cell, delimiter):
    if any(sign in cell for sign in (delimiter, '"', "\n", "\r")):
        return '"' + cell.replace('"', '""') + '"'
    return cell


@st.composite
def tables(draw):
    """Bytes of a table that is nearly right, or right."""
    n = draw(st.sampled_from([1, 12, 24, 24, 24, 24]))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=draw(st.integers(0, 5)) > 0))
    made = {i: draw(columns(n, TARGETS if name == "y" else KINDS)) for i, name in enumerate(names)}
    if "y" not in names and draw(st.integers(0, 7)):
        made[len(names)] = draw(columns(n, TARGETS))
        names = [*names, "y"]
    delimiter, line = draw(st.sampled_from(DELIMITERS)), draw(st.sampled_from(LINES))
    rows = [names] if draw(st.integers(0, 7)) else []
    rows += [list(row) for row in zip(*made.values(), strict=True)]
    if draw(st.integers(0, 11)) == 0:  # a ragged row
        rows[draw(st.integers(0, len(rows) - 1))].append("more")
    quote = quoted if draw(st.integers(0, 11)) else lambda cell, _: cell
    text = line.join(delimiter.join(quote(cell, delimiter) for cell in row) for row in rows)
    encoding = draw(st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252"]))
    return damaged(draw, text.encode(encoding, "replace"))


def damaged(draw, raw):
    """Bytes after an accident, or not."""
    accident = draw(st.integers(0, 19))
    if accident == 0 and raw:
        at = draw(st.integers(0, len(raw) - 1))
        return raw[:at] + draw(st.binary(min_size=1, max_size=4)) + raw[at + 1 :]
    if accident == 1:
        return raw[: draw(st.integers(0, len(raw)))]
    if accident == 2:
        packed = gzip.compress(raw)
        return packed[: draw(st.integers(2, len(packed)))]
    return gzip.compress(raw) if accident == 3 else raw


#: Anything at all, with the first bytes of files that sober knows.
starts = st.sampled_from(
    [b"", b"PAR1", b"ARROW1", b"FEA1", b"\xff\xff\xff\xff", b"PK\x03\x04", b"\x1f\x8b", b"{", b"[", b"%PDF"]
)
anything = st.builds(lambda start, rest: start + rest, starts, st.binary(max_size=200))
jsonish = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4), max_leaves=12,
)  # fmt: skip

KEYS = [
    "target", "time", "event", "event-value", "id", "group", "ignore", "task", "metric", "preset", "configurations", "cv",
    "repeats", "seed", "jobs", "max-time", "output", "json", "quiet", "sheet", "decimal", "header", "stratify", "targt",
    "data", "aggregate",
]  # fmt: skip
plain = st.one_of(
    st.sampled_from(['"y"', '"good"', "3", "-1", "0", "1e400", "true", "false", '""', "[]", "{}", "nan", "inf", '"quick"',
                     '"10m"', '","', '"roc_auc"', "2020-01-01", "99999999999999999999", '"é\\u0000"']),
    st.integers(-5, 50).map(str),
)  # fmt: skip
nested = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3).map(lambda vs: f"[{', '.join(vs)}]"), max_leaves=6
)


@st.composite
def settings_files(draw):
    """Text of a sober.toml."""
    pairs = draw(st.lists(st.tuples(st.sampled_from(KEYS), nested), max_size=6))
    text = "\n".join(f"{key} = {value}" for key, value in pairs)
    extra = draw(
        st.sampled_from(["", "", "\n[target]\na = 1", "\n[a.b.c]", "\n" + "x = " + "[" * 2000, "\n= 3", "\n# end"])
    )
    return (text + extra).encode("utf-8", "replace")
