"""The tables of a report as Markdown, LaTeX or CSV, for papers and spreadsheets.

Takes a `Summary`, gives text; what comes from data is escaped for the form that is written. Computes nothing.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

from ..errors import SoberError
from ..inference.estimate_tables import tex
from .records import Bar, Fact, Summary, Table
from .words import NOTHING, apart, between, number, percent, seconds, signed, status


def tables_of(summary: Summary) -> tuple[Table, ...]:
    """Give all tables of a report, the honest numbers first."""
    level = f"{100 * summary.scores[0].level:g} % interval"
    scores = [("Metric", "Honest", level, "Plain CV", "Plain CV is off by")]
    for s in summary.scores:
        interval = NOTHING if s.interval is None else between(s.interval, s.digits)
        optimism = signed(apart(s.naive, s.value, s.digits), s.digits)
        scores.append((s.label, number(s.value, s.digits), interval, number(s.naive, s.digits), optimism))
    digits = summary.scores[0].digits
    rows: list[tuple[str, ...]] = [
        ("Rank", "Configuration", "Status", "Won", "Pooled", "Fold mean", "Fold SD", "Training")
    ]
    for r in summary.configurations:
        known = (number(v, digits) for v in (r.pooled, r.mean, r.spread))
        rows.append((str(r.rank), r.params, status(r), percent(r.wins), *known, seconds(r.seconds)))
    made = [
        Table("scores", "Scores of the winner", tuple(scores), summary.why),
        *summary.tables,
        *(Table(c.name, c.title, c.below) for c in summary.charts if c.below),
        *_confusion(summary),
        *_importance(summary),
        Table("configurations", "Configurations", tuple(rows)),
        *_columns(summary),
        _facts("data", "Data", summary.data),
        *_checklist(summary),
    ]
    return tuple(made)


def to_markdown(tables: tuple[Table, ...]) -> str:
    """Write tables as Markdown."""

    def row(cells: tuple[str, ...]) -> str:
        return "| " + " | ".join(_plain(c).replace("\\", "\\\\").replace("|", "\\|") for c in cells) + " |"

    blocks = []
    for table in tables:
        head, *body = table.rows
        lines = [f"## {table.title}", "", row(head), "|" + " --- |" * len(head), *(row(r) for r in body)]
        blocks.append("\n".join(lines + (["", table.sentence] if table.sentence else [])))
    return "\n\n".join(blocks) + "\n"


def to_latex(tables: tuple[Table, ...]) -> str:
    """Write tables as LaTeX; they need the package booktabs."""
    blocks = []
    for table in tables:
        head, *body = (" & ".join(_tex(c) for c in row) + r" \\" for row in table.rows)
        sides = "l" + "r" * (len(table.rows[0]) - 1) if len(table.rows[0]) > 2 else "lp{10cm}"
        lines = [
            r"\begin{table}",
            rf"\caption{{{_tex(table.title)}. {_tex(table.sentence)}}}",
            rf"\label{{tab:{table.name}}}",
        ]
        lines += [rf"\begin{{tabular}}{{{sides}}}", r"\toprule", head, r"\midrule", *body, r"\bottomrule"]
        blocks.append("\n".join([*lines, r"\end{tabular}", r"\end{table}"]))
    return "\n\n".join(blocks) + "\n"


def to_csv(tables: tuple[Table, ...]) -> str:
    """Write tables as CSV, one below the other: the first column names the table."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for table in tables:
        writer.writerows((table.name, *(_cell(_plain(c)) for c in row)) for row in table.rows)
    return out.getvalue()


FORMATS: dict[str, Callable[[tuple[Table, ...]], str]] = {"md": to_markdown, "tex": to_latex, "csv": to_csv}


def to_format(summary: Summary, name: str) -> str:
    """Write the tables of a summary.

    Parameters
    ----------
    summary : Summary
    name : {"md", "tex", "csv"}
    """
    if name not in FORMATS:
        raise SoberError("E703", f"Tables are written as {', '.join(FORMATS)}; got {name!r}. Write --format md.")
    return FORMATS[name](tables_of(summary))


def _confusion(summary: Summary) -> list[Table]:
    found = summary.confusion
    if found is None:
        return []
    rows = [("true \\ predicted", *found.labels)]
    for i, label in enumerate(found.labels):
        rows.append((label, *(share_with_interval(found.share[i][j], found.low[i][j], found.high[i][j])
                              for j in range(len(found.labels)))))  # fmt: skip
    return [Table("confusion", found.title, tuple(rows), found.sentence)]


def share_with_interval(share: float | None, low: float | None, high: float | None) -> str:
    """Write a share in percent with its interval."""
    if share is None:
        return NOTHING
    return f"{percent(share).removesuffix(' %')} ({100 * (low or 0):.0f}\u2013{100 * (high or 0):.0f})"


def _importance(summary: Summary) -> list[Table]:
    found = summary.importance
    if found is None:
        return []

    def row(bar: Bar) -> tuple[str, ...]:
        interval = NOTHING if bar.low is None else f"{bar.low:.4f} to {bar.high:.4f}"
        return bar.label, f"{bar.value:.4f}", interval

    rows = [("Column", "Score falls by", "Interval"), *(row(bar) for bar in (*found.bars, *found.together))]
    return [Table("importance", "Permutation importance", tuple(rows), found.sentence)]


def _columns(summary: Summary) -> list[Table]:
    if not summary.columns:
        return []
    rows = [("Column", "Role", "Kind", "Read as", "Values", "Missing")]
    rows += [(c.name, c.role, c.kind, c.read_as, c.values, f"{c.n_missing:,}") for c in summary.columns]
    return [Table("columns", "How each column was read", tuple(rows))]


def _facts(name: str, title: str, facts: tuple[Fact, ...]) -> Table:
    return Table(name, title, (("", ""), *((f.label, f.text) for f in facts)))


def _checklist(summary: Summary) -> list[Table]:
    rows = [("Item", "Topic", "Answer"), *((i.number, i.topic, i.answer) for i in summary.checklist)]
    return [Table("tripod_ai", "TRIPOD+AI checklist", tuple(rows))] if summary.checklist else []


def _plain(text: str) -> str:
    return " ".join(text.replace("\u00a0", " ").replace("\u202f", " ").split())


def _cell(text: str) -> str:
    """Keep spreadsheets from taking a cell for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _tex(text: str) -> str:
    return tex(_plain(text))
