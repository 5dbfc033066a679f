"""The tables of a report as Markdown or CSV, for papers and spreadsheets.

What comes from data is escaped. CSV is for programs: numbers are plain ASCII without
thousands commas, an interval has two columns, and what is missing is an empty cell.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

from .checklist import checklist
from .records import Summary, Table
from .words import NOTHING, clean, md, number, percent, seconds

_SIGNED = "[<>+-]?[0-9][0-9,]*(?:[.][0-9]+)?"
_INTERVAL = re.compile(f"({_SIGNED}) to ({_SIGNED})")
#: A number with its unit or, of shares, its interval: 1,234 or 45 % or 45 (40-50), with the signs of `words`.
_NUMBER = re.compile(f"{_SIGNED}(?: %| s| ms| [(]{_SIGNED}\u2013{_SIGNED}[)])?")


def tables_of(summary: Summary) -> tuple[Table, ...]:
    """Return all tables of a report, the honest numbers first."""
    return (
        scores_table(summary),
        *summary.tables,
        *(Table(c.name, c.title, c.below) for c in summary.charts if c.below),
        *([configurations_table(summary)] if summary.configurations else []),
        *([] if summary.columns is None else [summary.columns]),
        Table("data", "Data", (("", ""), *summary.data.items())),
        *([] if summary.race is None else [checklist(summary)]),
    )


def scores_table(summary: Summary) -> Table:
    """Write the scores of the winner by every metric."""
    level = f"{100 * summary.scores[0].level:g} % interval"
    head = ("Metric", "Honest", level, "Plain CV", "Plain CV is off by")
    rows = ((s.label, s.honest, s.ends or NOTHING, s.claim, s.off_by) for s in summary.scores)
    return Table("scores", "Scores of the winner", (head, *rows), summary.why)


def configurations_table(summary: Summary) -> Table:
    """Write every configuration with its scores, the best first."""
    digits = summary.scores[0].digits
    rows: list[tuple[str, ...]] = [
        ("Rank", "Configuration", "Status", "Won", "Pooled", "Fold mean", "Fold SD", "Training", "No.")
    ]
    for r in summary.configurations:
        status = "winner" if r.is_winner else r.status
        if r.dropped_after is not None and not r.is_winner:
            sure = "" if r.p is None else " (>99.9 % sure)" if r.p > 0.9994 else f" ({100 * r.p:.1f} % sure)"
            status = f"dropped after round {r.dropped_after}{sure}"
        known = (number(v, digits) for v in (r.pooled, r.mean, r.spread))
        rows.append((str(r.rank), r.params, status, percent(r.wins), *known, seconds(r.seconds), str(r.index)))
    # Of an estimate without its search, some columns hold nothing.
    columns = (column for column in zip(*rows, strict=True) if set(column[1:]) != {NOTHING})
    return Table("configurations", "Configurations", tuple(zip(*columns, strict=True)), summary.table_note)


def to_markdown(summary: Summary) -> str:
    """Write the tables of a summary as Markdown."""
    blocks = []
    for table in map(_cleaned, tables_of(summary)):
        head, *body = (f"| {' | '.join(map(md, row))} |" for row in table.rows)
        lines = [f"## {md(table.title)}", "", head, "|" + " --- |" * len(table.rows[0]), *body]
        blocks.append("\n".join([*lines, *(["", md(table.sentence)] if table.sentence else [])]))
    return "\n\n".join(blocks) + "\n"


def to_csv(summary: Summary) -> str:
    """Write the tables of a summary as CSV, one below the other; the first column names the table."""
    out = io.StringIO()
    for table in map(_cleaned, tables_of(summary)):
        made = ((table.name, *map(spreadsheet_cell, row)) for row in _for_programs(table.rows))
        csv.writer(out, lineterminator="\n").writerows(made)
    return out.getvalue()


def _cleaned(table: Table) -> Table:
    """Return the table with printable text only."""
    title, sentence = (clean(words, len(words) + 1) for words in (table.title, table.sentence))
    rows = tuple(tuple(clean(cell, len(cell) + 1) for cell in row) for row in table.rows)
    return replace(table, title=title, sentence=sentence, rows=rows)


def _for_programs(rows: tuple[tuple[str, ...], ...]) -> list[tuple[str, ...]]:
    """Write numbers without thousands commas, missing ones as empty cells, and an interval as two columns."""
    columns = [tuple(row[0] for row in rows)]
    for name, *cells in list(zip(*rows, strict=True))[1:]:
        ends = [_INTERVAL.fullmatch(c) for c in cells]
        if any(ends) and all(e or c in ("", NOTHING) for e, c in zip(ends, cells, strict=True)):
            for i, end in enumerate(("low", "high"), 1):
                columns.append((f"{name}, {end}", *(e[i].replace(",", "") if e else "" for e in ends)))
        else:
            plain = (c.replace(",", "").replace("\u2013", "-") if _NUMBER.fullmatch(c) else c for c in cells)
            columns.append((name, *("" if c == NOTHING else c for c in plain)))
    return list(zip(*columns, strict=True))


def spreadsheet_cell(text: str) -> str:
    """Write a cell so that no spreadsheet takes it for a formula: an apostrophe before =, +, - or @ of no number."""
    if text[:1] not in ("=", "+", "-", "@", "\t", "\r"):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text
