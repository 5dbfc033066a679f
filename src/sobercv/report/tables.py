"""The tables of a report as Markdown, LaTeX or CSV, for papers and spreadsheets.

What comes from data is escaped for the form that is written. CSV is for programs: numbers are plain ASCII without
thousands commas, an interval has two columns, and what is missing is an empty cell.
"""

from __future__ import annotations

import csv
import io
import re
from typing import Any

from ..errors import SoberError
from .checklist import checklist
from .records import Summary, Table
from .words import MINUS, NOTHING, between, clean, md, number, off_by, percent, seconds, status, tex

#: How a form escapes text, and what stands before, between and after the cells of a row.
FORMATS: dict[str, Any] = {"md": (md, "| ", " | ", " |"), "tex": (tex, "", " & ", r" \\"), "csv": ()}
#: How cells begin that spreadsheets take for formulas.
FORMULA = ("=", "+", "-", "@", "\t", "\r")
_SIGNED = "[<>+\u2212-]?[0-9][0-9,]*(?:[.][0-9]+)?"
_INTERVAL = re.compile(f"({_SIGNED}) to ({_SIGNED})")
#: A number with its unit or, of shares, its interval: 1,234 or 45 % or 45 (40-50), with the signs of `words`.
_NUMBER = re.compile(f"{_SIGNED}(?: %| s| ms| [(]{_SIGNED}\u2013{_SIGNED}[)])?")


def tables_of(summary: Summary) -> tuple[Table, ...]:
    """Return all tables of a report, the honest numbers first."""
    made = [
        scores_table(summary),
        *summary.tables,
        *(Table(c.name, c.title, c.below) for c in summary.charts if c.below),
        *([configurations_table(summary)] if summary.configurations else []),
        *([] if summary.columns is None else [summary.columns]),
        Table("data", "Data", (("", ""), *((f.label, f.text) for f in summary.data))),
    ]
    return (*made, checklist(summary)) if summary.race is not None else tuple(made)


def scores_table(summary: Summary) -> Table:
    """Write the scores of the winner by every metric."""
    level = f"{100 * summary.scores[0].level:g} % interval"
    rows = [("Metric", "Honest", level, "Plain CV", "Plain CV is off by")]
    for s in summary.scores:
        interval = NOTHING if s.interval is None else between(s.interval, s.digits)
        rows.append((s.label, number(s.value, s.digits), interval, number(s.naive, s.digits), off_by(s)))
    return Table("scores", "Scores of the winner", tuple(rows), summary.why)


def configurations_table(summary: Summary) -> Table:
    """Write every configuration with its scores, the best first."""
    digits = summary.scores[0].digits
    rows: list[tuple[str, ...]] = [
        ("Rank", "Configuration", "Status", "Won", "Pooled", "Fold mean", "Fold SD", "Training")
    ]
    for r in summary.configurations:
        known = (number(v, digits) for v in (r.pooled, r.mean, r.spread))
        rows.append((str(r.rank), r.params, status(r), percent(r.wins), *known, seconds(r.seconds)))
    return Table("configurations", "Configurations", tuple(rows), summary.table_note)


def to_format(summary: Summary, name: str) -> str:
    """Write the tables of a summary: "md", "tex" (needs the package booktabs) or "csv".

    CSV has the tables one below the other, and the first column names the table.
    """
    if name not in FORMATS:
        raise SoberError("E122", f"Tables are written as {', '.join(FORMATS)}; got {name!r}. Write --format md.")
    blocks, out = [], io.StringIO()
    for table in tables_of(summary):
        if name == "csv":
            rows = [tuple(_plain(cell) for cell in row) for row in table.rows]
            made = ((table.name, *map(spreadsheet_cell, row)) for row in _with_ends(rows))
            csv.writer(out, lineterminator="\n").writerows(made)
            continue
        escape, before, between_cells, after = FORMATS[name]
        title, sentence = (escape(_plain(words)) for words in (table.title, table.sentence))
        head, *body = (before + between_cells.join(escape(_plain(c)) for c in row) + after for row in table.rows)
        n = len(table.rows[0])
        if name == "md":
            lines = [f"## {title}", "", head, "|" + " --- |" * n, *body, *(["", sentence] if sentence else [])]
        else:
            sides = "l" + "r" * (n - 1) if n > 2 else "lp{10cm}"
            lines = [r"\begin{table}", rf"\caption{{{title}. {sentence}}}", rf"\label{{tab:{table.name}}}",
                     rf"\begin{{tabular}}{{{sides}}}", r"\toprule", head, r"\midrule", *body, r"\bottomrule",
                     r"\end{tabular}", r"\end{table}"]  # fmt: skip
        blocks.append("\n".join(lines))
    return out.getvalue() if name == "csv" else "\n\n".join(blocks) + "\n"


def _with_ends(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Write the numbers of a table in ASCII, and split each column of intervals into its two ends."""
    head, *body = rows
    columns = [(head[0], *(row[0] for row in body))]
    for name, *cells in list(zip(*rows, strict=True))[1:]:
        ends = [_INTERVAL.fullmatch(c) for c in cells]
        if any(ends) and all(e or c in ("", NOTHING) for e, c in zip(ends, cells, strict=True)):
            columns.append((f"{name}, low", *(ascii_number(e[1]) if e else "" for e in ends)))
            columns.append((f"{name}, high", *(ascii_number(e[2]) if e else "" for e in ends)))
        else:
            columns.append((name, *(ascii_number(c) for c in cells)))
    return list(zip(*columns, strict=True))


def ascii_number(cell: str) -> str:
    """Write a number without thousands commas and with an ASCII sign, the dash of "nothing" as an empty cell."""
    if cell == NOTHING:
        return ""
    if _NUMBER.fullmatch(cell) is None:
        return cell
    return cell.replace(",", "").replace(MINUS, "-").replace("\u2013", "-")


def spreadsheet_cell(text: str) -> str:
    """Write a cell so that no spreadsheet takes it for a formula: an apostrophe before =, +, -, @, except in numbers.

    Numbers such as -1.5 are left as they are.
    """
    if text[:1] not in FORMULA:
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def _plain(text: str) -> str:
    return clean(text, len(text) + 1)
